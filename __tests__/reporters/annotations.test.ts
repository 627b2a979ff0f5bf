import { expect, it } from 'vitest';
import { createAnnotations } from '../../src/reporters/annotations.ts';
import type { Locate, Report } from '../../src/reporters/report-types.ts';
import type { JsonObject } from '../../src/types.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';
import { FINDING, sampleReport, UNPROVEN } from './sample-report.ts';

/** Names of files that the log would alter. */
const ALTERED = ['a  b.js', 'a::b.js', 'sk-canary-123'];
const locate: Locate = (place) => (place.path === 'nope.js' ? null : place);

function open() {
  const { log, text } = captureLog(knowSecrets('sk-canary-123'));
  const reporter = createAnnotations(log, locate, 'the job summary');
  return {
    text,
    async annotate(changes: Partial<Report>) {
      await reporter.report?.(sampleReport(changes), new AbortController().signal);
      return parseLog(text()).map(({ name, properties, data }) => [name, properties, data]);
    },
  };
}

it('the gravest findings come first, beside their lines', async () => {
  const findings = [
    { ...FINDING, severity: 'low', line: null, message: 'nit' },
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
  ['a place that proves nothing', [FINDING], { evidence: UNPROVEN }],
])('findings about %s are counted only', async (_, findings, changes) => {
  const { annotate, text } = open();
  expect(await annotate({ payload: { findings }, ...changes })).toEqual([]);
  const noun = findings.length === 1 ? 'finding' : 'findings';
  expect(text()).toBe(`and ${findings.length} more ${noun}: see the job summary.\n`);
});

it.each([
  [10, null],
  [9, 'The gate is not met.'],
])('there are at most %i, if the error of the verdict is %j', async (most, error) => {
  const { annotate, text } = open();
  const levels = ['error', 'warning', 'notice'].flatMap((level) => Array(4).fill(level));
  const findings = levels
    .toReversed()
    .map((level) => ({ ...FINDING, severity: level.replace('notice', 'note') }));
  const verdict = { ...sampleReport().verdict, error };
  const annotations = await annotate({ payload: { findings }, verdict });
  expect(annotations.map(([name]) => name)).toEqual(levels.slice(0, most));
  expect(text()).toContain(`\nand ${12 - most} more findings: see the job summary.\n`);
});
