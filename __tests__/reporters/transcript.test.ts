import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import { createTranscript } from '../../src/reporters/transcript.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport } from './sample-report.ts';

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'transcript-')));
afterAll(() => rmSync(folder, { recursive: true }));
const secrets = createSecrets();
secrets.add('sk-canary-1');
const signal = new AbortController().signal;

describe('createTranscript', () => {
  it('writes one private line for each event and the end, secrets masked', async () => {
    const file = path.join(folder, 'new', 'transcript.jsonl');
    const transcript = createTranscript({ file, secrets });
    for (const event of sampleEvents) transcript.event?.(event);
    await transcript.report?.(sampleReport(), signal);
    const text = readFileSync(file, 'utf8');
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines.length).toBe(sampleEvents.length + 1);
    expect(lines[7]).toEqual({
      type: 'tool_finished',
      turn: 1,
      call: { id: 'c1', name: 'shell', target: 'npm test' },
      decision: 'ok',
      duration_ms: 2100,
      result: { call_id: 'c1', content: 'OUTPUT-CANARY ***\n::endgroup::\n[exit code 1]', is_error: false },
      totals: {
        turns: 1,
        usage: { input_tokens: 3000, output_tokens: 210, cached_input_tokens: 0, cache_write_tokens: 0 },
        cost_usd: 0.0042,
      },
    });
    expect(lines.at(-1)).toMatchObject({
      type: 'run_finished',
      conclusion: 'success',
      exit_code: 0,
      turn_count: 2,
    });
    expect(text).not.toMatch(/sk-canary|NATIVE-CANARY/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('P3 holds no payload and no sentence that could quote one', async () => {
    const file = path.join(folder, 'private.jsonl');
    const verdict = { ...sampleReport().verdict, error: 'ISSUE-CANARY' };
    const transcript = createTranscript({ file, secrets });
    await transcript.report?.(sampleReport({ payload: { a: 'PAYLOAD-CANARY' }, verdict }), signal);
    expect(readFileSync(file, 'utf8')).not.toContain('CANARY');
  });

  it('a file that cannot be written is told once, at the end', async () => {
    const transcript = createTranscript({ file: folder, secrets });
    for (const event of sampleEvents) transcript.event?.(event);
    await expect(transcript.report?.(sampleReport(), signal)).rejects.toThrow(ReportError);
  });
});
