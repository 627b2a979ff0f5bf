import { describe, expect, it } from 'vitest';
import { createReview, type ReviewOptions } from '../../src/evidence/review.ts';
import type { Coverage, Issue, JsonObject } from '../../src/types.ts';

const paths = Array.from({ length: 40 }, (_, at) => `src/file-${at}.ts`);

/** Coverage of a change of 40 files, of which the first were shown. */
function shown(count: number, status: Coverage['status'] = 'measured'): Coverage {
  if (status === 'unknown')
    return {
      ...{ status, why: 'The reason.' },
      files: { changed: 0, required: 0, shown: 0, unseen: [], notRequired: [] },
    };
  const unseen = paths.slice(count);
  return {
    ...{ status, why: status === 'measured' ? null : 'The reason.' },
    files: { changed: 40, required: 40, shown: count, unseen, notRequired: [] },
  };
}

const GREEN: JsonObject = { passed: true };
const RED: JsonObject = { passed: false };

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
  const submit = (payload: JsonObject, isLast = false) => review.review({ payload, repaired: null }, isLast);
  return { ...review, submit };
}

describe('coverage', () => {
  it.each<readonly [string, Setting, boolean, string]>([
    ['sent back', {}, true, 'rejected'],
    ['taken if it is false', {}, false, 'taken'],
    ['taken if the change is unknown', { coverage: shown(0, 'unknown') }, true, 'taken'],
    ['never taken if the change is partial', { coverage: shown(40, 'partial'), autoShare: 1 }, true, 'ended'],
    ['taken with off', { minCoverage: 'off' }, true, 'taken'],
    ['taken of a schema whose complete means something else', { hasComplete: false }, true, 'taken'],
    ['sent back if a typed share is reached', { minCoverage: 0.5 }, true, 'rejected'],
  ])('a claim of completeness below all files is %s', async (_, setting, complete, kind) => {
    const review = open({ coverage: shown(30), autoShare: null, hasComplete: true, ...setting });
    const decision = await review.submit({ passed: true, complete });
    expect(decision.kind).toBe(kind);
    if (decision.kind === 'rejected')
      expect(decision.issues).toEqual([{ path: '/complete', keyword: 'coverage' }]);
  });

  it('is asked for three times at most', async () => {
    const review = open({ coverage: shown(10) });
    const kinds: string[] = [];
    for (let round = 0; round < 4; round += 1) kinds.push((await review.submit(GREEN)).kind);
    expect(kinds).toEqual(['rejected', 'rejected', 'rejected', 'ended']);
  });

  it('ends a run without a turn left, also if the last turn delivered nothing', async () => {
    expect((await open({ coverage: shown(39) }).submit(GREEN, true)).kind).toBe('ended');
    const given = open({ coverage: shown(39) });
    expect(await given.giveUp()).toBeNull();
    await given.submit(GREEN);
    expect((await given.giveUp())?.kind).toBe('ended');
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
    const texts = await Promise.all(
      cases.map(async (setting) => {
        const decision = await open(setting).submit({ passed: true, complete: true }, true);
        return decision.kind === 'ended' ? decision.text : decision.kind;
      }),
    );
    expect(texts).toMatchSnapshot();
  });
});

describe('what was not looked at, or not run, is sent back once', () => {
  const lacks: readonly (readonly [string, Setting])[] = [
    ['no tool result', { hasLooked: () => false }],
    ['another command', { judgeCommand: async () => 'no command was run whose whole line is "npm test".' }],
  ];
  it.each(lacks)('%s', async (_, lack) => {
    const review = open(lack);
    const [first, second] = [await review.submit(GREEN), await review.submit(GREEN)];
    expect([first.kind, second.kind, (await review.giveUp())?.kind]).toEqual(['rejected', 'ended', 'ended']);
    expect((await open(lack).submit(GREEN, true)).kind).toBe('ended');
    expect((await open(lack).submit(RED)).kind).toBe('taken');
    expect((await open({ ...lack, minCoverage: 'off' }).submit(GREEN)).kind).toBe('taken');
  });

  it("but a schema of one's own may rest on its prompt", async () => {
    const own: Setting = { isPreset: false, autoShare: null, hasLooked: () => false };
    expect((await open(own).submit(GREEN)).kind).toBe('taken');
  });
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
  const require = (rest: Setting = {}) => open({ grounding: 'require', ground, ...rest });

  it.each<readonly [string, ReviewOptions['grounding'], JsonObject, string]>([
    ['require, all found', 'require', row(false, 'real'), 'taken'],
    ['require, one not found', 'require', row(false, 'real', 'made up'), 'rejected'],
    ['require, not found in a payload that meets its gate', 'require', row(true, 'made up'), 'rejected'],
    ['mark', 'mark', row(false, 'made up'), 'taken'],
    ['off', 'off', row(false, 'made up'), 'taken'],
  ])('%s: %s', async (_, grounding, payload, kind) => {
    expect((await open({ grounding, ground }).submit(payload)).kind).toBe(kind);
  });

  it('names the place of each quote', async () => {
    expect(await require().submit(row(false, 'real', 'made up'))).toEqual({
      kind: 'rejected',
      issues: [{ path: '/findings/1/quote', keyword: 'quote' }],
      text: expect.stringContaining('- /findings/1/quote: is not in src/a.ts'),
    });
  });

  it('sends a payload back once, and then takes it as it is', async () => {
    const review = require();
    const payload = row(false, 'made up');
    expect((await review.submit(payload)).kind).toBe('rejected');
    expect(await review.submit(payload)).toMatchObject({ kind: 'taken', submission: { payload } });
    expect((await require().submit(payload, true)).kind).toBe('taken');
  });

  it.each([
    ['a green one without findings', row(true), 'first'],
    ['a green one with a proof', row(true, 'real'), 'first'],
    ['a green one that is not proven either', row(true, 'made up'), 'first'],
    ['a red one with fewer findings', row(false, 'real'), 'last'],
  ])('of a red payload and %s, it takes the one that is not greener', async (_, later, kept) => {
    // Nothing was shown: the later one will not be taken, so it is not sent back for that.
    const review = require({ coverage: shown(0) });
    const first = row(false, 'made up', 'made up, too');
    await review.submit(first);
    const payload = kept === 'first' ? first : later;
    expect(await review.submit(later)).toEqual({ kind: 'taken', submission: { payload, repaired: null } });
  });

  it('takes a red payload after a green one that was sent back', async () => {
    const review = require();
    await review.submit(row(true, 'made up'));
    expect(await review.submit(RED)).toMatchObject({ kind: 'taken', submission: { payload: RED } });
  });

  it('takes what was sent back if no turn is left', async () => {
    const review = require();
    const payload = row(false, 'made up');
    await review.submit(payload);
    expect(await review.giveUp()).toMatchObject({ kind: 'taken', submission: { payload } });
  });
});
