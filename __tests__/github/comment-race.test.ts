import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GitHubError } from '../../src/errors.ts';
import {
  BOT,
  CREATE,
  LIST,
  markerOf,
  server,
  standing,
  start,
  TEXT,
  UPDATE,
  writer,
} from './comment-world.ts';

describe('concurrent jobs', () => {
  it('keep the older of two simultaneous comments, with the newer text', async () => {
    const write = await start();
    const older = `${await markerOf({ runId: '99' })}\nFrom the other job.`;
    server.before(CREATE, () => void server.addComment({ pull: 7, author: BOT, body: older }));
    expect(await write(TEXT)).toMatchObject({ outcome: 'updated' });
    expect(standing()).toEqual(['Good.']);
  });

  it('give the last word to a newer run that created its comment at the same time', async () => {
    const write = await start();
    const newer = `${await markerOf({ runId: '101' })}\nNewer.`;
    server.before(CREATE, () => void server.addComment({ pull: 7, author: BOT, body: newer }));
    expect(await write(TEXT)).toMatchObject({ outcome: 'superseded' });
    expect(standing()).toEqual(['Newer.']);
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('leave one comment, of the newest run (try %i)', async () => {
    await start();
    const runs = ['101', '104', '102', '103'];
    await Promise.all(runs.map((runId) => writer()({ ...TEXT, runId, body: runId })));
    expect(standing()).toEqual(['104']);
  });

  it('leave one comment after the next run, whatever failed before', async () => {
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
    const run = fc.record({ runId: fc.integer({ min: 1, max: 9 }).map(String), create: fc.boolean() });
    const runs = fc.array(run, { minLength: 1, maxLength: 5 });
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
