import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import { createTranscript } from '../../src/reporters/transcript.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport } from './sample-report.ts';

const folder = makeFolder();
const secrets = knowSecrets('sk-canary-1');
const signal = new AbortController().signal;

describe('createTranscript', () => {
  it('writes one line for each event and the end, with secrets masked, readable by the owner only', async () => {
    const file = path.join(folder, 'new', 'transcript.jsonl');
    const transcript = createTranscript({ file, secrets });
    for (const event of sampleEvents) transcript.event?.(event);
    await transcript.report?.(sampleReport(), signal);
    const text = readFileSync(file, 'utf8');
    expect(text.trimEnd().split('\n')).toHaveLength(sampleEvents.length + 1);
    await expect(text).toMatchFileSnapshot('../golden/transcript.jsonl');
    expect(text).not.toMatch(/sk-canary|NATIVE-CANARY/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('P3 contains no payload and no message that could quote it', async () => {
    const file = path.join(folder, 'private.jsonl');
    const verdict = { ...sampleReport().verdict, error: 'ISSUE-CANARY' };
    const transcript = createTranscript({ file, secrets });
    await transcript.report?.(sampleReport({ payload: { a: 'PAYLOAD-CANARY' }, verdict }), signal);
    expect(readFileSync(file, 'utf8')).not.toContain('CANARY');
  });

  it('reports a file that cannot be written once, at the end', async () => {
    const transcript = createTranscript({ file: folder, secrets });
    for (const event of sampleEvents) transcript.event?.(event);
    await expect(transcript.report?.(sampleReport(), signal)).rejects.toThrow(ReportError);
  });
});
