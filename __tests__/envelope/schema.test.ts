import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { evidenceOf } from '../../src/envelope/envelope.ts';
import { envelopeSchema, readingSchema } from '../../src/envelope/read.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { isArray, isObject } from '../../src/text/json.ts';
import type {
  ContextStatus,
  Coverage,
  GateResult,
  GroundingStatus,
  Isolation,
  Json,
  JsonObject,
  NotRequired,
} from '../../src/types.ts';
import { sampleCoverage, sampleReport, unpublished } from '../reporters/sample-report.ts';
import { issuesOf } from '../support/schemas/envelope-issues.ts';

/** Lists the words of a type; the compiler says which one is missing. */
const words = <T extends PropertyKey>(list: Readonly<Record<T, true>>) => Object.keys(list);
const same = (text: string) => text;
const made = (changes: Partial<Report> = {}) => envelope(sampleReport(changes), same);
const accepted = made();
const lost = made(unpublished('No.'));

/** The value at a path of the schema. */
function at(path: string): Json {
  let value: Json | undefined = envelopeSchema;
  for (const name of path.split('/')) value = isObject(value) ? value[name] : undefined;
  return value ?? null;
}

describe('the schema of the envelope', () => {
  // The words of the endings table are written into it by scripts/generate.ts.
  it.each([
    ['properties/sandbox', words<Isolation>({ bwrap: true, unshare: true, none: true })],
    [
      'properties/gate/properties/status',
      words<GateResult['status']>({ met: true, not_met: true, none: true }),
    ],
    [
      'definitions/context',
      words<ContextStatus>({ complete: true, truncated: true, missing: true, none: true }),
    ],
    [
      'definitions/coverage_status',
      words<Coverage['status']>({ measured: true, partial: true, unknown: true }),
    ],
    [
      'properties/evidence/properties/findings/items/properties/grounding',
      [...words<GroundingStatus>({ exact: true, moved: true, unproven: true }), null],
    ],
    [
      'properties/evidence/properties/coverage/properties/files/properties/not_required/items/properties/why',
      words<NotRequired>({
        ...{ lock_file: true, binary: true, generated: true, vendored: true },
        outside_working_directory: true,
      }),
    ],
  ])('lists at %s exactly the words of the program', (path, expected) => {
    expect(at(`${path}/enum`)).toEqual(expected);
  });

  it('describes every field', () => {
    const fields = at('properties');
    const silent = Object.entries(isObject(fields) ? fields : {}).filter(
      ([, field]) => isObject(field) && typeof field['description'] !== 'string' && !('$ref' in field),
    );
    expect(silent.map(([name]) => name)).toEqual(['type']);
  });

  it('is accepted by a strict draft-07 validator', () => {
    const ajv = new Ajv({ strict: true, strictRequired: false, strictTypes: false });
    expect(ajv.compile(envelopeSchema)(accepted)).toBe(true);
  });

  // The others are those of __tests__/reporters/golden.test.ts.
  const cancelled = { reason: 'cancelled', subtype: 'error_cancelled', exitCode: 130 } as const;
  it.each<[string, JsonObject]>([
    ['cancelled', made(unpublished('Cancelled.', cancelled))],
    ['late', made({ verdict: { ...sampleReport().verdict, conclusion: 'inconclusive', ...cancelled } })],
    ['of no commit', made({ subject: null })],
    ['signed', { ...accepted, signature: `hmac-sha256:${'0'.repeat(64)}` }],
  ])('accepts an envelope that is %s', (_, each) => {
    expect(issuesOf(each)).toEqual([]);
  });

  const { structured_output: _, ...halfPublished } = accepted;
  it.each<[string, JsonObject]>([
    ['a success whose gate is not met', { ...accepted, gate: { status: 'not_met', issues: [] } }],
    ['a success without a payload', { ...lost, ...ending('success', 'accepted', 'success', 0) }],
    ['a payload without a gate', { ...accepted, gate: null }],
    ['a payload beside an error', { ...accepted, error: 'No.' }],
    ['half of a published payload', halfPublished],
    ['a lost payload', { ...accepted, ...ending('inconclusive', 'plain_text', 'error_plain_text', 1) }],
    ['a reason of another row', { ...lost, reason: 'refusal' }],
    ['a failure with exit code 0', { ...accepted, ...ending('failure', 'gate_not_met', 'gate_not_met', 0) }],
    ['a last text after an accepted payload', { ...accepted, last_assistant_text: 'x' }],
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

it('coverage in an envelope has masked paths of bounded length, and bounded lists', () => {
  const unseen = Array.from({ length: 201 }, (_, at) => `hunter2/${at}${'x'.repeat(5_000)}`);
  const notRequired = unseen.map((path) => ({ path, why: 'binary' as const }));
  const files = { changed: 999, required: 500, shown: 1, unseen, notRequired };
  const coverage = sampleCoverage({ status: 'partial', why: `hunter2 ${'y'.repeat(600)}`, files });
  const evidence = { context: 'none', toolCalls: 0, findings: [], coverage } as const;
  const read = evidenceOf(envelope(sampleReport({ evidence }), (text) => text.replaceAll('hunter2', '***')));
  expect(JSON.stringify(read)).not.toContain('hunter2');
  const { why, files: listed } = read?.coverage ?? sampleCoverage();
  expect([listed.unseen.length, listed.notRequired.length, why?.length]).toEqual([200, 200, 500]);
  expect(Math.max(...listed.unseen.map((each) => each.length))).toBe(4_096);
});

function ending(conclusion: string, reason: string, subtype: string, code: number): JsonObject {
  return { conclusion, reason, subtype, exit_code: code, is_error: code !== 0 };
}
