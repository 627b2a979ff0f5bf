/** What becomes of a payload. How the settings of coverage end whole runs is in __tests__/run/coverage-table.test.ts. */
import { describe, expect, it } from 'vitest';
import { createReview, type ReviewOptions } from '../../src/evidence/review.ts';
import type { Coverage, Issue, JsonObject } from '../../src/types.ts';

/** Coverage of a change of 40 files, of which the first were shown. */
function shown(count: number, status: Coverage['status'] = 'measured'): Coverage {
  const paths = Array.from({ length: 40 }, (_, at) => `src/file-${at}.ts`);
  const required = status === 'unknown' ? 0 : 40;
  const unseen = paths.slice(count, required);
  const files = { changed: required, required, shown: count, unseen, notRequired: [] };
  return { status, why: status === 'measured' ? null : 'The reason.', files };
}

interface Setting extends Partial<Omit<ReviewOptions, 'meter'>> {
  readonly coverage?: Coverage;
}

function open({ coverage = shown(40), ...rest }: Setting) {
  const review = createReview({
    ...{ minCoverage: 'auto', autoShare: 1, isPreset: true, hasComplete: false, grounding: 'off' },
    isRed: ({ passed }) => passed !== true,
    meter: { observe: () => undefined, measure: () => coverage },
    hasLooked: () => true,
    judgeCommand: async () => null,
    ground: async () => [],
    ...rest,
  });
  return (payload: JsonObject, isLast = false) => review.review({ payload, repaired: null }, isLast);
}

it.each<readonly [string, Setting, boolean, string]>([
  ['sent back', {}, true, 'rejected'],
  ['taken if it is false', {}, false, 'taken'],
  ['taken if the change is unknown', { coverage: shown(0, 'unknown') }, true, 'taken'],
  ['never taken if the change is partial', { coverage: shown(40, 'partial'), autoShare: 1 }, true, 'ended'],
  ['taken with off', { minCoverage: 'off' }, true, 'taken'],
  ['taken of a schema whose complete means something else', { hasComplete: false }, true, 'taken'],
  ['sent back if a typed share is reached', { minCoverage: 0.5 }, true, 'rejected'],
])('a claim of completeness below all files is %s', async (_, setting, complete, kind) => {
  const submit = open({ coverage: shown(30), autoShare: null, hasComplete: true, ...setting });
  const decision = await submit({ passed: true, complete });
  expect(decision.kind).toBe(kind);
  if (decision.kind === 'rejected')
    expect(decision.issues).toEqual([{ path: '/complete', keyword: 'coverage' }]);
});

it('says what was not seen, why, and what to do', async () => {
  const cases: readonly Setting[] = [
    { hasLooked: () => false },
    { judgeCommand: async () => 'the last run of "npm test" ended with exit code 1.' },
    { coverage: shown(33) },
    { coverage: shown(20), minCoverage: 0.995 },
    { coverage: shown(0, 'unknown'), minCoverage: 0.5 },
    { coverage: shown(40, 'partial'), minCoverage: 1 },
    { coverage: shown(30), autoShare: null, hasComplete: true },
  ];
  const texts: string[] = [];
  for (const setting of cases) {
    for (const isLast of [false, true]) {
      const decision = await open(setting)({ passed: true, complete: true }, isLast);
      texts.push('text' in decision ? decision.text : decision.kind);
    }
  }
  expect([...new Set(texts)]).toMatchSnapshot();
});

describe('grounding', () => {
  const row = (passed: boolean, ...quotes: readonly string[]): JsonObject => ({
    passed,
    findings: quotes.map((quote) => ({ quote })),
  });
  /** Finds quotes that begin with `real`. */
  const ground = async (payload: JsonObject): Promise<readonly Issue[]> => {
    const { findings = [] } = payload as { findings?: readonly { quote: string }[] };
    return findings.flatMap(({ quote }, at) =>
      quote.startsWith('real')
        ? []
        : [{ path: `/findings/${at}/quote`, keyword: 'quote', message: 'is not in src/a.ts' }],
    );
  };

  it.each<readonly [ReviewOptions['grounding'], JsonObject, boolean, string]>([
    ['require', row(false, 'real'), false, 'taken'],
    ['require', row(false, 'real', 'made up'), false, 'rejected'],
    ['require', row(true, 'made up'), false, 'rejected'],
    ['require', row(true, 'made up'), true, 'taken'],
    ['mark', row(false, 'made up'), false, 'taken'],
    ['off', row(false, 'made up'), false, 'taken'],
  ])('%s: %j with the last turn %s is %s', async (grounding, payload, isLast, kind) => {
    const decision = await open({ grounding, ground })(payload, isLast);
    expect(decision.kind).toBe(kind);
    if (decision.kind !== 'rejected') return;
    expect(decision.issues.map((issue) => issue.keyword)).toEqual(['quote']);
    expect(decision.text).toMatch(/^- \/findings\/[01]\/quote: is not in src\/a\.ts$/mu);
  });

  const red = row(false, 'made up', 'made up, too');
  it.each<[string, JsonObject, JsonObject, 'first' | 'last']>([
    ['a green one without findings', red, row(true), 'first'],
    ['a green one with a proof', red, row(true, 'real'), 'first'],
    ['a green one that is not proven either', red, row(true, 'made up'), 'first'],
    ['a red one with fewer findings', red, row(false, 'real'), 'last'],
    ['the same once more', red, red, 'last'],
    ['a red one after a green one', row(true, 'made up'), row(false), 'last'],
  ])('of a payload that was sent back and %s, the one that is not greener is taken', async (_, ...given) => {
    const [first, last, kept] = given;
    // Nothing was shown: a green one would not be taken, so it is not sent back for that.
    const coverage = first === red ? shown(0) : shown(40);
    const submit = open({ grounding: 'require', ground, coverage });
    expect((await submit(first)).kind).toBe('rejected');
    const payload = kept === 'first' ? first : last;
    expect(await submit(last)).toEqual({ kind: 'taken', submission: { payload, repaired: null } });
  });
});
