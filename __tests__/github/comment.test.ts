import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GitHubError } from '../../src/errors.ts';
import { createGitHub } from '../../src/github/client.ts';
import { createCommentWriter } from '../../src/github/comment.ts';
import type { CommentText } from '../../src/reporters/report-types.ts';
import { type FakePull, type GitHubServer, startGitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';

const SHA = 'a'.repeat(40);
const PULL: FakePull = { number: 7, head: { ref: 'x', sha: SHA }, base: { ref: 'main', sha: SHA } };
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
beforeEach(() => void skipWaits());
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});

/** Opens a pull request; returns what a run writes its comment with. */
async function start(pull: Partial<FakePull> = {}) {
  server = await startGitHubServer({
    tokens: { 'test-token': BOT, 'other-token': 'other[bot]' },
    pulls: [{ ...PULL, ...pull }],
  });
  return writer();
}

function writer(token = 'test-token', number: number | null = 7) {
  const github = createGitHub({ token, apiUrl: server.apiUrl, fetch, userAgent: 'structured-agent/0.1.0' });
  const place = number === null ? null : { repository: 'octo/demo', number };
  return createCommentWriter({ github, findPullRequest: async () => place });
}

/** The current comments without their markers. */
function standing(): string[] {
  return server.comments().map(({ body }) => body.replace(/^<!--.*-->\n/u, ''));
}

function sentOperations(): string[] {
  return server.requests.map(({ operation }) =>
    operation === LIST ? 'list' : (operation.split(' ')[0] ?? ''),
  );
}

/** The marker that a run writes for the key of `TEXT`. */
async function markerOf(changes: Partial<CommentText> = {}): Promise<string> {
  const before = server;
  const other = await startGitHubServer({ pulls: [PULL] });
  server = other;
  await writer()({ ...TEXT, ...changes });
  server = before;
  const [comment] = other.comments();
  await other.close();
  return comment?.body.split('\n')[0] ?? '';
}

describe('consecutive runs', () => {
  it('create the comment once and update it in place', async () => {
    const write = await start();
    const first = await write(TEXT);
    const second = await write({ ...TEXT, runId: '101', body: 'Better.' });
    const url = expect.stringMatching(/^https:\/\/github\.com\/octo\/demo\/pull\/7#issuecomment-\d+$/u);
    expect([first, second]).toEqual([
      { outcome: 'created', url },
      { outcome: 'updated', url },
    ]);
    expect(second.url).toBe(first.url);
    expect(standing()).toEqual(['Better.']);
    expect(server.comments()[0]?.body).toMatch(
      new RegExp(`^<!-- structured-agent:[0-9a-f]{32} commit=${SHA} run=101 attempt=1 -->\nBetter\\.$`, 'u'),
    );
  });

  it('leave an equal comment unchanged, whatever line endings GitHub returns', async () => {
    const write = await start();
    await write({ ...TEXT, body: 'One\n\nTwo\n' });
    const [comment] = server.comments();
    server.changeComment(comment?.id ?? 0, `${comment?.body.replaceAll('\n', '\r\n').trim()}`);
    expect(await write({ ...TEXT, body: 'One\n\nTwo\n' })).toMatchObject({ outcome: 'unchanged' });
    expect(sentOperations()).not.toContain('PATCH');
  });

  it.each([
    [{ runId: '99' }, 'superseded'],
    [{ runId: '9' }, 'superseded'],
    [{ attempt: 1 }, 'superseded'],
    [{ attempt: 3 }, 'updated'],
    [{ runId: '101' }, 'updated'],
    [{ runId: '1000000000000000000001' }, 'updated'],
  ] as const)('after attempt 2 of run 100, %j is %s', async (changes, outcome) => {
    const write = await start();
    await write({ ...TEXT, attempt: 2 });
    expect(await write({ ...TEXT, ...changes, body: 'Other.' })).toMatchObject({ outcome });
    expect(standing()).toEqual([outcome === 'updated' ? 'Other.' : 'Good.']);
  });

  it('find the comment behind hundreds of others', async () => {
    const write = await start();
    for (let at = 0; at < 230; at++) server.addComment({ pull: 7, author: 'octocat', body: `${at}` });
    await write(TEXT);
    await write({ ...TEXT, runId: '101', body: 'Better.' });
    expect(standing().slice(230)).toEqual(['Better.']);
  });

  it('without `create` update an existing comment, and create none', async () => {
    const write = await start();
    expect(await write({ ...TEXT, create: false })).toEqual({ outcome: 'none', url: null });
    expect(sentOperations()).toEqual(['list']);
    await write(TEXT);
    expect(await write({ ...TEXT, runId: '101', body: 'Green.', create: false })).toMatchObject({
      outcome: 'updated',
    });
    expect(standing()).toEqual(['Green.']);
  });

  it('send no request without a pull request', async () => {
    await start();
    expect(await writer('test-token', null)(TEXT)).toEqual({ outcome: 'no_pull_request', url: null });
    expect(sentOperations()).toEqual([]);
  });
});

describe('the marker of a comment', () => {
  it('belongs to one key and one author', async () => {
    const write = await start();
    const marker = await markerOf({ runId: '999' });
    server.addComment({ pull: 7, author: 'mallory', body: `${marker}\nForged.` });
    await write(TEXT);
    await writer('other-token')({ ...TEXT, runId: '101', body: 'Mine.' });
    await write({ ...TEXT, key: 'CI / test' });
    expect(standing()).toEqual(['Forged.', 'Good.', 'Mine.', 'Good.']);
  });

  it('is ignored when it is malformed or not in the first line', async () => {
    const write = await start();
    const marker = await markerOf({ runId: '999' });
    const broken = [marker.replace('-->', ''), marker.replace('run=', 'run=x')];
    for (const body of [`Hello\n${marker}\n`, ` ${marker}\n`, ...broken])
      server.addComment({ pull: 7, author: BOT, body });
    await write(TEXT);
    expect(server.comments().length).toBe(5);
  });

  it('is well-formed and on one line for any key, commit and run id', async () => {
    await start();
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('-->', '--!>\n# x', '<!--', '\r\n@octocat'),
    );
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, async (key, commit, runId) => {
        const [line, ...rest] = (await markerOf({ key, commit, runId })).split('\n');
        expect(rest).toEqual([]);
        // What a comment leaves room for.
        expect(line?.length).toBeLessThan(200);
        expect(line).toMatch(
          /^<!-- structured-agent:[0-9a-f]{32} commit=(?:[0-9a-f]{7,64}|unknown) run=\d+ attempt=1 -->$/u,
        );
      }),
      { numRuns: 25 },
    );
  });
});

describe('failures', () => {
  const failureOf = async (promise: Promise<unknown>) => {
    const error = await promise.catch((caught: unknown) => caught);
    if (!(error instanceof GitHubError)) throw new Error(`No GitHubError: ${String(error)}`);
    return error;
  };

  it('a lost response does not create a second comment', async () => {
    const write = await start();
    server.fail(CREATE, { kind: 'lost' });
    expect(await write(TEXT)).toMatchObject({ outcome: 'created' });
    // Not even temporarily: each comment sends a mail to everybody who follows the pull request.
    expect(sentOperations().filter((each) => each === 'POST')).toEqual(['POST']);
    expect(standing()).toEqual(['Good.']);
  });

  it('a locked conversation is reported as such', async () => {
    const write = await start({ locked: true });
    expect((await failureOf(write(TEXT))).message).toBe(
      'The conversation of the pull request is locked. Unlock it, or set comment: never.',
    );
  });

  it.each([403, 404, 500])('a %i response ends the update without a comment', async (status) => {
    const write = await start();
    server.fail(LIST, { status }, 9);
    expect((await failureOf(write(TEXT))).status).toBe(status);
    expect(standing()).toEqual([]);
  });
});

describe('concurrent jobs', () => {
  it('keep the older of two simultaneous comments, with the newer text', async () => {
    const write = await start();
    const older = `${await markerOf({ runId: '99' })}\nFrom the other job.`;
    server.before(CREATE, () => void server.addComment({ pull: 7, author: BOT, body: older }));
    expect(await write(TEXT)).toMatchObject({ outcome: 'updated' });
    expect(standing()).toEqual(['Good.']);
  });

  it('leave one comment after the next run, whatever failed before', async () => {
    const limited = { status: 403, headers: { 'retry-after': '1' } };
    const kinds = [{ kind: 'cut' }, { kind: 'lost' }, { status: 502 }, { status: 404 }, limited] as const;
    const operations = [LIST, CREATE, UPDATE, 'DELETE /repos'];
    const fault = fc.tuple(
      fc.constantFrom(...operations),
      fc.constantFrom(...kinds),
      fc.integer({ min: 1, max: 3 }),
    );
    const faults = fc.array(fault, { maxLength: 5 });
    const run = fc.record({ runId: fc.integer({ min: 1, max: 9 }).map(String), create: fc.boolean() });
    const runs = fc.array(run, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(runs, faults, async (jobs, broken) => {
        const write = await start();
        for (const [operation, kind, times] of broken) server.fail(operation, kind, times);
        const results = jobs.map((job) => write({ ...TEXT, ...job, body: job.runId }));
        for (const result of await Promise.allSettled(results))
          expect(result.status === 'fulfilled' || result.reason instanceof GitHubError).toBe(true);
        server.mend();
        expect(await write({ ...TEXT, runId: '10', body: 'Last.' })).not.toMatchObject({
          outcome: 'superseded',
        });
        expect(standing()).toEqual(['Last.']);
        await server.close();
      }),
      { numRuns: 40 },
    );
    await start();
  });

  it('overwrite the comment of an older run that was written between read and update', async () => {
    const write = await start();
    const older = `${await markerOf({ runId: '99' })}\nOlder.`;
    await write({ ...TEXT, runId: '98', body: 'Oldest.' });
    const [comment] = server.comments();
    const id = comment?.id ?? 0;
    let looks = 0;
    const spoil = () => {
      looks += 1;
      if (looks === 2) server.changeComment(id, older);
      server.before(LIST, spoil);
    };
    server.before(LIST, spoil);
    await write(TEXT);
    expect(standing()).toEqual(['Good.']);
  });

  it('remove duplicates left by a job that died between creating and removing', async () => {
    const write = await start();
    const marker = await markerOf({ runId: '99' });
    for (const word of ['First.', 'Second.', 'Third.'])
      server.addComment({ pull: 7, author: BOT, body: `${marker}\n${word}` });
    await write(TEXT);
    expect(standing()).toEqual(['Good.']);
  });

  it('create a comment again that was deleted between read and update, once', async () => {
    const write = await start();
    await write(TEXT);
    server.before(UPDATE, () => server.changeComment(server.comments()[0]?.id ?? 0, null));
    expect(await write({ ...TEXT, runId: '101', body: 'Again.' })).toMatchObject({ outcome: 'created' });
    expect(standing()).toEqual(['Again.']);
  });
});
