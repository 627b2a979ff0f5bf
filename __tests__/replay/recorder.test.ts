import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
import type { CompletionRequest, Provider } from '../../src/providers/provider.ts';
import { recorded } from '../../src/replay/recorder.ts';
import { readRecording } from '../../src/replay/recording.ts';
import { READ } from '../../src/text/limits.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { call, type Script, scriptedProvider, submit } from '../support/fakes/model/scripted-provider.ts';
import { HASH } from '../support/worlds/recordings.ts';

const policyDigest = { schema_sha256: HASH, gate_sha256: null, prompt_sha256: HASH, version: '0.1.0' };

function request(more: Partial<CompletionRequest> = {}): CompletionRequest {
  return {
    system: 'system',
    tools: [{ name: 'shell', description: '', parameters: {} }],
    messages: [{ role: 'user', text: 'Judge.' }],
    toolChoice: 'auto',
    signal: new AbortController().signal,
    notify: () => undefined,
    ...more,
  };
}

function tape(provider: Script | Provider, append?: (line: string) => void) {
  const lines: string[] = [];
  const warnings: string[] = [];
  const secrets = createSecrets();
  secrets.add('hunter2-hunter2');
  const wrapped = recorded('complete' in provider ? provider : scriptedProvider(provider), {
    append: append ?? ((line) => lines.push(line)),
    mask: secrets.mask,
    policy: () => policyDigest,
    workingDirectory: () => '/work/here',
    time: () => '2026-01-02T03:04:05.678Z',
    warn: (text) => warnings.push(text),
  });
  return {
    provider: wrapped,
    lines,
    warnings,
    read: () => readRecording(lines.map((l) => `${l}\n`).join('')),
  };
}

describe('createRecorder', () => {
  it('returns the completion unchanged and writes the header with the first completion', async () => {
    const { provider, lines, read, warnings } = tape([{ text: 'Done.', calls: [submit({ passed: true })] }]);
    expect(lines).toEqual([]);
    const completion = await provider.complete(request());
    expect(completion.message.native).toEqual({ index: 0 });
    expect(read()).toMatchObject({
      header: { model: 'scripted', policy: policyDigest, tools: ['shell'], workingDirectory: '/work/here' },
      exchanges: [
        {
          kind: 'answer',
          asked: { toolChoice: 'auto', after: 'task', results: [] },
          text: 'Done.',
          toolCalls: [{ name: 'structured_output', rawArguments: '{"passed":true}', status: 'complete' }],
          masked: [],
        },
      ],
    });
    // Signatures and thinking of the provider are not needed in a replay.
    expect(lines.join('')).not.toContain('native');
    expect(warnings).toEqual([]);
  });

  it('keeps arguments as the model wrote them, even if invalid or cut off', async () => {
    const raw = '{"a":1,"a":2,\u2028"b":"\ud83d';
    const calls = [{ ...call('shell', {}), rawArguments: raw, status: 'truncated' as const }];
    const { provider, read } = tape([{ calls, stopReason: 'length' }]);
    await provider.complete(request());
    expect(read().exchanges[0]).toMatchObject({
      stopReason: 'length',
      toolCalls: [{ rawArguments: raw, status: 'truncated' }],
    });
  });

  it('masks secrets, marks calls that contained one, and warns', async () => {
    const { provider, lines, read, warnings } = tape([
      {
        text: 'it is hunter2-hunter2',
        calls: [call('shell', { command: 'ls' }), call('shell', { command: 'echo hunter2-hunter2' })],
      },
    ]);
    await provider.complete(request());
    expect(lines.join('')).not.toContain('hunter2');
    expect(read().exchanges[0]).toMatchObject({ text: 'it is ***', masked: [1] });
    expect(warnings).toEqual([expect.stringContaining('held a secret, which the recording masks')]);
  });

  it('hashes results after masking secrets, so that a guessed secret cannot be verified', async () => {
    const messages = (text: string): CompletionRequest['messages'] => [
      { role: 'user', text: 'Judge.' },
      {
        role: 'assistant',
        text: '',
        toolCalls: [{ id: '1', name: 'shell', rawArguments: '{}', status: 'complete' }],
        native: null,
      },
      { role: 'tool', results: [{ callId: '1', content: text, isError: false }] },
    ];
    const { provider, read } = tape([{}]);
    await provider.complete(request({ messages: messages('key hunter2-hunter2') }));
    await provider.complete(request({ messages: messages('key ***') }));
    const [one, other] = read().exchanges;
    expect(one?.asked).toEqual(other?.asked);
    expect(one?.asked.results).toMatchObject([{ name: 'shell', isError: false }]);
  });

  it('records API errors and rethrows them', async () => {
    const error = new ProviderError('overloaded', 'busy: hunter2-hunter2', { status: 529 });
    const { provider, read } = tape(() => Promise.reject(error));
    await expect(provider.complete(request())).rejects.toBe(error);
    expect(read().exchanges).toEqual([
      { kind: 'failure', asked: expect.anything(), failure: 'overloaded', status: 529, message: 'busy: ***' },
    ]);
  });

  it('records a request that was pending when the run stopped', async () => {
    const stop = new AbortController();
    const { provider, read } = tape(async () => {
      stop.abort({ stop: 'timeout' });
      throw stop.signal.reason;
    });
    await expect(provider.complete(request({ signal: stop.signal }))).rejects.toEqual({ stop: 'timeout' });
    expect(read().exchanges).toEqual([{ kind: 'stopped', asked: expect.anything() }]);
  });

  it('stops at the first failed write, warns once, and lets the run continue', async () => {
    const written: string[] = [];
    const { provider, warnings } = tape([{ text: 'x' }], (line) => {
      if (written.length === 2) throw new Error('ENOSPC: no space left on device');
      written.push(line);
    });
    for (const _ of [1, 2, 3])
      expect(await provider.complete(request())).toMatchObject({ message: { text: 'x' } });
    expect(written).toHaveLength(2);
    expect(warnings).toEqual(['The recording is not whole: ENOSPC: no space left on device']);
  });

  it('warns once when the recording is too large to replay', async () => {
    const { provider, warnings } = tape([{ text: 'x'.repeat(READ.recording / 2) }]);
    await provider.complete(request());
    expect(warnings).toEqual([]);
    await provider.complete(request());
    await provider.complete(request());
    expect(warnings).toEqual(['The recording is larger than 2 MiB, and too large to be replayed.']);
  });

  it('sanitizes the model name so that the recording can be read', async () => {
    const odd: Provider = { ...scriptedProvider([{}]), model: `a\n\u202e${'b'.repeat(300)}` };
    const { provider, read } = tape(odd);
    await provider.complete(request());
    expect(read().header.model).toMatch(/^a b+$/u);
  });
});
