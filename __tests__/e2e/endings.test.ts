import { describe, expect, it } from 'vitest';
import {
  type ActionOptions,
  type ActionRun,
  calls,
  KEY,
  runAction,
  submits,
} from '../support/fakes/runner/action.ts';

const SCHEMA = JSON.stringify({
  type: 'object',
  required: ['passed', 'summary'],
  properties: { passed: { type: 'boolean' }, summary: { type: 'string' } },
  additionalProperties: false,
});
const good = submits({ passed: true, summary: 'all well' });
const inputs = { schema: SCHEMA };
const look = calls('read_file', { path: 'a.txt' });
const files = { 'a.txt': 'hello\n' };

/** Every verdict has outputs, a matching envelope and a summary, and leaves no process, no folder and no key. */
function expectEnding(
  run: ActionRun,
  row: { conclusion: string; reason: string; exit: number; subtype: string; payload?: boolean },
) {
  const { outputs, envelope } = run;
  const { conclusion, reason, exit, subtype } = row;
  const outputValues = ['run-conclusion', 'run-reason', 'run-exit-code'].map((name) => outputs.get(name));
  expect([run.exitCode, ...outputValues]).toEqual([exit, conclusion, reason, String(exit)]);
  const ending = { type: 'result', subtype, is_error: exit !== 0, exit_code: exit, conclusion, reason };
  expect(envelope).toMatchObject(ending);
  const published = row.payload ?? false;
  expect(outputs.has('structured_output')).toBe(published);
  expect(outputs.has('passed')).toBe(published);
  expect(Object.hasOwn(envelope ?? {}, 'structured_output')).toBe(published);
  expect(Object.hasOwn(envelope ?? {}, 'error')).toBe(!published);
  expect(run.summary).toContain(row.reason.replaceAll('_', row.reason.includes('_') ? '_' : ''));
  expect(run.survivors).toEqual([]);
  expect(run.leftovers).toEqual([]);
  const log = run.log.replaceAll(`::add-mask::${KEY}`, '');
  expect([log, run.summary, run.transcript, JSON.stringify(envelope)].join('\n')).not.toContain(KEY);
}

async function ends(options: ActionOptions, row: Parameters<typeof expectEnding>[1]): Promise<ActionRun> {
  const run = await runAction({ files, ...options, inputs: { ...inputs, ...options.inputs } });
  expectEnding(run, row);
  return run;
}

const accepted = { conclusion: 'success', reason: 'accepted', exit: 0, subtype: 'success', payload: true };
const inconclusive = (reason: string, exit: number, subtype: string) =>
  ({ conclusion: 'inconclusive', reason, exit, subtype }) as const;
const plainText = inconclusive('plain_text', 1, 'error_plain_text');
const maxTurns = inconclusive('max_turns', 53, 'error_max_turns');
const config = inconclusive('config', 52, 'error_config');
const timeout = inconclusive('timeout', 55, 'error_budget');

describe.each(['openai-compatible', 'anthropic'] as const)('verdicts with %s', (provider) => {
  it('a valid call after real tools is a success, streamed or not', async () => {
    for (const stream of ['on', 'off']) {
      const script = [look, calls('shell', { command: 'cat a.txt; exit 3' }), good];
      const run = await ends({ provider, script, inputs: { stream } }, accepted);
      expect(run.outputs.get('structured_output')).toBe('{"passed":true,"summary":"all well"}');
      expect(run.outputs.get('passed')).toBe('true');
      expect(run.requests).toHaveLength(3);
      expect(run.requests[1]?.raw).toContain('hello');
      expect(run.requests[2]?.raw).toMatch(/exit code 3/u);
    }
  });

  it('E1 two turns of plain text end with the turn count and a preview of at most 200 characters', async () => {
    const long = 'word '.repeat(200);
    const run = await ends({ provider, script: [{ text: 'hm' }, { text: long }] }, plainText);
    expect(run.requests).toHaveLength(2);
    expect(run.outputs.get('run-turns')).toBe('2');
    const preview = run.envelope?.['last_assistant_text'];
    expect(typeof preview === 'string' && preview.length <= 200 && preview.startsWith('word word')).toBe(
      true,
    );
    expect(run.envelope?.['error']).toContain('2 turns');
  });

  it('E3 plain text and then a forced valid call is a success', async () => {
    const script = (request: { toolChoice: string }) =>
      request.toolChoice === 'structured_output' ? good : { text: 'done' };
    const run = await ends({ provider, script }, accepted);
    expect(run.requests).toHaveLength(2);
  });

  it('E4 a rejected forced tool choice is retried with auto', async () => {
    const message = 'tool_choice forces tool use, which is not supported';
    const error = { message, type: 'invalid_request_error', param: 'tool_choice' };
    const script = (request: { toolChoice: string }, index: number) => {
      if (index === 0) return { text: 'done' };
      return request.toolChoice === 'auto' ? good : { status: 400, error };
    };
    const run = await ends({ provider, script }, accepted);
    expect(run.requests).toHaveLength(3);
    expect(run.outputs.get('run-turns')).toBe('2');
  });

  it('E16 an invalid key is reported with its source, never with its value', async () => {
    const script = [
      { status: 401, error: { message: `Incorrect API key provided: ${KEY}`, type: 'authentication_error' } },
    ];
    const run = await ends({ provider, script }, inconclusive('provider_auth', 1, 'error_provider'));
    expect(run.envelope?.['error']).toContain('the input api-key');
    expect(run.requests).toHaveLength(1);
  });

  it('E17 endless rate limits end the run after a bounded number of tries', async () => {
    const script = [{ status: 429, error: { message: 'slow down', type: 'rate_limit_error' } }];
    const run = await ends({ provider, script }, inconclusive('provider_rate_limit', 1, 'error_provider'));
    expect(run.requests).toHaveLength(11);
  });

  it('E18 a refusal ends the run', async () => {
    const script = [{ text: 'I will not', finishReason: 'content_filter' as const }];
    await ends({ provider, script }, inconclusive('refusal', 1, 'error_refusal'));
  });
});

describe('verdicts', () => {
  it('E2 empty turns end the run like plain text', async () => {
    await ends({ script: [{}] }, plainText);
  });

  it('E5 plain text with force-output: false ends the run after one request', async () => {
    const run = await ends({ script: [{ text: 'done' }], inputs: { 'force-output': 'false' } }, plainText);
    expect(run.requests).toHaveLength(1);
  });

  it('E6 a run without a submission makes exactly max-turns requests and gives a hint', async () => {
    const run = await ends({ script: [look], inputs: { 'max-turns': '3' } }, maxTurns);
    expect(run.requests).toHaveLength(3);
    expect(run.envelope?.['error']).toMatch(/the schema cannot be met/u);
  });

  it('E7 a valid call on the last permitted turn is a success', async () => {
    await ends({ script: [look, look, good], inputs: { 'max-turns': '3' } }, accepted);
  });

  it('E8 max-turns: 0 ends the run without a request', async () => {
    const run = await ends({ script: [good], inputs: { 'max-turns': '0' } }, maxTurns);
    expect(run.requests).toHaveLength(0);
  });

  it('E8 a run that ends before the sandbox starts does not report tampering', async () => {
    const guardedFiles = { 'action.yml': 'name: x\n', '.github/workflows/ci.yml': 'on: push\n' };
    const run = await ends({ script: [good], files: guardedFiles, inputs: { 'max-turns': '0' } }, maxTurns);
    expect(run.requests).toHaveLength(0);
    await ends({ script: [good], files: guardedFiles, inputs: { 'max-cost-usd': '1' } }, config);
  });

  it('E9 a run whose calls are all rejected ends with the last issues', async () => {
    const run = await ends(
      { script: [submits({ passed: 'yes', summary: '' })], inputs: { 'max-turns': '2' } },
      maxTurns,
    );
    expect(run.outputs.get('run-rejections')).toBe('2');
    expect(run.envelope?.['error']).toContain('/passed');
  });

  it('E12 a timeout during a command ends with 55 and kills the command', async () => {
    const script = [calls('shell', { command: 'exec -a SAMARK-e12 sleep 60' })];
    await ends({ script, inputs: { 'timeout-minutes': '0.03' } }, timeout);
  });

  it('E12 a timeout during a request ends with 55', async () => {
    const script = () => new Promise<never>(() => undefined);
    await ends({ script, inputs: { 'timeout-minutes': '0.02' } }, timeout);
  });

  it('used-up tokens end with 55', async () => {
    const script = [{ ...look, usage: { inputTokens: 900, outputTokens: 200 } }];
    const run = await ends(
      { script, inputs: { 'max-total-tokens': '1000' } },
      inconclusive('max_tokens', 55, 'error_budget'),
    );
    expect(run.requests).toHaveLength(1);
    expect(run.envelope?.['usage']).toMatchObject({ input_tokens: 900, output_tokens: 200 });
  });

  it('reports the cost of a model with a known price, and enforces max-cost-usd', async () => {
    const priced = {
      provider: 'anthropic' as const,
      script: [{ ...look, usage: { inputTokens: 100_000, outputTokens: 1_000 } }, good],
    };
    const model = { model: 'claude-sonnet-4-5' };
    const run = await ends({ ...priced, inputs: model }, accepted);
    expect(Number(run.outputs.get('run-cost-usd'))).toBeGreaterThan(0.1);
    expect(run.envelope?.['total_cost_usd']).toBeGreaterThan(0.1);
    expect(run.log).toMatch(/\$0\.\d+/u);
    await ends(
      { ...priced, inputs: { ...model, 'max-cost-usd': '0.1' } },
      inconclusive('max_cost', 55, 'error_budget'),
    );
  });

  it('E13 exclude-tools: structured_output removes it from the tools and the prompt', async () => {
    const run = await ends(
      { script: [{ text: 'done' }], inputs: { 'exclude-tools': 'structured_output' } },
      plainText,
    );
    expect(run.requests).toHaveLength(1);
    expect(run.requests[0]?.raw).not.toContain('structured_output');
  });

  it('E14 tools: read_file still offers structured_output', async () => {
    const names: string[][] = [];
    const script = (request: { tools: readonly { name: string }[] }) => {
      names.push(request.tools.map((tool) => tool.name));
      return good;
    };
    await ends({ script, inputs: { tools: 'read_file' } }, accepted);
    expect(names).toEqual([['read_file', 'structured_output']]);
  });

  it('E15 a gate that is not met fails the step and still publishes the payload', async () => {
    const script = [submits({ passed: false, summary: 'two tests fail' })];
    const ending = { conclusion: 'failure', reason: 'gate_not_met', exit: 1, subtype: 'gate_not_met' };
    const failure = { ...ending, payload: true };
    const run = await ends({ script, inputs: { gate: 'passed' } }, failure);
    expect(run.outputs.get('passed')).toBe('false');
    expect(run.outputs.get('run-gate')).toBe('not_met');
    const bySchema = { gate: JSON.stringify({ properties: { passed: { const: true } } }) };
    await ends({ script, inputs: bySchema }, failure);
    const lacking = {
      schema: JSON.stringify({ type: 'object', properties: { passed: {}, score: { type: 'number' } } }),
      gate: '{"properties":{"score":{"minimum":1}}}',
    };
    const absent = await ends({ script: [submits({ passed: true })], inputs: lacking }, failure);
    expect(absent.outputs.get('run-gate')).toBe('not_met');
  });

  it('E15 a gate on an undeclared boolean ends with 52 and suggests the nearest names', async () => {
    const run = await ends({ script: [good], inputs: { gate: 'pased' } }, config);
    expect(run.envelope?.['error']).toMatch(/pased.*passed/u);
    expect(run.requests).toHaveLength(0);
  });

  it('does not publish a payload that contains the key', async () => {
    const security = inconclusive('secret_in_payload', 1, 'error_security');
    for (const text of [KEY, Buffer.from(KEY).toString('base64'), Buffer.from(KEY).toString('hex')]) {
      const run = await ends({ script: [submits({ passed: true, summary: `see ${text}` })] }, security);
      expect(run.summary + run.log.replaceAll(`::add-mask::${KEY}`, '')).not.toContain(text);
    }
  });

  it('summary: false writes no summary for any verdict', async () => {
    for (const script of [[good], [{ text: 'hm' }]]) {
      const run = await runAction({ script, inputs: { ...inputs, summary: 'false' } });
      expect([run.summary, run.outputs.has('run-reason')]).toEqual(['', true]);
    }
  });

  it('ends with 52 before the first request when there is no file for outputs, and writes the envelope', async () => {
    const run = await runAction({ script: [good], inputs, variables: { GITHUB_OUTPUT: '' } });
    expect(run.exitCode).toBe(52);
    expect(run.requests).toHaveLength(0);
    expect(run.envelope).toMatchObject({ reason: 'config', exit_code: 52 });
  });
});
