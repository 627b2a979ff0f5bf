import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { World } from '../../src/run/world.ts';
import type { JsonObject } from '../../src/types.ts';
import { HAS_BWRAP } from '../support/fakes/runner/action.ts';
import { type Inputs, makeReuseWorld, PAYLOAD, type ReuseWorld, subject } from '../support/worlds/reuse.ts';

const KEY = 'k'.repeat(32);

describe.runIf(HAS_BWRAP)('a run without a reusable verdict', () => {
  let world: ReuseWorld;
  let workspace = '';
  let verdicts = '';
  let notices: readonly string[] = [];
  beforeAll(async () => {
    world = await makeReuseWorld();
    ({ workspace, verdicts, notices } = world);
    await world.first();
  });
  beforeEach(() => world.reset());
  afterAll(() => world.close());

  const startRun = (inputs: Inputs = {}, more: Partial<World> = {}) => world.startRun(inputs, more);
  const keep = (name: string, file: JsonObject | string) => world.keep(name, file);
  const first = () => world.first();
  const wasAsked = () => world.wasAsked();

  const nothing = async () => undefined;
  const edits: readonly (readonly [string, Inputs, () => Promise<unknown>, Partial<World>])[] = [
    ['a changed file', {}, () => writeFile(path.join(workspace, 'api', 'a.txt'), 'two\n'), {}],
    ['a new file', {}, () => writeFile(path.join(workspace, 'api', 'b.txt'), ''), {}],
    ['another prompt', { prompt: 'Judge well.' }, nothing, {}],
    [
      'another schema',
      { schema: '{"type":"object","additionalProperties":true}', gate: 'none' },
      nothing,
      {},
    ],
    ['another model', { model: 'scripted-2' }, nothing, {}],
    ['another leg', { leg: 'web' }, nothing, {}],
    ['another vote', { vote: '2' }, nothing, {}],
    ['other paths', { 'subject-paths': '.' }, nothing, {}],
    ['refresh', { refresh: 'true' }, nothing, {}],
    ['another version', {}, nothing, { version: '0.0.1' }],
  ];
  it.each(edits)('asks the model: %s', async (_, inputs, edit, more) => {
    await keep('a', await first());
    await edit();
    wasAsked();
    const report = await startRun(inputs, more);
    expect(wasAsked()).toBe(true);
    expect(report.reuse).toMatchObject({ from: null });
  });

  const FINDING = { severity: 'error', message: 'x', title: 'x', path: 'x', line: 1 };
  const useless: readonly (readonly [string, (before: JsonObject) => JsonObject | string])[] = [
    [
      'of another repository',
      (before) => ({ ...before, subject: { ...Object(before['subject']), repository: 'o/other' } }),
    ],
    ['without a subject', (before) => ({ ...before, subject: null })],
    ['that was replayed', (before) => ({ ...before, replayed: true })],
    [
      'without a verdict',
      (before) => ({
        ...{ ...before, subtype: 'error_cancelled', is_error: true, exit_code: 130 },
        ...{ conclusion: 'inconclusive', reason: 'cancelled' },
      }),
    ],
    ['whose payload the schema rejects', (before) => ({ ...before, structured_output: { passed: true } })],
    ['whose payload needs repair', (before) => ({ ...before, structured_output: { output: PAYLOAD } })],
    [
      'with a contradictory payload',
      (before) => ({ ...before, structured_output: { ...PAYLOAD, findings: [FINDING] } }),
    ],
    [
      'of another schema',
      (before) => ({ ...before, judge: { ...Object(before['judge']), schema_sha256: '0'.repeat(64) } }),
    ],
    [
      'of another prompt',
      (before) => ({ ...before, judge: { ...Object(before['judge']), prompt_sha256: '0'.repeat(64) } }),
    ],
    [
      'of a merge',
      (before) => ({
        ...before,
        merged: { rule: 'all', votes: null, tally: { pass: 1, fail: 0, abstain: 0, expected: 1 }, legs: [] },
      }),
    ],
    ['with an invalid run id', (before) => ({ ...before, subject: { ...subject, run_id: '1\n::error::' } })],
    ['that is not JSON', () => '{'],
    ['of another kind', () => '{"passed":true}'],
  ];
  it('ignores an envelope of another kind, of another run or without a verdict', async () => {
    const before = await first();
    // Each has its own run id, so that a reused one can be identified.
    for (const [index, [, change]] of useless.entries()) {
      const run_id = `${200 + index}`;
      await keep(`${index}`, change({ ...before, subject: { ...subject, run_id } }));
    }
    wasAsked();
    const report = await startRun();
    expect(report).toMatchObject({ verdict: { reason: 'accepted' }, reuse: { from: null } });
    expect(wasAsked()).toBe(true);
  });

  it.each<readonly [string, Inputs]>([
    ['the prompt', { prompt: 'Judge otherwise.' }],
    ['the model', { model: 'scripted-2' }],
    ['the settings (base-url, tools, subject-paths and the like)', { tools: 'read_file' }],
  ])('reports how the nearest verdict differs: %s', async (what, inputs) => {
    await keep('a', await first());
    await startRun(inputs);
    expect(notices.join('\n')).toContain(
      `so the model is asked. The nearest of this leg and vote differs in ${what}.`,
    );
  });

  it('reports a verdict on other files and ignores one of another vote', async () => {
    await keep('a', await first());
    await writeFile(path.join(workspace, 'api', 'a.txt'), 'other\n');
    await startRun();
    expect(notices.join('\n')).toContain('differs in the judged files.');
    await startRun({ vote: '2' });
    expect(notices.join('\n')).not.toContain('differs in');
  });

  it('accepts a missing or empty directory', async () => {
    await startRun({ 'reuse-from': path.join(verdicts, 'none') });
    expect(notices).toContain('info: reuse-from is not there yet, so there is no earlier verdict.');
    expect((await startRun()).verdict.exitCode).toBe(0);
    expect(notices.join('\n')).toContain('holds no verdict on the same files');
  });

  it.each<readonly [string, Inputs, string]>([
    ['a folder in the workspace', { 'reuse-from': 'verdicts' }, 'reuse-from'],
    ['a folder elsewhere', { 'reuse-from': '/etc' }, 'reuse-from'],
    ['a missing subject path', { 'subject-paths': 'api\nnowhere' }, 'subject-paths'],
  ])('rejects %s without asking a model', async (_, inputs, name) => {
    const report = await startRun(inputs);
    expect(report.verdict).toMatchObject({ reason: 'config', exitCode: 52 });
    expect(report.verdict.error).toContain(name);
    expect(wasAsked()).toBe(false);
  });

  it.each<readonly [string, Inputs, RegExp]>([
    ['without a sandbox', { sandbox: 'off' }, /^warning: No earlier verdict is reused.*sandbox only/mu],
    [
      'with signed downloads among the files',
      { 'reuse-from': 'api/v', 'signing-key': KEY },
      /^warning: .*is inside the judged files/mu,
    ],
  ])('%s, warns that nothing is reused and asks the model', async (_, inputs, expected) => {
    await mkdir(path.join(workspace, 'api', 'v'));
    const report = await startRun(inputs);
    expect(report.reuse).toBeNull();
    expect(report.verdict.exitCode).toBe(0);
    expect(wasAsked()).toBe(true);
    expect(notices.join('\n')).toMatch(expected);
  });

  it('reuses nothing when libraries of git come from the checkout', async () => {
    const environment = { PATH: process.env['PATH'], LD_LIBRARY_PATH: `/opt/lib:${workspace}/lib` };
    await keep('a', await first());
    wasAsked();
    expect(await startRun({}, { environment })).toMatchObject({ reuse: null, verdict: { exitCode: 0 } });
    expect(wasAsked()).toBe(true);
    expect(notices.join('\n')).toMatch(/^warning: No earlier verdict is reused.*LD_LIBRARY_PATH names/mu);
  });

  it('reuses nothing without a repository', async () => {
    await rm(path.join(workspace, '.git'), { recursive: true });
    expect(await startRun()).toMatchObject({ reuse: null, verdict: { exitCode: 0 } });
    expect(notices.join('\n')).toMatch(/^warning: No earlier verdict is reused.*git could not list/mu);
  });
});
