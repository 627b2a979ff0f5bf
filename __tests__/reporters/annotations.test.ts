import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createAnnotations } from '../../src/reporters/annotations.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createLocator } from '../../src/reporters/source-locations.ts';
import type { JsonObject } from '../../src/types.ts';
import { parseLog, withoutStopCommands } from '../support/fakes/runner/runner.ts';
import { captureLog, knowSecrets, textOf } from '../support/surroundings.ts';
import { sampleReport, unpublished } from './sample-report.ts';
import { workspaces } from './workspace-world.ts';

const make = workspaces();
/** Names of files that the log would alter. */
const ALTERED = ['a  b.js', 'a::b.js', 'sk-canary-123'];

function open() {
  const workspace = make();
  workspace.checkout('sub');
  for (const file of ['src/a.js', ...ALTERED]) workspace.write(`sub/${file}`, 'one\ntwo\nthree\n');
  const { log, text } = captureLog(knowSecrets('sk-canary-123'));
  const locate = createLocator({ workspace: workspace.root, workingDirectory: 'sub' });
  const reporter = createAnnotations({ log, locate, elsewhere: 'the job summary' });
  return {
    log,
    text,
    async annotate(changes: Partial<Report>) {
      await reporter.report?.(sampleReport(changes), new AbortController().signal);
      return parseLog(text()).map(({ name, properties, data }) => [name, properties, data]);
    },
  };
}

const FINDING = { severity: 'error', path: 'src/a.js', line: 2, message: 'm' };
const rows = (count: number, row: JsonObject) =>
  Array.from({ length: count }, () => ({ ...FINDING, ...row }));

it('the gravest findings come first, beside their lines', async () => {
  const findings = [
    { ...FINDING, severity: 'low', line: 99, message: 'nit' },
    { ...FINDING, severity: 'medium', title: 'T', message: 'w' },
    { ...FINDING, end_line: 3, category: 'tests', message: 'b\nad' },
  ];
  expect(await open().annotate({ payload: { findings } })).toEqual([
    ['error', { title: 'tests', file: 'src/a.js', line: '2', endLine: '3' }, 'b\nad'],
    ['warning', { title: 'T', file: 'src/a.js', line: '2' }, 'w'],
    ['notice', { title: 'Finding', file: 'src/a.js' }, 'nit'],
  ]);
});

it.each<[string, readonly JsonObject[], Partial<Report>]>([
  ['no file', [{ severity: 'error', message: 'No tests ran.' }], {}],
  ['a file that is not there', [{ ...FINDING, path: 'nope.js' }], {}],
  ['files whose names the log would alter', ALTERED.map((path) => ({ ...FINDING, path })), {}],
  [
    'a place that proves nothing',
    [FINDING],
    {
      evidence: {
        context: 'complete',
        toolCalls: 1,
        grounding: { exact: 0, moved: 0, unproven: 1 },
        findings: [{ path: 'src/a.js', line: 2, grounding: 'unproven' }],
      },
    },
  ],
])('findings about %s are counted only', async (_, findings, changes) => {
  const { annotate, text } = open();
  expect(await annotate({ payload: { findings }, ...changes })).toEqual([]);
  const noun = findings.length === 1 ? 'finding' : 'findings';
  expect(text()).toBe(`and ${findings.length} more ${noun}: see the job summary.\n`);
});

const change = { what: 'schema', path: 'a.json', applied: true } as const;
it.each<[string, readonly JsonObject[], Partial<Report>, readonly number[]]>([
  ['ten', ['note', 'warning', 'error'].flatMap((severity) => rows(4, { severity })), {}, [4, 4, 2]],
  ["nine errors, beside the verdict's own", rows(12, {}), {}, [9, 0, 0]],
  ['eight warnings, with earlier ones', rows(12, { severity: 'warning' }), {}, [0, 7, 0]],
  [
    'fewer warnings, beside those about policy changes',
    rows(12, { severity: 'warning' }),
    { policyChanges: [change, change, change] },
    [0, 4, 0],
  ],
])('there are at most %s', async (_, findings, changes, counts) => {
  const { log, annotate, text } = open();
  log.warning('before');
  const [, ...annotations] = await annotate({ payload: { findings }, ...changes });
  const count = (level: string) => annotations.filter(([name]) => name === level).length;
  expect(['error', 'warning', 'notice'].map(count)).toEqual(counts);
  const left = findings.length - annotations.length;
  expect(text()).toContain(`\nand ${left} more findings: see the job summary.\n`);
});

it('there are none of an unpublished payload', async () => {
  const { annotate, text } = open();
  await annotate(unpublished('no'));
  expect(text()).toBe('');
});

it('they are the only workflow commands, for any payload', async () => {
  const text = textOf('::,##[,\n,\r,%0A,=,error file=x,stop-commands,src/a.js,:1'.split(',').concat(','));
  const path = fc.oneof(text, fc.constant('src/a.js'));
  const row = fc.record({ path, title: text, message: text, severity: text, rule: text, line: fc.nat(5) });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 4 }), async (findings) => {
      const { text: written, annotate } = open();
      const commands = await annotate({ payload: JSON.parse(JSON.stringify({ findings })) });
      expect(commands.length).toBeLessThanOrEqual(findings.length);
      expect(parseLog(withoutStopCommands(written()))).toHaveLength(commands.length);
      for (const [name, properties] of commands) {
        expect(['error', 'warning', 'notice']).toContain(name);
        expect(properties).toMatchObject({ file: 'src/a.js' });
      }
    }),
    { numRuns: 60 },
  );
});
