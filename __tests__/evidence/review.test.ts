import { describe, expect, it } from 'vitest';
import { createReview, type ReviewedFinding, type ReviewOptions } from '../../src/evidence/review.ts';
import { namingFor } from '../../src/text/naming.ts';
import type { Coverage, JsonObject } from '../../src/types.ts';

const paths = Array.from({ length: 40 }, (_, at) => `src/file-${at}.ts`);

/** Coverage of a change of 40 files with 10 lines each, of which the first were shown. */
function shown(count: number, status: Coverage['status'] = 'measured'): Coverage {
  const isKnown = status !== 'unknown';
  return {
    status,
    why: status === 'measured' ? null : 'The reason.',
    files: {
      changed: isKnown ? 40 : 0,
      required: isKnown ? 40 : 0,
      shown: isKnown ? count : 0,
      unseen: isKnown ? paths.slice(count).map((path) => ({ path, hunks: 2, shownHunks: 0 })) : [],
      notRequired: [],
    },
    lines: { changed: isKnown ? 400 : 0, shown: isKnown ? count * 10 : 0 },
  };
}

const GREEN: JsonObject = { passed: true };
const RED: JsonObject = { passed: false };

interface Setting extends Partial<Omit<ReviewOptions, 'meter' | 'ground'>> {
  /** The coverage at each call. */
  readonly coverage?: readonly Coverage[];
  /** What is found about the rows of a payload. */
  readonly found?: (payload: JsonObject) => readonly ReviewedFinding[];
}

function open({ coverage = [shown(40)], found = () => [], ...rest }: Setting) {
  let asked = -1;
  const review = createReview({
    ...{ minCoverage: 'auto', autoShare: 1, hasComplete: false, grounding: 'off', gateFindings: 'all' },
    isRed: ({ passed }) => passed !== true,
    meter: {
      observe: () => undefined,
      measure: () => coverage[Math.min(++asked, coverage.length - 1)] ?? shown(0),
    },
    ground: async (payload) => found(payload),
    blocking: () => [0],
    naming: namingFor('action'),
    ...rest,
  });
  let last = 0;
  const submit = (payload: JsonObject, isLast = false, turn = last + 1) => {
    last = turn;
    return review.review({ payload, repaired: null }, isLast, turn);
  };
  return { ...review, submit };
}

describe('coverage', () => {
  const lines = { of: 'lines', share: 0.9 } as const;
  const half = { of: 'files', share: 0.5 } as const;
  const all = { of: 'files', share: 1 } as const;
  it.each<readonly [string, Setting, JsonObject, string]>([
    ['auto, all of 40 files', {}, GREEN, 'taken'],
    ['auto, 39 of 40 files', { coverage: [shown(39)] }, GREEN, 'rejected'],
    ['auto, a payload that does not meet its gate', { coverage: [shown(0)] }, RED, 'taken'],
    ['auto, an unknown change', { coverage: [shown(0, 'unknown')] }, GREEN, 'taken'],
    ['auto, a change of which a part is not known', { coverage: [shown(3, 'partial')] }, GREEN, 'taken'],
    ['auto without a share', { coverage: [shown(0)], autoShare: null }, GREEN, 'taken'],
    ['off', { coverage: [shown(0)], minCoverage: 'off' }, GREEN, 'taken'],
    ['0.5, half', { coverage: [shown(20)], minCoverage: half }, GREEN, 'taken'],
    ['0.5, less than half', { coverage: [shown(19)], minCoverage: half }, GREEN, 'rejected'],
    ['0.5 typed, an unknown change', { coverage: [shown(0, 'unknown')], minCoverage: half }, GREEN, 'ended'],
    ['0.5 typed, partly known', { coverage: [shown(40, 'partial')], minCoverage: half }, GREEN, 'ended'],
    ['1, all', { minCoverage: all }, GREEN, 'taken'],
    ['lines:0.9, 90 %', { coverage: [shown(36)], minCoverage: lines }, GREEN, 'taken'],
    ['lines:0.9, less', { coverage: [shown(35)], minCoverage: lines }, GREEN, 'rejected'],
  ])('%s: %s', async (_, setting, payload, kind) => {
    expect((await open(setting).submit(payload)).kind).toBe(kind);
  });

  it.each<readonly [string, Setting, JsonObject, string]>([
    ['sent back', {}, { passed: true, complete: true }, 'rejected'],
    ['taken where it is false', {}, { passed: true, complete: false }, 'taken'],
    [
      'taken where the change is unknown',
      { coverage: [shown(0, 'unknown')] },
      { passed: true, complete: true },
      'taken',
    ],
    ['taken with off', { minCoverage: 'off' }, { passed: true, complete: true }, 'taken'],
    [
      'taken of a schema whose complete means something else',
      { hasComplete: false },
      { passed: true, complete: true },
      'taken',
    ],
  ])('a claim of completeness below all files is %s', async (_, setting, payload, kind) => {
    const review = open({ coverage: [shown(30)], autoShare: null, hasComplete: true, ...setting });
    const decision = await review.submit(payload);
    expect(decision.kind).toBe(kind);
    if (decision.kind === 'rejected')
      expect(decision.issues).toEqual([{ path: '/complete', keyword: 'coverage' }]);
  });

  it('names up to 20 files, and how many more', async () => {
    const decision = await open({ coverage: [shown(19)] }).submit(GREEN);
    const text = decision.kind === 'rejected' ? decision.text : '';
    expect(text).toContain('21 of the 40 changed files were in no result');
    expect(text).toContain('"src/file-19.ts"');
    expect(text).toContain('"src/file-38.ts"');
    expect(text).not.toContain('"src/file-39.ts"');
    expect(text).toContain('and 1 more file');
  });

  it('is asked for as long as each round shows one more file, five times at most', async () => {
    const stuck = open({ coverage: [shown(10), shown(11), shown(11)] });
    expect([(await stuck.submit(GREEN)).kind, (await stuck.submit(GREEN)).kind]).toEqual([
      'rejected',
      'rejected',
    ]);
    expect(await stuck.submit(GREEN)).toMatchObject({ kind: 'ended', reason: 'unread' });
    const slow = open({ coverage: Array.from({ length: 10 }, (_, at) => shown(at)) });
    const kinds: string[] = [];
    for (let round = 0; round < 6; round += 1) kinds.push((await slow.submit(GREEN)).kind);
    expect(kinds).toEqual([...Array.from({ length: 5 }, () => 'rejected'), 'ended']);
  });

  it('counts the lines of a file that is read in several rounds', async () => {
    const more = (lines: number): Coverage => ({ ...shown(39), lines: { changed: 400, shown: lines } });
    const review = open({ coverage: [more(390), more(393), more(393)] });
    const kinds = [await review.submit(GREEN), await review.submit(GREEN), await review.submit(GREEN)];
    expect(kinds.map(({ kind }) => kind)).toEqual(['rejected', 'rejected', 'ended']);
  });

  it('answers all calls of a turn alike: none of them could know the answer to the first', async () => {
    const review = open({ coverage: [shown(10)] });
    for (let call = 0; call < 9; call += 1)
      expect((await review.submit(GREEN, false, 3)).kind).toBe('rejected');
    expect(await review.submit(GREEN, false, 4)).toMatchObject({ kind: 'ended', reason: 'unread' });
  });

  it('ends a run without a turn left as unread, also if the last turn delivered nothing', async () => {
    const ended = { kind: 'ended', reason: 'unread' };
    expect(await open({ coverage: [shown(39)] }).submit(GREEN, true)).toMatchObject(ended);
    const given = open({ coverage: [shown(39)] });
    expect(await given.giveUp()).toBeNull();
    await given.submit(GREEN);
    expect(await given.giveUp()).toMatchObject(ended);
  });

  it('says what was not seen, why, and what to do', async () => {
    const cases: readonly Setting[] = [
      { coverage: [shown(33)] },
      { coverage: [shown(39)], minCoverage: { of: 'lines', share: 0.995 } },
      { coverage: [shown(0, 'unknown')], minCoverage: { of: 'files', share: 0.5 } },
      { coverage: [shown(40, 'partial')], minCoverage: { of: 'files', share: 1 } },
      { coverage: [shown(30)], autoShare: null, hasComplete: true },
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

describe('grounding', () => {
  const row = (passed: boolean, ...quotes: readonly string[]): JsonObject => ({
    passed,
    findings: quotes.map((quote) => ({ quote })),
  });
  /** Finds quotes that begin with `real`. */
  const found = (payload: JsonObject): readonly ReviewedFinding[] => {
    const { findings = [] } = payload as { findings?: readonly { quote: string }[] };
    return findings.map(({ quote }, at) =>
      quote.startsWith('real')
        ? { status: 'exact', issue: null }
        : {
            status: 'ungrounded',
            issue: { path: `/findings/${at}/quote`, keyword: 'quote', message: 'is not in src/a.ts' },
          },
    );
  };
  const require = (rest: Setting = {}) => open({ grounding: 'require', found, ...rest });

  it.each<readonly [string, ReviewOptions['grounding'], JsonObject, string]>([
    ['require, all found', 'require', row(false, 'real'), 'taken'],
    ['require, one not found', 'require', row(false, 'real', 'made up'), 'rejected'],
    ['require, not found in a payload that meets its gate', 'require', row(true, 'made up'), 'rejected'],
    ['mark', 'mark', row(false, 'made up'), 'taken'],
    ['off', 'off', row(false, 'made up'), 'taken'],
  ])('%s: %s', async (_, grounding, payload, kind) => {
    expect((await open({ grounding, found }).submit(payload)).kind).toBe(kind);
  });

  it('names the place of each quote', async () => {
    expect(await require().submit(row(false, 'real', 'made up'))).toEqual({
      kind: 'rejected',
      issues: [{ path: '/findings/1/quote', keyword: 'quote' }],
      text: expect.stringContaining('- /findings/1/quote: is not in src/a.ts'),
    });
  });

  it('sends a payload back twice, and then takes it as it is', async () => {
    const review = require();
    const payload = row(false, 'made up');
    expect((await review.submit(payload)).kind).toBe('rejected');
    expect((await review.submit(payload)).kind).toBe('rejected');
    expect(await review.submit(payload)).toMatchObject({ kind: 'taken', submission: { payload } });
    expect((await require().submit(payload, true)).kind).toBe('taken');
  });

  it('counts the calls of a turn as one round', async () => {
    const review = require();
    const payload = row(false, 'made up');
    const kinds: string[] = [];
    for (const turn of [1, 1, 1, 2, 2, 3]) kinds.push((await review.submit(payload, false, turn)).kind);
    expect(kinds).toEqual([...Array.from({ length: 5 }, () => 'rejected'), 'taken']);
  });

  it('never turns a red payload green', async () => {
    const red = row(false, 'made up');
    for (const green of [row(true), row(true, 'real')]) {
      const review = require();
      await review.submit(red);
      expect(await review.submit(green)).toMatchObject({ kind: 'taken', submission: { payload: red } });
    }
    const review = require({ coverage: [shown(0)] });
    await review.submit(red);
    // Sent back for its own finding, not for what it did not read: it will not be taken.
    expect(await review.submit(row(true, 'made up'))).toMatchObject({
      issues: [{ path: '/findings/0/quote', keyword: 'quote' }],
    });
    expect(await review.submit(row(true))).toMatchObject({ submission: { payload: red } });
  });

  it('takes a later payload that is red, too', async () => {
    const review = require();
    await review.submit(row(false, 'made up'));
    const later = row(false, 'real');
    expect(await review.submit(later)).toMatchObject({ kind: 'taken', submission: { payload: later } });
  });

  describe('of two red payloads', () => {
    const rows = (...quotes: readonly string[]) => row(false, ...quotes);
    const many = rows('made up 1', 'made up 2', 'made up 3');
    /** Findings whose quote does not begin with `minor` fail the gate. */
    const blocking = (payload: JsonObject) =>
      ((payload['findings'] ?? []) as readonly { quote: string }[]).flatMap(({ quote }, at) =>
        quote.includes('minor') ? [] : [at],
      );
    it.each<readonly [string, readonly JsonObject[]]>([
      ['fewer findings', [many, rows('real 1')]],
      ['minor ones', [many, rows('real minor 1')]],
      ['fewer in each of three', [many, rows('made up 4', 'real'), rows('real')]],
    ])('takes the last one, with its proofs: %s', async (_, submitted) => {
      const review = require({ blocking });
      const decisions: unknown[] = [];
      for (const payload of submitted) decisions.push(await review.submit(payload));
      expect(decisions.at(-1)).toMatchObject({
        kind: 'taken',
        submission: { payload: submitted.at(-1) },
      });
    });

    it('takes the earlier one without a gate if the later one has fewer severe findings', async () => {
      const review = require({ blocking, isRed: () => false });
      await review.submit(many);
      expect(await review.submit(rows('real'))).toMatchObject({ submission: { payload: many } });
      const same = rows('real 1', 'real 2', 'real 3');
      const again = require({ blocking, isRed: () => false });
      await again.submit(many);
      expect(await again.submit(same)).toMatchObject({ submission: { payload: same } });
    });

    it('takes the one with a proof, if only proven findings count', async () => {
      const review = require({ blocking, gateFindings: 'proven' });
      await review.submit(many);
      const proven = rows('real');
      expect(await review.submit(proven)).toMatchObject({ kind: 'taken', submission: { payload: proven } });
    });

    it('takes no green one for its lack of unproven findings', async () => {
      const review = require({ blocking, gateFindings: 'proven' });
      await review.submit(many);
      expect(await review.submit(row(true))).toMatchObject({ kind: 'ended', reason: 'ungrounded' });
    });
  });

  it('takes what was sent back if no turn is left', async () => {
    const review = require();
    const payload = row(false, 'made up');
    await review.submit(payload);
    expect(await review.giveUp()).toMatchObject({ kind: 'taken', submission: { payload } });
  });

  it.each<readonly [string, JsonObject, Setting, string]>([
    ['none of the rows that fail the gate is proven', row(false, 'made up', 'real'), {}, 'ended'],
    ['one of them is', row(false, 'made up', 'real'), { blocking: () => [0, 1] }, 'taken'],
    ['no row fails it', row(false, 'made up'), { blocking: () => [] }, 'taken'],
    ['the gate is met', row(true, 'made up'), {}, 'taken'],
    ['all findings count', row(false, 'made up'), { gateFindings: 'all' }, 'taken'],
  ])('with gate-findings: proven, if %s', async (_, payload, setting, kind) => {
    const review = open({ grounding: 'mark', gateFindings: 'proven', found, ...setting });
    const decision = await review.submit(payload);
    expect(decision.kind).toBe(kind);
    if (decision.kind === 'ended') expect(decision).toMatchObject({ reason: 'ungrounded' });
  });

  it('with gate-findings: proven, takes an earlier red payload with a proof instead of a later one without', async () => {
    const review = require({ gateFindings: 'proven', blocking: () => [0] });
    const first = row(false, 'real', 'made up');
    expect((await review.submit(first)).kind).toBe('rejected');
    expect((await review.submit(row(false, 'made up'))).kind).toBe('rejected');
    const last = row(false, 'made up, too');
    expect(await review.submit(last, true)).toMatchObject({ kind: 'ended', reason: 'ungrounded' });
    const again = require({ gateFindings: 'proven', blocking: () => [0] });
    await again.submit(first);
    expect(await again.submit(last, true)).toMatchObject({ kind: 'taken', submission: { payload: first } });
  });
});
