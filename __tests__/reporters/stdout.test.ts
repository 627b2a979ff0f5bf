import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createStdout, type OutputFormat } from '../../src/reporters/stdout.ts';
import type { JsonObject } from '../../src/types.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { sampleEvents } from './sample-events.ts';
import { notMet, sampleReport, sampleVerdict, unpublished } from './sample-report.ts';

const secrets = knowSecrets('sk-canary-1');
const OPTIONS = { version: '0.1.0', cwd: '/w', mask: secrets.mask };

/** Returns what was written when the events were over, and what was written in the end. */
async function print(format: OutputFormat, report: Report, events = sampleEvents) {
  const stream = new PassThrough();
  const stdout = createStdout(stream, format, OPTIONS);
  for (const event of events) stdout.reporter.event?.(event);
  const early = stream.readableLength;
  await stdout.writeOutputs(report);
  // Called again if something else failed meanwhile.
  await stdout.writeOutputs(report);
  return { early, whole: await text(stream.end()) };
}

it.each<[string, Report]>([
  ['success', sampleReport()],
  ['failure', sampleReport({ verdict: notMet, gate: { status: 'not_met', issues: [] } })],
  ['a signal after acceptance', sampleReport({ verdict: sampleVerdict('cancelled', 'Cancelled.', true) })],
  ['plain text', sampleReport(unpublished('It said sk-canary-1.'))],
])('P1 P2 after %s each format is written once, at its time', async (_, report) => {
  const end = envelope(report, secrets.mask);
  const payload = report.verdict.published ? `${JSON.stringify(report.payload)}\n` : '';
  expect(await print('text', report)).toEqual({ early: 0, whole: payload });
  const object = await print('object', report);
  expect([object.early, JSON.parse(object.whole)]).toEqual([0, end]);
  const json = await print('json', report);
  const messages: JsonObject[] = JSON.parse(json.whole);
  expect(messages.map(({ type }) => type)).toEqual(expect.arrayContaining(['system', 'assistant', 'user']));
  expect([json.early, messages.at(-1)]).toEqual([0, end]);
  expect(messages.filter(({ type }) => type === 'result').length).toBe(1);
  expect(JSON.parse((await print('json', report, [])).whole)).toEqual([end]);
  const lines = messages.map((message) => `${JSON.stringify(message)}\n`);
  const stream = await print('stream-json', report);
  expect(stream).toEqual({ early: Buffer.byteLength(lines.slice(0, -1).join('')), whole: lines.join('') });
});

it('says nothing about a loss that has ended the run', async () => {
  const stream = new PassThrough();
  const stdout = createStdout(stream, 'json', OPTIONS);
  stream.emit('error', new Error('EPIPE'));
  await stdout.writeOutputs(sampleReport(unpublished('stdout did not take everything')));
  expect(stream.readableLength).toBe(0);
});

/** A stream whose nth write fails, and whose writes take a turn of the event loop. */
function failing(nth: number): Writable {
  let count = 0;
  return new Writable({
    write(_chunk, _encoding, done) {
      count += 1;
      setImmediate(done, count === nth ? new Error('ENOSPC') : null);
    },
  });
}

// A full disk and the real stdout are in `e2e/cli.test.ts`.
it.each([
  ['the payload', 1],
  ['the line break, as when a disk fills up', 2],
])('fails if the system does not take %s', async (_, nth) => {
  const stream = failing(nth);
  const stdout = createStdout(stream, 'text', OPTIONS);
  await expect(stdout.writeOutputs(sampleReport())).rejects.toThrow(
    'stdout did not take everything: ENOSPC. Read it to the end, or send it to a file.',
  );
});
