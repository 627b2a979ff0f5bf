import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OpenedSandbox } from '../../src/sandbox/sandbox.ts';
import { structuredOutputSpec } from '../../src/tools/structured-output.ts';
import { createToolbox, type Toolbox } from '../../src/tools/toolbox.ts';
import attacks from '../fixtures/attacks.json' with { type: 'json' };
import {
  CANARY,
  createMark,
  createWorld,
  isAlive,
  manifest,
  shellWays,
  type World,
} from '../sandbox/world.ts';

/** Rows about tools and the sandbox, not about the log, the outputs or the gate. */
const rows = attacks.filter(
  (row) => /^[ABDEF]/u.test(row.id) && !('unit' in row) && !('run' in row && row.run === false),
);

const sleepMark = createMark('SAMARK');

function rot13(text: string): string {
  return text.replace(/[a-z]/giu, (c) =>
    String.fromCharCode(c.charCodeAt(0) + (c.toLowerCase() < 'n' ? 13 : -13)),
  );
}

/** The result says that the sandbox denied access, not that something else failed. */
const DENIED = /was refused: /u;

type Way = (typeof shellWays)[number] & { readonly access: 'scratch' | 'in-place' };

function attackTheWall({ options, access }: Way) {
  let world: World;
  let sandbox: OpenedSandbox;
  let toolbox: Toolbox;

  beforeAll(async () => {
    world = await createWorld();
    sandbox = await world.open({ ...options, access });
    toolbox = createToolbox({
      sandbox,
      tools: ['read_file', 'edit', 'shell'],
      exclude: [],
      access,
      shellOffered: true,
      maxToolOutputBytes: 25_600,
      shellTimeoutSeconds: 20,
      structuredOutput: structuredOutputSpec({ type: 'object' }),
    });
    await sandbox.ready();
  });
  afterAll(() => world.close());

  let before: Readonly<Record<string, string>>;
  const outside = () =>
    manifest(world.base, (path) => {
      const inGit =
        path.startsWith(join(world.workspace, '.git')) || path.startsWith(join(world.workspace, '.github'));
      const inTree = path !== world.workspace && path.startsWith(world.workspace) && !inGit;
      return inTree || path.startsWith(join(world.temp, 'run-'));
    });
  beforeEach(() => {
    before = outside();
  });

  async function call(tool: string, args: unknown) {
    const raw = JSON.stringify(args)
      .replaceAll('{WS}', world.workspace)
      .replaceAll('{HOME}', world.home)
      .replaceAll('{TEMP}', world.temp)
      .replaceAll('{PORT}', String(world.port))
      .replaceAll('{SOCK}', world.socket)
      .replaceAll('SAMARK', sleepMark);
    const signal = new AbortController().signal;
    return toolbox.run({ id: 'c', name: tool, rawArguments: raw, status: 'complete' }, signal);
  }

  for (const row of rows) {
    it(row.id, async () => {
      const expected: Readonly<Record<string, unknown>> = row.expect;
      for (const step of 'pre' in row && row.pre !== undefined ? row.pre : [])
        await call(step.tool, step.args);
      const startedAt = performance.now();
      const answer = await call(row.tool, row.args);
      const elapsed = performance.now() - startedAt;
      const settle = expected['settle_ms'];
      if (typeof settle === 'number') await sleep(settle);

      expect(answer.content).not.toContain(CANARY);
      expect(answer.content).not.toContain(rot13(CANARY));
      if (expected['tool'] === 'denied')
        expect(answer).toMatchObject({ content: expect.stringMatching(DENIED), isError: true });
      if (expected['tool'] === 'timeout') expect(answer.content).toContain('timed out after');
      expect(outside()).toEqual(before);
      expect(world.reached()).toBe(0);
      expect(isAlive(sleepMark)).toBe(false);
      // On a busy machine. What the bound detects, such as a read that never ends, takes at least 30 s.
      if (typeof expected['max_ms'] === 'number') expect(elapsed).toBeLessThan(4 * expected['max_ms']);
      if (typeof expected['max_out'] === 'number')
        expect(answer.content.length).toBeLessThan(expected['max_out']);
      if (typeof expected['match'] === 'string') expect(answer.content).toContain(expected['match']);
      if (typeof expected['not_match'] === 'string')
        expect(answer.content).not.toContain(expected['not_match']);
    });
  }

  it('the sandbox denies edits of protected files that contain the exact text', async () => {
    const path = '.github/workflows/ci.yml';
    const answer = await call('edit', {
      path,
      old_string: 'on: push',
      new_string: 'on: pull_request_target',
    });
    expect(answer).toMatchObject({ content: expect.stringMatching(DENIED), isError: true });
  });

  it('the planted canaries exist, so that their absence from results is meaningful', () => {
    expect(existsSync(join(world.home, '.npmrc'))).toBe(true);
    expect(manifest(world.home, () => false)).toHaveProperty([join(world.temp, 'git-credentials-1.config')]);
  });
}

function refuseWithoutSandbox() {
  it('a required sandbox that is unavailable never runs a command', async () => {
    const world = await createWorld();
    const sandbox = await world.open({ mode: 'required' });
    await expect(sandbox.ready()).rejects.toMatchObject({ name: 'SandboxError' });
    await world.close();
  });
}

const isolated = shellWays.filter(({ name }) => name !== 'none');
for (const way of isolated)
  for (const access of ['scratch', 'in-place'] as const)
    describe(`attacks behind ${way.name}, ${access}`, () => attackTheWall({ ...way, access }));
if (isolated.length === 0) describe('attacks without a sandbox', refuseWithoutSandbox);
