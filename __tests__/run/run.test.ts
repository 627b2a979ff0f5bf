import { readFileSync, readlinkSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LoadedContext } from '../../src/github/context.ts';
import type { Reporter } from '../../src/reporters/report-types.ts';
import { prepare } from '../../src/run/prepare.ts';
import { openWorkspace } from '../../src/run/workspace.ts';
import { RunState, type World } from '../../src/run/world.ts';
import { gitIn, hasSandbox } from '../sandbox/world.ts';
import type { Reply } from '../support/fakes/model/server.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { listedFile, onPullRequest } from '../support/worlds/change.ts';
import { localFiles, quietWorld } from '../support/worlds/quiet.ts';
import { base, command, config, converse, good, type Inputs, serve, start } from '../support/worlds/run.ts';

const SHELLS = [{ sandbox: 'off' }, ...(hasSandbox ? [{ sandbox: 'required' }] : [])] as const;
const never = () => new Promise<never>(() => undefined);

it('a reporter that fails on an event causes a warning, and the verdict is kept', async () => {
  const event = () => {
    throw new Error('deaf');
  };
  const openReporters = async () => [{ name: 'failing', event }];
  const { report, warnings } = await start(config(), { openReporters });
  expect([report.verdict.exitCode, [...new Set(warnings)]]).toEqual([0, ['failing: deaf']]);
});

it('a run that asks no model opens no workspace, and ends', async () => {
  const { report, asked } = await converse([good], { 'max-turns': '0' }, { entry: 'command-line' });
  expect(report.verdict.error).toContain('the limit of 0 turns (--max-turns)');
  expect([report.verdict.reason, report.isolation, asked]).toEqual(['max_turns', 'none', []]);
});

it('a run reports the name by which the price list knows the model', async () => {
  const inputs = { model: 'claude-sonnet-5-5', 'api-key': 'k', provider: 'anthropic' };
  const { report } = await converse([good], inputs);
  expect(report).toMatchObject({ pricedAs: 'claude-sonnet-5', costUsd: expect.any(Number) });
  expect((await converse([good])).report).toMatchObject({ pricedAs: null, costUsd: null });
});

it.each([
  [{}, ['read_file', 'edit', 'shell', 'structured_output']],
  [{ tools: 'shell' }, ['shell', 'structured_output']],
  [{ 'exclude-tools': 'shell' }, ['read_file', 'edit', 'structured_output']],
  [{ 'exclude-tools': 'shell structured_output' }, ['read_file', 'edit']],
])('E14 %j decides which tools are offered: %j', async (inputs, names) => {
  const { asked, events } = await converse([{ text: 'Good.' }], inputs);
  expect(asked[0]?.tools.map((tool) => tool.name)).toEqual(names);
  const told = events.map((event) => (event.type === 'notice' ? event.text : event.type));
  const before = told.slice(0, told.indexOf('turn_started'));
  const warned = before.filter((text) => text.startsWith('structured_output is excluded'));
  expect(warned).toHaveLength(names.includes('structured_output') ? 0 : 1);
});

it('inputs apply to the shell: working directory, variables without secrets, limits', async () => {
  await mkdir(path.join(base, 'workspace', 'sub'));
  const HOLDING = `basic ${Buffer.from('user:hidden-value').toString('base64')}`;
  const variables = { SHOWN: 'shown', HIDDEN: 'hidden-value', HOLDING, OTHER: 'other' };
  const line = 'pwd; echo "[$SHOWN][$HIDDEN$HOLDING][$OTHER]"; seq 1 20000';
  const { asked, warnings } = await converse(
    [command(line), good],
    { 'pass-env': 'SHOWN HIDDEN HOLDING', 'working-directory': 'sub' },
    { secrets: knowSecrets('hidden-value'), environment: { PATH: process.env['PATH'], ...variables } },
  );
  const text = asked[1]?.toolResults[0]?.text ?? '';
  expect(text).toContain('/sub\n[shown][][]\n1\n2\n');
  expect(Buffer.byteLength(text)).toBeLessThan(26 * 1024);
  expect(warnings.map((each) => each.split(',')[0])).toEqual(
    ['HIDDEN', 'HOLDING'].map((name) => expect.stringContaining(`pass-env: ${name} is not passed`)),
  );
  expect(asked[0]?.tools.find((tool) => tool.name === 'shell')?.description).toContain('120 s');
});

it.runIf(hasSandbox)('inputs apply to the sandbox: network', async () => {
  const ours = readlinkSync('/proc/self/ns/net');
  for (const network of ['off', 'on']) {
    const inputs = { sandbox: 'required', 'shell-network': network };
    const { asked } = await converse([command('readlink /proc/self/ns/net; true'), good], inputs);
    const seen = asked[1]?.toolResults[0]?.text ?? '';
    expect([/^net:/u.test(seen), seen.includes(ours)]).toEqual([true, network === 'on']);
  }
});

it.each([
  [{ safe: { type: 'boolean' } }, 'auto', 'For example gate: safe (or gate: off if that is intended).'],
  [{ grade: { type: 'string' } }, 'auto', 'Set gate to a JSON Schema of what must hold'],
  [{ passed: { type: 'boolean' } }, 'auto', null],
  [{ safe: { type: 'boolean' } }, 'off', null],
])('no gate causes a notice for the properties %j and gate: %s', async (properties, gate, fix) => {
  const schema = { type: 'object', properties, required: Object.keys(properties) };
  const { notices } = await converse([good], { schema: JSON.stringify(schema), gate });
  const warned = notices.filter((each) => each.startsWith('The schema is your own and there is no gate'));
  expect(warned).toEqual(fix === null ? [] : [expect.stringContaining(fix)]);
});

it('weak settings cause notices, and so do unchecked keywords in schema and gate', async () => {
  const odd = (name: string) => JSON.stringify({ properties: { [name]: { type: 'string', format: name } } });
  const { notices, report } = await converse([good], { schema: odd('summary'), gate: odd('passed') });
  expect(notices).toContainEqual(expect.stringContaining('The format "summary" in the schema'));
  expect(notices).toContainEqual(expect.stringContaining('The format "passed" in the gate'));
  for (const texts of [notices, report.weaknesses])
    expect(texts).toContainEqual(expect.stringMatching(/^sandbox: off\./u));
});

const blank = localFiles(async () => ({ ok: true, text: ' \n' }));
it.each<[string, Inputs, Parameters<typeof converse>[2], RegExp]>([
  ['an unknown base', {}, { since: 'nowhere' }, /base: "nowhere" is not a branch/u],
  ['a base without a repository', {}, { since: 'main' }, /base: There is no git repository in "/u],
  ['a blank prompt file', { 'prompt-file': 'p' }, { files: blank }, /prompt-file: It is empty/u],
  ['a missing folder', { 'sandbox-read': '/no' }, {}, /sandbox-read: "\/no" is not a folder/u],
  ['sandbox: off on a privileged trigger', {}, { privileged: true }, /sandbox: The value off is refused/u],
  ['a cost limit without a price', { 'max-cost-usd': '1' }, {}, /max-cost-usd: No price is known/u],
  ['a recorded replay', { replay: 'r' }, { recording: 'f' }, /replay: A rep/u],
  ['three problems', { replay: 'r', 'sandbox-read': '/no' }, { privileged: true }, /3 problems/u],
  ['a bad limit and gate', { 'max-turns': 'x', gate: 'nope' }, {}, /^2 problems.* max-turns: .* gate: It/u],
  ['a bad limit and schema', { 'max-turns': 'x', schema: '[]' }, {}, /^2 problems.* schema: It must be/u],
  ['a misspelt schema', Object({ shema: '{}', gate: 'nope' }), {}, /^shema: There is no such input/u],
])('a run with %s ends with 52 before any model call', async (what, inputs, more, says) => {
  if (what === 'an unknown base') gitIn(path.join(base, 'workspace'), 'init');
  const { report, asked } = await converse([good], inputs, more);
  expect([report.verdict.exitCode, asked]).toEqual([52, []]);
  expect(report.verdict.error).toMatch(says);
});

it('sandbox: off is refused for an action in the workspace, but not on a command line', async () => {
  const guarded = [path.join(base, 'workspace/action/dist')];
  const { report } = await converse([good], {}, { guarded });
  expect([report.verdict.exitCode, report.evidence]).toEqual([52, null]);
  expect(report.verdict.error).toMatch(/sandbox: The value off is refused.*action\/dist is in the work/u);
  const local = await converse([good], {}, { guarded, entry: 'command-line' });
  expect(local.report.verdict.exitCode).toBe(0);
});

it('the policy is recorded as hashes of task, schema and gate', async () => {
  const digest = async (inputs: Inputs) => (await converse([good], inputs)).report.policy;
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/u);
  const plain = await digest({});
  const hashes = { schema_sha256: sha256, gate_sha256: sha256, prompt_sha256: sha256 };
  expect(plain).toEqual({ ...hashes, version: '0.0.0' });
  expect(await digest({})).toEqual(plain);
  expect((await digest({ prompt: 'Judge!' })).prompt_sha256).not.toBe(plain.prompt_sha256);
  expect((await digest({ gate: 'off' })).gate_sha256).toBeNull();
});

it('the policy has what came in on stdin before the text of a prompt file', async () => {
  const files = localFiles(async () => ({ ok: true, text: 'Judge.' }));
  const parsed = config();
  const prompt = { file: 'p', before: 'a diff\n\n' };
  const { report } = await start({ ...parsed, config: { ...parsed.config, prompt } }, { files });
  const { report: same } = await converse([good], { prompt: 'a diff\n\nJudge.' });
  expect(report.policy).toEqual(same.policy);
});

it('a policy that the pull request changes is reported under the names that the user wrote', async () => {
  const task = path.join(base, 'workspace', 'task.md');
  await writeFile(task, 'Judge.');
  await writeFile(path.join(base, 'gate.json'), '{"properties":{"passed":{"const":true}}}');
  const change = { what: 'gate', path: 'gate.json', applied: true } as const;
  const findPolicyChanges = vi.fn(async () => [change]);
  const inputs = { 'prompt-file': task, gate: `@${base}/gate.json` };
  const { report } = await converse([good], inputs, { findPolicyChanges });
  const asked = [
    { what: 'gate', path: `${base}/gate.json` },
    { what: 'prompt-file', path: task },
  ];
  expect(findPolicyChanges).toHaveBeenCalledExactlyOnceWith(asked, null);
  expect(report.policyChanges).toEqual([change]);
});

const look = command('cd /tmp/context && cat README.md');
const read: Reply = { calls: [{ name: 'read_file', arguments: '{"path":"/tmp/context/README.md"}' }] };

it.each(SHELLS)('a pull request is in the task and in the context folder (%j)', async (inputs) => {
  const { asked } = await converse([look, read, good], inputs, onPullRequest([]));
  expect(asked[0]?.messages.find(({ role }) => role === 'user')?.text).toMatch(
    /^Judge\.\n\nThis run is about pull request #7\..*no.* is an instruction to you\.$/su,
  );
  for (const request of asked.slice(1))
    expect(request.toolResults[0]?.text).toContain('This folder describes pull request #7.');
});

it('after a signal no context is waited for, nor a policy file that GitHub does not send', async () => {
  const files = { readFile: never, readElsewhere: never };
  const listen: World['listen'] = (listener) => void setTimeout(() => listener.signal('SIGTERM'), 50);
  const ends = [
    await converse([good], {}, { findContext: never, listen }),
    await converse([good], { schema: './schema.json' }, { files, listen }),
  ];
  for (const { report } of ends) expect(report.verdict).toMatchObject({ reason: 'cancelled', exitCode: 130 });
});

const stuck = { range: { base: 'f'.repeat(40), head: '' }, readBaseAttributes: never };
it.each<[string, (loaded: LoadedContext) => Promise<LoadedContext>]>([
  ['files', never],
  ['attributes', async (loaded) => ({ ...loaded, ...stuck })],
])('after a timeout no context is waited for, if GitHub does not send its %s', async (_, load) => {
  gitIn(path.join(base, 'workspace'), 'init');
  const change = await onPullRequest([listedFile(1)]).findContext();
  const findContext = async () => ({ ...change, load: () => change.load().then(load) });
  const { report } = await converse([good], { 'timeout-minutes': '0.01' }, { findContext });
  expect(report.verdict).toMatchObject({ reason: 'timeout', exitCode: 55 });
  expect(report.durationMs).toBeLessThan(1_600);
});

it('the context of an unknown pull request counts as missing', async () => {
  const { report, asked } = await converse([good], {}, { findContext: async () => 'unknown' });
  expect([report.evidence?.context, asked[0]?.messages.at(-1)?.text]).toEqual(['missing', 'Judge.']);
});

it('evidence counts only the tool calls that ran', async () => {
  const call = (name: string, input: object) => ({ name, arguments: JSON.stringify(input) });
  const calls = [
    call('shell', { command: 'exit 3' }),
    call('read_file', { path: 'nowhere.txt' }),
    call('read_file', { file: 'wrong argument' }),
    call('grep', { pattern: 'x' }),
  ];
  const beside = [call('shell', { command: 'true' }), call('structured_output', { passed: 'yes' })];
  const { report } = await converse([{ calls }, { calls: beside }, good]);
  const evidence = { context: 'none', toolCalls: 2, findings: [] };
  expect(report).toMatchObject({ verdict: { exitCode: 0 }, evidence });
});

describe('the sandbox', () => {
  const required = { sandbox: 'required' };
  let helpers = '';
  // bubblewrap and sudo are only looked for by an ordinary user.
  beforeEach(async () => {
    vi.spyOn(process, 'getuid').mockReturnValue(1_000);
    helpers = path.join(base, 'helpers');
    await mkdir(helpers);
  });
  afterEach(() => void vi.restoreAllMocks());

  /** Puts a script in place of a program of the machine. */
  const install = (name: string, script: string) =>
    writeFile(path.join(helpers, name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  /** Starts a command and isolates nothing, which the self-test detects. */
  const openly = 'while [ $# -gt 1 ] && [ "$1" != /bin/sh ]; do shift; done; exec "$@"';
  const machine = (more: Partial<World> = {}) => ({ programFolders: [helpers], ...more });

  const cannotStart = 'echo "bwrap: no" >&2; exit 1';
  const says = /does not start here: bwrap: no\. (?:If|This).*set sandbox to `off`/u;
  it.each<[string, string | null, Reply | Promise<Reply>, RegExp]>([
    ['is not installed', null, never(), /needs bubblewrap/u],
    ['cannot start', cannotStart, never(), says],
    ['isolates nothing, if the model never answers,', openly, never(), /failed its self-test/u],
    ['isolates nothing, if the model submits,', openly, good, /failed its self-test/u],
    ['isolates nothing, if the model talks,', openly, { text: 'All good.' }, /failed its self-test/u],
  ])('that %s ends the run with 44, whatever the tools are', async (_, bwrap, reply, why) => {
    if (bwrap !== null) await install('bwrap', bwrap);
    await serve(() => reply);
    for (const tools of ['read_file, edit, shell', 'read_file']) {
      const published: unknown[] = [];
      const outputs: Reporter = { name: 'outputs', publish: ({ payload }) => void published.push(payload) };
      const openReporters = async () => [outputs];
      const { report } = await start(config({ ...required, tools }), machine({ openReporters }));
      const verdict = { reason: 'sandbox', exitCode: 44, error: expect.stringMatching(why) };
      expect(report).toMatchObject({ verdict, isolation: 'none' });
      expect(published).toEqual([null]);
    }
  });

  it('that is not installed leaves `auto` without a shell', async () => {
    const { report, asked } = await converse([good], { sandbox: 'auto' }, machine());
    expect([report.verdict.exitCode, report.isolation]).toEqual([0, 'none']);
    expect(asked[0]?.tools.map(({ name }) => name)).toEqual(['read_file', 'structured_output']);
  });

  it('that is still being looked for does not delay the end after a signal', async () => {
    const started = path.join(base, 'sudo-started');
    await install('sudo', `echo $$ > '${started}.new' && mv '${started}.new' '${started}'\nexec sleep 60`);
    for (const name of ['unshare', 'nsenter', 'setpriv'])
      await symlink('/bin/true', path.join(helpers, name));
    const pid = () => Number(readFileSync(started, 'utf8'));
    const listen: World['listen'] = (listener) =>
      void vi.waitFor(pid, { timeout: 10_000 }).then(() => listener.signal('SIGTERM'));
    const { report } = await start(config(required), machine({ listen }));
    expect(report.verdict).toMatchObject({ reason: 'cancelled', exitCode: 130 });
    expect(() => process.kill(pid(), 'SIGKILL')).not.toThrow();
  });

  it('is not opened once the run is over', async () => {
    await install('bwrap', openly);
    const world = { ...quietWorld(base, path.join(base, 'temp')), ...machine() };
    const state = new RunState(world);
    const plan = await prepare(config(required), state, world);
    expect((await plan.detect()).kind).toBe('bwrap');
    state.stop.abort(new Error('The run is over.'));
    await expect(openWorkspace(plan, state, world)).rejects.toThrow('The run is over.');
    expect(state.sandbox).toBeNull();
  });
});
