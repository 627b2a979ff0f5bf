import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import { structuredOutputSpec } from '../../src/tools/structured-output.ts';
import { createToolbox, TOOL_NAMES, type ToolboxOptions } from '../../src/tools/toolbox.ts';
import type { ArgumentStatus } from '../../src/types.ts';
import { useWorld } from '../sandbox/world.ts';

const world = await useWorld();
const sandbox = await world.open({ mode: 'off' });
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
  it('have a stable order with structured_output last', () => {
    const { names, specs } = toolbox();
    const all = [...TOOL_NAMES, 'structured_output'];
    expect([names, specs.map(({ name }) => name)]).toEqual([all, all]);
  });

  it('E14 include structured_output whatever the allow-list says', () => {
    expect(toolbox({ tools: ['read_file'] }).names).toEqual(['read_file', 'structured_output']);
  });

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

  it('only read files if auto found no sandbox', () => {
    expect(toolbox({ shellOffered: false }).names).toEqual(['read_file', 'structured_output']);
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
  it('N8 of an unknown tool returns the list of tools', async () => {
    expect(await run('write_file', '{}')).toEqual({
      content:
        'There is no tool named "write_file". The tools are: read_file, edit, shell, structured_output.',
      isError: true,
      ran: false,
    });
  });

  it('N9 with malformed, truncated or duplicate arguments never runs as {}', async () => {
    for (const [raw, status, says] of [
      ['{"command": "tru', 'truncated', 'cut off by the output limit'],
      // The status from the provider counts, whatever the text looks like.
      ['{"command":"true"}', 'truncated', 'cut off by the output limit'],
      ['{"command":"true"}', 'malformed', ''],
      ['{"command": tru', 'complete', ''],
      ['{"command":"true","command":"false"}', 'complete', ''],
      ['["true"]', 'complete', 'not a JSON object'],
      ['', 'too_long', 'longer than 2 MiB'],
    ] as const)
      expect(await run('shell', raw, status)).toMatchObject({
        isError: true,
        ran: false,
        content: expect.stringContaining(says),
      });
  });

  it('reports all missing, mistyped and unknown arguments at once', async () => {
    const answer = await run('edit', '{"path": 1, "old_string": "a", "mode": 7}');
    expect(answer).toMatchObject({ isError: true, ran: false });
    expect(answer.content).toMatch(/^edit did not run: its arguments are wrong\.\n/u);
    for (const part of ['- (root): ', '"new_string"', '"mode"', '- /path: '])
      expect(answer.content).toContain(part);
  });

  it.each([
    ['shell', '{"command":"true","timeout_seconds":601}', '/timeout_seconds: '],
    ['read_file', '{"path":"x","offset":0}', '/offset: '],
    ['read_file', '{"path":"x","offset":1.5}', '/offset: '],
    ['read_file', '{"path":"x","__proto__":1}', '__proto__'],
    ['read_file', '', '"path"'],
  ])('of %s with %s says what is wrong', async (tool, raw, says) => {
    expect(await run(tool, raw)).toMatchObject({ ran: false, content: expect.stringContaining(says) });
  });

  it('because the sandbox denies it is answered with the reason', async () => {
    expect(await run('shell', '{"command":"echo \\u0000"}')).toEqual({
      content: 'A command must not contain a NUL character.',
      isError: true,
      ran: true,
    });
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
    for (const [name, raw] of [
      ['shell', '{"command":"true"}'],
      ['read_file', '{"path":"."}'],
      ['edit', '{"path":"late","old_string":"","new_string":"x"}'],
    ] as const)
      await expect(run(name, raw, 'complete', toolbox(), aborted)).rejects.toThrow('over');
  });
});
