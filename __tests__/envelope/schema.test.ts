import { expect, it } from 'vitest';
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
import { notMet, sampleReport, sampleVerdict, unpublished } from '../reporters/sample-report.ts';
import { issuesOf } from '../support/schemas/envelope-issues.ts';

/** Lists the words of a type; the compiler says which one is missing. */
const words = <T extends PropertyKey>(list: Readonly<Record<T, 1>>) => Object.keys(list);
const same = (text: string) => text;
const made = (changes: Partial<Report> = {}) => envelope(sampleReport(changes), same);
const accepted = made();
const lost = made(unpublished('No.'));
const NOT_MET = { status: 'not_met', issues: [] } as const;

/** The value at a path of the schema. */
function at(path: string): Json {
  let value: Json | undefined = envelopeSchema;
  for (const name of path.split('/')) value = isObject(value) ? value[name] : undefined;
  return value ?? null;
}

const FINDING = 'properties/evidence/properties/findings/items/properties';
const FILES = 'properties/evidence/properties/coverage/properties/files/properties';

// The words of the endings table are written into it by scripts/generate.ts.
it.each([
  ['properties/sandbox', words<Isolation>({ bwrap: 1, unshare: 1, none: 1 })],
  ['properties/gate/properties/status', words<GateResult['status']>({ met: 1, not_met: 1, none: 1 })],
  ['definitions/context', words<ContextStatus>({ complete: 1, truncated: 1, missing: 1, none: 1 })],
  ['definitions/coverage_status', words<Coverage['status']>({ measured: 1, partial: 1, unknown: 1 })],
  [`${FINDING}/grounding`, [...words<GroundingStatus>({ exact: 1, moved: 1, unproven: 1 }), null]],
  [
    `${FILES}/not_required/items/properties/why`,
    words<NotRequired>({
      lock_file: 1,
      binary: 1,
      generated: 1,
      vendored: 1,
      outside_working_directory: 1,
    }),
  ],
])('the schema of the envelope lists at %s exactly the words of the program', (path, expected) => {
  expect(at(`${path}/enum`)).toEqual(expected);
});

it('the schema of the envelope describes every field', () => {
  const fields = at('properties');
  const silent = Object.entries(isObject(fields) ? fields : {}).filter(
    ([, field]) => isObject(field) && typeof field['description'] !== 'string' && !('$ref' in field),
  );
  expect(silent.map(([name]) => name)).toEqual(['type']);
});

// The others are those of __tests__/reporters/golden.test.ts.
it.each<[string, JsonObject]>([
  ['cancelled', made(unpublished('Cancelled.', 'cancelled'))],
  ['late', made({ verdict: sampleVerdict('cancelled', 'Too late.', true) })],
  ['of no commit', made({ subject: null })],
  ['signed', { ...accepted, signature: `hmac-sha256:${'0'.repeat(64)}` }],
])('the schema accepts an envelope that is %s', (_, each) => {
  expect(issuesOf(each)).toEqual([]);
});

const { structured_output: _, ...halfPublished } = accepted;
it.each<[string, JsonObject]>([
  ['a success whose gate is not met', { ...accepted, gate: NOT_MET }],
  ['a success without a payload', made({ payload: null, gate: null })],
  ['a payload without a gate', { ...accepted, gate: null }],
  ['a payload beside an error', { ...accepted, error: 'No.' }],
  ['half of a published payload', halfPublished],
  ['a lost payload', made({ verdict: sampleVerdict('plain_text', null) })],
  ['a reason of another row', { ...lost, reason: 'refusal' }],
  ['a failure with exit code 0', made({ verdict: { ...notMet, exitCode: 0 }, gate: NOT_MET })],
  ['a last text after an accepted payload', { ...accepted, last_assistant_text: 'x' }],
  ['replayed: false', { ...accepted, replayed: false }],
  ['a __proto__ key', JSON.parse('{"__proto__":1}')],
  ['a negative count', { ...accepted, num_turns: -1 }],
  ['an unknown field', { ...accepted, more: null }],
  ['an invalid hash', { ...accepted, judge: { ...sampleReport().policy, gate_sha256: 'A'.repeat(64) } }],
  ['an invalid signature', { ...accepted, signature: 'x' }],
])('the schema refuses %s', (_, each) => {
  expect(issuesOf(each)).not.toEqual([]);
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
  const why = `hunter2 ${'y'.repeat(600)}`;
  const coverage: Coverage = { status: 'partial', why, files };
  const evidence = { context: 'none', toolCalls: 0, findings: [], coverage } as const;
  const read = evidenceOf(envelope(sampleReport({ evidence }), (text) => text.replaceAll('hunter2', '***')));
  expect(JSON.stringify(read)).not.toContain('hunter2');
  const { unseen: listed = [], notRequired: others } = read?.coverage?.files ?? {};
  expect([listed.length, others?.length, read?.coverage?.why?.length]).toEqual([200, 200, 500]);
  expect(Math.max(...listed.map((each) => each.length))).toBe(4_096);
});
