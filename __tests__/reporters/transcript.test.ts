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
  it('P3 has one line for each event and the end, without secrets and payload, for the owner only', async () => {
    const file = path.join(folder, 'new', 'transcript.jsonl');
    const transcript = createTranscript({ file, secrets });
    for (const event of sampleEvents) transcript.event?.(event);
    const verdict = { ...sampleReport().verdict, error: 'ISSUE-CANARY' };
    await transcript.report?.(sampleReport({ payload: { a: 'PAYLOAD-CANARY' }, verdict }), signal);
    const text = readFileSync(file, 'utf8');
    expect(text.trimEnd().split('\n')).toHaveLength(sampleEvents.length + 1);
    await expect(text).toMatchFileSnapshot('../golden/transcript.jsonl');
    expect(text).not.toMatch(/sk-canary|(?:NATIVE|PAYLOAD|ISSUE)-CANARY/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('reports a file that cannot be written once, at the end', async () => {
    const transcript = createTranscript({ file: folder, secrets });
    for (const event of sampleEvents) transcript.event?.(event);
    await expect(transcript.report?.(sampleReport(), signal)).rejects.toThrow(ReportError);
  });
});
