import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { envelopeSchema, readingSchema } from '../../src/envelope/schema.ts';
import {
  CONCLUSIONS,
  CONTEXT_STATUSES,
  GATE_STATUSES,
  GROUNDING_STATUSES,
  REASONS,
} from '../../src/envelope/view.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { COVERAGE_STATUSES, NOT_REQUIRED } from '../../src/text/coverage.ts';
import { isArray, isObject } from '../../src/text/json.ts';
import type { Isolation, Json, JsonObject, Subtype, Verdict } from '../../src/types.ts';
import { sampleLeg, sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { sampleReport, unpublished } from '../reporters/sample-report.ts';
import { issuesOf } from '../support/schemas/envelope-issues.ts';

type Listed<T extends PropertyKey> = Readonly<Record<T, true>>;
/** Lists the words of a type; the compiler says which one is missing. */
const words = <T extends PropertyKey>(list: Listed<T>) => Object.keys(list);
const SUBTYPES = words<Subtype>({
  ...{ success: true, gate_not_met: true, error_plain_text: true, error_refusal: true },
  ...{ error_provider: true, error_replay: true, error_security: true, error_internal: true },
  ...{ error_sandbox: true, error_config: true, error_max_turns: true, error_budget: true },
  ...{ error_cancelled: true, error_undecided: true, error_evidence: true, skipped: true },
});
const ISOLATIONS = words<Isolation>({
  ...{ bwrap: true, unshare: true, none: true },
});
const EXIT_CODES = words<Verdict['exitCode']>({
  ...{ 0: true, 1: true, 44: true, 52: true, 53: true, 55: true, 130: true },
});

const same = (text: string) => text;
const made = (changes: Partial<Report> = {}) => envelope(sampleReport(changes), same);
const accepted = made();
const lost = made(unpublished('No.'));

/** The value at a path of the schema. */
function at(...path: readonly (string | number)[]): Json {
  let value: Json = envelopeSchema;
  for (const name of path) {
    const next: Json | undefined = isArray(value)
      ? value[Number(name)]
      : isObject(value)
        ? value[String(name)]
        : undefined;
    if (next === undefined) throw new Error(`nothing at ${path.join('/')}`);
    value = next;
  }
  return value;
}

describe('the schema of the envelope', () => {
  it('lists exactly the words of the program', () => {
    expect(at('properties', 'subtype', 'enum')).toEqual(SUBTYPES);
    expect(at('properties', 'conclusion', 'enum')).toEqual(Object.keys(CONCLUSIONS));
    expect(at('properties', 'reason', 'enum')).toEqual(Object.keys(REASONS));
    expect(at('properties', 'sandbox', 'enum')).toEqual(ISOLATIONS);
    expect(at('properties', 'exit_code', 'enum')).toEqual(EXIT_CODES.map(Number));
    expect(at('properties', 'gate', 'properties', 'status', 'enum')).toEqual(Object.keys(GATE_STATUSES));
    expect(at('definitions', 'context', 'enum')).toEqual(Object.keys(CONTEXT_STATUSES));
    expect(at('definitions', 'coverage_status', 'enum')).toEqual(Object.keys(COVERAGE_STATUSES));
    const evidence = (...path: readonly string[]) => at('properties', 'evidence', 'properties', ...path);
    const files = ['coverage', 'properties', 'files', 'properties'];
    expect(evidence(...files, 'not_required', 'items', 'properties', 'why', 'enum')).toEqual(
      Object.keys(NOT_REQUIRED),
    );
    const finding = (name: string) => evidence('findings', 'items', 'properties', name, 'enum');
    expect(finding('grounding')).toEqual([...Object.keys(GROUNDING_STATUSES), null]);
    expect(at('definitions', 'said_conclusion', 'enum')).toEqual([...Object.keys(CONCLUSIONS), 'missing']);
    expect(at('definitions', 'said_reason', 'enum')).toEqual([...Object.keys(REASONS), 'missing']);
  });

  it('has one row for each reason and each subtype', () => {
    const rows = at('anyOf');
    const wordsOf = (name: string): readonly (Json | undefined)[] =>
      (isArray(rows) ? rows : []).flatMap((_, index): readonly (Json | undefined)[] => {
        const word = at('anyOf', index, 'properties', name);
        if (!isObject(word)) return [];
        return isArray(word['enum']) ? word['enum'] : [word['const']];
      });
    expect(wordsOf('reason').toSorted()).toEqual(Object.keys(REASONS).toSorted());
    expect(wordsOf('subtype').toSorted()).toEqual(SUBTYPES.toSorted());
  });

  it('describes every field', () => {
    const fields = at('properties');
    const silent = Object.entries(isObject(fields) ? fields : {}).filter(
      ([, field]) => isObject(field) && typeof field['description'] !== 'string' && !('$ref' in field),
    );
    expect(silent.map(([name]) => name)).toEqual(['type']);
  });

  it('is accepted by a strict draft-07 validator', () => {
    const validate = new Ajv({ strict: true, strictRequired: false, strictTypes: false }).compile(
      envelopeSchema,
    );
    expect(validate(accepted)).toBe(true);
    expect(validate({ ...accepted, more: 1 })).toBe(false);
  });

  it('accepts the envelopes of runs and merges, decided or not, signed or not', () => {
    const cancelled = { reason: 'cancelled', subtype: 'error_cancelled', exitCode: 130 } as const;
    const merges = (['pass', 'fail', 'abstain'] as const).map((outcome) =>
      envelope(sampleMergedReport(sampleMerged({ legs: [sampleLeg('api', outcome)] })), same),
    );
    for (const each of [
      accepted,
      lost,
      made({ ...unpublished('It spoke.'), lastAssistantText: 'All is well.' }),
      made(unpublished('Cancelled.', cancelled)),
      made({ verdict: { ...sampleReport().verdict, conclusion: 'inconclusive', ...cancelled } }),
      made({
        subject: null,
        replayed: true,
      }),
      made({ repaired: { kind: 'unwrapped', key: 'input' }, gate: { status: 'none', issues: [] } }),
      { ...accepted, signature: `hmac-sha256:${'0'.repeat(64)}` },
      ...merges,
    ]) {
      expect(issuesOf(each)).toEqual([]);
    }
  });

  const { structured_output: _, ...halfPublished } = accepted;
  it.each<[string, JsonObject]>([
    ['a success whose gate is not met', { ...accepted, gate: { status: 'not_met', issues: [] } }],
    ['a success without a payload', { ...lost, ...ending('success', 'accepted', 'success', 0) }],
    ['a payload without a gate', { ...accepted, gate: null }],
    ['a payload beside an error', { ...accepted, error: 'No.' }],
    ['half of a published payload', halfPublished],
    [
      'an inconclusive run with a payload',
      { ...accepted, ...ending('inconclusive', 'plain_text', 'error_plain_text', 1) },
    ],
    ['a reason of another row', { ...lost, reason: 'refusal' }],
    ['a failure with exit code 0', { ...accepted, ...ending('failure', 'gate_not_met', 'gate_not_met', 0) }],
    ['last assistant text after an accepted payload', { ...accepted, last_assistant_text: 'x' }],
    ['replayed: false', { ...accepted, replayed: false }],
    ['a __proto__ key', JSON.parse('{"__proto__":1}')],
    ['a negative count', { ...accepted, num_turns: -1 }],
    ['an unknown field', { ...accepted, more: null }],
    ['an invalid hash', { ...accepted, judge: { ...sampleReport().policy, gate_sha256: 'A'.repeat(64) } }],
    ['an invalid signature', { ...accepted, signature: 'x' }],
  ])('refuses %s', (_, each) => {
    expect(issuesOf(each)).not.toEqual([]);
  });
});

describe('the schema for reading envelopes', () => {
  it('ignores fields of a later version at any depth, and accepts missing fields of an earlier one', async () => {
    const { validate } = await readingSchema();
    const { leg, vote, ...early } = accepted;
    expect([leg, vote]).toEqual([null, null]);
    const later = { ...accepted, more: {}, judge: { ...sampleReport().policy, tools_sha256: 'x' } };
    for (const each of [early, later, accepted]) expect(validate(each)).toEqual({ ok: true });
  });

  it('requires all other fields', async () => {
    const { validate } = await readingSchema();
    const added = ['leg', 'vote', 'turns', 'total_input_tokens', 'total_output_tokens'];
    const required = at('required');
    const names = isArray(required) ? required.filter((name) => typeof name === 'string') : [];
    for (const name of names) {
      const { [name]: _, ...rest } = accepted;
      expect([name, validate(rest).ok]).toEqual([name, added.includes(name)]);
    }
  });
});

function ending(conclusion: string, reason: string, subtype: string, code: number): JsonObject {
  return { conclusion, reason, subtype, exit_code: code, is_error: code !== 0 };
}
