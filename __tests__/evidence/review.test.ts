/** What becomes of a payload. How the settings of coverage end whole runs is in __tests__/run/coverage-table.test.ts. */
import { expect, it } from 'vitest';
import { createReview, type ReviewOptions } from '../../src/evidence/review.ts';
import type { Coverage, JsonObject } from '../../src/types.ts';

/** Coverage of a change of 40 files, of which the first were shown. */
function shown(count: number, status: Coverage['status'] = 'measured'): Coverage {
  const unseen = Array.from({ length: 40 - count }, (_, at) => `src/file-${count + at}.ts`);
  const files = { changed: 40, required: 40, shown: count, unseen, notRequired: [] };
  return { status, why: status === 'measured' ? null : 'The reason.', files };
}

type Setting = Partial<ReviewOptions> & { readonly coverage?: Coverage };

function open({ coverage = shown(40), ...rest }: Setting) {
  const review = createReview({
    ...{ minCoverage: 'auto', isReview: true, isPreset: true, grounding: 'off' },
    isRed: ({ passed }) => passed !== true,
    meter: { observe: () => undefined, measure: () => coverage },
    hasLooked: () => true,
    judgeCommand: async () => null,
    ground: async () => [],
    ...rest,
  });
  const submit = (payload: JsonObject, isLast = false) => review.review({ payload, repaired: null }, isLast);
  return { submit, giveUp: review.giveUp };
}

it('says what was not seen, why, and what to do', async () => {
  const judgeCommand = async () => 'the last run of "npm test" ended with exit code 1.';
  const [half, partial] = [{ coverage: shown(15) }, { coverage: shown(40, 'partial') }];
  const texts = new Set<string>();
  for (const setting of [{ hasLooked: () => false }, { judgeCommand }, half, partial]) {
    for (const isLast of [false, true]) {
      const decision = await open(setting).submit({ passed: true }, isLast);
      texts.add('text' in decision ? decision.text : decision.kind);
    }
  }
  expect([...texts]).toMatchSnapshot();
});

it.each<[string, Setting, string]>([
  ['incomplete, above a typed share', { coverage: shown(30), minCoverage: 0.5 }, 'taken'],
  ['of an unknown change, with any share', { coverage: shown(0, 'unknown'), minCoverage: 0 }, 'ended'],
])('a review %s', async (_, setting, kind) => {
  expect((await open(setting).submit({ passed: true, complete: false })).kind).toBe(kind);
});

const row = (passed: boolean, ...quotes: readonly string[]) => ({ passed, quotes });
const red = row(false, 'made up', 'made up, too');
const require = { grounding: 'require' } as const;
/** Finds quotes that begin with `real`. */
const ground: ReviewOptions['ground'] = async ({ quotes }) =>
  (quotes as string[]).flatMap((quote, at) => (quote.startsWith('real') ? [] : [`/findings/${at}/quote`]));

it.each<[string, Setting, JsonObject, JsonObject | 'last turn', string]>([
  ['a proven one', require, row(false, 'real'), row(true), 'taken'],
  ['only marked', { grounding: 'mark' }, row(false, 'made up'), row(true), 'taken'],
  ['no turn is left', require, row(true, 'made up'), 'last turn', 'taken'],
  ['a green one without findings', require, red, row(true), 'rejected, the first'],
  ['a green one with a proof', require, red, row(true, 'real'), 'rejected, the first'],
  ['a red one with fewer findings', require, red, row(false, 'real'), 'rejected, the last'],
  ['the same once more', require, red, red, 'rejected, the last'],
  ['a red one after a green one', require, row(true, 'made up'), row(false), 'rejected, the last'],
])('a payload is sent back for its quotes once, and no greener one is taken: %s', async (...given) => {
  const [, setting, first, last, expected] = given;
  // A green one would not be taken, so it is not sent back for what was not shown.
  const coverage = first === red ? shown(0) : shown(40);
  const { submit, giveUp } = open({ ...setting, ground, coverage });
  const decision = await submit(first, last === 'last turn');
  if (decision.kind !== 'rejected') return expect(decision.kind).toBe(expected);
  expect(decision.issues[0]).toEqual({ path: '/findings/0/quote', keyword: 'quote' });
  expect(decision.text).toContain(' in the change: "/findings/0/quote"');
  const taken = (payload: unknown) => ({ kind: 'taken', submission: { payload, repaired: null } });
  expect(await giveUp()).toEqual(taken(first));
  expect(await submit(Object(last))).toEqual(taken(expected === 'rejected, the first' ? first : last));
});
