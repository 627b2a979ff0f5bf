import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import { DeniedError, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { structuredOutputSpec } from '../../src/tools/tool.ts';
import { createToolbox, type ToolboxOptions } from '../../src/tools/toolbox.ts';
import type { ArgumentStatus } from '../../src/types.ts';

const deny = () => Promise.reject(new DeniedError('Not this.'));
const sandbox: Sandbox = {
  workingDirectory: '/',
  ready: async () => undefined,
  read: deny,
  write: deny,
  exec: deny,
};
const signal = new AbortController().signal;

function toolbox(options: Partial<ToolboxOptions> = {}) {
  return createToolbox({
    sandbox,
    tools: ['read_file', 'edit', 'shell'],
    exclude: [],
    shellOffered: true,
    structuredOutput: structuredOutputSpec({ type: 'object' }),
    ...options,
  });
}

function call(name: string, rawArguments: string, status: ArgumentStatus = 'complete') {
  return { id: 'c1', name, rawArguments, status };
}

async function run(name: string, raw: string, status?: ArgumentStatus, box = toolbox(), aborts = signal) {
  return (await box.read(call(name, raw, status))).run(aborts);
}

describe('the offered tools', () => {
  it('E13 exclude denied ones, structured_output as well, and calls of them do not run', async () => {
    const box = toolbox({ exclude: ['structured_output', 'edit'] });
    expect([box.names, box.has('structured_output')]).toEqual([['read_file', 'shell'], false]);
    expect(await run('structured_output', '{}', 'complete', box)).toEqual({
      content: 'There is no tool named "structured_output". The tools are: read_file, shell.',
      isError: true,
      ran: false,
    });
    const edit = '{"path":"excluded","old_string":"","new_string":"x"}';
    expect(await run('edit', edit, 'complete', box)).toMatchObject({ isError: true, ran: false });
  });

  it('S1 include structured_output with the schema and a description of how to call it', () => {
    const schema = { type: 'object', properties: { passed: { type: 'boolean' } } };
    const spec = structuredOutputSpec(schema);
    expect(spec.parameters).toBe(schema);
    expect(spec.description).toMatch(/only way.*plain text is discarded.*call it alone/u);
  });

  it('take at most 450 bytes of a request each', () => {
    const sizes = toolbox().specs.map((spec) => JSON.stringify(spec).length);
    expect(sizes.filter((size) => size > 450)).toEqual([]);
  });
});

describe('a call that cannot run', () => {
  it('reports all missing, mistyped and unknown arguments at once', async () => {
    const answer = await run('edit', '{"path": 1, "old_string": "a", "mode": 7}');
    expect(answer).toMatchObject({ isError: true, ran: false });
    expect(answer.content).toMatch(/^edit did not run: its arguments are wrong\.\n/u);
    for (const part of ['- (root): ', '"new_string"', '"mode"', '- /path: '])
      expect(answer.content).toContain(part);
  });

  const cutOff = 'cut off by the output limit';
  it.each<[string, string, string, string, ArgumentStatus?]>([
    ['N8 of an unknown tool', 'write', '{}', 'The tools are: read_file, edit, shell, structured_output.'],
    ['N9 that was cut', 'shell', '{"command": "tru', cutOff, 'truncated'],
    // The status from the provider counts, whatever the text looks like.
    ['N9 that was cut after a value', 'shell', '{"command":"true"}', cutOff, 'truncated'],
    ['N9 whose arguments are not JSON', 'shell', '{"command": tru', ''],
    ['N9 with a duplicate argument', 'shell', '{"command":"true","command":"false"}', ''],
    ['N9 with a list of arguments', 'shell', '["true"]', 'not a JSON object'],
    ['N9 with too long arguments', 'shell', '', 'longer than 2 MiB', 'too_long'],
    ['without a path', 'read_file', '', '"path"'],
    ['with a too high timeout', 'shell', '{"command":"true","timeout_seconds":601}', '/timeout_seconds: '],
    ['with a too low offset', 'read_file', '{"path":"x","offset":0}', '/offset: '],
    ['with half an offset', 'read_file', '{"path":"x","offset":1.5}', '/offset: '],
    ['with __proto__', 'read_file', '{"path":"x","__proto__":1}', '__proto__'],
  ])('%s says what is wrong', async (_, tool, raw, says, status) => {
    const content = expect.stringContaining(says);
    expect(await run(tool, raw, status)).toEqual({ isError: true, ran: false, content });
  });

  it('because the sandbox denies it is answered with the reason', async () => {
    const answer = await run('shell', '{"command":"true"}');
    expect(answer).toEqual({ content: 'Not this.', isError: true, ran: true });
  });
});

it('the target of a call is a path or the first line of a command, and edits show no source', async () => {
  const box = toolbox();
  const command = '\\n npm test\\nrm x';
  const read = [
    call('read_file', '{"path":"src/a.ts"}'),
    call('edit', '{"path":"b","old_string":"","new_string":"secret"}'),
    call('shell', `{"command":"${command}"}`),
    call('structured_output', '{"passed":true}'),
    call('shell', 'not json'),
    call('nope', '{}'),
  ].map(async (each) => {
    const { ref, source } = await box.read(each);
    return [ref.target, source?.target ?? null];
  });
  expect(await Promise.all(read)).toEqual([
    ['src/a.ts', 'src/a.ts'],
    ['b', null],
    ['npm test', '\n npm test\nrm x'],
    ...Array.from({ length: 3 }, () => ['', null]),
  ]);
});

describe('run', () => {
  it.each([
    ['is not ready, also of a reading tool', { ready: () => Promise.reject(new SandboxError('broken')) }],
    ['breaks', { read: () => Promise.reject(new SandboxError('broken')) }],
  ])('rejects when the sandbox %s', async (_, broken) => {
    const box = toolbox({ sandbox: { ...sandbox, ...broken } });
    await expect(run('read_file', '{"path":"."}', 'complete', box)).rejects.toBeInstanceOf(SandboxError);
  });

  it('runs nothing after the run was aborted', async () => {
    const aborted = AbortSignal.abort(new Error('over'));
    const running = run('read_file', '{"path":"."}', 'complete', toolbox(), aborted);
    await expect(running).rejects.toThrow('over');
  });
});
