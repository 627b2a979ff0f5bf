import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createStdout, type OutputFormat } from '../../src/reporters/stdout.ts';
import type { JsonObject, Verdict } from '../../src/types.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';
import type { ToldScript } from '../support/worlds/reporting-process.ts';
import { sampleEvents } from './sample-events.ts';
import { notMet, sampleReport, unpublished } from './sample-report.ts';

const secrets = knowSecrets('sk-canary-1');

/** Returns what was written when the events were over, and what was written in the end. */
async function print(format: OutputFormat, report: Report, events = sampleEvents) {
  const stream = new PassThrough();
  const stdout = createStdout({ stream, format, secrets, version: '0.1.0', cwd: '/w' });
  for (const event of events) stdout.reporter.event?.(event);
  const early = stream.readableLength;
  await stdout.writeOutputs(report);
  // Called again if something else failed meanwhile.
  await stdout.writeOutputs(report);
  return { early, whole: await text(stream.end()) };
}

const ofSignal = { conclusion: 'inconclusive', reason: 'cancelled', subtype: 'error_cancelled' } as const;
const cancelled: Verdict = { ...ofSignal, exitCode: 130, published: true, error: 'Cancelled.' };

it.each<[string, Report]>([
  ['success', sampleReport()],
  ['failure', sampleReport({ verdict: notMet, gate: { status: 'not_met', issues: [] } })],
  ['a signal after acceptance', sampleReport({ verdict: cancelled })],
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
  const lines = messages.map((message) => `${JSON.stringify(message)}\n`);
  const stream = await print('stream-json', report);
  expect(stream).toEqual({ early: Buffer.byteLength(lines.slice(0, -1).join('')), whole: lines.join('') });
});

it('P2 json of a run that never started is an array with the envelope', async () => {
  const report = sampleReport(unpublished('No.'));
  expect(JSON.parse((await print('json', report, [])).whole)).toEqual([envelope(report, secrets.mask)]);
});

it('says nothing about a loss that has ended the run', async () => {
  const stream = new PassThrough();
  const stdout = createStdout({ stream, format: 'json', secrets, version: '0.1.0', cwd: '/w' });
  stream.emit('error', new Error('EPIPE'));
  await stdout.writeOutputs(sampleReport(unpublished('stdout did not take everything')));
  expect(stream.readableLength).toBe(0);
});

describe('a process', () => {
  const folder = makeFolder();
  const program = fileURLToPath(new URL('../support/worlds/reporting-process.ts', import.meta.url));
  /** Far more than the buffer of a pipe. */
  const large: JsonObject = { passed: true, summary: 'ä€😀'.repeat(400_000) };
  const largeText = `${JSON.stringify(large)}\n`;
  const remark = { type: 'notice', level: 'info', text: 'REMARK' } as const;

  /** Starts a shell line in which `$RUN` is the process. */
  function start(line: string, script: Partial<ToldScript>) {
    const report = sampleReport({ payload: large });
    const file = path.join(folder, 'script.json');
    writeFileSync(file, JSON.stringify({ format: 'text', quiet: true, report, ...script }));
    const run = [process.execPath, program, file].map((word) => `'${word}'`).join(' ');
    const child = spawn('/bin/sh', ['-c', line.replaceAll('$RUN', `exec ${run}`)], { cwd: folder });
    const ended = { stderr: '' };
    child.stderr.on('data', (data) => {
      ended.stderr += data;
    });
    return { child, end: async () => ({ code: (await once(child, 'close'))[0], ...ended }) };
  }

  it('waits for a slow reader', async () => {
    const { child, end } = start('$RUN', { quiet: false, events: [remark] });
    await once(child.stderr, 'data');
    // Nothing has been read yet, and a pipe buffers 64 KiB.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const [whole, { code, stderr }] = await Promise.all([text(child.stdout), end()]);
    expect([whole === largeText, code, stderr.startsWith('REMARK\n')]).toEqual([true, 0, true]);
  });

  it.each<[string, Partial<ToldScript>]>([
    ['the payload', {}],
    ['messages', { format: 'stream-json', events: [...sampleEvents, { type: 'wait' }, ...sampleEvents] }],
  ])('ends with 52 and one sentence if its reader leaves amid %s', async (_, script) => {
    const { child, end } = start('$RUN', script);
    child.stdout.once('data', () => {
      child.stdout.destroy();
      // The next write finds no reader.
      child.stdin.write('\n');
    });
    expect(await end()).toEqual({
      code: 52,
      stderr:
        'structured-agent: stdout did not take everything: write EPIPE. Read it to the end, or send it to a file.\n',
    });
  });

  it.each<[string, string, number, RegExp]>([
    ['a disk that fills up', 'ulimit -f 1; $RUN > cut.json', 52, /^structured-agent: stdout .*EFBIG.*\n$/u],
    ['a full disk', '$RUN > /dev/full', 52, /^structured-agent: stdout .*ENOSPC.*\n$/u],
    ['a descriptor for reading', '$RUN 1< /etc/passwd', 52, /^structured-agent: stdout .*EBADF.*\n$/u],
    ['a closed descriptor', '$RUN >&-', 0, /^$/u],
    ['a file', '$RUN > whole.json', 0, /^$/u],
  ])('with %s ends with the right code', async (_, line, code, says) => {
    expect(await start(line, {}).end()).toEqual({ code, stderr: expect.stringMatching(says) });
    if (line.includes('whole'))
      expect(readFileSync(path.join(folder, 'whole.json'), 'utf8') === largeText).toBe(true);
  });
});
