/** How a run is recorded, and what a replay makes of the recording. How whole runs do is in run/model-replay.test.ts. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { InputError, ProviderError, ReplayError } from '../../src/errors.ts';
import type { CompletionRequest } from '../../src/providers/provider.ts';
import { recordRun } from '../../src/replay/recorder.ts';
import { readRecording, type Task } from '../../src/replay/recording.ts';
import { openReplay } from '../../src/replay/replay.ts';
import { call, type Script, scriptedProvider, submit } from '../support/fakes/model/scripted-provider.ts';
import { asking } from '../support/fakes/model/wires.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';

const SECRET = 'hunter2-hunter2';
const HASH = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);

type Line = Readonly<Record<string, unknown>>;

const POLICY = { schema_sha256: HASH, prompt_sha256: HASH, version: '0.1.0' };
const headerLine = (more: Line = {}): Line => ({
  ...{ type: 'recording', format: 1, model: 'scripted-1', provider: 'openai-compatible' },
  ...{ tools: ['read_file', 'structured_output'], working_directory: '/recorded/there' },
  ...{ created: '2026-01-02T03:04:05.678Z', ...POLICY, ...more },
});
const answerLine = (more: Line = {}): Line => ({
  type: 'answer',
  text: 'I look.',
  tool_calls: [{ id: 'call_1', name: 'read_file', arguments: '{"path":"a.txt"}', status: 'complete' }],
  stop_reason: 'tool_calls',
  usage: { input_tokens: 100, output_tokens: 10, cached_input_tokens: 0, cache_write_tokens: 0 },
  model: 'scripted-1-2026',
  ...more,
});
const failureLine = (more: Line = {}): Line => ({
  ...{ type: 'failure', failure: 'rate_limit', status: 429, message: 'slow down', ...more },
});
const recordingText = (...lines: readonly unknown[]) =>
  lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

async function start(lines: readonly unknown[], more: Partial<Task> = {}) {
  const task = { policy: POLICY, workingDirectory: '/work/now', ...more };
  const { provider } = await openReplay(recordingText(...lines), task);
  const ask = (names = ['read_file', 'structured_output'], more: Partial<CompletionRequest> = {}) =>
    provider.complete(
      asking({ tools: names.map((name) => ({ name, description: '', parameters: {} })), ...more }),
    );
  return { provider, ask };
}

describe('a replay', () => {
  it('returns the recorded completions in order, under a model name that marks it', async () => {
    const header = headerLine({ gate_sha256: 'of another version' });
    const again = answerLine({ text: 'Again.', usage: null });
    const { provider, ask } = await start([header, answerLine(), again]);
    expect([provider.name, provider.model]).toEqual(['openai-compatible', 'replay of scripted-1']);
    const call = { id: 'call_1', name: 'read_file', rawArguments: '{"path":"a.txt"}', status: 'complete' };
    expect(await ask()).toEqual({
      message: { role: 'assistant', text: 'I look.', toolCalls: [call], native: null },
      stopReason: 'tool_calls',
      usage: { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0 },
      model: 'scripted-1-2026',
    });
    expect(await ask()).toMatchObject({ message: { text: 'Again.' }, usage: null });
  });

  it.each<[string, Line, string[] | undefined, string]>([
    ['schema', { schema_sha256: OTHER }, undefined, 'it was recorded for another schema'],
    ['task', { prompt_sha256: OTHER }, undefined, 'it was recorded for another prompt'],
    ['tool', {}, ['shell', 'structured_output'], 'and this run offers shell, structured_output'],
    ['order of tools', {}, ['structured_output', 'read_file'], 'with the tools read_file, structured_output'],
    ['number of tools', {}, ['structured_output'], 'and this run offers structured_output'],
  ])('of another %s is refused', async (_, policy, tools, said) => {
    const { ask } = await start([headerLine(), answerLine()], { policy: { ...POLICY, ...policy } });
    const message = expect.stringContaining(said);
    await expect(ask(tools)).rejects.toMatchObject({ constructor: ReplayError, message });
  });

  const masked = [{ id: '1', name: 'shell', arguments: 'echo ***', status: 'complete', masked: true }];
  it.each<[string, readonly Line[]]>([
    ['the run goes on, and the recording has 1 answer', []],
    ['the recorded run was stopped while it waited for this answer', [{ type: 'stopped' }]],
    ['a call of "shell" held a secret, which the recording masks', [answerLine({ tool_calls: masked })]],
  ])('ends if %s', async (said, lines) => {
    const { ask } = await start([headerLine(), answerLine(), ...lines]);
    await ask();
    const message = `The recording does not fit: ${said}. Record it again with --record.`;
    await expect(ask()).rejects.toEqual(new ReplayError(message));
  });

  it('throws a recorded failure of the API and goes on', async () => {
    const { ask } = await start([headerLine(), failureLine(), answerLine()]);
    await expect(ask()).rejects.toEqual(new ProviderError('rate_limit', 'slow down', { status: 429 }));
    expect(await ask()).toMatchObject({ stopReason: 'tool_calls' });
  });

  it('ends with the reason of its signal', async () => {
    const { ask } = await start([headerLine(), answerLine()]);
    await expect(ask(undefined, { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
  });

  it('moves paths of the recorded folder to the current one, except in the payload', async () => {
    const paths = '/recorded/there/a.txt /recorded/there, /recorded/thereafter\n/recorded/there/b';
    const call = { id: '1', arguments: JSON.stringify({ command: paths }), status: 'complete' };
    const calls = ['shell', 'structured_output'].map((name) => ({ ...call, name }));
    const here = { workingDirectory: '/a$&b"c' };
    const { ask } = await start([headerLine(), answerLine({ tool_calls: calls })], here);
    const moved = '/a$&b"c/a.txt /a$&b"c, /recorded/thereafter\n/a$&b"c/b';
    const { toolCalls } = (await ask()).message;
    const commands = toolCalls.map(({ rawArguments }) => JSON.parse(rawArguments).command);
    expect(commands).toEqual([moved, paths]);
  });

  it.each(['', '/', 'relative', '//'])('moves no paths of the recorded folder %j', async (folder) => {
    const { ask } = await start([headerLine({ working_directory: folder }), answerLine()]);
    expect((await ask()).message.toolCalls[0]?.rawArguments).toBe('{"path":"a.txt"}');
  });
});

describe('a file that is not a recording', () => {
  const call = { id: '', name: 'x', arguments: '', status: 'complete' };
  const calls = (changes: object) => answerLine({ tool_calls: [call, { ...call, ...changes }] });
  it.each<[string, readonly unknown[], string]>([
    ['is empty', [''], 'Line 1 of the recording is not a JSON object'],
    ['is other JSON', [{ type: 'result' }], 'It names a file that is not a recording. Make one with'],
    ['has a key of Object.prototype', ['{"__proto__":{"type":"recording"}}'], 'is not a recording'],
    ['was cut off', [headerLine(), answerLine(), '{"type":'], 'Line 3 of the recording is not a JSON object'],
    ['has a list', [headerLine(), []], 'Line 2 of the recording is not a JSON object; if the run was cut'],
    ['is of another format', [headerLine({ format: 2 })], 'Line 1 of the recording is not valid at /format'],
    ['has no schema', [headerLine({ schema_sha256: null })], 'Line 1 of the recording is not valid at /sch'],
    ['has no tools', [headerLine({ tools: 'all' })], 'Line 1 of the recording is not valid at /tools (type)'],
    ['has an unknown provider', [headerLine({ provider: 'x' })], 'at /provider (enum)'],
    ['has an unknown line', [headerLine(), { type: 'thought' }], 'at /type (enum)'],
    ['lacks a field', [headerLine(), { type: 'answer' }], 'at / (required)'],
    ['has a wrong stop reason', [headerLine(), answerLine({ stop_reason: 'x' })], 'at /stop_reason (enum)'],
    ['has wrong usage', [headerLine(), answerLine({ usage: [] })], 'at /usage (type)'],
    ['has parsed arguments', [headerLine(), calls({ arguments: {} })], 'at /tool_calls/1/arguments (type)'],
    ['has a wrong status', [headerLine(), answerLine(), failureLine({ status: 'x' })], 'Line 3 of the rec'],
    ['has an unknown failure', [headerLine(), failureLine({ failure: 'x' })], 'at /failure (enum)'],
  ])('%s, and the message names the place', async (_, lines, said) => {
    const error = { constructor: InputError, input: 'replay', message: expect.stringContaining(said) };
    await expect(readRecording(recordingText(...lines))).rejects.toMatchObject(error);
  });

  it('is not quoted, because a workflow may name any file', async () => {
    for (const line of [SECRET, { [SECRET]: SECRET }, answerLine({ stop_reason: SECRET })])
      for (const lines of [[line], [headerLine(), line], [headerLine({ provider: line })]])
        await expect(readRecording(recordingText(...lines))).rejects.toSatisfy(
          (error) => error instanceof InputError && !error.message.includes('hunter2'),
        );
  });
});

const folder = makeFolder();
beforeEach(() => rmSync(path.join(folder, 'new'), { recursive: true, force: true }));

function tape(script: Script) {
  const warnings: string[] = [];
  const file = path.join(folder, 'new', 'tape.jsonl');
  const task = { policy: POLICY, workingDirectory: '' };
  const options = { secrets: knowSecrets(SECRET), warn: (text: string) => warnings.push(text) };
  const provider = recordRun(scriptedProvider(script), file, task, options);
  const ask = (more: Partial<CompletionRequest> = {}) => provider.complete(asking(more));
  const read = () => readRecording(readFileSync(file, 'utf8'));
  return { ask, file, warnings, read };
}

describe('a recorder', () => {
  it('returns the completion unchanged and writes the header with the first one', async () => {
    const { ask, file, read, warnings } = tape([{ text: 'Done.', calls: [submit({ passed: true })] }]);
    expect(existsSync(file)).toBe(false);
    const completion = await ask();
    expect(completion.message.native).toEqual({ index: 0 });
    const call = { name: 'structured_output', arguments: '{"passed":true}', status: 'complete' };
    expect(await read()).toMatchObject({
      header: { model: 'scripted', tools: ['shell', 'structured_output'], ...POLICY },
      responses: [{ type: 'answer', text: 'Done.', tool_calls: [call] }],
    });
    // Signatures and thinking of the provider are not needed in a replay.
    expect(readFileSync(file, 'utf8')).not.toContain('native');
    expect(warnings).toEqual([]);
  });

  it('keeps arguments as the model wrote them, even if invalid or cut off', async () => {
    const raw = '{"a":1,"a":2,\u2028"b":"\ud83d';
    const calls = [{ ...call('shell', {}), rawArguments: raw, status: 'truncated' as const }];
    const { ask, read } = tape([{ calls, stopReason: 'length' }]);
    await ask();
    const cut = { stop_reason: 'length', tool_calls: [{ arguments: raw, status: 'truncated' }] };
    expect((await read()).responses).toMatchObject([cut]);
  });

  it('masks secrets, marks calls that contained one, and warns', async () => {
    const calls = [call('shell', { command: 'ls' }), call('shell', { command: `echo ${SECRET}` })];
    const { ask, file, read, warnings } = tape([{ text: `it is ${SECRET}`, calls }]);
    await ask();
    expect(readFileSync(file, 'utf8')).not.toContain(SECRET);
    const [answer] = (await read()).responses;
    expect(answer).toMatchObject({ text: 'it is ***', tool_calls: [{}, { masked: true }] });
    expect(answer).not.toMatchObject({ tool_calls: [{ masked: true }, {}] });
    expect(warnings).toEqual([expect.stringContaining('held a secret, which the recording masks')]);
  });

  const stop = { stop: 'timeout' };
  it.each<[string, unknown, Partial<CompletionRequest>, object]>([
    [
      'failures of the API',
      new ProviderError('overloaded', `busy: ${SECRET}`, { status: 529 }),
      {},
      { type: 'failure', failure: 'overloaded', status: 529, message: 'busy: ***' },
    ],
    ['that a run was stopped', stop, { signal: AbortSignal.abort(stop) }, { type: 'stopped' }],
  ])('records %s, and rethrows', async (_, thrown, request, response) => {
    const { ask, read } = tape(() => Promise.reject(thrown));
    await expect(ask(request)).rejects.toBe(thrown);
    expect((await read()).responses).toEqual([response]);
  });

  it('stops at the first failed write, warns once, and lets the run continue', async () => {
    const { ask, file, warnings } = tape([{ text: 'x' }]);
    mkdirSync(file, { recursive: true });
    expect(await ask()).toMatchObject({ message: { text: 'x' } });
    rmdirSync(file);
    expect(await ask()).toMatchObject({ message: { text: 'x' } });
    expect(existsSync(file)).toBe(false);
    expect(warnings).toEqual([expect.stringMatching(/^record: The recording is not whole: .*EISDIR/u)]);
  });
});
