/** The two clients of the benchmark, each run once per call and watched by the server. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startStep } from '../examples/demo/runner.ts';
import type { BenchServer, Exchange, Observation } from './server.ts';

const BARE_CLIENT = fileURLToPath(new URL('bare-client.mjs', import.meta.url));

/** Where the clients run. */
export interface Bench {
  readonly server: BenchServer;
  readonly workspace: string;
  readonly sha: string;
  /** A folder for what a run leaves, emptied after each. */
  readonly folder: string;
  readonly sandbox: 'required' | 'off';
}

/** One run as it was seen, with the moment the process was started. */
export interface Run extends Observation {
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Runs the bare client. */
export async function runBare(bench: Bench, exchange: Exchange): Promise<Run> {
  const watched = bench.server.begin(exchange);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [BARE_CLIENT, `${bench.server.url}/v1`, bench.workspace], {
    cwd: bench.workspace,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.resume();
  if (child.pid !== undefined) watched.watch(child.pid);
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const endedAt = performance.now();
  if (exitCode !== 0) throw new Error(`The bare client ended with ${exitCode}.`);
  return { startedAt, endedAt, ...watched.end() };
}

/** The wire formats the bundle is measured with. */
export type Format = 'openai' | 'openai-compatible' | 'anthropic';

/** A schema of two properties. */
const SCHEMA =
  '{"type":"object","properties":{"ok":{"type":"boolean"},"note":{"type":"string"}},"required":["ok"]}';

/** The committed command line. */
export const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

/** Runs the committed bundle as a command line. */
export async function runCli(bench: Bench, exchange: Exchange): Promise<Run> {
  const watched = bench.server.begin(exchange);
  const startedAt = performance.now();
  const flags = ['--model', 'bench', '--base-url', `${bench.server.url}/v1`, '--stream', 'off'];
  const limits = ['--sandbox', bench.sandbox, '--max-turns', '-1', '--json-schema', SCHEMA];
  const child = spawn(process.execPath, [CLI, '-p', 'Read the files, then deliver.', ...flags, ...limits], {
    cwd: bench.workspace,
    env: { PATH: process.env['PATH'], HOME: bench.folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.stdout.resume();
  if (child.pid !== undefined) watched.watch(child.pid);
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const endedAt = performance.now();
  if (exitCode !== 0) throw new Error(`The command line ended with ${exitCode}.`);
  return { startedAt, endedAt, ...watched.end() };
}

/** Milliseconds of `structured-agent check` on the examples; null where it failed. */
export async function timeCheck(root: string): Promise<number | null> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [CLI, 'check', '../../gate.yml'], {
    cwd: path.join(root, 'examples/demo/repository'),
    stdio: 'ignore',
  });
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return exitCode === 0 ? performance.now() - startedAt : null;
}

/** Runs the committed bundle. */
export async function runBundle(
  bench: Bench,
  exchange: Exchange,
  format: Format,
  extra: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const watched = bench.server.begin(exchange);
  // Of this run alone: the removal of a large copy continues after a run.
  const folder = mkdtempSync(path.join(bench.folder, 'run-'));
  const log: string[] = [];
  const startedAt = performance.now();
  const step = startStep({
    workspace: bench.workspace,
    folder,
    sha: bench.sha,
    environment: process.env,
    extra,
    inputs: {
      prompt: 'Read the files, then deliver.',
      schema: SCHEMA,
      provider: format,
      model: format === 'anthropic' ? 'claude-sonnet-4-5' : 'bench',
      'base-url': format === 'anthropic' ? bench.server.url : `${bench.server.url}/v1`,
      'api-key': 'the-benchmark-needs-no-key',
      stream: 'off',
      sandbox: bench.sandbox,
      'max-turns': '-1',
    },
    onLine: (line) => log.push(line),
  });
  if (step.pid !== undefined) watched.watch(step.pid);
  const { exitCode } = await step.done;
  const endedAt = performance.now();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  if (exitCode !== 0) throw new Error(`The bundle ended with ${exitCode}.\n${log.join('\n')}`);
  return { startedAt, endedAt, ...watched.end() };
}
