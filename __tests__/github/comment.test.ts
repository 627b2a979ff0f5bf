import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCommentWriter } from '../../src/github/comment.ts';
import type { CommentText } from '../../src/reporters/report-types.ts';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';
import { connect, eventOf, HEAD, ofComment, serve } from './world.ts';

const BOT = 'github-actions[bot]';
const TEXT: CommentText = {
  key: 'CI / review',
  commit: HEAD,
  runId: '100',
  attempt: 1,
  body: 'Good.',
  create: true,
};
const CREATE = 'POST /repos';

let server: GitHubServer;
let write: ReturnType<typeof createCommentWriter>;
const writerOf = (name = 'issue_comment', token?: string) =>
  createCommentWriter(connect(server, eventOf(name, name === 'schedule' ? {} : ofComment), token));
beforeEach(async () => {
  skipWaits();
  server = await serve();
  write = writerOf();
});
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});

/** The current comments without their markers. */
const bodies = () => server.comments().map(({ body }) => body.replace(/^<!--.*-->\n/u, ''));

/** The first line of the comment of a run. */
const markerOf = (runId: string) =>
  `<!-- structured-agent:707718d1f7f0221e667202b8c4e171eb commit=${HEAD} run=${runId} attempt=1 -->`;

it('without a pull request there is no comment', async () => {
  expect([await writerOf('schedule')(TEXT), bodies()]).toEqual(['no_pull_request', []]);
});

describe('consecutive runs', () => {
  it('create the comment once and update it in place, behind hundreds of others', async () => {
    for (let at = 0; at < 230; at++) server.addComment({ pull: 7, author: 'octocat', body: `${at}` });
    expect(await write(TEXT)).toBe('created');
    const ids = server.comments().map(({ id }) => id);
    expect(await write({ ...TEXT, runId: '101', body: 'Better.' })).toBe('updated');
    expect(server.comments().map(({ id }) => id)).toEqual(ids);
    expect(bodies().slice(230)).toEqual(['Better.']);
  });

  it.each([
    [{ runId: '99' }, 'superseded'],
    [{ runId: '9' }, 'superseded'],
    [{ attempt: 1 }, 'superseded'],
    [{ attempt: 2 }, 'updated'],
    [{ attempt: 3 }, 'updated'],
    [{ runId: '101' }, 'updated'],
    [{ runId: '1000000000000', create: false }, 'updated'],
  ] as const)('after attempt 2 of run 100, %j is %s', async (changes, outcome) => {
    await write({ ...TEXT, attempt: 2 });
    expect(await write({ ...TEXT, ...changes, body: 'Other.' })).toBe(outcome);
    expect(bodies()).toEqual([outcome === 'updated' ? 'Other.' : 'Good.']);
  });

  it('without `create` write no first comment', async () => {
    expect(await write({ ...TEXT, create: false })).toBe('none');
    expect(server.requests.length).toBe(1);
  });

  it.each([0, 9])(
    'leave one of two comments that jobs wrote at once, after %i refusals',
    async (refusals) => {
      for (const run of ['98', '99'])
        server.addComment({ pull: 7, author: BOT, body: `${markerOf(run)}\n${run}` });
      server.fail('DELETE', { status: 403 }, refusals);
      expect(await write(TEXT)).toBe('updated');
      expect(bodies()).toEqual(refusals === 0 ? ['Good.'] : ['Good.', '99']);
    },
  );
});

it('only a comment of the same key and author, with the marker in its first line, is updated', async () => {
  const marker = markerOf('999');
  server.addComment({ pull: 7, author: 'mallory', body: `${marker}\nForged.` });
  const broken = [
    marker.replace('-->', ''),
    marker.replace('run=', 'run=x'),
    ` ${marker}`,
    `Hello\n${marker}`,
  ];
  for (const line of broken) server.addComment({ pull: 7, author: BOT, body: `${line}\n` });
  await write(TEXT);
  await writerOf('issue_comment', 'other-token')({ ...TEXT, runId: '101', body: 'Mine.' });
  await write({ ...TEXT, key: '-->\n# CI / test' });
  expect(bodies().filter((body) => /^\w+\.$/u.test(body))).toEqual(['Forged.', 'Good.', 'Mine.', 'Good.']);
  expect(server.comments().at(-3)?.body).toBe(`${markerOf('100')}\nGood.`);
});

it.each(['POST /graphql', CREATE])('a refusal of %s is an error that names the permission', async (route) => {
  server.fail(route, { status: 403 });
  await expect(write(TEXT)).rejects.toThrow('Give the job `permissions: pull-requests: write`');
});

it('a comment without an answer is not sent again, because each one sends a mail to everybody', async () => {
  server.fail(CREATE, { kind: 'lost' });
  await expect(write(TEXT)).rejects.toThrow('GitHub could not be reached');
  expect(bodies()).toEqual(['Good.']);
});
