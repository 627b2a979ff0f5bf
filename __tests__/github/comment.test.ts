import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GitHubError } from '../../src/errors.ts';
import { createCommentWriter } from '../../src/github/comment.ts';
import type { EventFacts } from '../../src/github/event.ts';
import type { CommentText } from '../../src/reporters/report-types.ts';
import type { GitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';
import { connect, HEAD, REFUSALS, serve, triggerOf } from './world.ts';

const BOT = 'github-actions[bot]';
const TEXT: CommentText = {
  key: 'CI / review',
  commit: HEAD,
  runId: '100',
  attempt: 1,
  body: 'Good.',
  create: true,
};
const LIST = 'POST /graphql';
const CREATE = 'POST /repos';
const UPDATE = 'PATCH /repos';

let server: GitHubServer;
let write: ReturnType<typeof createCommentWriter>;
const writerOf = (event: EventFacts, token?: string) =>
  createCommentWriter(connect(server, event, null, token));
async function start(locked = false) {
  server = await serve(locked);
  write = writerOf(triggerOf('issue_comment'));
}
beforeEach(() => {
  skipWaits();
  return start();
});
afterEach(() => {
  vi.unstubAllGlobals();
  return server.close();
});

/** The current comments without their markers. */
const bodies = () => server.comments().map(({ body }) => body.replace(/^<!--.*-->\n/u, ''));
const sent = (operation: string) =>
  server.requests.filter((request) => request.operation.startsWith(operation)).length;

/** The first line of the comment of a run. */
const markerOf = (runId: string) =>
  `<!-- structured-agent:707718d1f7f0221e667202b8c4e171eb commit=${HEAD} run=${runId} attempt=1 -->`;

it.each(['pull_request', 'pull_request_target', 'issue_comment', 'workflow_run', 'merge_group'])(
  'on %s the pull request of a fork gets its comment',
  async (name) => {
    expect(await writerOf(triggerOf(name))(TEXT)).toBe('created');
    expect(bodies()).toEqual(['Good.']);
  },
);

// GitHub lists no commits of forks.
it.each([triggerOf('push', { sha: HEAD }), triggerOf('schedule')])(
  'on $name there is no comment',
  async (event) => {
    expect([await writerOf(event)(TEXT), bodies()]).toEqual(['no_pull_request', []]);
  },
);

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
  const other = writerOf(triggerOf('issue_comment'), 'other-token');
  await other({ ...TEXT, runId: '101', body: 'Mine.' });
  await write({ ...TEXT, key: 'CI / test' });
  expect(bodies().filter((body) => /^\w+\.$/u.test(body))).toEqual(['Forged.', 'Good.', 'Mine.', 'Good.']);
});

it.each(['-->', '--!>\n# x', '\r\n@octocat', '<!--'])(
  'the marker is one line for the key %j',
  async (key) => {
    await write({ ...TEXT, key });
    const line = /^<!-- structured-agent:[0-9a-f]{32} commit=a{40} run=100 attempt=1 -->\nGood\.$/u;
    expect(server.comments()[0]?.body).toMatch(line);
  },
);

describe('a failure', () => {
  it.each(REFUSALS)('%j ends the update with an error that says what to do', async (fault, fix) => {
    for (const route of [LIST, CREATE]) {
      server.fail(route, fault, 20);
      const refused = write(TEXT);
      await expect(refused).rejects.toBeInstanceOf(GitHubError);
      await expect(refused).rejects.toThrow(fix.replace('NEEDS', 'pull-requests: write'));
      server.mend();
    }
    expect(bodies()).toEqual([]);
  });

  it('for a locked conversation says so', async () => {
    await server.close();
    await start(true);
    await expect(write(TEXT)).rejects.toThrow('Unlock the conversation of the pull request');
  });

  it.each([{ kind: 'lost' }, { status: 502 }] as const)('%j creates no second comment', async (fault) => {
    server.fail(CREATE, fault);
    await write(TEXT);
    // Not even temporarily: each comment sends a mail to everybody who follows the pull request.
    expect([sent(CREATE), bodies()]).toEqual(['kind' in fault ? 1 : 2, ['Good.']]);
  });
});

describe('two jobs at once', () => {
  it.each([
    ['an older run', '99', 'updated', 'Good.'],
    ['a newer run', '101', 'superseded', 'Other.'],
  ])('keep one of two comments, with the newer text: %s', async (_, run, outcome, kept) => {
    server.before(CREATE, () =>
      server.addComment({ pull: 7, author: BOT, body: `${markerOf(run)}\nOther.` }),
    );
    expect(await write(TEXT)).toBe(outcome);
    expect(bodies()).toEqual([kept]);
  });

  it('overwrite what an older run wrote between read and update', async () => {
    await write({ ...TEXT, runId: '98', body: 'Oldest.' });
    const id = server.comments()[0]?.id ?? 0;
    const older = `${markerOf('99')}\nOlder.`;
    server.before(UPDATE, () => server.before(LIST, () => server.changeComment(id, older)));
    await write(TEXT);
    expect([bodies(), sent(UPDATE)]).toEqual([['Good.'], 2]);
  });

  it('create a comment again that was deleted between read and update, once', async () => {
    await write(TEXT);
    server.before(UPDATE, () => server.changeComment(server.comments()[0]?.id ?? 0, null));
    expect(await write({ ...TEXT, runId: '101', body: 'Again.' })).toBe('created');
    expect(bodies()).toEqual(['Again.']);
  });

  it('leave one comment after the next run, whatever failed before', async () => {
    const limited = { status: 403, headers: { 'retry-after': '1' } };
    const kinds = [{ kind: 'cut' }, { kind: 'lost' }, { status: 502 }, { status: 404 }, limited] as const;
    const operation = fc.constantFrom(LIST, CREATE, UPDATE, 'DELETE /repos');
    const fault = fc.tuple(operation, fc.constantFrom(...kinds), fc.integer({ min: 1, max: 3 }));
    const run = fc.record({ runId: fc.integer({ min: 1, max: 9 }).map(String), create: fc.boolean() });
    const runs = fc.array(run, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(runs, fc.array(fault, { maxLength: 5 }), async (jobs, broken) => {
        await server.close();
        await start();
        for (const [route, kind, times] of broken) server.fail(route, kind, times);
        const results = jobs.map((job) => write({ ...TEXT, ...job, body: job.runId }));
        for (const result of await Promise.allSettled(results))
          expect(result.status === 'fulfilled' || result.reason instanceof GitHubError).toBe(true);
        server.mend();
        const last = await write({ ...TEXT, runId: '10', body: 'Last.' });
        expect([last === 'superseded', bodies()]).toEqual([false, ['Last.']]);
      }),
      { numRuns: 25 },
    );
  });
});
