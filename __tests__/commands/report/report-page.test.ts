import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createReportPage } from '../../../src/commands/report/report-page.ts';
import { ReportError } from '../../../src/errors.ts';
import { PROSE, sampleEvents } from '../../reporters/sample-events.ts';
import { sampleReport, unpublished } from '../../reporters/sample-report.ts';
import { knowSecrets, makeFolder } from '../../support/surroundings.ts';

const folder = makeFolder();
const secrets = knowSecrets('sk-canary-1');
const told: string[] = [];
const tell = (text: string) => void told.push(text);
const signal = new AbortController().signal;

describe('createReportPage', () => {
  it('writes a private page of what it heard and how the run ended, secrets masked', async () => {
    const file = path.join(folder, 'new', 'report.html');
    const reporter = createReportPage({ file, secrets, notify: tell });
    for (const event of sampleEvents) reporter.event?.(event);
    await reporter.report?.(sampleReport({ payload: { a: 'PAYLOAD-CANARY sk-canary-1' } }), signal);
    const page = readFileSync(file, 'utf8');
    const shown = ['Success: the gate is met', PROSE, 'OUTPUT-CANARY ***', 'octo/demo', 'npm test', 'bwrap'];
    for (const text of [...shown, 'What was found', 'PAYLOAD-CANARY ***']) expect(page).toContain(text);
    expect(page).not.toMatch(/sk-canary|NATIVE-CANARY/);
    expect(page).not.toContain('the verdict is not in it');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(told).toEqual([`report page: ${file}`]);
  });

  it('tells the last word where the ending is told again', async () => {
    const file = path.join(folder, 'again.html');
    const reporter = createReportPage({ file, secrets, notify: tell });
    expect(reporter.repeatable).toBe(true);
    await reporter.report?.(sampleReport(), signal);
    const config = { reason: 'config', subtype: 'error_config', exitCode: 52 } as const;
    const taken = unpublished('outputs cannot be written: sk-canary-1', config);
    await reporter.report?.(sampleReport(taken), signal);
    const page = readFileSync(file, 'utf8');
    expect(page).toContain('Inconclusive: config');
    expect(page).toContain('outputs cannot be written: ***');
    expect(page).not.toContain('Success');
  });

  it('a page that cannot be written is a ReportError', async () => {
    const reporter = createReportPage({ file: folder, secrets, notify: tell });
    told.length = 0;
    await expect(reporter.report?.(sampleReport(), signal)).rejects.toThrow(ReportError);
    expect(told).toEqual([]);
  });
});
