import { describe, expect, it } from 'vitest';
import { createAnnotations } from '../../src/reporters/annotations.ts';
import { groundingSentence, placeFindings } from '../../src/reporters/grounding.ts';
import type { Evidence, FindingEvidence } from '../../src/reporters/report-types.ts';
import { alertsOf } from '../../src/reporters/sarif-alerts.ts';
import { type Locate, locateByEvidence, sourceFile } from '../../src/reporters/source-locations.ts';
import type { GroundingCounts, JsonObject } from '../../src/types.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';
import { sampleReport } from './sample-report.ts';

const COUNTS = { exact: 0, moved: 0, unproven: 0 };
const checked = (...findings: readonly FindingEvidence[]): Evidence => ({
  ...{ context: 'complete', toolCalls: 1, grounding: COUNTS },
  findings,
});
const row = (changes: JsonObject = {}): JsonObject => ({
  ...{ severity: 'error', path: 'a.ts', line: 3, message: 'No.' },
  ...changes,
});
const payloadOf = (...findings: readonly JsonObject[]): JsonObject => ({ passed: true, findings });
const exact: FindingEvidence = { path: 'src/a.ts', line: 5, lineWas: 3, grounding: 'exact' };
const SOURCE = sourceFile('one\ntwo\nthree\nfour\n  const a = 1;\n  return a;\n');
/** Every path but `no.ts` exists. */
const locate: Locate = ({ path, line, endLine, column }) =>
  path === 'no.ts' ? null : { path, line, endLine, column, source: SOURCE };

describe('the sentence about findings', () => {
  it.each<[Partial<GroundingCounts>, number, string | null]>([
    [{}, 0, null],
    [{ exact: 1 }, 1, '1 finding: 1 proven.'],
    [{ exact: 2, moved: 1, unproven: 2 }, 5, '5 findings: 3 proven (1 in another file), 2 not proven.'],
    [{ exact: 1 }, 3, '3 findings: 1 proven, 2 about no file.'],
    [{}, 1, '1 finding: 0 proven, 1 about no file.'],
    // Counts of an envelope that do not fit its list.
    [{ exact: 1_234 }, 1, '1,234 findings: 1,234 proven.'],
  ])('%o of %i', (counts, listed, expected) => {
    const evidence = checked(...Array.from({ length: listed }, () => exact));
    expect(groundingSentence({ ...evidence, grounding: { ...COUNTS, ...counts } })).toBe(expected);
  });

  it('is absent where findings were not checked', () => {
    expect(groundingSentence(null)).toBeNull();
    expect(groundingSentence({ ...checked(exact), grounding: null })).toBeNull();
  });
});

describe('a payload', () => {
  it.each<[string, Evidence | null]>([
    ['without evidence', null],
    ['without grounding', { ...checked(exact), grounding: null }],
    ['with too few entries', checked()],
    ['with too many', checked(exact, exact)],
  ])('is left as it is %s', (_, evidence) => {
    const payload = payloadOf(row());
    const grounded = placeFindings(payload, evidence);
    expect(grounded.payload).toBe(payload);
    expect(grounded.byRow.size).toBe(0);
  });

  const proven = { path: 'src/a.ts', line: 5 };
  const [behind, nowhere] = [{ path: 'a.ts:3-4' }, { path: 'no.ts' }];
  it.each<[string, JsonObject, FindingEvidence, JsonObject]>([
    ['a corrected line', row(), exact, row(proven)],
    ['a range', row({ end_line: 6 }), exact, row({ ...proven, end_line: 8 })],
    ['a line behind the path', row({ ...behind, line: null }), exact, row({ ...proven, end_line: 6 })],
    ['another file', row({ path: 'b.ts' }), { ...exact, grounding: 'moved' }, row(proven)],
    ['no proof', row(), { ...exact, line: 3, grounding: 'unproven' }, row({ path: 'src/a.ts' })],
    ['no file', row(nowhere), { path: null, line: 3, grounding: 'unproven' }, row(nowhere)],
  ])('shows a finding with %s', (_, before, evidence, after) => {
    expect(placeFindings(payloadOf(before), checked(evidence)).payload).toEqual(payloadOf(after));
  });

  it('keeps rows that are listed twice, and other properties, apart', () => {
    const same = row();
    const { payload, byRow } = placeFindings(payloadOf(same, same), checked(exact, { ...exact, line: 6 }));
    expect(payload).toEqual(
      payloadOf(row({ path: 'src/a.ts', line: 5 }), row({ path: 'src/a.ts', line: 6 })),
    );
    expect(byRow.size).toBe(2);
  });
});

const secrets = knowSecrets('hunter2-hunter2');

describe('alerts of checked findings', () => {
  const alerts = (payload: JsonObject, evidence: Evidence) =>
    alertsOf(payload, locateByEvidence({ payload, evidence }, locate), secrets, { evidence }).alerts;

  it('are at the proven line, and at the file if there is none', () => {
    const payload = payloadOf(row(), row({ message: 'Perhaps.' }));
    const found = alerts(payload, checked(exact, { ...exact, line: 3, grounding: 'unproven' }));
    expect(found.map(({ place, message }) => [place.path, place.line, message])).toEqual([
      ['src/a.ts', 5, 'No.'],
      ['src/a.ts', null, 'Not proven. Perhaps.'],
    ]);
  });

  it('have fingerprints of the proven line, whatever else of it is quoted', () => {
    const prints = (line: number, quote: string) =>
      alerts(payloadOf(row({ quote })), checked({ ...exact, line }))[0]?.fingerprints;
    expect(prints(5, 'const a = 1;')).toEqual(prints(5, 'const a = 1;\n  return a;'));
    expect(prints(5, 'const a = 1;')).not.toEqual(prints(6, 'const a = 1;'));
  });

  it('are not made for a file that was not found', () => {
    expect(alerts(payloadOf(row({ path: 'no.ts' })), checked({ path: null, grounding: 'unproven' }))).toEqual(
      [],
    );
  });
});

it('annotates proven places first, and says of other findings that they are not proven', async () => {
  const { log, text } = captureLog(secrets);
  const payload = payloadOf(row({ message: 'Perhaps.' }), row({ message: 'Surely.' }));
  const evidence = checked({ ...exact, line: 3, grounding: 'unproven' }, exact);
  const reporter = createAnnotations({ log, locate, elsewhere: 'the job summary' });
  await reporter.report?.(sampleReport({ payload, evidence }), new AbortController().signal);
  const lines = text().trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^::error (?=.*file=src\/a\.ts)(?=.*line=5).*::Surely\.$/);
  expect(lines[1]).toMatch(/^::error title=Finding::Not proven\. src\/a\.ts: Perhaps\.$/);
});
