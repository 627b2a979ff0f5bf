import { mkdirSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import { sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { sampleReport, unpublished } from './sample-report.ts';
import { openSarif, type SarifRun, sarifProblems } from './sarif-world.ts';
import { workspaces } from './workspace-world.ts';

const make = workspaces();
const FINDING = { severity: 'error', path: 'src/a.js', line: 2, message: 'm' };

function usual() {
  const workspace = make();
  workspace.checkout('.', 'https://github.com/octo/demo');
  workspace.write('src/a.js', 'one\ntwo\nthree\n');
  return workspace;
}

describe('the SARIF file', () => {
  it('contains every finding with a location, is private to the owner, and the log counts its results', async () => {
    const sarif = openSarif(usual());
    const { run, problems } = await sarif.write({
      findings: [FINDING, { severity: 'note', message: 'no place' }],
    });
    expect(problems).toEqual([]);
    expect(run.results).toHaveLength(1);
    expect(statSync(sarif.target).mode & 0o777).toBe(0o600);
    expect(sarif.lines).toEqual([
      `SARIF: 1 result in ${sarif.target}. 1 finding without a file of the repository left out.`,
    ]);
  });

  it('of a payload without findings has no results, which closes the alerts', async () => {
    const { run, problems } = await openSarif(usual()).write({ passed: true, summary: 's' });
    expect([run.results, run.tool.driver.rules, problems]).toEqual([[], [], []]);
  });

  it('is removed when the run publishes no payload', async () => {
    const sarif = openSarif(usual());
    writeFileSync(sarif.target, 'of another run');
    await sarif.report(sampleReport(unpublished('no verdict')));
    expect(sarif.exists()).toBe(false);
    expect(sarif.lines).toEqual(['No SARIF was written: no payload was published.']);
  });

  it('of an earlier run is removed when the run starts', () => {
    const sarif = openSarif(usual());
    writeFileSync(sarif.target, 'of another run');
    sarif.reporter.event?.({ type: 'turn_started', turn: 1, forced: false });
    expect(sarif.exists()).toBe(true);
    sarif.reporter.event?.({
      type: 'run_started',
      model: 'm',
      provider: 'p',
      prompt: 'x',
      sessionId: 's',
      tools: [],
    });
    expect(sarif.exists()).toBe(false);
  });

  it('is removed when the report is repeated without a payload', async () => {
    const sarif = openSarif(usual());
    await sarif.write({ findings: [FINDING] });
    expect(sarif.reporter.repeatable).toBe(true);
    await sarif.report(sampleReport(unpublished('outputs cannot be written')));
    expect(sarif.exists()).toBe(false);
  });

  it('that cannot be written or removed causes a ReportError', async () => {
    const sarif = openSarif(usual());
    mkdirSync(sarif.target);
    await expect(sarif.report(sampleReport())).rejects.toBeInstanceOf(ReportError);
    await expect(sarif.report(sampleReport(unpublished('no')))).rejects.toBeInstanceOf(ReportError);
  });

  it('is neither written nor removed through a symbolic link', async () => {
    const workspace = usual();
    const outside = make();
    const kept = outside.write('out.sarif', 'kept');
    mkdirSync(path.join(workspace.root, 'reports'));
    const sarif = openSarif(workspace, { file: path.join(workspace.root, 'reports/out.sarif') });
    renameSync(path.join(workspace.root, 'reports'), path.join(workspace.root, 'gone'));
    symlinkSync(outside.root, path.join(workspace.root, 'reports'));
    await expect(sarif.report(sampleReport())).rejects.toBeInstanceOf(ReportError);
    await expect(sarif.report(sampleReport(unpublished('no')))).rejects.toBeInstanceOf(ReportError);
    expect([statSync(kept).size, readdirSync(outside.root)]).toEqual([4, ['out.sarif']]);
    // A link with the name of the file is replaced.
    const direct = openSarif(workspace);
    symlinkSync(kept, direct.target);
    await direct.write({ findings: [FINDING] });
    expect(statSync(kept).size).toBe(4);
  });
});

describe('sarifProblems', () => {
  it('finds violations', async () => {
    const { run } = await openSarif(usual()).write({ findings: [FINDING] });
    const [result] = run.results;
    if (result === undefined) throw new TypeError('there is a result');
    const problems = (changes: Partial<SarifRun>) =>
      sarifProblems(JSON.parse(JSON.stringify({ version: '2.1.0', runs: [{ ...run, ...changes }] })));
    expect(problems({})).toEqual([]);
    expect(problems({ results: [{ ...result, level: 'grave' }] })[0]).toContain('/runs/0/results/0/level');
    expect(problems({ results: [{ ...result, locations: [] }] })).toEqual(['no location', 'no line']);
    expect(problems({ results: [result, result] })).not.toEqual([]);
  });
});

describe('the SARIF file of a merge', () => {
  it('is not written without a checkout, because it would close every alert', async () => {
    const sarif = openSarif(usual(), { locate: null });
    writeFileSync(sarif.target, 'of another run');
    await expect(sarif.report(sampleMergedReport())).rejects.toThrow(
      'Add actions/checkout before this step.',
    );
    expect(sarif.exists()).toBe(false);
    await sarif.report(sampleMergedReport(sampleMerged(), unpublished('undecided')));
    expect(sarif.lines).toEqual(['No SARIF was written: no payload was published.']);
  });
});
