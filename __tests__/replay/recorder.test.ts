import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
import type { CompletionRequest } from '../../src/providers/provider.ts';
import { recordRun } from '../../src/replay/recorder.ts';
import { readRecording } from '../../src/replay/recording.ts';
import { call, type Script, scriptedProvider, submit } from '../support/fakes/model/scripted-provider.ts';
import { asking } from '../support/fakes/model/wires.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';

const SECRET = 'hunter2-hunter2';
const HASH = 'a'.repeat(64);

const folder = makeFolder();
beforeEach(() => rmSync(path.join(folder, 'new'), { recursive: true, force: true }));

function tape(script: Script) {
  const warnings: string[] = [];
  const file = path.join(folder, 'new', 'tape.jsonl');
  const task = {
    policy: { schema_sha256: HASH, prompt_sha256: HASH, version: '0.1.0' },
    workingDirectory: '',
  };
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
      header: {
        model: 'scripted',
        schema_sha256: HASH,
        prompt_sha256: HASH,
        tools: ['shell', 'structured_output'],
      },
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

  it('records failures of the API and rethrows them', async () => {
    const error = new ProviderError('overloaded', `busy: ${SECRET}`, { status: 529 });
    const { ask, read } = tape(() => Promise.reject(error));
    await expect(ask()).rejects.toBe(error);
    const failure = { type: 'failure', failure: 'overloaded', status: 529, message: 'busy: ***' };
    expect((await read()).responses).toEqual([failure]);
  });

  it('records that a run was stopped while it waited', async () => {
    const stop = new AbortController();
    const { ask, read } = tape(async () => {
      stop.abort({ stop: 'timeout' });
      throw stop.signal.reason;
    });
    await expect(ask({ signal: stop.signal })).rejects.toEqual({ stop: 'timeout' });
    expect((await read()).responses).toEqual([{ type: 'stopped' }]);
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
