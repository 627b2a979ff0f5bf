import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { writeResultFile } from '../src/reporters/envelope.ts';
import { stepOutputs, writeOutputs } from '../src/reporters/outputs.ts';
import type { JsonObject } from '../src/types.ts';
import { processesWith } from './sandbox/world.ts';
import { testAll } from './support/all.ts';
import { type Reply, submits } from './support/fakes/model/server.ts';
import { parseOutputFile } from './support/fakes/runner/runner.ts';
import { putFiles } from './support/local.ts';
import { issuesOf } from './support/schemas/envelope-issues.ts';
import { anyCharacter, knowSecrets } from './support/surroundings.ts';
import { localFiles } from './support/worlds/quiet.ts';
import { base, config, type Inputs, serve, start } from './support/worlds/run.ts';

const SECRET = 'sk-fuzz-0123456789abcdef';
const PRESET = readFileSync(path.join(import.meta.dirname, '../schemas/verdict.schema.json'), 'utf8');
const properties = { passed: { type: 'boolean' }, note: { type: 'string' } };
const verdict = { type: 'object', required: ['passed'], properties };

const payload = fc.oneof(
  fc.record({ passed: fc.boolean(), note: fc.string({ unit: anyCharacter, maxLength: 30 }) }),
  fc.record({ passed: fc.oneof(fc.boolean(), fc.constant('true'), fc.constant(1), fc.constant(null)) }),
  fc.record({ output: fc.record({ passed: fc.boolean() }) }),
  fc.constant({ passed: true, note: SECRET }),
  fc.dictionary(fc.string({ maxLength: 12 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
);

const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
const oddArguments =
  '{} [] null {"passed":true,"passed":false} {"passed":1e999} "{\\"passed\\":true}" {"passed":true,"note":"\\ud800"}';
const payloadText = payload.map((value) => JSON.stringify(value));
const cutOff = payloadText.map((text) => text.slice(0, -1));
const odd = fc.constantFrom('', ...oddArguments.split(' '));
const rawArguments = fc.oneof(often(6, payloadText), cutOff, odd, fc.string({ maxLength: 40 }));

const structured = rawArguments.map((text) => ({ name: 'structured_output', arguments: text }));
const writing = fc.constantFrom(
  { name: 'edit', arguments: JSON.stringify({ path: 'ran.txt', old_string: '', new_string: 'x' }) },
  { name: 'shell', arguments: JSON.stringify({ command: 'echo x > ran.txt; (sleep 30 &)' }) },
);
const toolName = fc.constantFrom('read_file', 'edit', 'shell', 'x\n::error::y');
const harmless = fc.oneof(
  fc.constantFrom(
    { name: 'read_file', arguments: '{"path":"a.txt"}' },
    { name: 'read_file', arguments: '{"path":"/etc/passwd"}' },
    { name: 'shell', arguments: '{"command":"(sleep 30 >/dev/null 2>&1 &); cat a.txt; exit 4"}' },
    { name: 'edit', arguments: '{"path":"a.txt","old_string":"nothing like it","new_string":""}' },
    { name: 'web_search', arguments: '{}' },
  ),
  fc.record({ name: toolName, arguments: fc.string({ maxLength: 30 }) }),
);

const few = fc.array(writing, { maxLength: 2 });
const around = fc.tuple(few, structured, few).map(([before, call, after]) => [...before, call, ...after]);
const calls = fc.oneof(
  often(4, fc.array(harmless, { minLength: 1, maxLength: 3 })),
  often(5, around),
  often(2, fc.array(structured, { minLength: 2, maxLength: 3 })),
);
const reply: fc.Arbitrary<Reply> = fc.oneof(
  often(11, fc.record({ calls })),
  often(2, fc.record({ text: fc.string({ maxLength: 40 }) })),
  structured.map((call) => ({ calls: [call], finishReason: 'length' as const })),
  fc.constantFrom<Reply>(
    { text: 'no', finishReason: 'content_filter' },
    { status: 401, error: { message: 'no' } },
    { status: 400, error: { message: 'odd request' } },
  ),
);

const oddSchemas =
  '{} verdict {"type":"array"} {"$async":true} { @none.json verdikt {"type":"object","properties":{"note":{"pattern":"^(a+)+$"}}}';
const keyword = fc.constantFrom('type', 'properties', 'required', 'anyOf', 'const', 'enum', 'not', 'if');
const schema = fc.oneof(
  often(20, fc.constant(JSON.stringify(verdict))),
  often(2, fc.constantFrom('', ...oddSchemas.split(' '))),
  fc.dictionary(keyword, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 }).map((value) => JSON.stringify(value)),
);

/** One of the valid values, rarely one of the others: a configuration error says nothing about the run. */
const mostly = (valid: readonly string[], others: readonly string[]) =>
  fc.oneof(often(30, fc.constantFrom(...valid)), often(1, fc.constantFrom(...others)));

const inputs = fc.record(
  {
    schema,
    gate: mostly(['auto', 'off', 'passed', '{"properties":{"passed":{"const":true}}}'], ['pased', '{']),
    'max-turns': mostly(['1', '2', '3', '-1'], ['0', 'x']),
    'max-total-tokens': mostly(['150', '100000'], ['1', '-3']),
    'force-output': mostly(['true', 'false'], ['perhaps']),
    'exclude-tools': mostly(['', 'edit', 'structured_output'], ['nothing']),
    'max-turn': mostly([''], ['3']),
  },
  { requiredKeys: ['schema'] },
);

async function fuzz(given: Inputs, script: readonly Reply[]) {
  const folder = mkdtempSync(path.join(base, 'fuzz-'));
  const place = (name: string) => path.join(folder, name);
  const workspace = putFiles(place('workspace'), { 'a.txt': 'hello\n' });
  // After its script the model keeps submitting, so that an unlimited run ends.
  await serve((_, index) => script[index] ?? (index > 12 ? { text: 'enough' } : submits({ passed: true })));
  const secrets = knowSecrets(SECRET);
  const { report } = await start(config({ 'api-key': SECRET, 'min-coverage': 'auto', ...given }), {
    secrets,
    files: localFiles(async () => ({ ok: false, problem: 'there is none' })),
    workspace,
    environment: { PATH: process.env['PATH'], HOME: folder },
    results: folder,
    openReporters: async () => [
      { name: 'envelope', publish: (finished) => writeResultFile(finished, secrets) },
      { name: 'outputs', publish: async (end) => writeOutputs(place('outputs'), stepOutputs(end).outputs) },
    ],
  });
  return {
    report,
    outputs: parseOutputFile(readFileSync(place('outputs'), 'utf8')),
    envelope: JSON.parse(readFileSync(place('result.json'), 'utf8')) as JsonObject,
    /** Whether a call beside `structured_output` ran. */
    ran: existsSync(path.join(workspace, 'ran.txt')),
    survivors: processesWith(folder, 'environ').length,
  };
}

it('any inputs, schema and model give one verdict that the published schema knows, and publish only payloads that plain Ajv accepts', async () => {
  const reasons = new Set<string>();
  await fc.assert(
    fc.asyncProperty(inputs, fc.array(reply, { minLength: 1, maxLength: 4 }), async (given, script) => {
      const { report, outputs, envelope, ran, survivors } = await fuzz(given, script);
      const { verdict: end } = report;
      const published = report.payload !== null;
      // The published schema has one row for each verdict: what it says and whether there is a payload.
      expect(issuesOf(envelope)).toEqual([]);
      expect(end.reason).not.toBe('internal');
      reasons.add(end.reason);
      const set = [outputs.get('run-exit-code'), outputs.get('run-reason'), outputs.has('structured_output')];
      expect(set).toEqual([String(end.exitCode), end.reason, published]);
      expect(envelope).toMatchObject({ type: 'result', subtype: end.subtype, exit_code: end.exitCode });
      // When it is excluded, structured_output is an unknown tool, and the calls beside it run.
      if (given['exclude-tools'] !== 'structured_output') expect(ran).toBe(false);
      expect(survivors).toBe(0);
      expect([JSON.stringify(envelope), ...outputs.values()].join('\n')).not.toContain(SECRET);
      if (!published) return;
      const text = given.schema === '' || given.schema === 'verdict' ? PRESET : given.schema;
      expect(JSON.parse(outputs.get('structured_output') ?? '')).toEqual(report.payload);
      // By plain Ajv, without our code.
      const ajv = new Ajv({ strictTypes: false, allowUnionTypes: true, ownProperties: true, logger: false });
      formats.default(ajv);
      expect(ajv.validate(JSON.parse(text), report.payload)).toBe(true);
      if (end.exitCode === 0 && given.gate === 'passed') expect(report.payload?.['passed']).toBe(true);
    }),
    { numRuns: Number(process.env['FUZZ_RUNS'] ?? (testAll ? 400 : 60)) },
  );
  // The generator must reach the frequent verdicts; only configuration errors would prove nothing.
  for (const reason of ['accepted', 'config', 'max_turns', 'plain_text']) expect(reasons).toContain(reason);
});
