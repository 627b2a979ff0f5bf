import { join } from 'node:path';
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

const run = (name: string, raw: string, status?: ArgumentStatus) =>
  toolbox().run(call(name, raw, status), signal);

describe('the offered tools', () => {
  it('have a stable order with structured_output last', () => {
    const { names, specs } = toolbox();
    expect([names, specs.map(({ name }) => name)]).toEqual([TOOL_NAMES, TOOL_NAMES]);
  });

  it('E14 include structured_output whatever the allow-list says', () => {
    expect(toolbox({ tools: ['read_file'] }).names).toEqual(['read_file', 'structured_output']);
  });

  it('E13 exclude a denied structured_output, and a call of it is an unknown tool', async () => {
    const box = toolbox({ exclude: ['structured_output', 'edit'] });
    expect([box.names, box.has('structured_output')]).toEqual([['read_file', 'shell'], false]);
    expect(await box.run(call('structured_output', '{}'), signal)).toEqual({
      content: 'There is no tool named "structured_output". The tools are: read_file, shell.',
      isError: true,
      ran: false,
    });
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
      ['{"command": tru', 'complete', 'not valid JSON'],
      ['{"command":"true","command":"false"}', 'complete', ''],
      ['["true"]', 'complete', 'must be a JSON object'],
      ['', 'too_long', 'longer than 2 MiB'],
    ] as const)
      expect(await run('shell', raw, status)).toMatchObject({
        isError: true,
        content: expect.stringContaining(says),
      });
  });

  it('reports all missing, mistyped and unknown arguments at once', async () => {
    expect(await run('edit', '{"path": 1, "old_string": "a", "mode": 7}')).toEqual({
      content:
        'Wrong arguments for edit: new_string is missing; path must be a string; "mode" is not a parameter. It takes: path, old_string, new_string, replace_all (optional).',
      isError: true,
      ran: false,
    });
    for (const [tool, raw, says] of [
      ['shell', '{"command":"true","timeout_seconds":601}', 'at most 600'],
      ['read_file', '{"path":"x","offset":0}', 'offset must be at least 1'],
      ['read_file', '{"path":"x","offset":1.5}', 'offset must be an integer'],
      ['read_file', '{"path":"x","__proto__":1}', '"__proto__" is not a parameter'],
      ['read_file', '', 'path is missing'],
    ] as const)
      expect((await run(tool, raw)).content).toContain(says);
  });
});

describe('the target of a call', () => {
  it('is a path, the first line of a command, or empty', () => {
    const box = toolbox();
    const targets = [
      call('read_file', '{"path":"src/a.ts"}'),
      call('edit', '{"path":"b","old_string":"","new_string":"secret"}'),
      call('shell', '{"command":"\\n npm test\\nrm x"}'),
      call('structured_output', '{"passed":true}'),
      call('shell', 'not json'),
      call('nope', '{}'),
    ].map((each) => box.target(each));
    expect(targets).toEqual(['src/a.ts', 'b', 'npm test', '', '', '']);
  });
});

describe('run', () => {
  it('rejects every call when the sandbox is broken, also of reading tools', async () => {
    const broken = world.open({ mode: 'required', runFolder: join(world.temp, 'nowhere') });
    const box = toolbox({ sandbox: broken });
    await expect(box.run(call('read_file', '{"path":"README.md"}'), signal)).rejects.toBeInstanceOf(
      SandboxError,
    );
    await expect(box.run(call('shell', '{"command":"true"}'), signal)).rejects.toBeInstanceOf(SandboxError);
  });

  it('runs nothing after the run was aborted', async () => {
    const aborted = AbortSignal.abort(new Error('over'));
    for (const [name, raw] of [
      ['shell', '{"command":"true"}'],
      ['read_file', '{"path":"."}'],
      ['edit', '{"path":"late","old_string":"","new_string":"x"}'],
    ] as const)
      await expect(toolbox().run(call(name, raw), aborted)).rejects.toThrow('over');
  });
});
