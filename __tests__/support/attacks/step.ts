/** Runs a step of the committed bundle with a chosen backend as the runner does: its environment, files and raw streams. */

import { spawn } from 'node:child_process';
import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Script, startModel } from '../fakes/model/server.ts';
import { parseOutputFile } from '../fakes/runner/runner.ts';
import { mountUserFiles, wordsAsUser } from '../fakes/runner/user.ts';
import { type AttackWall, BWRAP } from './backends.ts';
import { ATTACK_KEY, type AttackWorld } from './world.ts';

/** The exit of the process of a step and its raw streams. */
interface EndedStep {
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

const isRoot = process.getuid?.() === 0;
const sudoEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

/** Runs the process to its end, with arguments for another program if given. */
export function startStep(
  world: AttackWorld,
  wall: AttackWall,
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<EndedStep> {
  const cover = coverFor(wall, world);
  const isDirect = cover === null && world.runner === undefined;
  const program = [world.node, world.bundle, ...args];
  const { words, env, script } = isDirect
    ? { words: program, env: environment, script: '' }
    : { ...inNamespace(world, wall, cover, environment, program), env: sudoEnvironment };
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
 * The file that covers bubblewrap for this backend: none, a file that cannot be executed, or a bubblewrap that only root
 * can use, as on Ubuntu 24.04 and hosted runners. The bundle has no input that selects a backend.
 */
function coverFor(wall: AttackWall, world: AttackWorld): string | null {
  if (wall === 'bwrap' || !existsSync(BWRAP)) return null;
  const cover = path.join(world.base, `cover-${wall}`);
  if (wall.endsWith('unshare')) writeFileSync(cover, '', { mode: 0o644 });
  else {
    const real = path.join(world.base, 'bwrap');
    writeFileSync(real, readFileSync(BWRAP), { mode: 0o755 });
    // Not the root of a user namespace of that user either.
    const refusal =
      'read -r _ outside _ < /proc/self/uid_map; [ "$(id -u)$outside" = 00 ] || { echo \'No permissions to create a new namespace\' >&2; exit 1; }';
    writeFileSync(cover, `#!/bin/sh\n${refusal}\nexec ${quote(real)} "$@"\n`, { mode: 0o755 });
  }
  return cover;
}

/** A mount namespace for the step in which bubblewrap is covered; the script is on stdin because it contains secrets. */
function inNamespace(
  world: AttackWorld,
  wall: AttackWall,
  cover: string | null,
  environment: Readonly<Record<string, string>>,
  program: readonly string[],
) {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const { runner } = world;
  const own = ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--init-groups', '--'];
  const asSomebody = runner !== undefined ? wordsAsUser(runner) : isRoot || wall === 'unshare' ? [] : own;
  const step = [
    ...asSomebody,
    ...['/usr/bin/env', '-i', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
    ...program,
  ];
  const run = `${step.map(quote).join(' ')} </dev/null`;
  const script = [
    ...(cover === null ? [] : [`mount --bind ${quote(cover)} ${BWRAP} || exit 97`]),
    ...(runner === undefined
      ? []
      : [
          ...mountUserFiles(runner, path.join(world.base, `etc-${Date.now()}`), world.home),
          // The node of the project can be in a directory that this user cannot enter, such as /root.
          `mount --bind ${quote(process.execPath)} ${quote(path.join(world.tools, 'node'))} || exit 97`,
        ]),
    `cd ${quote(world.workspace)} || exit 97`,
    // The user who runs the tests reads and removes the files that root wrote.
    isRoot || wall !== 'unshare'
      ? `exec ${run}`
      : `${run}; code=$?; chown -R ${uid}:${gid} ${quote(world.base)}; exit $code`,
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
