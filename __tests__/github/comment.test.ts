import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GitHubError } from '../../src/errors.ts';
import { createGitHub } from '../../src/github/client.ts';
import { createCommentWriter } from '../../src/github/comment.ts';
import { createHub } from '../../src/github/pull-request.ts';
import type { CommentText } from '../../src/reporters/report-types.ts';
import { type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';
import { eventOf, ofComment } from './world.ts';

const SHA = 'a'.repeat(40);
const BOT = 'github-actions[bot]';
const TEXT: CommentText = {
  key: 'CI / review',
  commit: SHA,
  runId: '100',
  attempt: 1,
  body: 'Good.',
  create: true,
};
const LIST = 'POST /graphql';
const CREATE = 'POST /repos';
const UPDATE = 'PATCH /repos';

let server: GitHubServer;
let write: ReturnType<typeof writer>;
beforeEach(() => {
  skipWaits();
  return start();
});
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});

/** Opens a pull request. */
async function start(locked = false) {
  server = await startGitHubServer({
    repository: 'o/r',
    tokens: { 'test-token': BOT, 'other-token': 'other[bot]' },
    pulls: [{ number: 7, head: { ref: 'x', sha: SHA }, base: { ref: 'main', sha: SHA }, locked }],
  });
  write = writer();
}

/** Returns what a run writes its comment with. */
function writer(token = 'test-token', event = eventOf('issue_comment', ofComment)) {
  const github = createGitHub({ token, apiUrl: server.apiUrl, fetch, userAgent: 'structured-agent/0.1.0' });
  return createCommentWriter(createHub(event, github, null));
}

/** The current comments without their markers. */
function standing(): string[] {
  return server.comments().map(({ body }) => body.replace(/^<!--.*-->\n/u, ''));
}

function sent(operation: string): number {
  return server.requests.filter((request) => request.operation.startsWith(operation)).length;
}

/** Adds a comment of this key, as a run of another job would. */
async function add(body: string, runId: string, author = BOT) {
  const marker = await markerOf({ runId });
  server.addComment({ pull: 7, author, body: `${marker}\n${body}` });
}

/** The marker that a run writes. */
async function markerOf(changes: Partial<CommentText> = {}): Promise<string> {
  const [here, own] = [server, write];
  await start();
  await write({ ...TEXT, ...changes });
  const [comment] = server.comments();
  await server.close();
  [server, write] = [here, own];
  return comment?.body.split('\n')[0] ?? '';
}

describe('consecutive runs', () => {
  it('create the comment once and update it in place', async () => {
    expect(await write(TEXT)).toBe('created');
    const [first] = server.comments();
    expect(await write({ ...TEXT, runId: '101', body: 'Better.' })).toBe('updated');
    expect(server.comments().map(({ id }) => id)).toEqual([first?.id]);
    expect(standing()).toEqual(['Better.']);
  });

  it('leave an equal comment unchanged, whatever line endings GitHub returns', async () => {
    await write({ ...TEXT, body: 'One\n\nTwo\n' });
    const [comment] = server.comments();
    server.changeComment(comment?.id ?? 0, `${comment?.body.replaceAll('\n', '\r\n').trim()}`);
    expect(await write({ ...TEXT, body: 'One\n\nTwo\n' })).toBe('unchanged');
    expect(sent(UPDATE)).toBe(0);
  });

  it.each([
    [{ runId: '99' }, 'superseded'],
    [{ runId: '9' }, 'superseded'],
    [{ attempt: 1 }, 'superseded'],
    [{ attempt: 3 }, 'updated'],
    [{ runId: '101' }, 'updated'],
    [{ runId: '1000000000000' }, 'updated'],
  ] as const)('after attempt 2 of run 100, %j is %s', async (changes, outcome) => {
    await write({ ...TEXT, attempt: 2 });
    expect(await write({ ...TEXT, ...changes, body: 'Other.' })).toBe(outcome);
    expect(standing()).toEqual([outcome === 'updated' ? 'Other.' : 'Good.']);
  });

  it('find the comment behind hundreds of others', async () => {
    for (let at = 0; at < 230; at++) server.addComment({ pull: 7, author: 'octocat', body: `${at}` });
    await write(TEXT);
    await write({ ...TEXT, runId: '101', body: 'Better.' });
    expect(standing().slice(230)).toEqual(['Better.']);
  });

  it('without `create` update an existing comment, and create none', async () => {
    expect(await write({ ...TEXT, create: false })).toBe('none');
    expect(server.requests.length).toBe(1);
    await write(TEXT);
    const green = { ...TEXT, runId: '101', body: 'Green.', create: false };
    expect(await write(green)).toBe('updated');
    expect(standing()).toEqual(['Green.']);
  });

  it('send no request without a pull request', async () => {
    const elsewhere = writer('test-token', eventOf('schedule'));
    expect(await elsewhere(TEXT)).toBe('no_pull_request');
    expect(server.requests).toEqual([]);
  });
});

describe('the marker of a comment', () => {
  it('belongs to one key and one author', async () => {
    await add('Forged.', '999', 'mallory');
    await write(TEXT);
    await writer('other-token')({ ...TEXT, runId: '101', body: 'Mine.' });
    await write({ ...TEXT, key: 'CI / test' });
    expect(standing()).toEqual(['Forged.', 'Good.', 'Mine.', 'Good.']);
  });

  it('is ignored when it is malformed or not in the first line', async () => {
    const marker = await markerOf({ runId: '999' });
    const broken = [marker.replace('-->', ''), marker.replace('run=', 'run=x')];
    for (const body of [`Hello\n${marker}\n`, ` ${marker}\n`, ...broken])
      server.addComment({ pull: 7, author: BOT, body });
    await write(TEXT);
    expect(server.comments().length).toBe(5);
  });

  it.each(['-->', '--!>\n# x', '\r\n@octocat', '<!--'])('is one line for the key %j', async (key) => {
    expect(await markerOf({ key })).toMatch(
      /^<!-- structured-agent:[0-9a-f]{32} commit=a{40} run=100 attempt=1 -->$/u,
    );
  });
});

describe('a failure', () => {
  it.each([{ kind: 'lost' }, { status: 502 }] as const)(
    'of the creation creates no second comment: %j',
    async (fault) => {
      server.fail(CREATE, fault);
      expect(await write(TEXT)).toBe('created');
      // Not even temporarily: each comment sends a mail to everybody who follows the pull request.
      expect(sent(CREATE)).toBe('kind' in fault ? 1 : 2);
      expect(standing()).toEqual(['Good.']);
    },
  );

  it('for a locked conversation says so', async () => {
    await server.close();
    await start(true);
    await expect(write(TEXT)).rejects.toThrow('Unlock the conversation of the pull request');
  });

  it.each([403, 404, 502])('with status %i ends the update without a comment', async (status) => {
    server.fail(LIST, { status }, 9);
    await expect(write(TEXT)).rejects.toBeInstanceOf(GitHubError);
    server.mend();
    server.fail(CREATE, { status }, 9);
    await expect(write(TEXT)).rejects.toMatchObject({ status });
    expect(standing()).toEqual([]);
  });
});

describe('concurrent jobs', () => {
  it.each([
    ['an older run', '99', 'updated', 'Good.'],
    ['a newer run', '101', 'superseded', 'Other.'],
  ])('keep one of two simultaneous comments, with the newer text: %s', async (_, run, outcome, kept) => {
    const marker = await markerOf({ runId: run });
    server.before(CREATE, () => server.addComment({ pull: 7, author: BOT, body: `${marker}\nOther.` }));
    expect(await write(TEXT)).toBe(outcome);
    expect(standing()).toEqual([kept]);
  });

  it('leave one comment after the next run, whatever failed before', async () => {
    const limited = { status: 403, headers: { 'retry-after': '1' } };
    const kinds = [{ kind: 'cut' }, { kind: 'lost' }, { status: 502 }, { status: 404 }, limited] as const;
    const operation = fc.constantFrom(LIST, CREATE, UPDATE, 'DELETE /repos');
    const faults = fc.array(fc.tuple(operation, fc.constantFrom(...kinds), fc.integer({ min: 1, max: 3 })), {
      maxLength: 5,
    });
    const run = fc.record({ runId: fc.integer({ min: 1, max: 9 }).map(String), create: fc.boolean() });
    const runs = fc.array(run, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(runs, faults, async (jobs, broken) => {
        await server.close();
        await start();
        for (const [route, kind, times] of broken) server.fail(route, kind, times);
        const results = jobs.map((job) => write({ ...TEXT, ...job, body: job.runId }));
        for (const result of await Promise.allSettled(results))
          expect(result.status === 'fulfilled' || result.reason instanceof GitHubError).toBe(true);
        server.mend();
        const last = await write({ ...TEXT, runId: '10', body: 'Last.' });
        expect([last === 'superseded', standing()]).toEqual([false, ['Last.']]);
      }),
      { numRuns: 25 },
    );
  });

  it('overwrite the comment of an older run that was written between read and update', async () => {
    const older = `${await markerOf({ runId: '99' })}\nOlder.`;
    await write({ ...TEXT, runId: '98', body: 'Oldest.' });
    const id = server.comments()[0]?.id ?? 0;
    server.before(UPDATE, () => server.before(LIST, () => server.changeComment(id, older)));
    await write(TEXT);
    expect([standing(), sent(UPDATE)]).toEqual([['Good.'], 2]);
  });

  it('remove duplicates left by a job that died between creating and removing', async () => {
    for (const word of ['First.', 'Second.', 'Third.']) await add(word, '99');
    await write(TEXT);
    expect(standing()).toEqual(['Good.']);
  });

  it('create a comment again that was deleted between read and update, once', async () => {
    await write(TEXT);
    server.before(UPDATE, () => server.changeComment(server.comments()[0]?.id ?? 0, null));
    expect(await write({ ...TEXT, runId: '101', body: 'Again.' })).toBe('created');
    expect(standing()).toEqual(['Again.']);
  });
});
