import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import { createSummary } from '../../src/reporters/summary.ts';
import { makeFolder } from '../support/surroundings.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport, VIEW } from './sample-report.ts';

const MIB = 1024 * 1024;
const signal = new AbortController().signal;
const folder = makeFolder();

describe('the job summary', () => {
  it('is appended to the file with the timeline, within the size limit of the runner', async () => {
    const file = path.join(folder, 'summary.md');
    writeFileSync(file, 'before\n\n');
    const summary = createSummary({ ...VIEW, file });
    for (const event of sampleEvents) summary.event?.(event);
    await summary.report?.(sampleReport(), signal);
    expect(readFileSync(file, 'utf8')).toMatch(
      /^before\n\n## ✅ [\s\S]*Timeline: 4 turns[\s\S]*Payload as JSON/u,
    );
    writeFileSync(file, 'x'.repeat(MIB));
    const full = createSummary({ ...VIEW, file }).report?.(sampleReport(), signal);
    await expect(full).rejects.toThrow('could not be written: the file has room for 0 bytes only');
    expect(readFileSync(file, 'utf8').length).toBe(MIB);
  });

  it('is not written to a directory or a pipe without a reader, without waiting', async () => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const file of [folder, pipe])
      await expect(createSummary({ ...VIEW, file }).report?.(sampleReport(), signal)).rejects.toThrow(
        ReportError,
      );
  });
});
