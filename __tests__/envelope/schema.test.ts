import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { envelopeSchema, readingSchema } from '../../src/envelope/read.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import type { Subtype } from '../../src/run/endings.ts';
import { isArray, isObject } from '../../src/text/json.ts';
import type {
  Conclusion,
  ContextStatus,
  Coverage,
  GateResult,
  GroundingStatus,
  Isolation,
  Json,
  JsonObject,
  NotRequired,
  Reason,
  Verdict,
} from '../../src/types.ts';
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
const REASONS = words<Reason>({
  ...{ accepted: true, gate_not_met: true, plain_text: true, refusal: true, provider_auth: true },
  ...{ provider_rate_limit: true, provider_overloaded: true, provider_error: true, context_overflow: true },
  ...{ replay_mismatch: true, secret_in_payload: true, tampered: true, internal: true, sandbox: true },
  ...{ config: true, max_turns: true, timeout: true, max_tokens: true, max_cost: true, cancelled: true },
  ...{ missing_key: true, undecided: true, unsupported: true },
});
const CONCLUSIONS = words<Conclusion>({ success: true, failure: true, inconclusive: true, skipped: true });
const GROUNDING = words<GroundingStatus>({ exact: true, moved: true, unproven: true });

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
    const isolations = words<Isolation>({ bwrap: true, unshare: true, none: true });
    const codes = { 0: true, 1: true, 44: true, 52: true, 53: true, 55: true, 130: true } as const;
    const gates = words<GateResult['status']>({ met: true, not_met: true, none: true });
    const contexts = words<ContextStatus>({ complete: true, truncated: true, missing: true, none: true });
    const coverages = words<Coverage['status']>({ measured: true, partial: true, unknown: true });
    const kinds = { lock_file: true, binary: true, generated: true, vendored: true } as const;
    const notRequired = words<NotRequired>({ ...kinds, outside_working_directory: true });
    const listed: readonly (readonly [path: string, words: readonly Json[]])[] = [
      ['properties/subtype', SUBTYPES],
      ['properties/conclusion', CONCLUSIONS],
      ['properties/reason', REASONS],
      ['properties/sandbox', isolations],
      ['properties/exit_code', words<Verdict['exitCode']>(codes).map(Number)],
      ['properties/gate/properties/status', gates],
      ['definitions/context', contexts],
      ['definitions/coverage_status', coverages],
      ['definitions/said_conclusion', [...CONCLUSIONS, 'missing']],
      ['definitions/said_reason', [...REASONS, 'missing']],
      ['properties/evidence/properties/findings/items/properties/grounding', [...GROUNDING, null]],
      [
        'properties/evidence/properties/coverage/properties/files/properties/not_required/items/properties/why',
        notRequired,
      ],
    ];
    for (const [path, words] of listed) expect([path, at(...path.split('/'), 'enum')]).toEqual([path, words]);
  });

  it('has one row for each reason and each subtype', () => {
    const rows = at('anyOf');
    const wordsOf = (name: string): readonly (Json | undefined)[] =>
      (isArray(rows) ? rows : []).flatMap((_, index): readonly (Json | undefined)[] => {
        const word = at('anyOf', index, 'properties', name);
        if (!isObject(word)) return [];
        return isArray(word['enum']) ? word['enum'] : [word['const']];
      });
    expect(wordsOf('reason').toSorted()).toEqual(REASONS.toSorted());
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

it('the schema for reading envelopes ignores fields of a later version at any depth, and requires all others', async () => {
  const { validate } = await readingSchema();
  const later = { ...accepted, more: {}, judge: { ...sampleReport().policy, tools_sha256: 'x' } };
  for (const each of [later, accepted]) expect(validate(each)).toEqual({ ok: true });
  const required = at('required');
  for (const name of isArray(required) ? required : []) {
    const { [String(name)]: _, ...rest } = accepted;
    expect([name, validate(rest).ok]).toEqual([name, false]);
  }
});

function ending(conclusion: string, reason: string, subtype: string, code: number): JsonObject {
  return { conclusion, reason, subtype, exit_code: code, is_error: code !== 0 };
}
