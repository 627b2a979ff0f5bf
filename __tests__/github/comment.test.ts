import { expect, it } from 'vitest';
import { createCommentWriter } from '../../src/github/comment.ts';
import type { CommentText } from '../../src/reporters/report-types.ts';
import { eventOf, HEAD, ofComment, serveEach } from './world.ts';

const BOT = 'github-actions[bot]';
const TEXT = { key: 'CI / review', commit: HEAD, runId: '100', attempt: 1, body: 'Good.', create: true };
const CREATE = 'POST /repos';

const github = serveEach();
const onPull = eventOf('issue_comment', ofComment);
const write = (text: CommentText, event = onPull, token?: string) =>
  createCommentWriter(github.connect(event, token))(text);

/** The current comments without their markers. */
const bodies = () => github.server.comments().map(({ body }) => body.replace(/^<!--.*-->\n/u, ''));

/** The first line of the comment of a run. */
const markerOf = (runId: string) =>
  `<!-- structured-agent:707718d1f7f0221e667202b8c4e171eb commit=${HEAD} run=${runId} attempt=1 -->`;

it('there is no comment without a pull request, and no first one without `create`', async () => {
  expect(await write(TEXT, eventOf('schedule'))).toBe('no_pull_request');
  expect(await write({ ...TEXT, create: false })).toBe('none');
  expect(github.server.requests.map(({ operation }) => operation)).toEqual(['POST /graphql']);
});

it('consecutive runs create the comment once and update it in place, behind hundreds of others', async () => {
  for (let at = 0; at < 230; at++) github.server.addComment({ pull: 7, author: 'octocat', body: `${at}` });
  expect(await write(TEXT)).toBe('created');
  const ids = github.server.comments().map(({ id }) => id);
  expect(await write({ ...TEXT, runId: '101', body: 'Better.' })).toBe('updated');
  expect(github.server.comments().map(({ id }) => id)).toEqual(ids);
  expect(bodies().slice(230)).toEqual(['Better.']);
});

it.each([
  [{ runId: '9' }, 'superseded'],
  [{ attempt: 1 }, 'superseded'],
  [{ attempt: 2 }, 'updated'],
  [{ runId: '1000000000000', create: false }, 'updated'],
] as const)('after attempt 2 of run 100, %j is %s', async (changes, outcome) => {
  await write({ ...TEXT, attempt: 2 });
  expect(await write({ ...TEXT, ...changes, body: 'Other.' })).toBe(outcome);
  expect(bodies()).toEqual([outcome === 'updated' ? 'Other.' : 'Good.']);
});

it.each([0, 9])(
  'consecutive runs leave one of two that jobs wrote at once, after %i refusals',
  async (refusals) => {
    for (const run of ['98', '99'])
      github.server.addComment({ pull: 7, author: BOT, body: `${markerOf(run)}\n${run}` });
    github.server.fail('DELETE', { status: 403 }, refusals);
    expect(await write(TEXT)).toBe('updated');
    expect(bodies()).toEqual(refusals === 0 ? ['Good.'] : ['Good.', '99']);
  },
);

it('only a comment of the same key and author, with the marker in its first line, is updated', async () => {
  const marker = markerOf('999');
  github.server.addComment({ pull: 7, author: 'mallory', body: `${marker}\nForged.` });
  const broken = [marker.replace('-->', ''), marker.replace('run=', 'run=x'), ` ${marker}`, `x\n${marker}`];
  for (const line of broken) github.server.addComment({ pull: 7, author: BOT, body: `${line}\n` });
  await write(TEXT);
  await write({ ...TEXT, runId: '101', body: 'Mine.' }, onPull, 'other-token');
  await write({ ...TEXT, key: '-->\n# CI / test' });
  expect(bodies().filter((body) => /^\w+\.$/u.test(body))).toEqual(['Forged.', 'Good.', 'Mine.', 'Good.']);
  expect(github.server.comments().at(-3)?.body).toBe(`${markerOf('100')}\nGood.`);
});

it.each(['POST /graphql', CREATE])('a refusal of %s is an error that names the permission', async (route) => {
  github.server.fail(route, { status: 403 });
  await expect(write(TEXT)).rejects.toThrow('Give the job `permissions: pull-requests: write`');
});

it('a comment without an answer is not sent again, because each one sends a mail to everybody', async () => {
  github.server.fail(CREATE, { kind: 'lost' });
  await expect(write(TEXT)).rejects.toThrow('GitHub could not be reached');
  expect(bodies()).toEqual(['Good.']);
});
