import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { z } from 'zod';
import type { INPUTS } from '../src/config/inputs.ts';
import { type RunOptions, runStructuredAgent, StructuredAgentError } from '../src/library.ts';
import type { RunEvent } from '../src/reporters/report-types.ts';
import type { JsonObject } from '../src/types.ts';
import { gitIn, hasSandbox } from './sandbox/world.ts';
import {
  type ModelRequest,
  type Reply,
  type ScriptedModel,
  startModel,
} from './support/fakes/model/server.ts';
import { submits } from './support/fakes/runner/action.ts';
import { makeFolder } from './support/surroundings.ts';

const schema = {
  type: 'object',
  properties: { passed: { type: 'boolean' }, summary: { type: 'string' } },
  required: ['passed'],
} as const;
const good = submits({ passed: true, summary: 'fine' });
const CYCLIC: Record<string, unknown> = { ...schema };
CYCLIC['self'] = CYCLIC;
const WRONG = { modle: 'x', maxTurns: 'ten', sandbox: 'none', workingDirectory: 'nowhere', schema: 3 };
const FIVE =
  /^5 problems to fix: \(1\) schema: It must be .* \(2\) There is no option "modle"\. Did you mean model.* \(3\) maxTurns: "ten" .* \(4\) sandbox: "none" .* \(5\) workingDirectory: "nowhere"/u;

const folders = makeFolder();
let model: ScriptedModel;
let workspace = '';
let requests: ModelRequest[] = [];
let replies: readonly (Reply | Promise<Reply>)[] = [good];

beforeEach(async () => {
  workspace = mkdtempSync(path.join(folders, 'library-'));
  writeFileSync(path.join(workspace, 'file.txt'), 'one\n');
  requests = [];
  replies = [good];
  model = await startModel((request, index) => {
    requests.push(request);
    return replies[index] ?? replies.at(-1) ?? good;
  });
});
afterEach(() => model.close());

/** Options that reach the scripted model. */
function options(): Omit<RunOptions<never>, 'schema'> {
  return {
    prompt: 'Judge.',
    model: 'scripted-1',
    baseUrl: `${model.url}/v1`,
    sandbox: hasSandbox ? 'required' : 'off',
    workspace,
    environment: { PATH: process.env['PATH'] },
  };
}

async function failure(run: Promise<unknown>): Promise<StructuredAgentError> {
  const error: unknown = await run.catch((thrown: unknown) => thrown);
  if (error instanceof StructuredAgentError) return error;
  throw new Error(`no typed error but ${JSON.stringify(error)}`);
}

describe('runStructuredAgent', () => {
  it.runIf(hasSandbox)(
    'returns the payload and the usage, which no event has, and leaves the folder unchanged',
    async () => {
      gitIn(workspace, 'init', '-q');
      replies = [{ calls: [{ name: 'shell', arguments: '{"command":"echo two > file.txt"}' }] }, good];
      const events: string[] = [];
      const onEvent = (event: RunEvent) => events.push(JSON.stringify(event));
      const result = await runStructuredAgent({ ...options(), schema, onEvent });
      expectTypeOf(result.payload).toEqualTypeOf<JsonObject>();
      expect(events.join('\n')).toContain('"type":"turn_completed"');
      expect(events.join('\n')).not.toContain('fine');
      expect(result).toMatchObject({
        payload: { passed: true, summary: 'fine' },
        gate: 'none',
        turns: 2,
        model: 'scripted-1',
        costUsd: null,
        changedFiles: 1,
        envelope: { type: 'result', subtype: 'success', exit_code: 0, subject: null },
      });
      expect(Buffer.from(result.patch ?? []).toString()).toContain('+two\n');
      expect(readFileSync(path.join(workspace, 'file.txt'), 'utf8')).toBe('one\n');
    },
  );

  it('throws a typed error with the payload if the gate is not met, whose file may be in the home folder', async () => {
    writeFileSync(path.join(workspace, 'gate.json'), '{"properties": {"summary": {"minLength": 9}}}');
    const environment = { ...options().environment, HOME: workspace };
    const run = runStructuredAgent({ ...options(), environment, schema, gate: '@~/gate.json' });
    expect(await failure(run)).toMatchObject({
      conclusion: 'failure',
      reason: 'gate_not_met',
      exitCode: 1,
      payload: { passed: true, summary: 'fine' },
      envelope: { subtype: 'gate_not_met' },
      message: expect.stringContaining('The gate is not met'),
    });
  });

  it('accepts a Zod schema with its refinements, and types the result', async () => {
    const verdict = z
      .object({ passed: z.boolean(), summary: z.string().min(3).optional() })
      .refine(({ summary }) => summary !== 'slow', { message: 'it must not be slow', path: ['summary'] });
    const wrong = [{ passed: 'yes' }, { passed: true, summary: 'no' }, { passed: true, summary: 'slow' }];
    replies = [...wrong.map(submits), good];
    const events: RunEvent[] = [];
    const onEvent = (event: RunEvent) => events.push(event);
    const result = await runStructuredAgent({ ...options(), schema: verdict, gate: 'passed', onEvent });
    expectTypeOf(result.payload).toEqualTypeOf<z.input<typeof verdict>>();
    expect(result).toMatchObject({ payload: { passed: true, summary: 'fine' }, gate: 'met', turns: 4 });
    expect(requests[0]?.tools.at(-1)?.parameters).toMatchObject({
      properties: { summary: { minLength: 3 } },
    });
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain('it must not be slow');
    // Events have keywords only, because a message may quote the payload.
    expect(JSON.stringify(events)).not.toContain('it must not be slow');
  });

  it('accepts schemas that only validate', async () => {
    const inner = z.object({ id: z.uuid().optional(), kind: z.enum(['a', 'b']) }).meta({ id: 'inner' });
    const only = z.intersection(
      z.object({ list: z.array(inner), n: z.int().brand('n') }),
      z.object({ more: z.record(z.string(), z.unknown()).optional(), when: z.iso.datetime().nullable() }),
    );
    const payload = { list: [{ kind: 'a' }], n: 1, more: { x: [1] }, when: null };
    replies = [submits(payload)];
    expect((await runStructuredAgent({ ...options(), schema: only })).payload).toEqual(payload);
  });

  it.each<[string, object, RegExp]>([
    ['a key under another name', { anthropicApiKey: 'x' }, /Did you mean apiKey\?/u],
    ['an option of its own under another name', { workspce: 'x' }, /Did you mean workspace\?/u],
    ['an option of the action', { commentKey: 'x' }, /^There is no option "commentKey"/u],
    ['a blank schema', { schema: ' ' }, /^schema: It must be a JSON Schema/u],
    ['a missing schema file', { schema: './no.json' }, /^schema: There is no file ".*\/no\.json"/u],
    ['a schema of another library', { schema: { '~standard': { version: 1 } } }, /Use Zod 4\.2 or newer/u],
    ['a schema that holds itself', { schema: CYCLIC }, /^schema: It cannot be written as JSON: .*circular/u],
    ['a missing workspace', { workspace: '/nowhere' }, /^workspace: "\/nowhere" is not a folder/u],
    ['a blank task', { prompt: '  \n' }, /^prompt: It is empty\./u],
    ['no key', { model: 'gpt-5', baseUrl: undefined }, /^apiKey: No key for .* the variable OPENAI_API_KEY/u],
    ['a date', { schema: z.object({ at: z.date() }) }, /^schema: A payload .*\. Date cannot be represented/u],
    ['a transform', { schema: z.object({ n: z.string().transform(Number) }) }, /Transforms cannot be/u],
    ['a default', { schema: z.object({ s: z.string().default('x') }) }, /gives another value than it takes/u],
    ['all problems at once', WRONG, FIVE],
  ])('throws the same typed error for %s', async (_, more, says) => {
    const error = await failure(runStructuredAgent({ ...options(), schema, ...more }));
    expect(error).toMatchObject({ exitCode: 52, reason: 'config', payload: null });
    expect(error.envelope['error']).toBe(error.message);
    expect([error.message, requests]).toEqual([expect.stringMatching(says), []]);
  });

  it('a call without options is a typed error', async () => {
    for (const wrong of [undefined, null, 'x', []]) {
      const call: unknown = Reflect.apply(runStructuredAgent, undefined, [wrong]);
      expect(await failure(Promise.resolve(call))).toMatchObject({ reason: 'config', exitCode: 52 });
    }
  });

  it('reports a folder for temporary files that is not there', async () => {
    vi.stubEnv('TMPDIR', '/nowhere');
    const error = await failure(runStructuredAgent({ ...options(), schema }));
    vi.unstubAllEnvs();
    expect([error.exitCode, error.message]).toEqual([52, expect.stringMatching(/^"\/nowhere".*Set TMPDIR/u)]);
  });

  it('aborts with its signal', async () => {
    replies = [new Promise<never>(() => undefined)];
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    for (const signal of [stop.signal, AbortSignal.abort()]) {
      const error = await failure(runStructuredAgent({ ...options(), schema, signal }));
      expect([error.exitCode, error.reason]).toEqual([130, 'cancelled']);
    }
  });

  it('maps each option to the input of the same name', async () => {
    const tools = { tools: ['read_file', 'shell'], excludeTools: ['shell'], sandboxRead: ['/usr'] };
    const headers = { 'x-one': '1', 'x-two': '2' };
    await runStructuredAgent({ ...options(), schema, ...tools, headers, shellNetwork: true });
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['read_file', 'structured_output']);
    expect(model.requests.at(-1)?.headers).toMatchObject({ 'x-one': '1', 'x-two': '2' });
  });

  it('a key from an option is found in a payload, like one from a variable', async () => {
    const apiKey = 'sk-option-0123456789abcdef';
    replies = [submits({ passed: true, summary: `the key is ${apiKey}` })];
    const error = await failure(runStructuredAgent({ ...options(), schema, apiKey, maxTurns: 1 }));
    expect(JSON.stringify(error.envelope)).not.toContain(apiKey);
    expect(error.payload).toBeNull();
  });

  it('listeners that reject or throw end neither the run nor the process', async () => {
    const onEvent = () => Promise.reject(new Error('a bug of the listener'));
    const onWarning = () => {
      throw new Error('another one');
    };
    const result = await runStructuredAgent({ ...options(), schema, onEvent, onWarning });
    expect(result.payload).toEqual({ passed: true, summary: 'fine' });
  });
});

it('the options are the inputs that apply off GitHub', () => {
  type Camel<T extends string> = T extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : T;
  type Own = 'workspace' | 'signal' | 'onEvent' | 'onWarning' | 'environment';
  type Local = Extract<(typeof INPUTS)[number], { where: 'everywhere' }>['name'] | 'base';
  expectTypeOf<Exclude<keyof RunOptions<never>, Own>>().toEqualTypeOf<Camel<Exclude<Local, 'prompt-file'>>>();
});
