import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createReportPage } from '../../../src/commands/report/report-page.ts';
import { ReportError } from '../../../src/errors.ts';
import type { Evidence } from '../../../src/reporters/report-types.ts';
import { sampleCoverage } from '../../reporters/sample-coverage.ts';
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

  it('shows how much of the change was shown to the model', async () => {
    const file = path.join(folder, 'coverage.html');
    const unseen = [{ path: 'src/<b>`sk-canary-1`.ts', hunks: 2, shownHunks: 0 }];
    const coverage = sampleCoverage({ files: { shown: 42, unseen } });
    const evidence = { context: 'complete', toolCalls: 1, coverage, findings: [] } as const;
    await createReportPage({ file, secrets, notify }).report?.(sampleReport({ evidence }), signal);
    const page = readFileSync(file, 'utf8');
    expect(page).toContain('42 of 43 changed files were shown to the model');
    expect(page).toContain('<code>src/&lt;b&gt;&#39;***&#39;.ts</code>');
    expect(page).toContain('<li>The model was not shown every changed file: 1 of 43 is missing');
    expect(page).not.toMatch(/sk-canary|<b>`/);
  });

  const grounding = { exact: 1, moved: 1, unproven: 1 };
  const findings = [
    { severity: 'error', path: 'a.ts', line: 3, message: 'INVENTED' },
    { severity: 'note', path: './b.ts', line: 8, message: 'CORRECTED' },
    { severity: 'error', path: 'c.ts', line: 1, message: 'MOVED', 'not proven': 'FORGED' },
  ];
  const found = [
    { path: 'a.ts', line: 3, lineWas: null, grounding: 'unproven' },
    { path: 'b.ts', line: 99, lineWas: 8, grounding: 'exact' },
    { path: 'src/moved.ts', line: 5, lineWas: 1, grounding: 'moved' },
  ] as const;
  const pageWith = async (name: string, evidence: Evidence) => {
    const file = path.join(folder, name);
    const report = sampleReport({ payload: { passed: false, findings }, evidence });
    await createReportPage({ file, secrets, notify }).report?.(report, signal);
    return readFileSync(file, 'utf8');
  };
  const evidenceOf = { context: 'complete', toolCalls: 1 } as const;

  it('shows proven findings at their proven places, and the others last', async () => {
    const page = await pageWith('grounded.html', { ...evidenceOf, grounding, findings: found });
    expect(page).toContain('3 findings: 2 proven (1 in another file), 1 not proven.');
    const rows = page
      .split('<tr>')
      .slice(1)
      .filter((row) => row.includes('data-name'));
    expect(rows.map((row) => /MOVED|CORRECTED|INVENTED/u.exec(row)?.[0])).toEqual([
      'MOVED',
      'CORRECTED',
      'INVENTED',
    ]);
    const doubts = rows.map((row) => /data-name="not proven">([^<]*)</u.exec(row)?.[1]);
    expect(doubts).toEqual(['', '', 'yes']);
    expect(rows[0]).toContain('src/moved.ts');
    expect(rows[1]).toMatch(/b\.ts<.*>99</u);
    expect(page).not.toMatch(/FORGED|\.\/b\.ts/u);
  });

  it('shows findings as they are written where they were not checked, or the evidence is of others', async () => {
    for (const evidence of [
      { ...evidenceOf, findings: found },
      { ...evidenceOf, grounding, findings: found.slice(1) },
    ]) {
      const page = await pageWith('unchecked.html', evidence);
      const rows = page
        .split('<tr>')
        .slice(1)
        .filter((row) => row.includes('data-name'));
      expect(rows.map((row) => /MOVED|CORRECTED|INVENTED/u.exec(row)?.[0])).toEqual([
        'INVENTED',
        'MOVED',
        'CORRECTED',
      ]);
      expect(page).toContain('./b.ts');
    }
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
