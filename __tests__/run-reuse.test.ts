import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, parseConfig } from '../src/config/config.ts';
import type { InputName } from '../src/config/inputs.ts';
import { resolveWorkingDirectory } from '../src/config/paths.ts';
import { readTrustedFile } from '../src/config/trusted-file.ts';
import { signEnvelope } from '../src/envelope/signature.ts';
import { envelope } from '../src/reporters/envelope.ts';
import { createRecordingFile } from '../src/reporters/recording-file.ts';
import { run } from '../src/run.ts';
import { reuseKey } from '../src/run-reuse.ts';
import type { EndListener, World } from '../src/run-state.ts';
import { createSecrets } from '../src/secrets.ts';
import type { JsonObject, Judge, Report, Subject } from '../src/types.ts';
import { HAS_BWRAP } from './support/action.ts';
import { type ScriptedModel, startModel } from './support/model-server.ts';
import { localFiles, noPullRequest } from './support/no-github.ts';

type Inputs = Partial<Record<InputName, string>>;

function configOf(inputs: Inputs): Config {
  const raw = new Map<InputName, string>();
  const all: Inputs = {
    prompt: 'Judge.',
    model: 'scripted-1',
    'base-url': 'http://127.0.0.1:1/v1',
    ...inputs,
  };
  for (const [name, value] of Object.entries(all)) if (value !== '') raw.set(name as InputName, value);
  return parseConfig(raw, { environment: {} });
}

describe('the key of a verdict', () => {
  const judge: Judge = { schema_sha256: 'a', gate_sha256: 'b', prompt_sha256: 'c', version: '1.0.0' };
  const usual = { tree: '0'.repeat(64), paths: ['.'], place: '', judge };
  const keyOf = (inputs: Inputs = {}, more: Partial<typeof usual> = {}) =>
    reuseKey({ ...usual, ...more, config: configOf(inputs) });

  it('is a hash, the same each time', () => {
    expect(keyOf()).toMatch(/^[0-9a-f]{64}$/u);
    expect(keyOf()).toBe(keyOf());
  });

  const differing: readonly (readonly [string, Inputs, Partial<typeof usual>?])[] = [
    ['the files', {}, { tree: '1'.repeat(64) }],
    ['the subject paths', {}, { paths: ['a', 'b'] }],
    ['where the agent starts', {}, { place: 'sub' }],
    ['the schema', {}, { judge: { ...judge, schema_sha256: 'x' } }],
    ['the prompt', {}, { judge: { ...judge, prompt_sha256: 'x' } }],
    ['the version', {}, { judge: { ...judge, version: '1.0.1' } }],
    ['the system prompt', { 'system-prompt': 'Be brief.' }],
    ['the provider', { provider: 'openai', 'api-key': 'k' }],
    ['the model', { model: 'scripted-2' }],
    ['the server', { 'base-url': 'http://127.0.0.1:1/v2' }],
    ['the effort', { 'reasoning-effort': 'high' }],
    ['the length of an answer', { 'max-output-tokens': '5' }],
    ['the tools', { tools: 'read_file' }],
    ['the tools taken away', { 'exclude-tools': 'shell' }],
    ['what may be changed', { 'workspace-access': 'in-place' }],
    ['the network', { 'shell-network': 'on' }],
    ['the variables', { 'pass-env': 'CI' }],
    ['the folders', { 'sandbox-read': '/opt' }],
    ['the leg', { leg: 'a' }],
    ['the vote', { vote: 'a' }],
    ['leg and vote', { leg: 'a', vote: 'a' }],
    ['neighbours', { leg: 'a","a' }],
  ];

  it('is another one for each thing that may change a verdict', () => {
    const keys = [keyOf(), ...differing.map(([, inputs, more]) => keyOf(inputs, more))];
    expect(new Set(keys).size).toBe(keys.length);
  });

  it.each<readonly [string, Inputs, Partial<typeof usual>]>([
    ['the gate', { gate: 'none' }, { judge: { ...judge, gate_sha256: 'x' } }],
    ['what is known of a pull request', { context: 'none' }, {}],
    ['limits', { 'max-turns': '3', 'timeout-minutes': '1', 'max-total-tokens': '100' }, {}],
    ['the key', { 'api-key': 'k' }, {}],
    ['headers', { headers: 'X-Token: secret' }, {}],
    ['the way it is told', { summary: 'false', comment: 'always', 'log-level': 'full' }, {}],
    ['how it is reused', { refresh: 'true', 'signing-key': 'k'.repeat(32), 'reuse-from': '/tmp/x' }, {}],
  ])('is the same whatever %s', (_, inputs, more) => {
    expect(keyOf(inputs, more)).toBe(keyOf());
  });
});

const PAYLOAD = { passed: true, summary: 'fine', findings: [] };
const subject: Subject = {
  repository: 'o/r',
  sha: 'a'.repeat(40),
  ref: 'refs/pull/7/merge',
  event: 'pull_request',
  pull_request: 7,
  run_id: '100',
  run_attempt: 1,
};
const KEY = 'k'.repeat(32);

describe.runIf(HAS_BWRAP)('a run that may reuse a verdict', () => {
  let base = '';
  let workspace = '';
  let verdicts = '';
  let model: ScriptedModel;
  let notices: string[] = [];

  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: workspace });

  beforeEach(async () => {
    base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'reuse-')));
    workspace = path.join(base, 'workspace');
    verdicts = path.join(base, 'temp', 'verdicts');
    for (const folder of ['workspace/api', 'home', 'temp/verdicts'])
      await mkdir(path.join(base, folder), { recursive: true });
    git('init', '-q');
    await writeFile(path.join(workspace, 'api', 'a.txt'), 'one\n');
    git('add', '-A');
    git('commit', '-qm', 'first');
    model = await startModel(() => ({
      calls: [{ name: 'structured_output', arguments: JSON.stringify(PAYLOAD) }],
    }));
  });

  afterEach(async () => {
    await model.close();
    await rm(base, { recursive: true, force: true });
  });

  async function judge(inputs: Inputs = {}, more: Partial<World> = {}): Promise<Report> {
    notices = [];
    const runFolder = await mkdtemp(path.join(base, 'temp', 'run-'));
    const world: World = {
      environment: { PATH: process.env['PATH'] },
      version: '0.0.0',
      secrets: createSecrets(),
      subject,
      workspace,
      home: path.join(base, 'home'),
      temp: path.join(base, 'temp'),
      runFolder,
      resultFile: null,
      transcriptFile: null,
      writePatch: () => 'changes.patch',
      restoreRunnerFiles: () => undefined,
      spareResultFile: null,
      guarded: [],
      privileged: false,
      files: localFiles(async () => ({ ok: false, problem: 'there is none' })),
      ...noPullRequest,
      fetch,
      resolveFolder: (folder) => resolveWorkingDirectory(folder, workspace),
      requireReadable: async () => undefined,
      now: () => performance.now(),
      listen: () => undefined,
      reporters: [
        {
          name: 'notices',
          event: (event) => {
            if (event.type === 'notice') notices.push(`${event.level}: ${event.text}`);
          },
        },
      ],
      writeEnvelope: () => undefined,
      writeOutputs: () => undefined,
      warn: (text) => void notices.push(`warn: ${text}`),
      ...more,
    };
    const url = `${model.url}/v1`;
    const all = { 'base-url': url, 'reuse-from': verdicts, 'subject-paths': 'api', ...inputs };
    return run(() => configOf(all), world);
  }

  const told = (report: Report): JsonObject => envelope(report, (text) => text);
  const keep = (name: string, file: JsonObject | string) =>
    writeFile(path.join(verdicts, `${name}.json`), typeof file === 'string' ? file : JSON.stringify(file));

  /** A first run's envelope. */
  async function first(inputs: Inputs = {}): Promise<JsonObject> {
    const report = await judge(inputs);
    expect(report.reuse).toMatchObject({ key: expect.stringMatching(/^[0-9a-f]{64}$/u), from: null });
    return told(report);
  }

  /** Whether a model was asked since the last time. */
  let asked = 0;
  const wasAsked = () => {
    const now = model.requests.length;
    const was = now > asked;
    asked = now;
    return was;
  };
  beforeEach(() => {
    asked = 0;
  });

  it('ends at once with the payload of an earlier one, and nothing is sent to a model', async () => {
    const before = await first();
    expect(wasAsked()).toBe(true);
    await keep('a', before);
    git('commit', '-qm', 'merge', '--allow-empty');
    const queue: Subject = {
      ...subject,
      sha: 'b'.repeat(40),
      ref: 'refs/heads/gh-readonly-queue/main/pr-7',
      event: 'merge_group',
      pull_request: null,
      run_id: '200',
    };
    const report = await judge({}, { subject: queue });
    expect(wasAsked()).toBe(false);
    expect(report).toMatchObject({
      verdict: { conclusion: 'success', reason: 'accepted', exitCode: 0 },
      payload: PAYLOAD,
      gate: { status: 'met' },
      turnCount: 0,
      turns: [],
      costUsd: 0,
      usage: { inputTokens: 0, outputTokens: 0 },
      model: 'scripted-1',
      changedFiles: 0,
      reuse: { from: { run_id: '100', run_attempt: 1, session_id: before['session_id'] } },
    });
    expect(notices).toContain(
      'info: Reused the verdict of run 100 (attempt 1): the judged files, prompt, schema, model and version are the same. No model was asked.',
    );
    expect(notices.filter((text) => /^warning: .*reuse/u.test(text))).toEqual([
      expect.stringMatching(/without a signing-key/u),
    ]);
  });

  it('a chain tells the run whose model judged', async () => {
    await keep('a', await first());
    const second = await judge({}, { subject: { ...subject, run_id: '200' } });
    await rm(path.join(verdicts, 'a.json'));
    await keep('b', told(second));
    const third = await judge({}, { subject: { ...subject, run_id: '300' } });
    expect(third.reuse?.from).toMatchObject({ run_id: '100' });
  });

  it('of several the newest counts, by number and not by name', async () => {
    const before = await first();
    const at = (run_id: string, run_attempt: number, summary: string): JsonObject => ({
      ...before,
      structured_output: { ...PAYLOAD, summary },
      subject: { ...subject, run_id, run_attempt },
    });
    await keep('a', at('1000', 2, 'newest'));
    await keep('b', at('1000', 1, 'older attempt'));
    await keep('c', at('999', 3, 'older run'));
    expect((await judge()).payload).toMatchObject({ summary: 'newest' });
  });

  it('a verdict that was passed on lately is as old as the run that judged', async () => {
    const before = await first();
    const { key, tree } = (await judge()).reuse ?? {};
    const from = { run_id: '50', run_attempt: 1, session_id: 'old' };
    await keep('a', {
      ...before,
      structured_output: { ...PAYLOAD, summary: 'of run 50' },
      subject: { ...subject, run_id: '900' },
      reuse: { key: key ?? '', tree: tree ?? '', from },
    });
    expect((await judge()).reuse?.from).toEqual(from);
    await keep('b', before);
    expect(await judge()).toMatchObject({ payload: PAYLOAD, reuse: { from: { run_id: '100' } } });
  });

  it("where a stranger's change runs with the repository's rights nothing unsigned is read", async () => {
    const report = await judge({}, { privileged: true });
    expect(report.verdict).toMatchObject({ reason: 'config', exitCode: 52 });
    expect(report.verdict.error).toMatch(/^reuse-from is refused on pull_request without a signing-key/u);
    expect(wasAsked()).toBe(false);
    expect((await judge({ 'signing-key': KEY }, { privileged: true })).verdict.exitCode).toBe(0);
  });

  it('the gate is evaluated anew', async () => {
    await keep('a', await first());
    const gate = '{"properties":{"summary":{"const":"excellent"}}}';
    wasAsked();
    const report = await judge({ gate });
    expect(report.verdict).toMatchObject({ conclusion: 'failure', reason: 'gate_not_met', exitCode: 1 });
    expect(wasAsked()).toBe(false);
    await keep('a', told(report));
    expect((await judge({ gate: 'none' })).verdict.reason).toBe('accepted');
    expect(wasAsked()).toBe(false);
  });

  const nothing = async () => undefined;
  const edits: readonly (readonly [string, Inputs, () => Promise<unknown>])[] = [
    ['a changed file', {}, () => writeFile(path.join(workspace, 'api', 'a.txt'), 'two\n')],
    ['a new file', {}, () => writeFile(path.join(workspace, 'api', 'b.txt'), '')],
    ['another prompt', { prompt: 'Judge well.' }, nothing],
    ['another schema', { schema: '{"type":"object","additionalProperties":true}', gate: 'none' }, nothing],
    ['another model', { model: 'scripted-2' }, nothing],
    ['another leg', { leg: 'web' }, nothing],
    ['another vote', { vote: '2' }, nothing],
    ['other paths', { 'subject-paths': '.' }, nothing],
    ['refresh', { refresh: 'true' }, nothing],
  ];
  it.each(edits)('%s: the model is asked', async (_, inputs, edit) => {
    await keep('a', await first());
    await edit();
    wasAsked();
    const report = await judge(inputs);
    expect(wasAsked()).toBe(true);
    expect(report.reuse).toMatchObject({ from: null });
  });

  it('another version: the model is asked', async () => {
    await keep('a', await first());
    wasAsked();
    await judge({}, { version: '0.0.1' });
    expect(wasAsked()).toBe(true);
  });

  it.each<readonly [string, (before: JsonObject) => JsonObject | string]>([
    ['of another repository', (before) => ({ ...before, subject: { ...subject, repository: 'o/other' } })],
    ['without a subject', (before) => ({ ...before, subject: null })],
    ['that was replayed', (before) => ({ ...before, replayed: true })],
    [
      'that came to no verdict',
      (before) => ({
        ...before,
        subtype: 'error_cancelled',
        is_error: true,
        exit_code: 130,
        conclusion: 'inconclusive',
        reason: 'cancelled',
      }),
    ],
    ['whose payload the schema refuses', (before) => ({ ...before, structured_output: { passed: true } })],
    [
      'whose payload would have to be mended',
      (before) => ({ ...before, structured_output: { output: PAYLOAD } }),
    ],
    [
      'whose payload contradicts itself',
      (before) => ({
        ...before,
        structured_output: {
          ...PAYLOAD,
          findings: [{ severity: 'error', message: 'x', title: 'x', path: 'x', line: 1 }],
        },
      }),
    ],
    [
      'of another judge',
      (before) => ({ ...before, judge: { ...Object(before['judge']), schema_sha256: '0'.repeat(64) } }),
    ],
    [
      'of another question',
      (before) => ({ ...before, judge: { ...Object(before['judge']), prompt_sha256: '0'.repeat(64) } }),
    ],
    [
      'of a merge',
      (before) => ({
        ...before,
        merged: { rule: 'all', votes: null, tally: { pass: 1, fail: 0, abstain: 0, expected: 1 }, legs: [] },
      }),
    ],
    ['with a run that is none', (before) => ({ ...before, subject: { ...subject, run_id: '1\n::error::' } })],
    ['that is no JSON', () => '{'],
    ['that is another thing', () => '{"passed":true}'],
  ])('an envelope %s is not taken', async (_, change) => {
    await keep('a', change(await first()));
    wasAsked();
    expect((await judge()).verdict.reason).toBe('accepted');
    expect(wasAsked()).toBe(true);
  });

  it('with a signing key only what was signed with it is taken, and the others are told once', async () => {
    const before = await first();
    await keep('a', before);
    await keep('b', { ...before, signature: signEnvelope(before, 'x'.repeat(32)) });
    wasAsked();
    await judge({ 'signing-key': KEY });
    expect(wasAsked()).toBe(true);
    const passedOver = notices.filter((text) => text.includes('passed over'));
    expect(passedOver).toEqual([
      expect.stringMatching(
        /^info: 2 files were passed over in reuse-from\. The first is "a\.json": it is not signed\.$/u,
      ),
    ]);
    expect(notices.filter((text) => text.includes('without a signing-key'))).toEqual([]);
    await keep('c', { ...before, signature: signEnvelope(before, KEY) });
    await judge({ 'signing-key': KEY });
    expect(wasAsked()).toBe(false);
  });

  it('a secret of this job in the earlier payload is not published, and hostile keys are data', async () => {
    const before = await first();
    const secrets = createSecrets();
    secrets.add('sk-canary-0123456789');
    await keep('a', { ...before, structured_output: { ...PAYLOAD, summary: 'see sk-canary-0123456789' } });
    const report = await judge({}, { secrets });
    expect(report).toMatchObject({ verdict: { reason: 'secret_in_payload', exitCode: 1 }, payload: null });
    const schema = '{"type":"object","required":["passed"],"properties":{"passed":{"type":"boolean"}}}';
    const open = await first({ schema, gate: 'none' });
    const text = JSON.stringify(open).replaceAll(
      '"passed":true',
      '"passed":true,"__proto__":{"passed":false}',
    );
    await keep('a', text);
    wasAsked();
    const hostile = await judge({ schema, gate: 'passed' });
    expect(wasAsked()).toBe(false);
    expect(hostile.verdict.reason).toBe('accepted');
    expect(JSON.stringify(hostile.payload)).toContain('"__proto__":{"passed":false}');
  });

  it.each<readonly [string, Inputs]>([
    ['the prompt', { prompt: 'Judge otherwise.' }],
    ['the model', { model: 'scripted-2' }],
    ['the settings (base-url, tools, subject-paths and the like)', { tools: 'read_file' }],
  ])('a verdict that does not fit is told with what it differs in: %s', async (what, inputs) => {
    await keep('a', await first());
    await judge(inputs);
    expect(notices.join('\n')).toContain(
      `so the model is asked. The nearest of this leg and vote differs in ${what}.`,
    );
  });

  it('a verdict on other files is told as such, and one of another vote not at all', async () => {
    await keep('a', await first());
    await writeFile(path.join(workspace, 'api', 'a.txt'), 'other\n');
    await judge();
    expect(notices.join('\n')).toContain('differs in the judged files.');
    notices = [];
    await judge({ vote: '2' });
    expect(notices.join('\n')).not.toContain('differs in');
  });

  it('a folder that is not there yet or is empty is no mistake', async () => {
    await judge({ 'reuse-from': path.join(verdicts, 'none') });
    expect(notices).toContain('info: reuse-from is not there yet, so there is no earlier verdict.');
    expect((await judge()).verdict.exitCode).toBe(0);
    expect(notices.join('\n')).toContain('holds no verdict on the same files');
  });

  it.each<readonly [string, Inputs, string]>([
    ['a folder in the workspace', { 'reuse-from': 'verdicts' }, 'reuse-from'],
    ['a folder elsewhere', { 'reuse-from': '/etc' }, 'reuse-from'],
    ['a subject that is not there', { 'subject-paths': 'api\nnowhere' }, 'subject-paths'],
  ])('%s is a mistake, and no model is asked', async (_, inputs, name) => {
    const report = await judge(inputs);
    expect(report.verdict).toMatchObject({ reason: 'config', exitCode: 52 });
    expect(report.verdict.error).toContain(name);
    expect(wasAsked()).toBe(false);
  });

  it.each<readonly [string, Inputs, RegExp]>([
    ['without a sandbox', { sandbox: 'off' }, /^warning: No earlier verdict is reused.*sandbox only/mu],
    [
      'in signed downloads among the files',
      { 'reuse-from': 'api/v', 'signing-key': KEY },
      /^warning: .*lies in what is judged/mu,
    ],
  ])('%s nothing is known, which is said, and the model is asked', async (_, inputs, expected) => {
    await mkdir(path.join(workspace, 'api', 'v'));
    const report = await judge(inputs);
    expect(report.reuse).toBeNull();
    expect(report.verdict.exitCode).toBe(0);
    expect(wasAsked()).toBe(true);
    expect(notices.join('\n')).toMatch(expected);
  });

  it('without a repository nothing is known either', async () => {
    await rm(path.join(workspace, '.git'), { recursive: true });
    expect(await judge()).toMatchObject({ reuse: null, verdict: { exitCode: 0 } });
    expect(notices.join('\n')).toMatch(/^warning: No earlier verdict is reused.*git could not list/mu);
  });

  it('subject-paths alone record the key', async () => {
    const report = await judge({ 'reuse-from': '' });
    expect(report.reuse).toMatchObject({ from: null });
    expect(notices.filter((text) => /reuse/u.test(text))).toEqual([]);
  });

  it('a replay is judged by its recording, and reuses nothing', async () => {
    const file = path.join(base, 'temp', 'recording.jsonl');
    const before = told(await judge({}, { recording: createRecordingFile(file) }));
    await keep('a', before);
    asked = model.requests.length;
    const files = localFiles((name) => readTrustedFile(name, { root: null, maxBytes: 1_000_000 }));
    const report = await judge({ replay: file, model: '', 'base-url': '' }, { files });
    expect(report).toMatchObject({ verdict: { reason: 'accepted' }, replayed: true, reuse: null });
    expect(notices).toContainEqual('info: This run is replayed, so no verdict is reused.');
    expect(wasAsked()).toBe(false);
  });

  it('without both nothing is looked at', async () => {
    expect(await judge({ 'reuse-from': '', 'subject-paths': '' })).toMatchObject({ reuse: null });
  });

  it('the clock and signals end the look', async () => {
    await keep('a', await first());
    expect((await judge({ 'timeout-minutes': '0.00001' })).verdict.reason).toBe('timeout');
    const listen = (listener: EndListener) => void setTimeout(() => listener.signal('SIGTERM'), 5);
    expect((await judge({}, { listen })).verdict).toMatchObject({ reason: 'cancelled', exitCode: 130 });
  });
});
