import { writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MergedFinding } from '../../src/merge/types.ts';
import { createAnnotations } from '../../src/reporters/annotations.ts';
import { createLocator } from '../../src/reporters/source-locations.ts';
import type { JsonObject } from '../../src/types.ts';
import { sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { parseLog, withoutStopCommands } from '../support/fakes/runner/runner.ts';
import { captureLog, knowSecrets, textOf } from '../support/surroundings.ts';
import { sampleReport, unpublished } from './sample-report.ts';
import { workspaces } from './workspace-world.ts';

const make = workspaces();

function open(mode: 'findings' | 'none' = 'findings') {
  const workspace = make();
  workspace.checkout('sub', 'https://github.com/octo/demo');
  workspace.write('sub/src/a.js', 'one\ntwo\nthree\n');
  const { log, text } = captureLog(knowSecrets('sk-canary-123'));
  const locate = createLocator({
    workspace: workspace.root,
    workingDirectory: 'sub',
    repositories: ['octo/demo'],
  });
  const reporter = createAnnotations({ log, mode, locate, elsewhere: 'the job summary' });
  return {
    workspace,
    log,
    reporter,
    text,
    annotate: async (payload: JsonObject) => {
      await reporter.report?.(sampleReport({ payload }), new AbortController().signal);
      return parseLog(text());
    },
  };
}

const rows = (count: number, row: JsonObject) =>
  Array.from({ length: count }, (_, at) => ({ ...row, message: `m${at}` }));

describe('annotations', () => {
  it('point to the file and line relative to the repository root, most severe first', async () => {
    const findings = [
      { severity: 'low', path: 'sub/src/a.js', line: 1, message: 'nit' },
      { severity: 'medium', path: 'src/a.js:2:2', title: 'T', message: 'w' },
      {
        severity: 'critical',
        path: 'src\\a.js',
        line: 2,
        end_line: 3,
        column: 1,
        title: 'Bad',
        message: 'b\nad',
      },
    ];
    const place = { file: 'src/a.js', line: '2' };
    expect(await open().annotate({ findings })).toEqual([
      { name: 'error', properties: { title: 'Bad', ...place, endLine: '3' }, data: 'b\nad' },
      { name: 'warning', properties: { title: 'T', ...place, col: '2' }, data: 'w' },
      { name: 'notice', properties: { title: 'Finding', file: 'src/a.js', line: '1' }, data: 'nit' },
    ]);
  });

  it('without a file in the repository have no location and name the path in the message', async () => {
    const findings = [
      { severity: 'error', message: 'No tests ran.', category: 'tests' },
      { severity: 'error', path: 'nope.js', line: 3, message: 'gone' },
      { severity: 'error', path: 'src/a.js', line: 99, message: 'late' },
    ];
    expect(await open().annotate({ findings })).toEqual([
      { name: 'error', properties: { title: 'Finding', file: 'src/a.js' }, data: 'late' },
      { name: 'error', properties: { title: 'tests' }, data: 'No tests ran.' },
      { name: 'error', properties: { title: 'Finding' }, data: 'nope.js, line 3: gone' },
    ]);
  });

  it('stay within the limits of the runner, counting earlier ones, and the log counts the rest', async () => {
    const { log, text, annotate } = open();
    for (let at = 0; at < 3; at += 1) log.warning('before');
    const findings = ['error', 'warning', 'note'].flatMap((severity) =>
      rows(12, { severity, path: 'src/a.js' }),
    );
    const commands = await annotate({ findings });
    const count = (name: string) => commands.filter((command) => command.name === name).length;
    expect([count('error'), count('warning'), count('notice')]).toEqual([9, 8, 10]);
    expect(text().trimEnd().split('\n').at(-1)).toBe(
      '12 more findings are not annotated, because a step shows ten annotations of a kind: see the job summary.',
    );
  });

  it('leave room for the warnings about policy changes', async () => {
    const { text, reporter } = open();
    const findings = rows(12, { severity: 'warning' });
    const change = { what: 'schema', path: 'a.json', applied: true } as const;
    const report = sampleReport({ payload: { findings }, policyChanges: [change, change, change] });
    await reporter.report?.(report, new AbortController().signal);
    expect(parseLog(text())).toHaveLength(5);
  });

  it('are omitted when earlier annotations used up the limit', async () => {
    const { log, text, annotate } = open();
    for (let at = 0; at < 30; at += 1) log.error('before');
    expect(await annotate({ findings: rows(1, { severity: 'error' }) })).toHaveLength(30);
    expect(text()).toContain('1 more finding is not annotated');
  });

  it('are not duplicated for the same text at the same location', async () => {
    const row = { severity: 'note', path: 'src/a.js', line: 1, message: 'same' };
    const other = { ...row, path: './sub/src/a.js' };
    expect(await open().annotate({ findings: [row, other, { ...row, line: 2 }, row] })).toHaveLength(2);
  });

  it('are not created for an unpublished payload or when disabled', async () => {
    const { reporter, text } = open();
    await reporter.report?.(sampleReport(unpublished('no')), new AbortController().signal);
    expect(text()).toBe('');
    expect(await open('none').annotate({ findings: rows(3, { severity: 'error' }) })).toEqual([]);
  });

  it('name no file whose name the runner would misread', async () => {
    const { workspace, annotate } = open();
    for (const name of ['a  b.js', 'a::b.js', 'sk-canary-123'])
      writeFileSync(path.join(workspace.root, 'sub', name), 'x\n');
    const findings = ['a  b.js', 'a::b.js', 'sk-canary-123'].map((file) => ({ file, line: 1, message: 'm' }));
    expect((await annotate({ findings })).map(({ properties, data }) => [properties['file'], data])).toEqual([
      [undefined, 'a b.js, line 1: m'],
      [undefined, 'a: :b.js, line 1: m'],
      [undefined, '***, line 1: m'],
    ]);
  });

  it('are the only workflow commands, for any payload', async () => {
    const text = textOf('::,##[,\n,\r,%0A,=,error file=x,stop-commands,src/a.js,:1'.split(',').concat(','));
    const texts = { path: text, title: text, message: text, severity: text, rule: text };
    const row = fc.record({ ...texts, line: fc.nat(5) });
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 4 }), async (findings) => {
        const { text: written, annotate } = open();
        const commands = await annotate(JSON.parse(JSON.stringify({ findings })));
        expect(commands.length).toBeLessThanOrEqual(findings.length);
        expect(parseLog(withoutStopCommands(written()))).toEqual(commands);
        for (const { name, properties } of commands) {
          expect(['error', 'warning', 'notice']).toContain(name);
          expect([undefined, 'src/a.js']).toContain(properties['file']);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('annotations of a merge', () => {
  const finding: MergedFinding = {
    ...{ path: 'sub/src/a.js', line: 2, endLine: null, rule: null, title: 'Leak', message: 'Close it.' },
    ...{ severity: 'error' as const, legs: ['api'], votes: 1, outvoted: true, doubted: false },
  };
  const annotateMerge = async (changes: Parameters<typeof sampleMerged>[0]) => {
    const { reporter, text } = open();
    await reporter.report?.(sampleMergedReport(sampleMerged(changes)), new AbortController().signal);
    return parseLog(text());
  };
  const place = { title: 'Leak', file: 'src/a.js', line: '2' };
  const outvoted = 'Outvoted: only failing runs have the finding, and their leg passes all the same.';

  it('mark outvoted findings and show them as notices after the others', async () => {
    const findings: readonly MergedFinding[] = [
      finding,
      { ...finding, severity: 'warning', path: null, line: null, message: 'Somewhere.' },
      { ...finding, severity: 'note', message: 'A nit.', outvoted: false },
      { ...finding, line: 3, outvoted: false },
    ];
    expect(await annotateMerge({ findings })).toEqual([
      { name: 'error', properties: { ...place, line: '3' }, data: 'Close it.' },
      { name: 'notice', properties: place, data: 'A nit.' },
      { name: 'notice', properties: place, data: `${outvoted}\nClose it.` },
      { name: 'notice', properties: { title: 'Leak' }, data: `${outvoted}\nSomewhere.` },
    ]);
  });

  it('keep their level when a deciding vote has the same finding', async () => {
    expect(await annotateMerge({ findings: [finding, { ...finding, outvoted: false }] })).toEqual([
      { name: 'error', properties: place, data: 'Close it.' },
    ]);
  });

  it('ignore a claim in the payload of a single run that a finding was outvoted', async () => {
    const row = { severity: 'high', path: 'src/a.js', line: 2, title: 'Leak', message: 'x', outvoted: true };
    expect(await open().annotate({ findings: [row] })).toEqual([
      { name: 'error', properties: place, data: 'x' },
    ]);
  });
});
