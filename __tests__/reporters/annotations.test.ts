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

function open() {
  const workspace = make();
  workspace.checkout('sub', 'https://github.com/octo/demo');
  workspace.write('sub/src/a.js', 'one\ntwo\nthree\n');
  const { log, text } = captureLog(knowSecrets('sk-canary-123'));
  const places = { workspace: workspace.root, repositories: ['octo/demo'] };
  const locate = createLocator({ ...places, workingDirectory: 'sub' });
  const reporter = createAnnotations({ log, locate, elsewhere: 'the job summary' });
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

const place = { file: 'src/a.js', line: '2' };
const FINDING = { severity: 'error', path: 'src/a.js', line: 2, message: 'm' };
type Annotation = readonly [name: string, properties: Readonly<Record<string, string>>, data: string];

describe('annotations', () => {
  it.each<[string, readonly JsonObject[], readonly Annotation[]]>([
    [
      'point to the file and line relative to the repository root, most severe first',
      [
        { severity: 'low', path: 'sub/src/a.js', line: 1, message: 'nit' },
        { severity: 'medium', path: 'src/a.js:2:2', title: 'T', message: 'w' },
        { ...FINDING, path: 'src\\a.js', end_line: 3, column: 1, title: 'Bad', message: 'b\nad' },
      ],
      [
        ['error', { title: 'Bad', ...place, endLine: '3' }, 'b\nad'],
        ['warning', { title: 'T', ...place, col: '2' }, 'w'],
        ['notice', { title: 'Finding', file: 'src/a.js', line: '1' }, 'nit'],
      ],
    ],
    [
      'without a file or line in the repository name them in the message',
      [
        { severity: 'error', message: 'No tests ran.', category: 'tests' },
        { severity: 'error', path: 'nope.js', line: 3, message: 'gone' },
        { severity: 'error', path: 'src/a.js', line: 99, message: 'late' },
      ],
      [
        ['error', { title: 'Finding', file: 'src/a.js' }, 'late'],
        ['error', { title: 'tests' }, 'No tests ran.'],
        ['error', { title: 'Finding' }, 'nope.js, line 3: gone'],
      ],
    ],
    [
      'are not duplicated for the same text at the same location',
      [FINDING, { ...FINDING, path: './sub/src/a.js' }, { ...FINDING, line: 1 }],
      [
        ['error', { title: 'Finding', ...place }, 'm'],
        ['error', { title: 'Finding', file: 'src/a.js', line: '1' }, 'm'],
      ],
    ],
    [
      'name no file whose name the runner would misread',
      ['a  b.js', 'a::b.js', 'sk-canary-123'].map((name) => ({ ...FINDING, path: name, line: 1 })),
      ['a b.js', 'a: :b.js', '***'].map((name) => ['error', { title: 'Finding' }, `${name}, line 1: m`]),
    ],
    [
      'ignore a claim in the payload of a single run that a finding was outvoted',
      [{ ...FINDING, outvoted: true }],
      [['error', { title: 'Finding', ...place }, 'm']],
    ],
  ])('%s', async (_, findings, expected) => {
    const { workspace, annotate } = open();
    for (const name of ['a  b.js', 'a::b.js', 'sk-canary-123']) workspace.write(`sub/${name}`, 'x\n');
    const found = await annotate({ findings });
    expect(found.map(({ name, properties, data }) => [name, properties, data])).toEqual(expected);
  });

  it('stay within the limits of the runner, counting earlier ones, and the log counts the rest', async () => {
    const { log, text, annotate } = open();
    for (let at = 0; at < 3; at += 1) log.warning('before');
    const findings = ['error', 'warning', 'note'].flatMap((severity) => rows(12, { ...FINDING, severity }));
    const commands = await annotate({ findings });
    const count = (name: string) => commands.filter((command) => command.name === name).length;
    expect([count('error'), count('warning'), count('notice')]).toEqual([9, 8, 10]);
    expect(text().trimEnd().split('\n').at(-1)).toBe(
      '12 more findings are not annotated, because a step shows ten annotations of a kind: see the job summary.',
    );
  });

  it('leave room for the warnings about policy changes', async () => {
    const { text, reporter } = open();
    const change = { what: 'schema', path: 'a.json', applied: true } as const;
    const payload = { findings: rows(12, { severity: 'warning' }) };
    const report = sampleReport({ payload, policyChanges: [change, change, change] });
    await reporter.report?.(report, new AbortController().signal);
    expect(parseLog(text())).toHaveLength(5);
  });

  it('are not created for an unpublished payload', async () => {
    const { reporter, text } = open();
    await reporter.report?.(sampleReport(unpublished('no')), new AbortController().signal);
    expect(text()).toBe('');
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
  const titled = { title: 'Leak', ...place };
  const outvoted = 'Outvoted: only failing runs have the finding, and their leg passes all the same.';

  it('mark outvoted findings and show them as notices after the others', async () => {
    const findings: readonly MergedFinding[] = [
      finding,
      { ...finding, severity: 'warning', path: null, line: null, message: 'Somewhere.' },
      { ...finding, severity: 'note', message: 'A nit.', outvoted: false },
      { ...finding, line: 3, outvoted: false },
    ];
    expect(await annotateMerge({ findings })).toEqual([
      { name: 'error', properties: { ...titled, line: '3' }, data: 'Close it.' },
      { name: 'notice', properties: titled, data: 'A nit.' },
      { name: 'notice', properties: titled, data: `${outvoted}\nClose it.` },
      { name: 'notice', properties: { title: 'Leak' }, data: `${outvoted}\nSomewhere.` },
    ]);
  });

  it('keep their level when a deciding vote has the same finding', async () => {
    expect(await annotateMerge({ findings: [finding, { ...finding, outvoted: false }] })).toEqual([
      { name: 'error', properties: titled, data: 'Close it.' },
    ]);
  });
});
