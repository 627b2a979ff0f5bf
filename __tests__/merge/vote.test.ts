import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createContract, createGate } from '../../src/contract/contract.ts';
import { boundText, type LegGate, quoteName, readVote } from '../../src/merge/legs.ts';
import type { Evidence } from '../../src/reporters/report-types.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { Conclusion, Reason } from '../../src/types.ts';
import { unseenCoverage } from '../reporters/sample-coverage.ts';
import { knowSecrets, refusalOf } from '../support/surroundings.ts';
import { findingPayload, sampleEnvelope } from './votes.ts';

type Changes = Parameters<typeof sampleEnvelope>[0];

const outcomeOf = (changes: Changes, gate: LegGate = null) => {
  const { outcome, why } = readVote(sampleEnvelope(changes), gate, createSecrets());
  return [outcome, why];
};

const refusal = (changes: Changes) =>
  refusalOf(() => readVote(sampleEnvelope(changes), null, createSecrets())).message;

const met = { gate: { status: 'met', issues: [] } } as const;
const notMet = { gate: { status: 'not_met', issues: [] } } as const;

describe('readVote', () => {
  it('uses the gate of the run, or `passed` of the payload without a gate', () => {
    expect(outcomeOf({})).toEqual(['pass', null]);
    expect(outcomeOf({ payload: { passed: false } })).toEqual(['fail', '`passed` is false.']);
    expect(outcomeOf({ ...met, payload: { passed: false } })).toEqual(['pass', null]);
    expect(outcomeOf({ ...notMet, conclusion: 'failure', reason: 'gate_not_met' })).toEqual([
      'fail',
      'Its own gate is not met. It says: Fine.',
    ]);
  });

  it('includes the summary of a failing payload, the only reason in a schema without findings', () => {
    expect(outcomeOf({ payload: { passed: false, summary: ' The build is slow.\n' } })).toEqual([
      'fail',
      '`passed` is false. It says: The build is slow.',
    ]);
    for (const summary of [' ', 7, null])
      expect(outcomeOf({ payload: { passed: false, summary } })).toEqual(['fail', '`passed` is false.']);
    expect(outcomeOf({ payload: { passed: true, summary: 'Fine.' } })).toEqual(['pass', null]);
    const [, long] = outcomeOf({ payload: { passed: false, summary: 'a word '.repeat(1_000) } });
    expect(long?.length).toBeLessThanOrEqual(501);
  });

  it('never passes when the gate of the run is not met, whatever the merge’s gate', async () => {
    const none = await createGate({ kind: 'none' }, await createContract({}));
    expect(outcomeOf({ ...notMet }, none)[0]).toBe('fail');
    expect(outcomeOf({ ...notMet })[0]).toBe('fail');
    expect(outcomeOf({ conclusion: 'failure', reason: 'gate_not_met', gate: null }, none)[0]).toBe('fail');
  });

  it('uses the gate of the merge, in its words', async () => {
    const schema = { type: 'object', properties: { score: { type: 'number', minimum: 7 } } };
    const gate = await createGate({ kind: 'schema', schema }, await createContract({}));
    expect(outcomeOf({ payload: { passed: false, score: 8 } }, gate)).toEqual(['pass', null]);
    const [outcome, why] = outcomeOf({ payload: { passed: true, score: 6 } }, gate);
    expect(outcome).toBe('fail');
    expect(why).toMatch(/^The gate is not met: it .*score/u);
    expect(outcomeOf({ payload: { passed: true } }, gate)[0]).toBe('fail');
  });

  it.each<readonly [Conclusion, Reason]>([
    ['inconclusive', 'timeout'],
    ['inconclusive', 'cancelled'],
    ['skipped', 'missing_key'],
  ])('abstains when the run was %s, and gives the reason', (conclusion, reason) => {
    expect(outcomeOf({ conclusion, reason, payload: null, gate: null, error: 'For a reason.' })).toEqual([
      'abstain',
      'For a reason.',
    ]);
  });

  it.each([{}, met, { conclusion: 'failure', reason: 'gate_not_met', ...notMet }] as const)(
    'abstains when the envelope contradicts itself, and says where: %j',
    (changes) => {
      expect(outcomeOf({ ...changes, contradiction: 'result and structured_output' })).toEqual([
        'abstain',
        'Its envelope contradicts itself in result and structured_output: it was changed after the run.',
      ]);
    },
  );

  it('abstains after a signal that follows the payload, and for a replay', () => {
    expect(outcomeOf({ conclusion: 'inconclusive', reason: 'cancelled' })).toEqual([
      'abstain',
      'It was cut off after its payload was accepted.',
    ]);
    expect(outcomeOf({ replayed: true })).toEqual(['abstain', 'A recording answered: no model judged it.']);
    expect(outcomeOf({ replayed: true, ...notMet, conclusion: 'failure' })[0]).toBe('abstain');
  });

  it('abstains when the envelope claims a success without a payload', () => {
    expect(outcomeOf({ payload: null, gate: null })[0]).toBe('abstain');
  });

  it('returns findings at the paths that the run has resolved', () => {
    const payload = findingPayload(
      { severity: 'high', path: 'index.js', line: 1, message: 'One.' },
      { severity: 'low', path: 'gone.js:2', message: 'Two.' },
      { severity: 'low', message: 'Three.' },
    );
    const paths = (...resolved: (string | null)[]) => {
      const findings = resolved.map((path) => ({ path }));
      const evidence = { context: 'none', toolCalls: 1, findings } as const;
      const { findings: kept } = readVote(sampleEnvelope({ payload, evidence }), null, createSecrets());
      return kept.map(({ place }) => [place?.path ?? null, place?.line ?? null]);
    };
    const rest = [
      ['gone.js', 2],
      [null, null],
    ];
    expect(paths('packages/api/index.js', null, null)).toEqual([['packages/api/index.js', 1], ...rest]);
    // With one entry too few or too many, no entry can be matched to its row.
    expect(paths('packages/api/index.js')).toEqual([['index.js', 1], ...rest]);
    expect(paths('a', 'b', 'c', 'd')).toEqual([['index.js', 1], ...rest]);
    expect(paths()).toEqual([['index.js', 1], ...rest]);
  });

  it('keeps the counts of coverage, and not its lists', () => {
    const evidenceOf = (evidence: Evidence) =>
      readVote(sampleEnvelope({ evidence }), null, createSecrets()).evidence;
    const looked = { context: 'none', toolCalls: 1 } as const;
    expect(evidenceOf({ ...looked, coverage: unseenCoverage, findings: [] })).toEqual({
      ...looked,
      coverage: {
        status: 'measured',
        files: { required: 43, shown: 41 },
      },
    });
    expect(evidenceOf({ ...looked, coverage: null, findings: [] })).toEqual(looked);
  });

  it('returns checked findings at the proven lines, and those that are not proven without one', () => {
    const payload = findingPayload(
      { severity: 'high', path: 'a.js', line: 1, message: 'One.', quote: 'let  a;' },
      { severity: 'low', path: 'a.js', line: 2, message: 'Two.', quote: 'let b;' },
    );
    const findings = [
      { path: 'src/a.js', line: 7, lineWas: 1, grounding: 'exact' },
      { path: 'src/a.js', line: 2, lineWas: null, grounding: 'unproven' },
    ] as const;
    const grounding = { exact: 1, moved: 0, unproven: 1 };
    const evidence: Evidence = { context: 'none', toolCalls: 1, grounding, findings };
    const { findings: kept } = readVote(sampleEnvelope({ payload, evidence }), null, createSecrets());
    expect(kept.map(({ place, proof }) => [place?.path, place?.line, proof])).toEqual([
      ['src/a.js', 7, 'leta;'],
      ['src/a.js', null, undefined],
    ]);
    expect(kept.every((each) => !('evidence' in each || 'quote' in each))).toBe(true);
  });

  it('returns findings only when the vote counts', () => {
    const payload = findingPayload({ severity: 'high', file: 'a.ts', line: 1, message: 'No.' });
    const found = (changes: Changes) =>
      readVote(sampleEnvelope({ payload, ...changes }), null, createSecrets()).findings;
    expect(found({})).toMatchObject([{ message: 'No.', severity: 'error' }]);
    expect(found({ replayed: true })).toEqual([]);
    expect(found({ conclusion: 'inconclusive', reason: 'cancelled' })).toEqual([]);
  });

  it('limits texts, truncated between words', () => {
    const error = `${'word '.repeat(98)}sk-${'x'.repeat(10_000)}`;
    const [, why] = outcomeOf({ conclusion: 'inconclusive', reason: 'timeout', payload: null, error });
    expect(why).toBe(`${'word '.repeat(98).trim()}…`);
    expect(readVote(sampleEnvelope({ model: 'm'.repeat(10_000) }), null, createSecrets()).model).toBe('…');
  });
});

describe('readVote refuses', () => {
  it('an envelope without a leg', () => {
    expect(refusal({ leg: null, file: 'x/result.json' })).toBe(
      '"x/result.json" does not say which leg it is of. Give the step that wrote it an input leg, for example leg: ${{ matrix.leg }}.',
    );
  });

  it('the envelope of a merge, whatever leg it claims', () => {
    expect(refusal({ merged: true, leg: 'api', file: 'm.json' })).toBe(
      '"m.json" is the envelope of a merge, and no leg\'s. Download the artifacts of the legs alone.',
    );
    expect(refusal({ merged: true, leg: null })).toContain('is the envelope of a merge');
  });

  it('a payload without a gate and without `passed`', () => {
    expect(refusal({ payload: { score: 7 }, file: 'a.json' })).toBe(
      'gate is auto, and nothing says whether the payload of leg "api" passes ("a.json"): its step had no gate, and it has no boolean "passed". Set gate to what must hold, or to none.',
    );
    expect(refusal({ payload: { passed: 'true' } })).toContain('no boolean "passed"');
    expect(refusal({ payload: JSON.parse('{"__proto__":{"passed":true}}') })).toContain(
      'no boolean "passed"',
    );
  });

  it('a name that is too long for the inputs', () => {
    expect(refusal({ leg: 'x'.repeat(201) })).toContain('201 characters');
    expect(refusal({ vote: 'x'.repeat(201) })).toContain('Names have at most 200.');
  });
});

describe('the findings of a vote', () => {
  it('are those of the payload, sorted by severity', () => {
    const message = 'Ünï — "quoted"\n\u2028';
    const low = { severity: 'low', message, rule: 'r', title: 't', file: 'a.ts', line: 3, end_line: 5 };
    const payload = findingPayload(low, { severity: 'high', message: 'Grave.' });
    const { findings, findingsLeftOut } = readVote(sampleEnvelope({ payload }), null, createSecrets());
    expect(findings).toMatchObject([
      { severity: 'error', place: null, rule: null, title: null, message: 'Grave.', brief: 'Grave.' },
      {
        ...{ severity: 'note', rule: 'r', title: 't', message: message.trim(), brief: 't' },
        place: { path: 'a.ts', line: 3, endLine: 5 },
      },
    ]);
    expect(findingsLeftOut).toBe(0);
  });

  it('are limited to the most severe ones, and the others are counted', () => {
    const rows = Array.from({ length: 400 }, (_, at) => ({
      severity: at === 399 ? 'high' : 'low',
      message: `${at}`,
    }));
    const vote = readVote(sampleEnvelope({ payload: findingPayload(...rows) }), null, createSecrets());
    expect(vote).toMatchObject({ findings: { length: 300, 0: { message: '399' } }, findingsLeftOut: 100 });
  });
});

describe('boundText', () => {
  const cut = (text: string, max: number, ...secrets: readonly string[]) =>
    boundText(text, max, knowSecrets(...secrets)).replace(/…$/u, '');

  it('keeps a text that fits, and null', () => {
    expect([boundText('as it is', 8, knowSecrets()), boundText(null, 8, knowSecrets())]).toEqual([
      'as it is',
      null,
    ]);
  });

  it('truncates a text after 64 KiB without searching the rest for secrets', () => {
    const secret = 'hunter2-secret-key';
    const fill = (length: number) => 'a b '.repeat(length / 4);
    expect(boundText(fill(80_000) + secret, 8, knowSecrets(secret))).toBe('a b a b…');
    const early = fill(40_000) + secret + fill(40_000);
    expect(boundText(early, 8, knowSecrets(secret))).toBe(early);
  });

  it.each<readonly [what: string, text: string, max: number, kept: string]>([
    ['between words', 'one two three', 12, 'one two'],
    ['to nothing in a single word', 'onetwothree', 5, ''],
    [
      'between Latin words, also with accents',
      'Ein Wörterbuch von Änderungsanträgen',
      28,
      'Ein Wörterbuch von',
    ],
    ['anywhere in Chinese', '数据库的查询'.repeat(400), 4_000, '数据库的查询'.repeat(400).slice(0, 4_000)],
    ['anywhere in Thai', 'แบบสอบถาม'.repeat(99), 500, 'แบบสอบถาม'.repeat(99).slice(0, 500)],
    ['without splitting a character', '😀😀😀', 3, '😀'],
    ['between the tokens of minified code', 'f(a){return{b:"some-token"}}', 20, 'f(a){return{b:"'],
  ])('truncates %s', (_, text, max, kept) => {
    expect(cut(text, max)).toBe(kept);
  });

  it('removes a partial token, even when it is not a known secret', () => {
    const token = 'eyJhbGciOi.J9-_+/=~%20:@?&!#$^*|,x';
    for (const before of ['see ', '见：', 'a("', '{'])
      for (let max = before.length; max < before.length + token.length; max += 1)
        expect(cut(`${before}${token} and more of it`, max)).toBe(before.trimEnd());
    for (const unseen of ['\u200b', '\u00ad', '\u{e0020}', '\x1b', '\ufe0f'])
      for (let max = 2; max < 14; max += 1)
        expect(cut(`见：abcd${unseen}efgh${unseen}ijkl。`, max)).toBe('见：');
  });

  it('does not truncate a text with a known secret, and masks a short secret first', () => {
    const values = ['sk-0123456789', 'p(a)ss;w"ord', '密码密码密码密码', 'two words', 'line one\nline two'];
    for (const secret of values)
      for (const form of [
        secret,
        [...secret].toReversed().join(''),
        Buffer.from(secret).toString('base64'),
      ]) {
        const text = `f("数据 ${form} 数据")${'.'.repeat(50)}`;
        for (let max = 0; max < text.length; max += 1)
          expect(boundText(text, max, knowSecrets(secret))).toBe(text);
      }
    expect(boundText('数密码密码数数数数', 6, knowSecrets('密码密码'))).toBe('数***数数…');
  });

  it('keeps no part of a known secret except all of it, however texts and secrets overlap', () => {
    const unit = fc.constantFrom('a', 'b', '密', '码', '(', ';', '"', ' ', '😀', 'é');
    const secret = fc.string({ unit, minLength: 4, maxLength: 12 });
    const world = fc.array(secret, { minLength: 1, maxLength: 3 }).chain((secrets) => {
      const part = fc.oneof(fc.constantFrom(...secrets), fc.string({ unit, maxLength: 8 }));
      return fc.tuple(fc.constant(secrets), fc.array(part, { minLength: 2 }), fc.nat(60));
    });
    fc.assert(
      fc.property(world, ([values, parts, max]) => {
        const text = parts.join('');
        const kept = boundText(text, max, knowSecrets(...values));
        if (kept === text) return;
        expect(
          knowSecrets(...values)
            .mask(text)
            .startsWith(kept.replace(/…$/u, '')),
        ).toBe(true);
      }),
    );
  });

  it('quoteName quotes a name and truncates it between words', () => {
    expect(quoteName('a "b"\n')).toBe(String.raw`"a \"b\"\n"`);
    expect(quoteName(`${'x'.repeat(290)} ${'数'.repeat(20)}`)).toBe(`"${'x'.repeat(290)}…"`);
    expect(quoteName('x'.repeat(301))).toBe('"…"');
  });
});
