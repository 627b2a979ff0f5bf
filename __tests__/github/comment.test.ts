import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GitHubError } from '../../src/errors.ts';
import { commentBody } from '../../src/reporters/comment.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { sampleReport } from '../reporters/sample-report.ts';
import {
  BOT,
  CREATE,
  LIST,
  markerOf,
  SHA,
  sentOperations,
  server,
  standing,
  start,
  TEXT,
  writer,
} from './comment-world.ts';

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

  it('write the newer marker even when the text is equal, so that a late run cannot overwrite it', async () => {
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
  ] as const)('after attempt 2 of run 100, %j is %s', async (changes, outcome) => {
    const write = await start();
    await write({ ...TEXT, attempt: 2 });
    expect(await write({ ...TEXT, ...changes, body: 'Other.' })).toMatchObject({ outcome });
    expect(standing()).toEqual([outcome === 'updated' ? 'Other.' : 'Good.']);
  });

  it('keep the comments of two keys apart', async () => {
    const write = await start();
    await write(TEXT);
    await write({ ...TEXT, key: 'CI / test' });
    expect(standing()).toEqual(['Good.', 'Good.']);
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
    expect(sentOperations()).toEqual(['POST list']);
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
  it('is ignored when another author wrote it', async () => {
    const write = await start();
    const marker = await markerOf({ runId: '999' });
    server.addComment({ pull: 7, author: 'mallory', body: `${marker}\nForged.` });
    await write(TEXT);
    expect(standing()).toEqual(['Forged.', 'Good.']);
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

  it('belongs to one token: comments of another token are kept', async () => {
    const write = await start();
    await write(TEXT);
    await writer('other-token')({ ...TEXT, runId: '101', body: 'Mine.' });
    expect(standing()).toEqual(['Good.', 'Mine.']);
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

  it.each([500, 502, 503])('a comment is created in spite of a %i response', async (status) => {
    const write = await start();
    server.fail(CREATE, { status });
    expect(await write(TEXT)).toMatchObject({ outcome: 'created' });
    expect(standing()).toEqual(['Good.']);
  });

  it('a missing permission is named', async () => {
    const write = await start();
    server.fail(CREATE, { status: 403, message: 'Resource not accessible by integration' });
    const { kind, message } = await failureOf(write(TEXT));
    expect(kind).toBe('forbidden');
    expect(message).toContain('`permissions: pull-requests: write`');
  });

  it('GitHub accepts the longest comment with its marker', async () => {
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

  it('a locked conversation is reported as such', async () => {
    const write = await start({ locked: true });
    expect((await failureOf(write(TEXT))).message).toBe(
      'The conversation of the pull request is locked. Unlock it, or set comment: never.',
    );
  });

  it.each([401, 403, 404, 422, 500])('a %i response ends the update without a comment', async (status) => {
    const write = await start();
    server.fail(LIST, { status }, 9);
    expect((await failureOf(write(TEXT))).status).toBe(status);
    expect(standing()).toEqual([]);
  });
});
