import { expect, it } from 'vitest';
import { createAnnotations } from '../../src/reporters/annotations.ts';
import { createLocator } from '../../src/reporters/places.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import type { JsonObject } from '../../src/types.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';
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

const evidence = {
  context: 'complete',
  toolCalls: 1,
  grounding: { exact: 0, moved: 0, unproven: 1 },
  findings: [{ path: 'src/a.js', line: 2, grounding: 'unproven' }],
} as const;
it.each<[string, readonly JsonObject[], Partial<Report>]>([
  ['no file', [{ severity: 'error', message: 'No tests ran.' }], {}],
  ['a file that is not there', [{ ...FINDING, path: 'nope.js' }], {}],
  ['files whose names the log would alter', ALTERED.map((path) => ({ ...FINDING, path })), {}],
  ['a place that proves nothing', [FINDING], { evidence }],
])('findings about %s are counted only', async (_, findings, changes) => {
  const { annotate, text } = open();
  expect(await annotate({ payload: { findings }, ...changes })).toEqual([]);
  const noun = findings.length === 1 ? 'finding' : 'findings';
  expect(text()).toBe(`and ${findings.length} more ${noun}: see the job summary.\n`);
});

it.each([
  ['ten', ['note', 'warning', 'error'].flatMap((severity) => Array(4).fill(severity)), [4, 4, 2]],
  ["nine errors, beside the verdict's own", Array(12).fill('error'), [9, 0, 0]],
])('there are at most %s', async (_, severities, counts) => {
  const { log, annotate, text } = open();
  log.error('The gate is not met.');
  const findings = severities.map((severity) => ({ ...FINDING, severity }));
  const [, ...annotations] = await annotate({ payload: { findings } });
  const count = (level: string) => annotations.filter(([name]) => name === level).length;
  expect(['error', 'warning', 'notice'].map(count)).toEqual(counts);
  expect(text()).toContain(
    `\nand ${findings.length - annotations.length} more findings: see the job summary.\n`,
  );
});

it('there are none of an unpublished payload', async () => {
  const { annotate, text } = open();
  await annotate(unpublished('no'));
  expect(text()).toBe('');
});
