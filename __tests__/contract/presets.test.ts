import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { createContract, createGate } from '../../src/contract/contract.ts';
import { presets } from '../../src/contract/presets.ts';
import { projectSchema } from '../../src/providers/schema/project.ts';
import { objectOf } from '../../src/providers/tool-calls.ts';
import { readFindings } from '../../src/reporters/findings.ts';
import type { JsonObject } from '../../src/types.ts';
import { dialects, lossesOf } from '../providers/schema/validate-wire.ts';
import { checkProjection, validInstances } from '../support/schemas/wire-check.ts';
import { asJsonSchema } from '../support/schemas/wire-rules.ts';
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
      expect({ title: contract.title, names: contract.outputNames }).toEqual({ title: name, names: outputs });
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
      expect(gate.evaluate(payload).status).toBe('not_met');
      expect(gate.evaluate(payload).words).toContain('wants `passed` to be true; the payload says false');
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
            { path: '/passed', keyword: 'const', message: 'must be exactly false.' },
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
          const { status, words = [] } = gate.evaluate(rest);
          const isWanted = gate.evaluate({}).words?.some((clause) => clause.startsWith(`wants \`${gone}\``));
          expect([gone, status]).toEqual([gone, isWanted === true ? 'not_met' : 'met']);
          expect(words).not.toEqual([]);
        }
      }
      expect(gate.evaluate({}).status).toBe('not_met');
    });

    it.each(dialects)(
      'is fully described to a model behind %s by parameters and note together',
      async (dialect) => {
        const { schema, contract } = await open(name);
        const valid = validInstances(contract, [...met, ...unmet], 50, 1);
        expect(checkProjection(schema, dialect, valid).problems).toEqual([]);
        const { parameters, note } = projectSchema(schema, dialect);
        const rest = lossesOf(note).reduce(
          (laid, [pointer, keywords]) => layAt(laid, pointer.split('/').slice(1), keywords),
          {},
        );
        const own = dialect === 'gemini' ? objectOf(asJsonSchema(parameters)) : parameters;
        const judges = [own, closedOver(rest, schema)].map((part) =>
          new Ajv({ strict: false }).compile(part),
        );
        const isTaken = (payload: JsonObject) => judges.every((judge) => judge(payload) === true);
        for (const payload of [...met, ...unmet]) expect(isTaken(payload)).toBe(true);
        for (const payload of [...contradictions, ...refused])
          expect([payload, isTaken(payload)]).toEqual([payload, false]);
      },
    );

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

/** Merges keywords of the note into the subschema at a path. */
function layAt(schema: JsonObject, path: readonly string[], keywords: JsonObject): JsonObject {
  const [name, ...rest] = path;
  if (name !== undefined) return { ...schema, [name]: layAt(objectOf(schema[name]), rest, keywords) };
  const isFree = Object.keys(keywords).every((keyword) => schema[keyword] === undefined);
  return isFree
    ? { ...schema, ...keywords }
    : { ...schema, allOf: [...[schema['allOf'] ?? []].flat(), keywords] };
}

/** The note's schema merged into the schema at every depth, so that `additionalProperties` knows its names. */
function closedOver(rest: JsonObject, schema: JsonObject): JsonObject {
  const [own, items] = [objectOf(rest['properties']), rest['items']];
  const properties = Object.entries(objectOf(schema['properties'])).map(([name, part]) => [
    name,
    closedOver(objectOf(own[name]), objectOf(part)),
  ]);
  return {
    ...rest,
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(items === undefined ? {} : { items: closedOver(objectOf(items), objectOf(schema['items'])) }),
  };
}
