import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { GitHubError } from '../../src/errors.ts';
import { createGitHub } from '../../src/github/api.ts';
import { type CommentText, createCommentWriter } from '../../src/github/comment.ts';
import { commentBody } from '../../src/reporters/comment-body.ts';
import { createSecrets } from '../../src/secrets.ts';
import { sampleReport } from '../reporters/sample-report.ts';
import { type FakePull, type GitHubServer, startGitHubServer } from '../support/github-server.ts';

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

async function start(pull: Partial<FakePull> = {}, token = 'test-token') {
  server = await startGitHubServer({
    tokens: { 'test-token': BOT, 'other-token': 'other[bot]' },
    pulls: [{ ...PULL, ...pull }],
  });
  return writer(token);
}

function writer(token = 'test-token', number: number | null = 7) {
  const github = createGitHub({
    token,
    apiUrl: server.apiUrl,
    graphqlUrl: server.graphqlUrl,
    fetch,
    userAgent: 'structured-agent/0.1.0',
    pause: async () => undefined,
  });
  const place = number === null ? null : { repository: 'octo/demo', number };
  return createCommentWriter({ github, findPullRequest: async () => place });
}

/** What stands, without markers. */
function standing(): string[] {
  return server.comments().map(({ body }) => body.replace(/^<!--.*-->\n/u, ''));
}

function asked(): string[] {
  return server.requests.map(
    ({ operation }) => operation.split(' ')[0] + (operation === LIST ? ' list' : ''),
  );
}

/** The marker that a run writes for the key of `TEXT`. */
async function markerOf(changes: Partial<CommentText> = {}): Promise<string> {
  const other = await startGitHubServer({ pulls: [PULL] });
  const before = server;
  server = other;
  await writer()({ ...TEXT, ...changes });
  server = before;
  const [comment] = other.comments();
  await other.close();
  return comment?.body.split('\n')[0] ?? '';
}

afterEach(() => server.close());

describe('one run after another', () => {
  it('creates the comment once and updates it in place', async () => {
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

  it('leaves an equal comment alone, whatever line ends GitHub keeps it with', async () => {
    const write = await start();
    await write({ ...TEXT, body: 'One\n\nTwo\n' });
    const [comment] = server.comments();
    server.changeComment(comment?.id ?? 0, `${comment?.body.replaceAll('\n', '\r\n').trim()}`);
    expect(await write({ ...TEXT, body: 'One\n\nTwo\n' })).toMatchObject({ outcome: 'unchanged' });
    expect(asked()).not.toContain('PATCH');
  });

  it('writes the newer marker even where the text is equal, or a run between the two could have its way', async () => {
    const write = await start();
    await write(TEXT);
    await write({ ...TEXT, runId: '120' });
    expect(await write({ ...TEXT, runId: '110', body: 'Late.' })).toMatchObject({ outcome: 'superseded' });
    expect(standing()).toEqual(['Good.']);
  });

  it.each([
    [{ runId: '99' }, 'superseded'],
    [{ runId: '9' }, 'superseded'],
    [{ attempt: 1 }, 'superseded'],
    [{ attempt: 2 }, 'updated'],
    [{ attempt: 3 }, 'updated'],
    [{ runId: '101' }, 'updated'],
    [{ runId: '1000000000000000000001' }, 'updated'],
  ] as const)('of attempt 2 of run 100, %j finds %s', async (changes, outcome) => {
    const write = await start();
    await write({ ...TEXT, attempt: 2 });
    expect(await write({ ...TEXT, ...changes, body: 'Other.' })).toMatchObject({ outcome });
    expect(standing()).toEqual([outcome === 'updated' ? 'Other.' : 'Good.']);
  });

  it('keeps the comments of two keys apart', async () => {
    const write = await start();
    await write(TEXT);
    await write({ ...TEXT, key: 'CI / test' });
    expect(standing()).toEqual(['Good.', 'Good.']);
  });

  it('finds the comment behind hundreds of others', async () => {
    const write = await start();
    for (let at = 0; at < 230; at++) server.addComment({ pull: 7, author: 'octocat', body: `${at}` });
    await write(TEXT);
    await write({ ...TEXT, runId: '101', body: 'Better.' });
    expect(standing().slice(230)).toEqual(['Better.']);
  });

  it('without `create` updates what stands, and makes nothing where nothing does', async () => {
    const write = await start();
    expect(await write({ ...TEXT, create: false })).toEqual({ outcome: 'none', url: null });
    expect(asked()).toEqual(['POST list']);
    await write(TEXT);
    expect(await write({ ...TEXT, runId: '101', body: 'Green.', create: false })).toMatchObject({
      outcome: 'updated',
    });
    expect(standing()).toEqual(['Green.']);
  });

  it('asks nobody where there is no pull request', async () => {
    await start();
    expect(await writer('test-token', null)(TEXT)).toEqual({ outcome: 'no_pull_request', url: null });
    expect(asked()).toEqual([]);
  });
});

describe('whose comment it is', () => {
  it('takes no marker that another author wrote', async () => {
    const write = await start();
    const marker = await markerOf({ runId: '999' });
    server.addComment({ pull: 7, author: 'mallory', body: `${marker}\nForged.` });
    await write(TEXT);
    expect(standing()).toEqual(['Forged.', 'Good.']);
  });

  it('takes no marker behind the first line, nor a broken one', async () => {
    const write = await start();
    const marker = await markerOf({ runId: '999' });
    for (const body of [
      `Hello\n${marker}\n`,
      ` ${marker}\n`,
      marker.replace('-->', ''),
      marker.replace('run=', 'run=x'),
    ])
      server.addComment({ pull: 7, author: BOT, body });
    await write(TEXT);
    expect(server.comments().length).toBe(5);
  });

  it('leaves the comments of another token alone', async () => {
    const write = await start();
    await write(TEXT);
    await writer('other-token')({ ...TEXT, runId: '101', body: 'Mine.' });
    expect(standing()).toEqual(['Good.', 'Mine.']);
  });

  it('holds any key, commit and run id in one line that ends where it should', async () => {
    await start();
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('-->', '--!>\n# x', '<!--', '\r\n@octocat'),
    );
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, async (key, commit, runId) => {
        const [line, ...rest] = (await markerOf({ key, commit, runId })).split('\n');
        expect(rest).toEqual([]);
        expect(line).toMatch(
          /^<!-- structured-agent:[0-9a-f]{32} commit=(?:[0-9a-f]{7,64}|unknown) run=\d+ attempt=1 -->$/u,
        );
      }),
      { numRuns: 25 },
    );
  });
});

describe('other jobs at the same time', () => {
  it('of two comments that were created at once, the older one stays with the newer word', async () => {
    const write = await start();
    const older = `${await markerOf({ runId: '99' })}\nFrom the other job.`;
    server.before(CREATE, () => void server.addComment({ pull: 7, author: BOT, body: older }));
    expect(await write(TEXT)).toMatchObject({ outcome: 'updated' });
    expect(standing()).toEqual(['Good.']);
  });

  it('a newer run that created at the same time has the last word', async () => {
    const write = await start();
    const newer = `${await markerOf({ runId: '101' })}\nNewer.`;
    server.before(CREATE, () => void server.addComment({ pull: 7, author: BOT, body: newer }));
    expect(await write(TEXT)).toMatchObject({ outcome: 'superseded' });
    expect(standing()).toEqual(['Newer.']);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])(
    'jobs that truly race leave one comment, of the newest run (try %i)',
    async () => {
      await start();
      const runs = ['101', '104', '102', '103'];
      await Promise.all(runs.map((runId) => writer()({ ...TEXT, runId, body: runId })));
      expect(standing()).toEqual(['104']);
    },
  );

  it('whatever broke and whoever raced, the next run leaves one comment, its own', async () => {
    const faults = fc.array(
      fc.tuple(
        fc.constantFrom(LIST, CREATE, UPDATE, 'DELETE /repos'),
        fc.constantFrom(
          { kind: 'cut' } as const,
          { kind: 'lost' } as const,
          { status: 502 },
          { status: 404 },
          { status: 403, headers: { 'retry-after': '1' } },
        ),
        fc.integer({ min: 1, max: 3 }),
      ),
      { maxLength: 5 },
    );
    const runs = fc.array(
      fc.record({ runId: fc.integer({ min: 1, max: 9 }).map(String), create: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 5,
      },
    );
    await fc.assert(
      fc.asyncProperty(runs, faults, async (jobs, broken) => {
        const write = await start();
        for (const [operation, fault, times] of broken) server.fail(operation, fault, times);
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
      { numRuns: 60 },
    );
    await start();
  });

  it('an older run that wrote between our look and our word is overwritten', async () => {
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

  it('tidies up what a job left that died between creating and removing', async () => {
    const write = await start();
    const marker = await markerOf({ runId: '99' });
    for (const word of ['First.', 'Second.', 'Third.'])
      server.addComment({ pull: 7, author: BOT, body: `${marker}\n${word}` });
    await write(TEXT);
    expect(standing()).toEqual(['Good.']);
  });

  it('a comment deleted between look and word is made anew, once', async () => {
    const write = await start();
    await write(TEXT);
    server.before(UPDATE, () => server.changeComment(server.comments()[0]?.id ?? 0, null));
    expect(await write({ ...TEXT, runId: '101', body: 'Again.' })).toMatchObject({ outcome: 'created' });
    expect(standing()).toEqual(['Again.']);
  });
});

describe('what goes wrong', () => {
  const failureOf = async (promise: Promise<unknown>) => {
    const error = await promise.catch((caught: unknown) => caught);
    if (!(error instanceof GitHubError)) throw new Error(`No GitHubError: ${String(error)}`);
    return error;
  };

  it('a comment whose answer was lost is not made twice', async () => {
    const write = await start();
    server.fail(CREATE, { kind: 'lost' });
    expect(await write(TEXT)).toMatchObject({ outcome: 'created' });
    // Not even for a moment: each one is a mail to everybody who follows the pull request.
    expect(asked().filter((each) => each === 'POST')).toEqual(['POST']);
    expect(standing()).toEqual(['Good.']);
  });

  it.each([500, 502, 503])('a comment that GitHub answered by %i is made all the same', async (status) => {
    const write = await start();
    server.fail(CREATE, { status });
    expect(await write(TEXT)).toMatchObject({ outcome: 'created' });
    expect(standing()).toEqual(['Good.']);
  });

  it('a missing permission names the one that is missing', async () => {
    const write = await start();
    server.fail(CREATE, { status: 403, message: 'Resource not accessible by integration' });
    const { kind, message } = await failureOf(write(TEXT));
    expect(kind).toBe('forbidden');
    expect(message).toContain('`permissions: pull-requests: write`');
  });

  it('the longest comment with its marker is one that GitHub takes', async () => {
    const write = await start();
    const findings = Array.from({ length: 300 }, (_, at) => ({
      message: `🐙${'&'.repeat(at % 90)}`,
      path: 'x',
    }));
    const report = sampleReport({
      payload: { summary: 'x'.repeat(60_000), findings },
      weaknesses: ['w'.repeat(900)],
    });
    const body = commentBody(report, TEXT.key, { secrets: createSecrets(), serverUrl: 'https://github.com' });
    expect(Buffer.byteLength(body)).toBeGreaterThan(10_000);
    await write({ ...TEXT, runId: '9'.repeat(30), attempt: 999_999, commit: 'f'.repeat(64), body });
    expect(standing()).toEqual([body]);
  });

  it('a locked conversation is called that', async () => {
    const write = await start({ locked: true });
    expect((await failureOf(write(TEXT))).message).toBe(
      'The conversation of the pull request is locked. Unlock it, or set comment: never.',
    );
  });

  it.each([401, 403, 404, 422, 500])('%i ends it without a comment', async (status) => {
    const write = await start();
    server.fail(LIST, { status }, 9);
    expect((await failureOf(write(TEXT))).status).toBe(status);
    expect(standing()).toEqual([]);
  });
});
