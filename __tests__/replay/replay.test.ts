import { describe, expect, it } from 'vitest';
import { ProviderError, ReplayError } from '../../src/errors.ts';
import type { CompletionRequest } from '../../src/providers/provider.ts';
import { readRecording } from '../../src/replay/recording.ts';
import { createReplay } from '../../src/replay/replay.ts';
import type { Task } from '../../src/replay/request-digest.ts';
import type { Message } from '../../src/types.ts';
import { afterResult, answerLine, HASH, headerLine, recordingText } from '../support/worlds/recordings.ts';

const policyDigest = { schema_sha256: HASH, gate_sha256: null, prompt_sha256: HASH, version: '0.1.0' };
const OTHER = 'b'.repeat(64);

function start(lines: readonly unknown[], more: Partial<Task> = {}, text = recordingText(...lines)) {
  const notices: string[] = [];
  const provider = createReplay(readRecording(text), {
    mask: (each) => each,
    task: () => ({ policy: policyDigest, model: null, workingDirectory: '/work/now', ...more }),
  });
  const ask = (messages: readonly Message[] = task, rest: Partial<CompletionRequest> = {}) =>
    provider.complete({
      system: '',
      tools: ['structured_output', 'read_file'].map((name) => ({ name, description: '', parameters: {} })),
      messages,
      toolChoice: 'auto',
      signal: new AbortController().signal,
      notify: (text) => notices.push(text),
      ...rest,
    });
  return { provider, ask, notices };
}

const task: readonly Message[] = [{ role: 'user', text: 'Judge.' }];

function afterCall(content: string, isError = false, name = 'read_file'): readonly Message[] {
  return [
    ...task,
    {
      role: 'assistant',
      text: '',
      toolCalls: [{ id: '1', name, rawArguments: '{}', status: 'complete' }],
      native: null,
    },
    { role: 'tool', results: [{ callId: '1', content, isError }] },
  ];
}

const second = answerLine({ number: 2, asked: afterResult() });

describe('createReplay', () => {
  it('returns the recorded completions in order, under a model name that marks the replay', async () => {
    const { provider, ask } = start([headerLine(), answerLine(), second]);
    expect([provider.name, provider.model]).toEqual(['openai-compatible', 'replay of scripted-1']);
    expect(await ask()).toEqual({
      message: {
        role: 'assistant',
        text: 'I look.',
        toolCalls: [
          { id: 'call_1', name: 'read_file', rawArguments: '{"path":"a.txt"}', status: 'complete' },
        ],
        native: null,
      },
      stopReason: 'tool_calls',
      usage: { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0 },
      model: 'scripted-1-2026',
    });
    expect(await ask(afterCall('text'))).toMatchObject({ message: { text: 'I look.' } });
  });

  it('reports results that differ from the recorded ones and continues', async () => {
    const { ask, notices } = start([headerLine(), answerLine(), second]);
    await ask();
    await ask(afterCall('took 0.4 s'));
    expect(notices).toEqual(['turn 1 gave other results than when it was recorded: "read_file" (call 1)']);
  });

  it('reports a different gate and continues, because the model never sees the gate', async () => {
    const { ask, notices } = start([headerLine(), answerLine()], {
      policy: { ...policyDigest, gate_sha256: OTHER },
    });
    await ask();
    expect(notices).toEqual([expect.stringContaining('another gate')]);
  });

  it.each<[string, Partial<Task>, string, string]>([
    [
      'schema',
      { policy: { ...policyDigest, schema_sha256: OTHER } },
      'read_file',
      'it was recorded for the schema aaaaaaaaaaaa…, and this run has bbbbbbbbbbbb…',
    ],
    [
      'task',
      { policy: { ...policyDigest, prompt_sha256: OTHER } },
      'read_file',
      'it was recorded for the task aaaaaaaaaaaa… (prompt and system-prompt together), and this run has bbbbbbbbbbbb…',
    ],
    [
      'model',
      { model: 'gpt-9' },
      'read_file',
      'it was recorded from the model "scripted-1", and this run asks for "gpt-9"',
    ],
    [
      'set of tools',
      {},
      'shell',
      'it was recorded with read_file, which this run does not offer; this run offers shell, which it was recorded without',
    ],
  ])('rejects a different %s', async (_, more, tool, said) => {
    const { ask } = start([headerLine(), answerLine()], more);
    const tools = [tool, 'structured_output'].map((name) => ({ name, description: '', parameters: {} }));
    await expect(ask(task, { tools })).rejects.toEqual(
      new ReplayError(`The recording does not fit: ${said}. Record it again with --record.`),
    );
  });

  it('accepts the recorded model when it is set explicitly', async () => {
    const { ask } = start([headerLine(), answerLine()], { model: 'scripted-1' });
    expect(await ask()).toMatchObject({ stopReason: 'tool_calls' });
  });

  it.each<[string, readonly Message[], Partial<CompletionRequest>, string]>([
    [
      'a call that fails now',
      afterCall('no such file', true),
      {},
      'call 1 of the turn before ("read_file") worked when it was recorded, and failed now',
    ],
    [
      'another call',
      afterCall('text', false, 'shell'),
      {},
      'call 1 of the turn before was "read_file" when it was recorded, and is "shell" now',
    ],
    [
      'a reminder instead of results',
      [
        ...task,
        { role: 'assistant', text: '', toolCalls: [], native: null },
        { role: 'user', text: 'Call it.' },
      ],
      {},
      'the model was asked after the results of its calls when it was recorded, and is asked once more, after a turn of plain text now',
    ],
    [
      'a forced choice',
      afterCall('text'),
      { toolChoice: { tool: 'structured_output' } },
      'the tool choice was "auto" when it was recorded, and is "structured_output" now',
    ],
  ])('stops after %s', async (_, messages, rest, said) => {
    const { ask } = start([headerLine(), answerLine(), second]);
    await ask();
    await expect(ask(messages, rest)).rejects.toEqual(
      new ReplayError(`Turn 2 does not fit the recording: ${said}. Record it again with --record.`),
    );
  });

  it('reports that the recording has no more completions, and the reason if it is known', async () => {
    const { ask } = start([headerLine(), answerLine()]);
    await ask();
    await expect(ask(afterCall('text'))).rejects.toThrow(
      'Turn 2 does not fit the recording: the recording has no more answers than 1.',
    );
    const torn = start([], {}, recordingText(headerLine(), answerLine(), second).slice(0, -9));
    await torn.ask();
    await expect(torn.ask(afterCall('text'))).rejects.toThrow('its last line is cut off, as by a crash');
    const stopped = start([headerLine(), answerLine(), { type: 'stopped', number: 2, asked: afterResult() }]);
    await stopped.ask();
    await expect(stopped.ask(afterCall('text'))).rejects.toThrow('the recorded run was stopped');
  });

  it('throws the recorded API error', async () => {
    const asked = { tool_choice: 'auto', after: 'task', results: [] };
    const refused = { failure: 'rate_limit', status: 429, message: 'slow down' };
    const failure = { type: 'failure', number: 1, asked, ...refused };
    const { ask } = start([headerLine(), failure, answerLine({ number: 2 })]);
    await expect(ask()).rejects.toEqual(new ProviderError('rate_limit', 'slow down', { status: 429 }));
    expect(await ask()).toMatchObject({ stopReason: 'tool_calls' });
  });

  it('rejects a call whose arguments are masked', async () => {
    const calls = [
      { id: '1', name: 'shell', arguments: '{"command":"echo ***"}', status: 'complete', masked: true },
    ];
    const { ask } = start([headerLine(), answerLine({ tool_calls: calls })]);
    await expect(ask()).rejects.toThrow('Turn 1 does not fit the recording: call 1 ("shell") held a secret');
  });

  it('replaces paths of the recorded directory with the current one, except in the payload', async () => {
    const paths =
      '/recorded/there/a.txt /recorded/there, /recorded/thereafter ../recorded/there x/recorded/there\n/recorded/there/b';
    const calls = ['shell', 'structured_output'].map((name) => ({
      id: name,
      name,
      arguments: JSON.stringify({ command: paths }),
      status: 'complete',
    }));
    const { ask } = start([headerLine(), answerLine({ tool_calls: calls })], { workingDirectory: '/a$&b"c' });
    const { message } = await ask();
    expect(message.toolCalls.map(({ rawArguments }) => JSON.parse(rawArguments))).toEqual([
      {
        command: '/a$&b"c/a.txt /a$&b"c, /recorded/thereafter ../recorded/there x/recorded/there\n/a$&b"c/b',
      },
      { command: paths },
    ]);
  });

  it.each(['', '/', 'relative', '//'])('replaces no paths for the recorded directory %j', async (folder) => {
    const { ask } = start([headerLine({ working_directory: folder }), answerLine()]);
    expect((await ask()).message.toolCalls[0]?.rawArguments).toBe('{"path":"a.txt"}');
  });

  it('rejects an accepted payload that the recorded run rejected', async () => {
    const { provider, ask } = start([headerLine(), answerLine(), second]);
    await ask();
    expect(() => provider.accepted?.()).toThrow(
      'Turn 2 does not fit the recording: the recorded run goes on there, and this one accepted the payload of the turn before.',
    );
    await ask(afterCall('text'));
    expect(() => provider.accepted?.()).not.toThrow();
  });

  it('rejects when the signal is already aborted', async () => {
    const { ask } = start([headerLine(), answerLine()]);
    await expect(ask(task, { signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
  });
});
