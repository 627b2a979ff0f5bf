/** What users get: the archive of the last commit, which a runner downloads for each job, and the packed tarball, installed without a network. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasSandbox } from '../sandbox/world.ts';
import { type ScriptedModel, startModel } from '../support/fakes/model/server.ts';
import { calls, runAction, submits } from '../support/fakes/runner/action.ts';
import { putFiles } from '../support/local.ts';
import { makeFolder } from '../support/surroundings.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const MAX_BYTES = 1_100_000;
const folder = makeFolder();

it('the archive is small, and the action runs from its files', async () => {
  const options = { cwd: ROOT, maxBuffer: 2 ** 28 };
  const archive = execFileSync('git', ['archive', '--format=tar.gz', 'HEAD'], options);
  expect(archive.length).toBeLessThan(MAX_BYTES);
  const at = path.join(folder, 'archive');
  mkdirSync(at);
  execFileSync('tar', ['--extract', '--gzip', '--directory', at], { input: archive });
  expect(readdirSync(at).toSorted()).toEqual(['LICENSE', 'README.md', 'action.yml', 'dist', 'merge']);
  expect(readdirSync(path.join(at, 'dist'))).toContain('licenses.txt');

  const dist = path.join(at, 'dist');
  const script = [calls('shell', { command: 'echo from it' }), submits({ passed: true, summary: 's' })];
  const run = await runAction({ dist, script });
  expect([run.exitCode, run.outputs.get('passed')]).toEqual([0, 'true']);
  expect(run.requests[1]?.raw).toContain('from it');
  // Without inputs the merge says what is missing.
  const merge = await runAction({ dist, entry: 'merge' });
  expect([merge.exitCode, merge.log]).toEqual([52, expect.stringContaining('verdicts')]);
});

describe('the packed package', () => {
  const at = path.join(folder, 'user');
  const schema = JSON.stringify({ properties: { passed: { type: 'boolean' } }, required: ['passed'] });
  const sandbox = hasSandbox ? 'required' : 'off';
  let model: ScriptedModel;

  /** What a program prints that has to succeed. It is asynchronous, because the model answers from this process. */
  async function start(file: string, args: readonly string[]) {
    const PATH = `${path.dirname(process.execPath)}:${process.env['PATH']}`;
    const run = promisify(execFile)(file, args, { cwd: at, env: { ...process.env, PATH, HOME: folder } });
    run.child.stdin?.end();
    return (await run).stdout;
  }

  beforeAll(async () => {
    model = await startModel(() => submits({ passed: true }));
    putFiles(at, { 'package.json': '{"name":"user","type":"module","private":true}' });
    execFileSync('npm', ['pack', '--silent', '--pack-destination', at], { cwd: ROOT, stdio: 'pipe' });
    const tarball = readdirSync(at).find((name) => name.endsWith('.tgz')) ?? '';
    await start('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', `./${tarball}`]);
  });
  afterAll(() => model.close());

  it('installs no dependencies', () => {
    const installed = readdirSync(path.join(at, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(installed).toEqual(['structured-agent']);
  });

  it('works as a library', async () => {
    const options = JSON.stringify({ prompt: 'x', model: 'm', baseUrl: `${model.url}/v1`, sandbox });
    const code = `
      import { runStructuredAgent, StructuredAgentError } from 'structured-agent';
      const schema = ${schema};
      const { payload } = await runStructuredAgent({ ...${options}, schema, gate: 'passed' });
      const error = await runStructuredAgent({ prompt: 'x', schema, model: 'm' }).catch((thrown) => thrown);
      console.log(JSON.stringify([payload, error instanceof StructuredAgentError, error.reason, error.exitCode]));`;
    putFiles(at, { 'run.js': code });
    const stdout = await start(process.execPath, ['run.js']);
    expect(JSON.parse(stdout)).toEqual([{ passed: true }, true, 'config', 52]);
  });

  it('works as a command', async () => {
    const task = ['-p', 'x', '--json-schema', schema, '--model', 'm'];
    const flags = ['--base-url', `${model.url}/v1`, '--sandbox', sandbox];
    const stdout = await start('npx', ['--no-install', 'structured-agent', ...task, ...flags]);
    expect(stdout).toBe('{"passed":true}\n');
  });

  it('has types, with and without Zod', async () => {
    const code = `
      import { runStructuredAgent, type RunResult } from 'structured-agent';
      import { z } from 'zod';
      const schema = z.object({ passed: z.boolean() });
      const result: RunResult<{ passed: boolean }> = await runStructuredAgent({ prompt: 'x', model: 'm', schema });
      const passed: boolean = result.payload.passed;
      const plain = await runStructuredAgent({ prompt: 'x', model: 'm', schema: { type: 'object' } });
      // @ts-expect-error a string is not a boolean
      const wrong: string = result.payload.passed;
      console.log(passed, wrong, plain.payload);`;
    // As if installed by the user.
    symlinkSync(path.join(ROOT, 'node_modules/zod'), path.join(at, 'node_modules/zod'));
    const language = { strict: true, module: 'nodenext', target: 'es2022', lib: ['es2023', 'dom'] };
    const compilerOptions = { ...language, noEmit: true, types: [] };
    const project = JSON.stringify({ compilerOptions, files: ['typed.ts'] });
    putFiles(at, { 'typed.ts': code, 'tsconfig.json': project });
    expect(await start(path.join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'])).toBe('');
  });
});
