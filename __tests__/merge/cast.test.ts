import { describe, expect, it } from 'vitest';
import { createContract, createGate } from '../../src/contract/contract.ts';
import { InputError } from '../../src/errors.ts';
import { castOf, type LegGate } from '../../src/merge/merge.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { Conclusion, Reason } from '../../src/types.ts';
import { findingPayload, sampleEnvelope } from './casts.ts';

type Changes = Parameters<typeof sampleEnvelope>[0];

const said = (changes: Changes, gate: LegGate = null) => {
  const { ballot, why } = castOf(sampleEnvelope(changes), gate, createSecrets());
  return [ballot, why];
};

function refusal(changes: Changes, gate: LegGate = null): string {
  try {
    castOf(sampleEnvelope(changes), gate, createSecrets());
  } catch (error) {
    if (error instanceof InputError) return error.message;
    throw error;
  }
  throw new Error('accepted');
}

const met = { gate: { status: 'met', issues: [] } } as const;
const notMet = { gate: { status: 'not_met', issues: [] } } as const;

describe('a vote', () => {
  it('is what the gate of its run says, and without one what its payload says of passed', () => {
    expect(said({})).toEqual(['pass', null]);
    expect(said({ payload: { passed: false } })).toEqual(['fail', '`passed` is false.']);
    expect(said({ ...met, payload: { passed: false } })).toEqual(['pass', null]);
    expect(said({ ...notMet, conclusion: 'failure', reason: 'gate_not_met' })).toEqual([
      'fail',
      'Its own gate is not met. It says: Fine.',
    ]);
  });

  it('has the summary of a payload that fails, which a schema without findings has for its only reason', () => {
    expect(said({ payload: { passed: false, summary: ' The build is slow.\n' } })).toEqual([
      'fail',
      '`passed` is false. It says: The build is slow.',
    ]);
    for (const summary of [' ', 7, null])
      expect(said({ payload: { passed: false, summary } })).toEqual(['fail', '`passed` is false.']);
    expect(said({ payload: { passed: true, summary: 'Fine.' } })).toEqual(['pass', null]);
    const [, long] = said({ payload: { passed: false, summary: 'a word '.repeat(1_000) } });
    expect(long?.length).toBeLessThanOrEqual(501);
  });

  it('never passes where the gate of its run is not met, whatever its conclusion and the gate asked for here', async () => {
    const none = await createGate({ kind: 'none' }, await createContract({}));
    expect(said({ ...notMet }, none)[0]).toBe('fail');
    expect(said({ ...notMet })[0]).toBe('fail');
    expect(said({ conclusion: 'failure', reason: 'gate_not_met', gate: null }, none)[0]).toBe('fail');
  });

  it('is what the gate of the merge says, in its words', async () => {
    const schema = { type: 'object', properties: { score: { type: 'number', minimum: 7 } } };
    const gate = await createGate({ kind: 'schema', schema }, await createContract({}));
    expect(said({ payload: { passed: false, score: 8 } }, gate)).toEqual(['pass', null]);
    const [ballot, why] = said({ payload: { passed: true, score: 6 } }, gate);
    expect(ballot).toBe('fail');
    expect(why).toMatch(/^The gate is not met: it .*score/u);
    expect(said({ payload: { passed: true } }, gate)[0]).toBe('fail');
  });

  it.each<readonly [Conclusion, Reason]>([
    ['inconclusive', 'timeout'],
    ['inconclusive', 'cancelled'],
    ['skipped', 'missing_key'],
  ])('abstains where its run was %s, and says why', (conclusion, reason) => {
    expect(said({ conclusion, reason, payload: null, gate: null, error: 'For a reason.' })).toEqual([
      'abstain',
      'For a reason.',
    ]);
  });

  it.each([{}, met, { conclusion: 'failure', reason: 'gate_not_met', ...notMet }] as const)(
    'abstains where its envelope contradicts itself, and says in what: %j',
    (changes) => {
      expect(said({ ...changes, contradiction: 'result and structured_output' })).toEqual([
        'abstain',
        'Its envelope contradicts itself in result and structured_output: it was changed after the run.',
      ]);
    },
  );

  it('abstains where a signal came after the payload, and where a recording answered', () => {
    expect(said({ conclusion: 'inconclusive', reason: 'cancelled' })).toEqual([
      'abstain',
      'It was cut off after its payload was accepted.',
    ]);
    expect(said({ replayed: true })).toEqual(['abstain', 'A recording answered: no model judged it.']);
    expect(said({ replayed: true, ...notMet, conclusion: 'failure' })[0]).toBe('abstain');
  });

  it('abstains where its envelope claims a success and holds no payload', () => {
    expect(said({ payload: null, gate: null })[0]).toBe('abstain');
  });

  it('brings its findings at the paths that its run has resolved', () => {
    const payload = findingPayload(
      { severity: 'high', path: 'index.js', line: 1, message: 'One.' },
      { severity: 'low', path: 'gone.js:2', message: 'Two.' },
      { severity: 'low', message: 'Three.' },
    );
    const paths = (...resolved: (string | null)[]) => {
      const findings = resolved.map((path) => ({ path }));
      const evidence = { context: 'none', toolCalls: 1, findings } as const;
      const { findings: kept } = castOf(sampleEnvelope({ payload, evidence }), null, createSecrets());
      return kept.read().map(({ path, line }) => [path, line]);
    };
    const rest = [
      ['gone.js', 2],
      [null, null],
    ];
    expect(paths('packages/api/index.js', null, null)).toEqual([['packages/api/index.js', 1], ...rest]);
    // One entry too few or too many: none of them can be trusted to be about its row.
    expect(paths('packages/api/index.js')).toEqual([['index.js', 1], ...rest]);
    expect(paths('a', 'b', 'c', 'd')).toEqual([['index.js', 1], ...rest]);
    expect(paths()).toEqual([['index.js', 1], ...rest]);
  });

  it('brings its findings only where it counts', () => {
    const payload = findingPayload({ severity: 'high', file: 'a.ts', line: 1, message: 'No.' });
    const found = (changes: Changes) =>
      castOf(sampleEnvelope({ payload, ...changes }), null, createSecrets()).findings.read();
    expect(found({})).toMatchObject([{ message: 'No.', severity: 'error' }]);
    expect(found({ replayed: true })).toEqual([]);
    expect(found({ conclusion: 'inconclusive', reason: 'cancelled' })).toEqual([]);
  });

  it('has bounded texts, cut between words', () => {
    const error = `${'word '.repeat(98)}sk-${'x'.repeat(10_000)}`;
    const [, why] = said({ conclusion: 'inconclusive', reason: 'timeout', payload: null, error });
    expect(why).toBe(`${'word '.repeat(98).trim()}…`);
    expect(castOf(sampleEnvelope({ model: 'm'.repeat(10_000) }), null, createSecrets()).model).toBe('…');
  });
});

describe('what is no vote at all', () => {
  it('is an envelope without a leg', () => {
    expect(refusal({ leg: null, file: 'x/result.json' })).toBe(
      '"x/result.json" does not say which leg it is of. Give the step that wrote it an input leg, for example leg: ${{ matrix.leg }}.',
    );
  });

  it('is the envelope of a merge, whatever leg it claims', () => {
    expect(refusal({ merged: true, leg: 'api', file: 'm.json' })).toBe(
      '"m.json" is the envelope of a merge, and no leg\'s. Download the artifacts of the legs alone.',
    );
    expect(refusal({ merged: true, leg: null })).toContain('is the envelope of a merge');
  });

  it('is a payload that nothing says anything about', () => {
    expect(refusal({ payload: { score: 7 }, file: 'a.json' })).toBe(
      'gate is auto, and nothing says whether the payload of leg "api" passes ("a.json"): its step had no gate, and it has no boolean "passed". Set gate to what must hold, or to none.',
    );
    expect(refusal({ payload: { passed: 'true' } })).toContain('no boolean "passed"');
    expect(refusal({ payload: JSON.parse('{"__proto__":{"passed":true}}') })).toContain(
      'no boolean "passed"',
    );
  });

  it('is one with a name that no input takes', () => {
    expect(refusal({ leg: 'x'.repeat(201) })).toContain('201 characters');
    expect(refusal({ vote: 'x'.repeat(201) })).toContain('Names have at most 200.');
  });
});
