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
const notices: string[] = [];
const notify = (text: string) => void notices.push(text);
const signal = new AbortController().signal;

describe('createReportPage', () => {
  it('writes a private page with the events and the verdict, and masks secrets', async () => {
    const file = path.join(folder, 'new', 'report.html');
    const reporter = createReportPage({ file, secrets, notify });
    for (const event of sampleEvents) reporter.event?.(event);
    await reporter.report?.(sampleReport({ payload: { a: 'PAYLOAD-CANARY sk-canary-1' } }), signal);
    const page = readFileSync(file, 'utf8');
    const shown = ['Success: the gate is met', PROSE, 'OUTPUT-CANARY ***', 'octo/demo', 'npm test', 'bwrap'];
    for (const text of [...shown, 'What was found', 'PAYLOAD-CANARY ***']) expect(page).toContain(text);
    expect(page).not.toMatch(/sk-canary|NATIVE-CANARY/);
    expect(page).not.toContain('the verdict is not in it');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(notices).toEqual([`report page: ${file}`]);
  });

  it('shows the last verdict when the report is repeated', async () => {
    const file = path.join(folder, 'again.html');
    const reporter = createReportPage({ file, secrets, notify });
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

  it('throws a ReportError when the page cannot be written', async () => {
    const reporter = createReportPage({ file: folder, secrets, notify });
    notices.length = 0;
    await expect(reporter.report?.(sampleReport(), signal)).rejects.toThrow(ReportError);
    expect(notices).toEqual([]);
  });
});
