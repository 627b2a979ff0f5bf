import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createContract, createGate } from '../src/contract/contract.ts';
import { presets } from '../src/contract/presets.ts';
import { type Files, parseGateArgument, parseSchemaArgument } from '../src/contract/source.ts';
import { isObject } from '../src/text/json.ts';
import type { JsonObject } from '../src/types.ts';
import { samples } from './contract/preset-samples.ts';

const root = path.join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
const namesIn = (folder: string, ending: string) =>
  readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);

/** A gate in a document, with its schema, or null when the document shows none. */
interface Shown {
  readonly where: string;
  readonly gate: string;
  readonly schema: string | null;
}

/** Finds each `gate` in a YAML value: in steps, in jobs, or alone. */
function gatesIn(value: unknown, where: string): readonly Shown[] {
  if (typeof value !== 'object' || value === null) return [];
  const { gate, schema } = Object.fromEntries(Object.entries(value));
  const own =
    typeof gate === 'string' ? [{ where, gate, schema: typeof schema === 'string' ? schema : null }] : [];
  return [...own, ...Object.values(value).flatMap((inner) => gatesIn(inner, where))];
}

/** Finds `gate: …` in code spans, and `--gate …` and `gate: '…'` in command lines and programs. */
function gatesInText(text: string, where: string): readonly Shown[] {
  const spans = [...text.matchAll(/`(gate: [^`]+)`/gu)].flatMap(([, span = '']) =>
    gatesIn(parse(span), where),
  );
  const commands = [...text.matchAll(/--gate[ =](?:'([^']+)'|([\w@./-]+))/gu)];
  const programs = [...text.matchAll(/^\s+gate: '([^']+)',$/gmu)];
  const others = [...commands, ...programs].map(([, quoted, bare]) => quoted ?? bare ?? '');
  return [...spans, ...others.map((gate) => ({ where, gate, schema: null }))];
}

const documents = ['README.md', ...namesIn('docs', '.md')].flatMap((name) => {
  const text = read(name);
  const blocks = [...text.matchAll(/```(?:yaml|yml)\n([\s\S]*?)```/gu)].map(([, block = '']) => block);
  return [...blocks.flatMap((block) => gatesIn(parse(block), name)), ...gatesInText(text, name)];
});
const workflows = namesIn('examples', '.yml').flatMap((name) => gatesIn(parse(read(name)), name));
const actions = ['action.yml', 'merge/action.yml'].flatMap((name) => gatesInText(read(name), name));
const all = [...documents, ...workflows, ...actions];
const isChecked = ({ gate }: Shown) => !['none', 'auto'].includes(gate) && !/^@|\$\{\{|NAME/u.test(gate);

/** The schema of a custom file in docs/schemas-and-gates.md, with the number that its table of gates uses. */
const OWN: JsonObject = {
  type: 'object',
  properties: {
    passed: { type: 'boolean' },
    failure_count: { type: 'integer', minimum: 0 },
    coverage: { type: 'number', minimum: 0, maximum: 100 },
  },
  required: ['passed', 'failure_count', 'coverage'],
  additionalProperties: false,
};
const CLEAN: JsonObject = { passed: true, failure_count: 0, coverage: 95, summary: 's' };
const BAD: JsonObject = { passed: false, failure_count: 3, coverage: 12, summary: 's' };
const critical = { severity: 'critical', category: 'injection', title: 't', message: 'm' };
const files: Files = {
  readFile: () => Promise.reject(new Error('a file')),
  readElsewhere: () => Promise.reject(new Error('a file elsewhere')),
};

/** The payloads that a gate must distinguish, and their schema. */
interface Trial {
  readonly name: string;
  readonly schema: JsonObject;
  readonly clean: readonly JsonObject[];
  readonly bad: readonly JsonObject[];
}

const pick = (payload: JsonObject, { properties }: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(payload).filter(([name]) => isObject(properties) && Object.hasOwn(properties, name)),
  );

/** The presets with the properties of the gate, or the schema beside the gate, or the custom schema. */
async function trialsOf({ gate, schema, where }: Shown): Promise<readonly Trial[]> {
  const trialKind = /failure_count|coverage/u.test(gate)
    ? 'own'
    : /complete/u.test(gate)
      ? 'security-review'
      : 'presets';
  if (schema !== null && !schema.startsWith('@') && !presets.has(schema)) {
    const source = await parseSchemaArgument(schema, files);
    const own = Object(source.schema);
    return [{ name: where, schema: own, clean: [pick(CLEAN, own)], bad: [pick(BAD, own)] }];
  }
  if (trialKind === 'own')
    return [{ name: 'own', schema: OWN, clean: [pick(CLEAN, OWN)], bad: [pick(BAD, OWN)] }];
  const names =
    schema !== null && presets.has(schema)
      ? [schema]
      : trialKind === 'presets'
        ? [...presets.keys()]
        : [trialKind];
  return names.flatMap((name) => {
    const preset = presets.get(name);
    const { met = [], unmet = [] } = samples[name] ?? {};
    if (preset === undefined || !isObject(preset.schema['properties'])) return [];
    if (/findings/u.test(gate) && !Object.hasOwn(preset.schema['properties'], 'findings')) return [];
    const [clean = {}] = met;
    const isPlain = (payload: JsonObject) =>
      !('findings' in payload) || JSON.stringify(payload['findings']) === '[]';
    const bad = trialKind === 'security-review' ? [{ ...clean, passed: false, findings: [critical] }] : unmet;
    return [{ name, schema: preset.schema, clean: met.filter(isPlain), bad }];
  });
}

describe('the gates in documents, examples and actions', () => {
  it('exist', () => {
    const count = (shown: readonly Shown[]) => shown.filter(isChecked).length;
    expect({ documents: count(documents), workflows: count(workflows), actions: count(actions) }).toEqual({
      documents: 15,
      workflows: 3,
      actions: 0,
    });
    expect(all.filter(({ gate }) => gate.startsWith('{')).length).toBeGreaterThan(3);
  });

  it.each(all.filter(isChecked))(
    '$where: $gate is met by a clean payload, and not by a bad one',
    async (shown) => {
      const trials = await trialsOf(shown);
      expect(trials).not.toEqual([]);
      for (const { name, schema, clean, bad } of trials) {
        const contract = await createContract(schema);
        const gate = await createGate(await parseGateArgument(shown.gate, { kind: 'none' }, files), contract);
        expect(gate.warnings, name).toEqual([]);
        expect(clean.length * bad.length, name).toBeGreaterThan(0);
        for (const payload of [...clean, ...bad]) {
          const call = { rawArguments: JSON.stringify(payload), status: 'complete' as const };
          expect(contract.check(call), name).toMatchObject({ ok: true });
        }
        for (const payload of clean) expect(gate.evaluate(payload), name).toMatchObject({ status: 'met' });
        for (const payload of bad) expect(gate.evaluate(payload), name).toMatchObject({ status: 'not_met' });
      }
    },
  );
});
