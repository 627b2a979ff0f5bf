/** Runs a step of the committed bundle with a chosen backend as the runner does: its environment, files and raw streams. */

import { spawn } from 'node:child_process';
import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Script, startModel } from '../fakes/model/server.ts';
import { parseOutputFile } from '../fakes/runner/runner.ts';
import { mountUserFiles, wordsAsUser } from '../fakes/runner/user.ts';
import { type AttackWall, BWRAP } from './backends.ts';
import { ATTACK_KEY, type AttackWorld } from './world.ts';

const isRoot = process.getuid?.() === 0;
const sudoEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

/** Runs the process to its end. */
function startStep(
  world: AttackWorld,
  wall: AttackWall,
  environment: Readonly<Record<string, string>>,
): Promise<Pick<AttackResult, 'exitCode' | 'stdout' | 'stderr'>> {
  // As root no bubblewrap is used.
  const isDirect = world.runner === undefined && (isRoot || wall === 'bwrap');
  const program = [world.node, world.bundle];
  const { words, env, script } = isDirect
    ? { words: program, env: environment, script: '' }
    : { ...inNamespace(world, wall, environment, program), env: sudoEnvironment };
  const [file = '', ...rest] = words;
  return new Promise((resolve, reject) => {
    const child = spawn(file, rest, {
      cwd: world.workspace,
      env,
      // The parent of the runner can leave a directory open, which every child inherits. Node closes descriptors in its
      // children only up to the first gap above 15.
      stdio: ['pipe', 'pipe', 'pipe', ...Array<'ignore'>(60).fill('ignore'), world.openFolder],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(script);
    child.once('error', reject);
    child.once('close', (exitCode) =>
      resolve({ exitCode, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }),
    );
  });
}

/**
 * A mount namespace for the step, with the user of the runner, and with bubblewrap covered by a file that cannot be
 * executed: the bundle has no input that selects a backend. The script is on stdin because it contains secrets.
 */
function inNamespace(
  world: AttackWorld,
  wall: AttackWall,
  environment: Readonly<Record<string, string>>,
  program: readonly string[],
) {
  const { runner, base } = world;
  const cover = path.join(base, 'cover');
  writeFileSync(cover, '', { mode: 0o644 });
  const own = ['/usr/bin/setpriv', `--reuid=${process.getuid?.()}`, `--regid=${process.getgid?.()}`];
  const step = [
    ...(runner === undefined ? [...own, '--init-groups', '--'] : wordsAsUser(runner)),
    ...['/usr/bin/env', '-i', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
    ...program,
  ];
  const script = [
    ...(wall === 'bwrap' || !existsSync(BWRAP) ? [] : [`mount --bind ${quote(cover)} ${BWRAP} || exit 97`]),
    ...(runner === undefined ? [] : mountUserFiles(runner, path.join(base, `etc-${Date.now()}`), world.home)),
    `cd ${quote(world.workspace)} || exit 97`,
    `exec ${step.map(quote).join(' ')} </dev/null`,
  ].join('\n');
  const start = ['/usr/bin/unshare', '--mount', '--propagation', 'private', '--', '/bin/sh', '-s'];
  return { words: isRoot ? start : ['/usr/bin/sudo', '-n', '--', ...start], script };
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** The options of a step. */
export interface AttackStep {
  readonly world: AttackWorld;
  /** The backend that must be used: preferred ones are hidden from the step. */
  readonly wall: AttackWall;
  readonly script: Script;
  readonly inputs?: Readonly<Record<string, string>>;
  /** The content of the event file; empty by default. */
  readonly event?: unknown;
  /** Variables that override those of the world. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** The result of a step. */
export interface AttackResult {
  readonly exitCode: number | null;
  /** The raw streams, because the runner reads each separately. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** The content of the file GITHUB_OUTPUT and the outputs that the runner reads from it. */
  readonly outputText: string;
  readonly outputs: ReadonlyMap<string, string>;
  readonly summary: string;
  readonly transcript: string;
  /** The result file as text. */
  readonly envelope: string;
  /** The bodies of the model requests. */
  readonly bodies: readonly string[];
  /** The content of the files for variables, PATH and state. */
  readonly commandFiles: string;
}

const OWN_FILES = {
  GITHUB_OUTPUT: 'set_output_2',
  GITHUB_STEP_SUMMARY: 'step_summary_2',
  GITHUB_ENV: 'set_env_2',
  GITHUB_PATH: 'add_path_2',
  GITHUB_STATE: 'save_state_2',
};

/** Runs a step to its end. */
export async function runAttackStep(step: AttackStep): Promise<AttackResult> {
  const { world } = step;
  const ownFile = (name: string) => path.join(world.commands, name);
  for (const name of Object.values(OWN_FILES)) writeFileSync(ownFile(name), '');
  const event = path.join(world.temp, 'event.json');
  writeFileSync(event, JSON.stringify(step.event ?? {}));
  const { runner } = world;
  if (runner !== undefined)
    for (const file of [event, ...Object.values(OWN_FILES).map(ownFile)])
      chownSync(file, runner.id, runner.id);
  const model = await startModel(step.script);
  try {
    const environment = {
      LANG: 'C.UTF-8',
      CI: 'true',
      // The log shows whole results of tools.
      RUNNER_DEBUG: '1',
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'example/cart',
      GITHUB_SHA: '0123456789012345678901234567890123456789',
      GITHUB_EVENT_NAME: 'push',
      GITHUB_EVENT_PATH: event,
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_RUN_ID: '1',
      RUNNER_OS: 'Linux',
      ...Object.fromEntries(Object.entries(OWN_FILES).map(([name, file]) => [name, ownFile(file)])),
      ...world.variables,
      ...step.variables,
      ...inputsOf({ 'base-url': `${model.url}/v1`, ...step.inputs }),
    };
    const { exitCode, stdout, stderr } = await startStep(world, step.wall, environment);
    const outputText = readFileSync(ownFile(OWN_FILES.GITHUB_OUTPUT), 'utf8');
    const outputs = parseOutputFile(outputText);
    return {
      exitCode,
      stdout,
      stderr,
      outputText,
      outputs,
      summary: readFileSync(ownFile(OWN_FILES.GITHUB_STEP_SUMMARY), 'utf8'),
      transcript: readResult(outputs, 'transcript.jsonl'),
      envelope: readResult(outputs, 'result.json'),
      bodies: model.requests.map(({ raw }) => raw),
      commandFiles: [OWN_FILES.GITHUB_ENV, OWN_FILES.GITHUB_PATH, OWN_FILES.GITHUB_STATE]
        .map((name) => readFileSync(ownFile(name), 'utf8'))
        .join(''),
    };
  } finally {
    await model.close();
  }
}

function inputsOf(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const inputs = {
    prompt: 'Judge.',
    provider: 'openai-compatible',
    model: 'scripted-1',
    'api-key': ATTACK_KEY,
    sandbox: 'required',
    'max-turns': '-1',
    ...given,
  };
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
  );
}

/** Reads a file of the results folder; empty if there is none. */
function readResult(outputs: ReadonlyMap<string, string>, name: string): string {
  const file = path.join(outputs.get('run-results') ?? '', name);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
