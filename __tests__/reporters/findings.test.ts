import { expect, it } from 'vitest';
import {
  type Finding,
  gravityOf,
  locationOfRow,
  placeFindings,
  readFindings,
} from '../../src/reporters/findings.ts';
import { findingsToShow } from '../../src/reporters/places.ts';
import type { Evidence, FindingEvidence } from '../../src/reporters/report-types.ts';
import { viewOf } from '../../src/reporters/view.ts';
import type { JsonObject } from '../../src/types.ts';
import { placeAt as at, sampleReport } from './sample-report.ts';

const ROW = { severity: 'error', path: 'a.ts', line: 3, message: 'No.' };
const row = (changes: JsonObject = {}): JsonObject => ({ ...ROW, ...changes });
const payloadOf = (...findings: readonly JsonObject[]): JsonObject => ({ passed: true, findings });
const checked = (...findings: readonly FindingEvidence[]): Evidence => ({
  context: 'complete',
  toolCalls: 1,
  grounding: { exact: 0, moved: 0, unproven: 0 },
  findings,
});
const exact: FindingEvidence = { path: 'src/a.ts', line: 5, lineWas: 3, grounding: 'exact' };
const unproven: FindingEvidence = { path: 'src/a.ts', line: 3, grounding: 'unproven' };

const code = { path: 'a.js', line: 4, end_line: 6, title: 't', message: 'm' };
const high = { severity: 'error', score: 8, place: at('a.js', 4, 6), title: 't', message: 'm' } as const;
const failed = { severity: 'error', score: 0, place: null, title: 'boots', message: 'boots' } as const;
const mild = { severity: 'warning', score: 0, place: at('x.js'), title: null, message: 'a' } as const;
const injection = { severity: 'high', category: 'injection', cwe: 'CWE-89', ...code };
const ruled = { file: 'x.js', description: 'a', rule: 'no-x', category: 'x' };
it.each<[string, JsonObject, Omit<Finding, 'row' | 'isDoubted'>]>([
  ['findings', injection, { ...high, rule: 'injection', isKind: true }],
  ['failures', { test: 'boots' }, { ...failed, rule: 'failed-test', isKind: true }],
  ['problems', ruled, { ...mild, rule: 'no-x', isKind: false }],
])('readFindings reads a row of %s: %j', (list, row, finding) => {
  expect(readFindings({ passed: false, [list]: [row] })).toEqual([{ ...finding, isDoubted: false, row }]);
});

it('readFindings needs a text, and a severity or a file, in an object of a top-level list', () => {
  const payload = {
    problems: [
      { message: 'taken', severity: 'purple' },
      { message: 'neither' },
      { path: 'no-text.js', severity: 'high' },
      { message: '  ', title: '', path: 'blank.js' },
      { message: 4, path: 'number.js' },
      null,
      'text',
      [{ message: 'nested', path: 'y.js' }],
    ],
    deeper: { findings: [{ message: 'c', path: 'z.js' }] },
    findings: 'none',
  };
  expect(readFindings(payload).map(({ message, severity }) => [message, severity])).toEqual([
    ['taken', 'warning'],
  ]);
});

it('readFindings sorts by severity, then in payload order', () => {
  const rows = (name: string) =>
    ['low', 'medium', 'high', 'critical'].map((severity) => ({ severity, message: `${name} ${severity}` }));
  const order = readFindings({ findings: rows('f'), others: rows('o') }).map(({ message }) => message);
  const wanted = 'f critical, o critical, f high, o high, f medium, o medium, f low, o low';
  expect(order).toEqual(wanted.split(', '));
});

it.each<[JsonObject, ReturnType<typeof at> | null]>([
  [{ path: ' src/a.js ', line: 3 }, at('src/a.js', 3)],
  [{ path: 3, file: 'a.js', line: 3, end_line: 5 }, at('a.js', 3, 5)],
  [{ path: 'a.js:7' }, at('a.js', 7)],
  [{ path: 'a.js:7:2', line: 4, end_line: 4 }, at('a.js', 4)],
  [{ path: 'a.js', line: 5, end_line: 3 }, at('a.js', 5)],
  [{ path: 'a.js', line: 0, end_line: 3 }, at('a.js')],
  [{ path: 'a.js', line: 1e9 + 1 }, at('a.js')],
  [{ path: 'a\nb' }, null],
  [{ path: 'x'.repeat(4_097) }, null],
  [{ line: 3 }, null],
])('the place of %j', (row, place) => {
  expect(locationOfRow(row)?.place ?? null).toEqual(place);
});

it.each([
  ['error', { error: 0, blocker: 0, Critical: 9.5, HIGH: 8 }],
  ['warning', { warning: 0, major: 0, ' medium': 5.5, moderate: 5.5 }],
  ['note', { note: 0, info: 0, minor: 0, low: 2 }],
  [undefined, { purple: 0, constructor: 0 }],
])('a severity %s comes from the words and scores %o', (severity, words) => {
  for (const [word, score] of Object.entries(words)) {
    const [finding] = readFindings({ findings: [{ severity: word, message: 'm' }] });
    expect(finding).toMatchObject({ severity: severity ?? 'warning', score });
    expect(gravityOf({ severity: word })?.severity).toBe(severity);
  }
});

it.each([null, checked(), checked(exact, exact)])(
  'a payload is left as it is without one entry for each row: %#',
  (evidence) => {
    const payload = payloadOf(row());
    expect(placeFindings(payload, evidence)).toEqual({ payload, byRow: new Map() });
  },
);

const proven = { path: 'src/a.ts', line: 5 };
const nowhere = row({ path: 'no.ts' });
it.each<[string, JsonObject, FindingEvidence, JsonObject]>([
  ['a corrected line', row(), exact, row(proven)],
  ['a range', row({ end_line: 6 }), exact, row({ ...proven, end_line: 8 })],
  ['another file', row({ path: 'b.ts' }), { ...exact, grounding: 'moved' }, row(proven)],
  ['no proof', row(), unproven, row({ path: 'src/a.ts' })],
  ['no file', nowhere, { ...unproven, path: null }, nowhere],
  ['a line behind the path', row({ path: 'a.ts:3', line: null }), { path: 'b.ts' }, row({ path: 'b.ts' })],
])('a payload shows a finding with %s', (_, before, evidence, after) => {
  const { payload, byRow } = placeFindings(payloadOf(before), checked(evidence));
  expect(payload).toEqual(payloadOf(after));
  expect([...byRow.values()]).toEqual([evidence]);
});

it('a payload keeps a row apart that is listed twice', () => {
  const same = row();
  const { payload, byRow } = placeFindings(payloadOf(same, same), checked(exact, { ...exact, line: 6 }));
  expect(payload).toEqual(payloadOf(row(proven), row({ ...proven, line: 6 })));
  expect(byRow.size).toBe(2);
});

it('findings that a merge has outvoted are notes and come last, and may be doubted; a payload cannot say so itself', () => {
  const payload = payloadOf(
    row({ severity: 'critical', outvoted: true }),
    row({ severity: 'low', doubted: true }),
  );
  const words = (more: { readonly outvoted?: string }) =>
    findingsToShow(
      sampleReport({ payload, view: { show: viewOf, outputs: {}, ...more } }),
      (place) => place,
    ).map(({ severity, score, message, isDoubted }) => [severity, score, message, isDoubted]);
  expect(words({ outvoted: 'Outvoted.' })).toEqual([
    ['note', 2, 'No.', true],
    ['note', 0, 'Outvoted.\nNo.', false],
  ]);
  expect(words({})).toEqual([
    ['error', 9.5, 'No.', false],
    ['note', 2, 'No.', false],
  ]);
});
