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

it.each<[string, string, string, string | null]>([
  ['read_file', '{"path":"src/a.ts"}', 'src/a.ts', 'src/a.ts'],
  ['edit', '{"path":"b","old_string":"","new_string":"secret"}', 'b', null],
  ['shell', '{"command":"\\n npm test\\nrm x"}', 'npm test', '\n npm test\nrm x'],
  ['structured_output', '{"passed":true}', '', null],
  ['shell', 'not json', '', null],
  ['nope', '{}', '', null],
])('a call of %s with %s has the target %j, and shows the source %j', async (name, raw, target, shown) => {
  const { ref, source } = await toolbox().read(call(name, raw));
  expect([ref.target, source?.target ?? null]).toEqual([target, shown]);
});

const broken = new SandboxError('broken');
const over = new Error('over');
it.each<[string, Partial<Sandbox>, unknown, AbortSignal?]>([
  ['the sandbox is not ready, also of a reading tool', { ready: () => Promise.reject(broken) }, broken],
  ['the sandbox breaks', { read: () => Promise.reject(broken) }, broken],
  ['the run was aborted', {}, over, AbortSignal.abort(over)],
])('a call rejects when %s', async (_, changes, error, aborts) => {
  const box = toolbox({ sandbox: { ...sandbox, ...changes } });
  await expect(run('read_file', '{"path":"."}', 'complete', box, aborts)).rejects.toBe(error);
});
