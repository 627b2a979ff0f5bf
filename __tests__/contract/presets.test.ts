import { describe, expect, it } from 'vitest';
import { createContract, createGate } from '../../src/contract/contract.ts';
import { presets } from '../../src/contract/presets.ts';
import { readFindings } from '../../src/reporters/findings.ts';
import type { JsonObject } from '../../src/types.ts';
import { samples } from './preset-samples.ts';

const open = async (name: string) => {
  const preset = presets.get(name);
  if (preset === undefined) throw new Error(`there is no preset ${name}`);
  const contract = await createContract(preset.schema);
  return { schema: preset.schema, contract, gate: await createGate(preset.gate, contract) };
};
const raw = (payload: JsonObject) => ({ rawArguments: JSON.stringify(payload), status: 'complete' as const });

describe('the presets', () => {
  it('have samples', () => {
    expect([...presets.keys()]).toEqual(Object.keys(samples));
  });
});

describe.each(Object.entries(samples))(
  'the preset %s',
  (name, { outputs, met, unmet, contradictions, refused }) => {
    it('declares its properties, each with its own output and without a warning', async () => {
      const { contract, gate } = await open(name);
      expect([contract.schema['title'], ...contract.outputNames]).toEqual([name, ...outputs]);
      expect([...contract.warnings, ...gate.warnings]).toEqual([]);
    });

    it.each(met)('accepts %j, and its gate is met', async (payload) => {
      const { contract, gate } = await open(name);
      expect(contract.check(raw(payload))).toEqual({ ok: true, payload, repaired: null });
      expect(gate.evaluate(payload)).toMatchObject({ status: 'met', issues: [] });
    });

    it.each(unmet)('accepts %j, and its gate is not met', async (payload) => {
      const { contract, gate } = await open(name);
      expect(contract.check(raw(payload))).toEqual({ ok: true, payload, repaired: null });
      expect(gate.evaluate(payload)).toMatchObject({
        status: 'not_met',
        issues: expect.arrayContaining([
          { path: '/passed', keyword: 'const', message: '`/passed` must be true, is false' },
        ]),
      });
    });

    // A message that found fault with the finding would talk a model into playing it down.
    it.each(contradictions)(
      'rejects the contradiction %j, and asks for passed to be false',
      async (payload) => {
        const { contract, gate } = await open(name);
        const check = contract.check(raw(payload));
        expect(check).toMatchObject({
          ok: false,
          issues: expect.arrayContaining([
            expect.objectContaining({ path: '/passed', message: 'must be exactly false.' }),
          ]),
        });
        if (name !== 'verdict' && name !== 'code-review')
          expect(gate.evaluate(payload).status).toBe('not_met');
      },
    );

    it.each(refused)('rejects %j', async (payload) => {
      const { contract } = await open(name);
      expect(contract.check(raw(payload)).ok).toBe(false);
    });

    it('has a gate that an absent property does not meet', async () => {
      const { gate } = await open(name);
      for (const payload of met) {
        for (const gone of outputs) {
          const { [gone]: _, ...rest } = payload;
          const isWanted = gate.evaluate({}).issues.some(({ message }) => message.includes(`"${gone}"`));
          expect([gone, gate.evaluate(rest).status]).toEqual([gone, isWanted ? 'not_met' : 'met']);
        }
      }
      expect(gate.evaluate({}).status).toBe('not_met');
    });

    it('has rows that annotations and SARIF can read, each with its own severity', () => {
      const rows = unmet.flatMap((payload) =>
        [payload['findings'], payload['failures']].flatMap((each) => each ?? []),
      );
      expect(rows).not.toEqual([]);
      expect(unmet.flatMap(readFindings)).toHaveLength(rows.length);
      const last = unmet.flatMap(readFindings).find(({ place }) => place !== null);
      expect(last).toMatchObject({
        severity: 'error',
        place: { path: expect.stringMatching(/^a\./u), line: 1 },
        message: 'm',
      });
      expect(last?.title).toMatch(/^(?:t|a > b)$/u);
    });

    it('is small enough to send on every turn', async () => {
      expect(JSON.stringify((await open(name)).schema).length).toBeLessThan(4_000);
    });
  },
);
