import { describe, expect, it } from 'vitest';
import { createAnnotations } from '../../src/reporters/annotations.ts';
import { type Finding, readGroundedFindings } from '../../src/reporters/findings.ts';
import { doubtOf, groundFindings, groundingSentence } from '../../src/reporters/grounding.ts';
import { replacementOf } from '../../src/reporters/replacement.ts';
import type { Evidence, FindingEvidence } from '../../src/reporters/report-types.ts';
import { alertsOf } from '../../src/reporters/sarif-alerts.ts';
import { type Locate, locateByEvidence, sourceFile } from '../../src/reporters/source-locations.ts';
import type { GroundingCounts, GroundingStatus, JsonObject } from '../../src/types.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';
import { sampleReport } from './sample-report.ts';

const COUNTS = {
  exact: 0,
  moved: 0,
  unproven: 0,
  ambiguous: 0,
  ungrounded: 0,
  refuted: 0,
  corrected_lines: 0,
};
const checked = (...findings: readonly FindingEvidence[]): Evidence => ({
  ...{ context: 'complete', toolCalls: 1, grounding: COUNTS },
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
const exact: FindingEvidence = {
  path: 'src/a.ts',
  line: 5,
  lineWas: 3,
  grounding: 'exact',
  label: 'in_change',
};
const SOURCE = sourceFile('one\ntwo\nthree\nfour\n  const a = 1;\n  return a;\n');
/** Every path but `no.ts` exists. */
const locate: Locate = ({ path, line, endLine, column }) =>
  path === 'no.ts' ? null : { path, line, endLine, column, source: SOURCE };

const NOWHERE = { path: 'no.ts', line: null, endLine: null, column: null };

describe('the sentence about findings', () => {
  const sentence = (counts: Partial<GroundingCounts>, listed: number) =>
    groundingSentence({
      ...checked(...Array.from({ length: listed }, () => exact)),
      grounding: { ...COUNTS, ...counts },
    });

  it.each<[Partial<GroundingCounts>, number, string | null]>([
    [{}, 0, null],
    [{ exact: 1 }, 1, '1 finding: 1 proven.'],
    [
      { exact: 2, moved: 1, corrected_lines: 1, ungrounded: 1, unproven: 1 },
      5,
      '5 findings: 3 proven (1 at another line, 1 in another file), 1 not found in the files, 1 without a quote that proves it.',
    ],
    [
      { ambiguous: 1, refuted: 2 },
      3,
      '3 findings: 0 proven, 1 at several places, 2 about something missing that is there.',
    ],
    [{ exact: 1 }, 3, '3 findings: 1 proven, 2 about no file.'],
    [{}, 1, '1 finding: 0 proven, 1 about no file.'],
    // Counts of an envelope that do not fit its list.
    [{ exact: 1_234 }, 1, '1,234 findings: 1,234 proven.'],
  ])('%o of %i', (counts, listed, expected) => {
    expect(sentence(counts, listed)).toBe(expected);
  });

  it('is absent where findings were not checked', () => {
    expect(groundingSentence(null)).toBeNull();
    expect(groundingSentence({ ...checked(exact), grounding: null })).toBeNull();
  });
});

describe('groundFindings', () => {
  it.each<[string, Evidence | null]>([
    ['without evidence', null],
    ['without grounding', { ...checked(exact), grounding: null }],
    ['with too few entries', checked()],
    ['with too many', checked(exact, exact)],
  ])('leaves a payload as it is %s', (_, evidence) => {
    const payload = payloadOf(row());
    const grounded = groundFindings(payload, evidence);
    expect(grounded.payload).toBe(payload);
    expect(grounded.byRow.size).toBe(0);
  });

  it.each<[string, JsonObject, FindingEvidence, JsonObject]>([
    ['a corrected line', row(), exact, row({ path: 'src/a.ts', line: 5 })],
    ['a range', row({ end_line: 6 }), exact, row({ path: 'src/a.ts', line: 5, end_line: 8 })],
    [
      'a line behind the path',
      row({ path: 'a.ts:3-4', line: null }),
      exact,
      row({ path: 'src/a.ts', line: 5, end_line: 6 }),
    ],
    [
      'another file',
      row({ path: 'b.ts' }),
      { ...exact, grounding: 'moved' },
      row({ path: 'src/a.ts', line: 5 }),
    ],
    ['no proof', row(), { ...exact, line: 3, grounding: 'ambiguous' }, row({ path: 'src/a.ts' })],
    [
      'no file',
      row({ path: 'no.ts' }),
      { path: null, line: 3, grounding: 'ungrounded' },
      row({ path: 'no.ts' }),
    ],
  ])('shows a finding with %s', (_, before, evidence, after) => {
    expect(groundFindings(payloadOf(before), checked(evidence)).payload).toEqual(payloadOf(after));
  });

  it('keeps rows that are listed twice, and other properties, apart', () => {
    const same = row();
    const { payload, byRow } = groundFindings(payloadOf(same, same), checked(exact, { ...exact, line: 6 }));
    expect(payload).toEqual(
      payloadOf(row({ path: 'src/a.ts', line: 5 }), row({ path: 'src/a.ts', line: 6 })),
    );
    expect(byRow.size).toBe(2);
  });
});

it.each<[GroundingStatus | null, string | null]>([
  [null, null],
  ['exact', null],
  ['moved', null],
  ['unproven', 'no quote'],
  ['ambiguous', 'stands at several places'],
  ['ungrounded', 'not found in the file'],
  ['refuted', 'is there after all'],
])('a finding that is %s has the doubt %j', (grounding, doubt) => {
  expect(doubtOf({ path: 'a', grounding })).toBe(doubt);
});

describe('replacementOf', () => {
  const read = (changes: JsonObject, evidence: Partial<FindingEvidence> = {}) => {
    const grounded = groundFindings(
      payloadOf(row({ quote: 'const a = 1;', replacement: 'const a = 2;', ...changes })),
      checked({ ...exact, ...evidence }),
    );
    const [finding] = readGroundedFindings(grounded.payload, grounded.byRow);
    return replacementOf(finding as Finding, locate((finding as Finding).place ?? NOWHERE));
  };
  it('is there for exact places in or near the change, of at most 20 lines', () => {
    const before = ['  const a = 1;'];
    expect(read({})).toEqual({ before, after: ['const a = 2;'] });
    expect(read({ replacement: '' }, { label: 'near' })).toEqual({ before, after: [] });
    expect(read({ replacement: 'x\n'.repeat(20) })?.after).toHaveLength(20);
    expect(read({ replacement: 'x\n'.repeat(21) })).toBeNull();
    expect(read({ quote: 'x\n'.repeat(21) })).toBeNull();
    expect(read({ replacement: 3 })).toBeNull();
    expect(read({ quote: '' })).toBeNull();
    for (const grounding of ['moved', 'unproven', 'ambiguous', 'ungrounded', 'refuted'] as const)
      expect(read({}, { grounding })).toBeNull();
    for (const label of ['same_file', 'elsewhere', null] as const) expect(read({}, { label })).toBeNull();
  });

  it('is not there for lines that are not those of the file', () => {
    expect(read({ quote: 'const a = 1;\n  return a;' })?.before).toHaveLength(2);
    // Of a quote of more than ten lines the rest was not looked up.
    expect(read({ quote: 'const a = 1;\n  return b;' })).toBeNull();
    expect(read({ quote: 'const a = 1;\n  return a;\n\n\n' })).toBeNull();
    expect(read({ quote: 'a = 1' })).toBeNull();
    expect(read({}, { path: 'no.ts' })).toBeNull();
  });
});

const secrets = knowSecrets('hunter2-hunter2');
const alerts = (payload: JsonObject, evidence: Evidence) =>
  alertsOf(payload, locateByEvidence({ payload, evidence }, locate), secrets, { evidence }).alerts;

describe('alerts of checked findings', () => {
  it('are at the proven line, and at the file with the reason if there is none', () => {
    const payload = payloadOf(row(), row({ message: 'Perhaps.' }));
    const found = alerts(payload, checked(exact, { ...exact, line: 3, grounding: 'ambiguous' }));
    expect(found.map(({ place, message }) => [place.path, place.line, message])).toEqual([
      ['src/a.ts', 5, 'No.'],
      ['src/a.ts', null, 'Not proven (stands at several places). Perhaps.'],
    ]);
  });

  it('have fingerprints of the proven line, whatever else of it is quoted', () => {
    const prints = (line: number, quote: string) =>
      alerts(payloadOf(row({ quote })), checked({ ...exact, line }))[0]?.fingerprints;
    expect(prints(5, 'const a = 1;')).toEqual(prints(5, 'const a = 1;\n  return a;'));
    expect(prints(5, 'const a = 1;')).not.toEqual(prints(6, 'const a = 1;'));
  });

  it.each<[string, JsonObject, Partial<FindingEvidence>, object | undefined]>([
    [
      'whole lines',
      { quote: 'const a = 1;', replacement: 'const a = 2;\n' },
      {},
      { startLine: 5, endLine: 5, text: 'const a = 2;' },
    ],
    [
      'several lines',
      { quote: 'const a = 1;\n  return a;', replacement: 'return 1;' },
      {},
      { startLine: 5, endLine: 6, text: 'return 1;' },
    ],
    ['a part of a line', { quote: 'a = 1', replacement: 'a = 2' }, {}, undefined],
    ['lines that are gone', { quote: 'const a = 1;', replacement: 'x' }, { line: 4 }, undefined],
    ['lines beyond the end', { quote: 'return a;\n\n', replacement: 'x' }, { line: 6 }, undefined],
    ['a secret', { quote: 'const a = 1;', replacement: 'hunter2-hunter2' }, {}, undefined],
  ])('have a fix for %s', (_, changes, evidence, fix) => {
    expect(alerts(payloadOf(row(changes)), checked({ ...exact, ...evidence }))[0]?.fix).toEqual(fix);
  });

  it('are not made for a file that was not found', () => {
    expect(
      alerts(payloadOf(row({ path: 'src/b.ts' })), checked({ path: null, grounding: 'ungrounded' })),
    ).toEqual([]);
  });
});

it('annotates proven places first, and says of other findings that they are not proven', async () => {
  const { log, text } = captureLog(secrets);
  const payload = payloadOf(row({ message: 'Perhaps.' }), row({ message: 'Surely.' }));
  const evidence = checked({ ...exact, line: 3, grounding: 'ungrounded' }, exact);
  const reporter = createAnnotations({ log, mode: 'findings', locate, elsewhere: 'the job summary' });
  await reporter.report?.(sampleReport({ payload, evidence }), new AbortController().signal);
  const lines = text().trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^::error (?=.*file=src\/a\.ts)(?=.*line=5).*::Surely\.$/);
  expect(lines[1]).toMatch(
    /^::error title=Finding::Not proven \(not found in the file\)\. src\/a\.ts: Perhaps\.$/,
  );
});
