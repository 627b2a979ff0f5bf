/** The packed tarball, installed in an empty project without a network. */
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedModel, startModel } from '../support/fakes/model/server.ts';
import { HAS_BWRAP, submits } from '../support/fakes/runner/action.ts';
import { makeFolder } from '../support/surroundings.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const folder = makeFolder();
let model: ScriptedModel;

/** Runs a program to its end. It is asynchronous, because the model answers from this process. */
async function start(file: string, args: readonly string[]) {
  const PATH = `${path.dirname(process.execPath)}:${process.env['PATH']}`;
  const env = { ...process.env, PATH, HOME: folder };
  const run = promisify(execFile)(file, args, { cwd: folder, env });
  run.child.stdin?.end();
  const { code, stdout, stderr } = await run.then(
    (done) => ({ code: 0, ...done }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  return { code, stdout, stderr };
}

function write(name: string, text: string): string {
  writeFileSync(path.join(folder, name), text);
  return name;
}

beforeAll(async () => {
  model = await startModel(() => submits({ passed: true }));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, stdio: 'pipe' });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  write('package.json', '{"name":"user","type":"module","private":true}');
  await start('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', `./${tarball}`]);
});
afterAll(() => model.close());

const SCHEMA = { type: 'object', properties: { passed: { type: 'boolean' } }, required: ['passed'] };
const options = () => ({
  prompt: 'Judge.',
  model: 'scripted-1',
  baseUrl: `${model.url}/v1`,
  sandbox: HAS_BWRAP ? 'required' : 'off',
});

describe('the packed package', () => {
  it('installs no dependencies', () => {
    const installed = readdirSync(path.join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
    expect(installed).toEqual(['structured-agent']);
  });

  it('works as a library', async () => {
    const code = `
      import { runStructuredAgent, StructuredAgentError } from 'structured-agent';
      const schema = ${JSON.stringify(SCHEMA)};
      const { payload } = await runStructuredAgent({ ...${JSON.stringify(options())}, schema, gate: 'passed' });
      const error = await runStructuredAgent({ prompt: 'x', schema, model: 'm' }).catch((thrown) => thrown);
      console.log(JSON.stringify([payload, error instanceof StructuredAgentError, error.reason, error.exitCode]));`;
    const { stdout } = await start(process.execPath, [write('run.js', code)]);
    expect(JSON.parse(stdout)).toEqual([{ passed: true }, true, 'config', 52]);
  });

  it('works as a command', async () => {
    const { prompt, baseUrl, sandbox } = options();
    const task = ['-p', prompt, '--json-schema', JSON.stringify(SCHEMA)];
    const flags = ['--model', 'scripted-1', '--base-url', baseUrl, '--sandbox', sandbox];
    const run = await start('npx', ['--no-install', 'structured-agent', ...task, ...flags]);
    expect([run.code, run.stdout]).toEqual([0, '{"passed":true}\n']);
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
    symlinkSync(path.join(ROOT, 'node_modules/zod'), path.join(folder, 'node_modules/zod'));
    const language = { strict: true, module: 'nodenext', target: 'es2022', lib: ['es2023', 'dom'] };
    const compilerOptions = { ...language, noEmit: true, types: [] };
    write('tsconfig.json', JSON.stringify({ compilerOptions, files: [write('typed.ts', code)] }));
    const run = await start(path.join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.']);
    expect(run).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
