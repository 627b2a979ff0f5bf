import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeFindings, type RunFindings } from '../../src/merge/findings.ts';
import type { GroundingStatus, JsonObject } from '../../src/types.ts';
import { findingPayload, legVote } from './votes.ts';

const WORKSPACE = '/home/runner/work/demo/demo';

function found(leg: string, run: string, ...rows: readonly JsonObject[]): RunFindings {
  const { findings, findingsLeftOut } = legVote(leg, run, 'pass', { payload: findingPayload(...rows) });
  return { leg, run, outvoted: false, findings, leftOut: findingsLeftOut };
}

const row = (changes: JsonObject = {}): JsonObject => ({
  severity: 'high',
  file: 'src/a.ts',
  line: 10,
  rule: 'sql-injection',
  message: 'The query is built of text.',
  ...changes,
});

const merged = (...runs: readonly RunFindings[]) => mergeFindings(runs, WORKSPACE).findings;
const counts = (...runs: readonly RunFindings[]) => merged(...runs).map(({ votes }) => votes);
const pair = (one: JsonObject, other: JsonObject) =>
  counts(found('api', '1', row(one)), found('api', '2', row(other)));

describe('findings of several runs', () => {
  it('are merged when file and rule are the same and the lines are near, with the legs that agree', () => {
    expect(
      merged(
        found('web', '1', row({ line: 12, severity: 'low', message: 'Perhaps.' })),
        found('api', '1', row({ line: 10, end_line: 11, title: 'Injection' })),
        found('api', '2', row({ line: 13, severity: 'medium' })),
      ),
    ).toEqual([
      {
        severity: 'error',
        path: 'src/a.ts',
        line: 10,
        endLine: 11,
        rule: 'sql-injection',
        title: 'Injection',
        message: 'The query is built of text.',
        legs: ['api', 'web'],
        votes: 3,
        outvoted: false,
      },
    ]);
  });

  it('are merged when the same text of the same file proves them, whatever their rules and lines are', () => {
    const proven = (leg: string, quote: string, changes: JsonObject = {}, line = 10) => {
      const payload = findingPayload(row({ path: 'a.ts', quote, ...changes }));
      const grounding = { exact: 0, moved: 0, unproven: 0 };
      const findings = [{ path: 'src/a.ts', line, lineWas: null, grounding: 'exact' } as const];
      const evidence = { context: 'none', toolCalls: 1, grounding, findings } as const;
      const vote = legVote(leg, '1', 'pass', { payload, evidence });
      return { leg, run: '1', outvoted: false, findings: vote.findings, leftOut: 0 };
    };
    const one = proven('api', 'query(`${a}`);');
    const other = proven(
      'web',
      '  query( `${a}` );',
      { rule: 'cwe-89', severity: 'low', message: 'Injection.' },
      90,
    );
    const same = {
      ...{ severity: 'error', line: 10, rule: 'sql-injection', legs: ['api', 'web'], votes: 2 },
      message: 'The query is built of text.\n\nAlso said of this place: “Injection.”.',
    };
    expect(merged(one, other)).toMatchObject([same]);
    expect(merged(other, one)).toMatchObject([same]);
    expect(counts(one, proven('web', 'query(`${b}`);', { rule: 'cwe-89' }))).toEqual([1, 1]);
    // What one run finds twice are two findings.
    const twice = { ...one, findings: [...one.findings, ...other.findings] };
    expect(counts(twice)).toEqual([1, 1]);
    expect(counts(twice, { ...other, leg: 'ui' })).toEqual([1, 2]);
  });

  it('are doubted if no run that reports them could prove them', () => {
    const checked = (leg: string, status: GroundingStatus | null) => {
      const payload = findingPayload(row({ path: 'a.ts', line: null }));
      const grounding = { exact: 0, moved: 0, unproven: 0 };
      const findings = [{ path: 'a.ts', line: null, lineWas: null, grounding: status }];
      const evidence = { context: 'none', toolCalls: 1, grounding, findings } as const;
      const vote = legVote(leg, '1', 'pass', { payload, evidence });
      return { leg, run: '1', outvoted: false, findings: vote.findings, leftOut: 0 };
    };
    const unchecked = found('web', '1', row({ path: 'a.ts', line: null }));
    const doubts = (...runs: readonly RunFindings[]) => merged(...runs).map(({ doubted = false }) => doubted);
    expect(doubts(checked('api', 'unproven'))).toEqual([true]);
    expect(doubts(checked('api', 'unproven'), checked('web', 'unproven'))).toEqual([true]);
    expect(doubts(checked('api', 'unproven'), checked('web', 'exact'))).toEqual([false]);
    expect(doubts(checked('api', 'unproven'), unchecked)).toEqual([false]);
    expect(doubts(checked('api', null))).toEqual([false]);
  });

  it('have the severity and the message of the most severe one', () => {
    const [one] = merged(
      found('api', '1', row({ line: 9, severity: 'low', message: 'A remark.' })),
      found('api', '2', row({ line: 11, severity: 'critical', message: 'A hole.' })),
    );
    expect(one).toMatchObject({ severity: 'error', line: 11, message: 'A hole.', votes: 2 });
  });

  it.each([
    [3, [2]],
    [4, [1, 1]],
  ])('%i lines apart have the vote counts %j', (apart, expected) => {
    expect(pair({ line: 10 }, { line: 10 + apart })).toEqual(expected);
  });

  it('are not merged in chains: the last of three lines can be too far from the first', () => {
    expect(
      counts(
        found('a', '1', row({ line: 10 })),
        found('b', '1', row({ line: 13 })),
        found('c', '1', row({ line: 16 })),
      ),
    ).toEqual([2, 1]);
  });

  it.each([
    'src/a.ts',
    './src/a.ts',
    '././src/a.ts',
    'src//a.ts',
    'src/lib/../a.ts',
    'src\\a.ts',
    '.\\src\\a.ts',
    `${WORKSPACE}/src/a.ts`,
    'src/a.ts:10',
  ])('refer to the same file as %s', (file) => {
    expect(pair({}, { file })).toEqual([2]);
  });

  it.each(['src/b.ts', '/src/a.ts', '../src/a.ts', 'SRC/a.ts', `${WORKSPACE}-other/src/a.ts`])(
    'refer to another file as %s',
    (file) => {
      expect(pair({}, { file })).toEqual([1, 1]);
    },
  );

  it('resolve paths in a Windows workspace', () => {
    const { findings } = mergeFindings(
      [found('a', '1', row({ file: 'D:\\a\\demo\\src\\a.ts' })), found('b', '1', row())],
      'D:\\a\\demo',
    );
    expect(findings.map(({ path, votes }) => [path, votes])).toEqual([['src/a.ts', 2]]);
  });

  it('compare rules by their words, in any spelling', () => {
    expect(pair({ rule: 'SQL_Injection' }, { rule: 'sql injection' })).toEqual([2]);
    expect(pair({ rule: 'sql-injection' }, { rule: 'xss' })).toEqual([1, 1]);
  });

  it('without a rule are merged by equal titles, or else by equal messages', () => {
    const bare = (message: string, title: string | null) => {
      const { rule: _, ...rest } = row({ message });
      return title === null ? rest : { ...rest, title };
    };
    const both = (one: JsonObject, other: JsonObject) => counts(found('a', '1', one), found('b', '1', other));
    expect(both(bare('One way.', 'A hole'), bare('Another way.', 'a  hole'))).toEqual([2]);
    expect(both(bare('Same words.', null), bare('same  words.', null))).toEqual([2]);
    expect(both(bare('Same words.', null), bare('Other words.', null))).toEqual([1, 1]);
    expect(both(bare('injection', null), row({ rule: 'injection' }))).toEqual([1, 1]);
  });

  it('without a line are merged only with others without a line', () => {
    expect(pair({ line: null }, { line: null })).toEqual([2]);
    expect(pair({ line: null }, { line: 1 })).toEqual([1, 1]);
  });

  it('of one category keep the message of the most severe one and list the other titles', () => {
    const kind = (title: string | null, changes: JsonObject = {}) => {
      const { rule: _, ...rest } = row({
        category: 'correctness',
        title,
        message: 'Long words.',
        ...changes,
      });
      return rest;
    };
    const [one, ...others] = merged(
      found('api', '1', kind('Off by one', { severity: 'critical' })),
      found('web', '1', kind('Null  dereference', { line: 12 })),
      found('web', '2', kind('null dereference', { line: 11 })),
      found('cli', '1', kind('off by ONE', { line: 11 })),
      found('cli', '2', kind(null, { line: 11, message: 'A race.' })),
    );
    expect(others).toEqual([]);
    expect(one).toMatchObject({ title: 'Off by one', votes: 5, legs: ['api', 'cli', 'web'] });
    expect(one?.message).toBe('Long words.\n\nAlso said of this place: “A race.”, “Null dereference”.');
    const many = Array.from({ length: 8 }, (_, at) => found('a', `${at}`, kind(`Mistake ${at}`)));
    expect(merged(...many)[0]?.message).toMatch(/“Mistake 1”, .*“Mistake 5” and 2 more\.$/u);
    expect(
      merged(found('a', '1', row({ title: 'A' })), found('b', '1', row({ title: 'B' })))[0]?.message,
    ).toBe('The query is built of text.');
  });

  it('are merged with the nearest ones', () => {
    const shown = merged(
      found('a', '1', row({ line: 10, message: 'X' }), row({ line: 12, message: 'Y' })),
      found('b', '1', row({ line: 12, message: 'Y' })),
    );
    expect(shown.map(({ message, votes }) => [message, votes])).toEqual([
      ['Y', 2],
      ['X', 1],
    ]);
  });

  it('of one run are never merged', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 }), (lines) => {
        expect(counts(found('a', '1', ...lines.map((line) => row({ line }))))).toEqual(lines.map(() => 1));
      }),
    );
  });

  it('do not depend on the order of runs, are all counted, and count each run once', () => {
    const rows = fc.array(
      fc.record({
        line: fc.constantFrom<number | null>(null, 1, 2, 4, 5, 8),
        severity: fc.constantFrom('high', 'low', 'medium'),
        rule: fc.constantFrom('one', 'two', ''),
        message: fc.constantFrom('x', 'y', 'X'),
        file: fc.constantFrom('a.ts', './a.ts', 'b.ts'),
        category: fc.constantFrom('one', 'two'),
      }),
      { maxLength: 5 },
    );
    const runs = fc
      .uniqueArray(fc.tuple(fc.constantFrom('api', 'web', 'cli'), fc.constantFrom('1', '2'), rows), {
        selector: ([leg, run]) => `${leg} ${run}`,
        maxLength: 6,
      })
      .map((all) => all.map(([leg, run, own]) => found(leg, run, ...own)));
    fc.assert(
      fc.property(
        runs.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        ([all, shuffled]) => {
          const shown = merged(...all);
          expect(merged(...shuffled)).toEqual(shown);
          const rowsThere = all.reduce((sum, { findings }) => sum + findings.length, 0);
          expect(shown.reduce((sum, { votes }) => sum + votes, 0)).toBe(rowsThere);
          for (const { votes, legs } of shown) {
            expect(votes).toBeLessThanOrEqual(all.length);
            expect(legs.length).toBeLessThanOrEqual(votes);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('are sorted by severity and then by votes', () => {
    const shown = merged(
      found(
        'a',
        '1',
        row({ rule: 'lonely' }),
        row({ rule: 'minor', severity: 'low' }),
        row({ rule: 'shared' }),
      ),
      found('b', '1', row({ rule: 'shared' }), row({ rule: 'minor', severity: 'low' })),
    );
    expect(shown.map(({ rule }) => rule)).toEqual(['shared', 'lonely', 'minor']);
  });
});

describe('too many findings', () => {
  it('are left out and counted, for one run and for all runs', () => {
    const one = found('a', '1', ...Array.from({ length: 1_000 }, (_, at) => row({ line: at + 1 })));
    const { findings, leftOut } = mergeFindings([one], null);
    expect([findings.length, leftOut]).toEqual([300, 700]);
    const many = Array.from({ length: 20 }, (_, run) =>
      found('a', `${run}`, ...Array.from({ length: 300 }, (_each, at) => row({ rule: `r${run}-${at}` }))),
    );
    const all = mergeFindings(many, null);
    expect(all.findings.length + all.leftOut).toBe(6_000);
    expect(all.findings.length).toBeLessThanOrEqual(2_000);
  });

  it('fit into a step output, and long texts are truncated', () => {
    const message = 'so long '.repeat(5_000);
    const long = Array.from({ length: 300 }, (_, at) =>
      row({ rule: `rule-${at} ${message}`, message, title: message }),
    );
    const { findings, leftOut } = mergeFindings([found('a', '1', ...long)], null);
    expect(JSON.stringify(findings).length).toBeLessThanOrEqual(510_000);
    expect(findings.length).toBeGreaterThan(80);
    expect(findings.length + leftOut).toBe(300);
    expect(findings[0]?.message).toMatch(/^so long .*…$/u);
  });

  it('are counted in reasonable time when many agree on one line', () => {
    const runs = Array.from({ length: 100 }, (_, run) =>
      found('a', `${run}`, ...Array.from({ length: 100 }, () => row())),
    );
    expect(counts(...runs)).toEqual(Array.from({ length: 100 }, () => 100));
  });
});
