import { describe, expect, it } from 'vitest';
import { groundingSentence, placeFindings, weighFindings } from '../../src/reporters/grounding.ts';
import type { Evidence, FindingEvidence } from '../../src/reporters/report-types.ts';
import { viewOf } from '../../src/reporters/view.ts';
import type { GroundingCounts, JsonObject } from '../../src/types.ts';

const COUNTS = { exact: 0, moved: 0, unproven: 0 };
const checked = (...findings: readonly FindingEvidence[]): Evidence => ({
  context: 'complete',
  toolCalls: 1,
  grounding: COUNTS,
  findings,
});
const row = (changes: JsonObject = {}): JsonObject => ({
  severity: 'error',
  path: 'a.ts',
  line: 3,
  message: 'No.',
  ...changes,
});
const payloadOf = (...findings: readonly JsonObject[]): JsonObject => ({ passed: true, findings });
const exact: FindingEvidence = { path: 'src/a.ts', line: 5, lineWas: 3, grounding: 'exact' };

describe('the sentence about findings', () => {
  it.each<[Partial<GroundingCounts>, number, string | null]>([
    [{}, 0, null],
    [{ exact: 2, moved: 1, unproven: 2 }, 5, '5 findings: 3 proven, 2 not proven.'],
    [{ exact: 1 }, 3, '3 findings: 1 proven, 2 about no file.'],
    [{}, 1, '1 finding: 1 about no file.'],
  ])('%o of %i', (counts, listed, expected) => {
    const evidence = checked(...Array.from({ length: listed }, () => exact));
    expect(groundingSentence({ ...evidence, grounding: { ...COUNTS, ...counts } })).toBe(expected);
  });

  it.each([null, { ...checked(exact), grounding: null }])('is absent if nothing was checked', (evidence) => {
    expect(groundingSentence(evidence)).toBeNull();
  });
});

describe('a payload', () => {
  it.each<[string, Evidence | null]>([
    ['without evidence', null],
    ['with too few entries', checked()],
    ['with too many', checked(exact, exact)],
  ])('is left as it is %s', (_, evidence) => {
    const payload = payloadOf(row());
    expect(placeFindings(payload, evidence)).toEqual({ payload, byRow: new Map() });
  });

  const proven = { path: 'src/a.ts', line: 5 };
  const nowhere = row({ path: 'no.ts' });
  it.each<[string, JsonObject, FindingEvidence, JsonObject]>([
    ['a corrected line', row(), exact, row(proven)],
    ['a range', row({ end_line: 6 }), exact, row({ ...proven, end_line: 8 })],
    ['another file', row({ path: 'b.ts' }), { ...exact, grounding: 'moved' }, row(proven)],
    ['no proof', row(), { ...exact, line: 3, grounding: 'unproven' }, row({ path: 'src/a.ts' })],
    ['no file', nowhere, { path: null, line: 3, grounding: 'unproven' }, nowhere],
    ['a line behind the path', row({ path: 'a.ts:3', line: null }), { path: 'b.ts' }, row({ path: 'b.ts' })],
  ])('shows a finding with %s', (_, before, evidence, after) => {
    const { payload, byRow } = placeFindings(payloadOf(before), checked(evidence));
    expect(payload).toEqual(payloadOf(after));
    expect([...byRow.values()]).toEqual([evidence]);
  });

  it('keeps a row apart that is listed twice', () => {
    const same = row();
    const { payload, byRow } = placeFindings(payloadOf(same, same), checked(exact, { ...exact, line: 6 }));
    expect(payload).toEqual(payloadOf(row(proven), row({ ...proven, line: 6 })));
    expect(byRow.size).toBe(2);
  });
});

describe('the findings of a report', () => {
  it('are at no line if they are not proven', () => {
    const evidence = checked(exact, { ...exact, line: 3, grounding: 'unproven' });
    const findings = weighFindings({ payload: payloadOf(row(), row()), evidence });
    expect(findings.map(({ place }) => [place?.path, place?.line])).toEqual([
      ['src/a.ts', 5],
      ['src/a.ts', null],
    ]);
  });

  it('that a merge has outvoted are notes without a score and come last; a payload cannot say so itself', () => {
    const payload = payloadOf(row({ severity: 'critical', outvoted: true }), row({ severity: 'low' }));
    const minor = { isMinor: (each: JsonObject) => each['outvoted'] === true, remark: 'Outvoted.' };
    const words = (more: { readonly minor?: typeof minor }) =>
      weighFindings({ payload, view: { show: viewOf, outputs: [], ...more } }).map(
        ({ severity, securityScore, message }) => [severity, securityScore, message],
      );
    expect(words({ minor })).toEqual([
      ['note', 2, 'No.'],
      ['note', null, 'Outvoted.\nNo.'],
    ]);
    expect(words({})).toEqual([
      ['error', 9.5, 'No.'],
      ['note', 2, 'No.'],
    ]);
  });
});
