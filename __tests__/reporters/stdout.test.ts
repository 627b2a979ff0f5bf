import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createStdout, type OutputFormat } from '../../src/reporters/stdout.ts';
import type { JsonObject, Verdict } from '../../src/types.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { sampleEvents } from './sample-events.ts';
import { notMet, sampleReport, unpublished } from './sample-report.ts';

const secrets = knowSecrets('sk-canary-1');
const FORMATS = ['text', 'json', 'stream-json', 'object'] as const;

/** Reports a run; `breaks` is the error that flushing throws. */
function open(format: OutputFormat, breaks: InputError | null = null) {
  const written: string[] = [];
  const sink = {
    write: (text: string) => void written.push(text),
    async flush() {
      if (breaks !== null) throw breaks;
    },
  };
  const stdout = createStdout({ sink, format, secrets, version: '0.1.0', cwd: '/w' });
  return { stdout, written };
}

async function print(format: OutputFormat, report: Report, events = sampleEvents): Promise<string> {
  const { stdout, written } = open(format);
  for (const event of events) stdout.reporter.event?.(event);
  await stdout.reporter.report?.(report, new AbortController().signal);
  await stdout.writeOutputs(report);
  return written.join('');
}

const ofSignal = { conclusion: 'inconclusive', reason: 'cancelled', subtype: 'error_cancelled' } as const;
const cancelled: Verdict = { ...ofSignal, exitCode: 130, published: true, error: 'Cancelled.' };
const wrongInput = sampleReport(
  unpublished('No.', { reason: 'config', subtype: 'error_config', exitCode: 52 }),
);
const endings: readonly (readonly [string, Report])[] = [
  ['success', sampleReport()],
  ['failure', sampleReport({ verdict: notMet, gate: { status: 'not_met', issues: [] } })],
  ['a signal after acceptance', sampleReport({ verdict: cancelled })],
  ['plain text', sampleReport(unpublished('It said sk-canary-1.'))],
  ['an invalid input', wrongInput],
];

describe.each(endings)('after %s', (_, report) => {
  const end = envelope(report, secrets.mask);

  it('P1 text is the payload and a newline only when it is published', async () => {
    const payload = report.verdict.published ? `${JSON.stringify(report.payload)}\n` : '';
    expect(await print('text', report)).toBe(payload);
  });

  it('object is the envelope', async () => {
    const text = await print('object', report);
    expect(text.split('\n').length).toBe(2);
    expect(JSON.parse(text)).toEqual(end);
  });

  it('P2 json is one array of messages with the envelope last, stream-json the same by line', async () => {
    const messages: JsonObject[] = JSON.parse(await print('json', report));
    expect(messages.map(({ type }) => type)).toEqual(expect.arrayContaining(['system', 'assistant', 'user']));
    expect(messages.at(-1)).toEqual(end);
    expect(messages.filter(({ type }) => type === 'result').length).toBe(1);
    const lines = messages.map((message) => `${JSON.stringify(message)}\n`);
    expect(await print('stream-json', report)).toBe(lines.join(''));
  });
});

describe('stdout', () => {
  it('P2 json of a run that never started is an array with the envelope', async () => {
    expect(JSON.parse(await print('json', wrongInput, []))).toEqual([envelope(wrongInput, secrets.mask)]);
  });

  it('stream-json is written during the run, the other formats at the end', () => {
    const seen = FORMATS.map((format) => {
      const { stdout, written } = open(format);
      for (const event of sampleEvents) stdout.reporter.event?.(event);
      return written.length;
    });
    expect(seen).toEqual([0, 0, 11, 0]);
  });

  it('throws when writing fails and does not write a second envelope after a partial one', async () => {
    const { stdout, written } = open('object', new InputError(null, 'gone'));
    await expect(stdout.writeOutputs(sampleReport())).rejects.toThrow(InputError);
    await stdout.writeOutputs(sampleReport(unpublished('gone')));
    expect(written.length).toBe(1);
  });

  it('is not waited for a second time when nobody reads it', async () => {
    const sink = { write: () => undefined, flush: () => new Promise<never>(() => {}) };
    const stdout = createStdout({ sink, format: 'object', secrets, version: '0.1.0', cwd: '/w' });
    void stdout.writeOutputs(sampleReport());
    await stdout.writeOutputs(sampleReport(unpublished('gone')));
  });
});
