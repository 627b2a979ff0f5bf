/** The packed tarball, installed in an empty project without a network. */
import { execFile, execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedModel, startModel } from '../support/fakes/model/server.ts';
import { HAS_BWRAP, submits } from '../support/fakes/runner/action.ts';

const ROOT = path.join(import.meta.dirname, '..', '..');
const payload = { passed: true };
/** Preloaded, prints the URL of each loaded module. */
const LOG_LOADS = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });`)}`;
const execute = promisify(execFile);
let folder = '';
let installed: readonly string[] = [];
let model: ScriptedModel;

/** Asynchronous, because the model answers from this process. */
async function sh(file: string, args: readonly string[]): Promise<string> {
  const environment = { PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`, HOME: folder };
  const run = execute(file, args, { cwd: folder, env: { ...process.env, ...environment } });
  run.child.stdin?.end();
  return (await run).stdout;
}

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'package-')));
  model = await startModel(() => submits(payload));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, stdio: 'pipe' });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  writeFileSync(path.join(folder, 'package.json'), '{"name":"user","type":"module","private":true}');
  await sh('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', `./${tarball}`]);
  installed = readdirSync(path.join(folder, 'node_modules'));
}, 600_000);
afterAll(async () => {
  await model.close();
  rmSync(folder, { recursive: true, force: true });
});

const options = () => ({
  prompt: 'Judge.',
  model: 'scripted-1',
  baseUrl: `${model.url}/v1`,
  sandbox: HAS_BWRAP ? 'required' : 'off',
});

describe('the packed package', () => {
  it('installs no dependencies', () => {
    expect(installed.filter((name) => !name.startsWith('.'))).toEqual(['structured-agent']);
  });

  it('contains undici once, in a chunk that the action does not load at startup', async () => {
    const dist = path.join(folder, 'node_modules', 'structured-agent', 'dist');
    const holdsUndici = (name: string) =>
      name.endsWith('.js') && readFileSync(path.join(dist, name), 'utf8').includes('EnvHttpProxyAgent');
    const chunks = readdirSync(dist).filter(holdsUndici);
    // Without inputs it reports an error, through @actions/core.
    const start = execute(process.execPath, ['--import', LOG_LOADS, path.join(dist, 'index.js')], {
      cwd: folder,
    });
    const { stderr, stdout } = await start.catch((error: { stderr: string; stdout: string }) => error);
    expect(stdout).toContain('::error');
    expect(stderr).toContain('main.js');
    expect(chunks).toHaveLength(1);
    expect(stderr).not.toContain(chunks[0]);
  });

  it('works as a library', async () => {
    const code = `
      import { runStructuredAgent, StructuredAgentError } from 'structured-agent';
      const schema = { type: 'object', properties: { passed: { type: 'boolean' } }, required: ['passed'] };
      const { payload } = await runStructuredAgent({ ...${JSON.stringify(options())}, schema, gate: 'passed' });
      const error = await runStructuredAgent({ prompt: 'x', schema, model: 'm' }).catch((thrown) => thrown);
      console.log(JSON.stringify([payload, error instanceof StructuredAgentError, error.reason, error.exitCode]));`;
    writeFileSync(path.join(folder, 'run.js'), code);
    expect(JSON.parse(await sh(process.execPath, ['run.js']))).toEqual([payload, true, 'config', 52]);
  });

  it('has types, with and without Zod', async () => {
    const code = `
      import { runStructuredAgent, type RunResult } from 'structured-agent';
      import { z } from 'zod';
      const schema = z.object({ passed: z.boolean() });
      const result: RunResult<{ passed: boolean }> = await runStructuredAgent({ prompt: 'x', model: 'm', schema });
      const passed: boolean = result.payload.passed;
      const plain = await runStructuredAgent({ prompt: 'x', model: 'm', schema: { type: 'object' } });
      // @ts-expect-error a string is no boolean
      const wrong: string = result.payload.passed;
      console.log(passed, wrong, plain.payload);`;
    writeFileSync(path.join(folder, 'typed.ts'), code);
    // As if installed by the user.
    symlinkSync(path.join(ROOT, 'node_modules/zod'), path.join(folder, 'node_modules/zod'));
    const compilerOptions = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2023', 'dom'],
      types: [],
    };
    writeFileSync(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['typed.ts'] }),
    );
    expect(await sh(path.join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.'])).toBe('');
  });

  it('works as a command', async () => {
    const { prompt, baseUrl, sandbox } = options();
    const args = ['-p', prompt, '--model', 'scripted-1', '--base-url', baseUrl, '--sandbox', sandbox];
    const schema = '{"type":"object","properties":{"passed":{"type":"boolean"}}}';
    expect(await sh('npx', ['--no-install', 'structured-agent', ...args, '--json-schema', schema])).toBe(
      '{"passed":true}\n',
    );
  });
});
