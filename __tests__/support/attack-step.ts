/** One step with the committed bundle behind a chosen wall, as the runner runs it: its environment, its files, its raw streams. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Isolation } from '../../src/types.ts';
import { ATTACK_KEY, type AttackWorld } from './attack-world.ts';
import { type ModelRequest, type Reply, startModel } from './model-server.ts';
import { parseOutputFile } from './runner.ts';

const BWRAP = '/usr/bin/bwrap';
const isRoot = process.getuid?.() === 0;
const hasBwrap = existsSync(BWRAP);
const hasNamespaces = existsSync('/usr/bin/unshare') && existsSync('/usr/bin/setpriv');
const hasSudo = !isRoot && spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;

/** The walls that this user can put up on this machine, the best first. */
export const attackWalls: readonly Exclude<Isolation, 'none'>[] = [
  ...(hasBwrap ? (['bwrap'] as const) : []),
  ...(hasBwrap && hasSudo && hasNamespaces ? (['sudo-bwrap'] as const) : []),
  ...((isRoot || hasSudo) && hasNamespaces ? ([isRoot ? 'unshare' : 'sudo-unshare'] as const) : []),
];

/** What a step is run with. */
export interface AttackStep {
  readonly world: AttackWorld;
  /** The wall that must be found: better ones are hidden from the step. */
  readonly wall: Exclude<Isolation, 'none'>;
  readonly script: (request: ModelRequest, index: number) => Reply | Promise<Reply>;
  readonly inputs?: Readonly<Record<string, string>>;
  /** Over the world's own variables. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** What a step left. */
export interface AttackResult {
  readonly exitCode: number | null;
  /** Both streams as they came: the runner reads each on its own. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** The file that GITHUB_OUTPUT names, and what the runner reads from it. */
  readonly outputText: string;
  readonly outputs: ReadonlyMap<string, string>;
  readonly summary: string;
  readonly transcript: string;
  /** The result file as text. */
  readonly envelope: string;
  /** The bodies that the model was sent, without their headers. */
  readonly bodies: readonly string[];
  /** What the step wrote into the runner's files for variables, PATH and state. */
  readonly commandFiles: string;
}

const OWN_FILES = {
  GITHUB_OUTPUT: 'set_output_2',
  GITHUB_STEP_SUMMARY: 'step_summary_2',
  GITHUB_ENV: 'set_env_2',
  GITHUB_PATH: 'add_path_2',
  GITHUB_STATE: 'save_state_2',
};

/** Runs the step to its end. */
export async function runAttackStep(step: AttackStep): Promise<AttackResult> {
  const { world } = step;
  const ownFile = (name: string) => path.join(world.commands, name);
  for (const name of Object.values(OWN_FILES)) writeFileSync(ownFile(name), '');
  const event = path.join(world.temp, 'event.json');
  writeFileSync(event, '{}');
  const model = await startModel(step.script);
  try {
    const environment = {
      LANG: 'C.UTF-8',
      CI: 'true',
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
    const { exitCode, stdout, stderr } = await runProcess(step, environment);
    const outputText = readFileSync(ownFile(OWN_FILES.GITHUB_OUTPUT), 'utf8');
    const outputs = parseOutputFile(outputText);
    return {
      exitCode,
      stdout,
      stderr,
      outputText,
      outputs,
      summary: readFileSync(ownFile(OWN_FILES.GITHUB_STEP_SUMMARY), 'utf8'),
      transcript: readOr(outputs.get('run-transcript-file')),
      envelope: readOr(outputs.get('run-result-file')),
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
    'log-level': 'full',
    ...given,
  };
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
  );
}

function readOr(file: string | undefined): string {
  return file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function runProcess(
  { world, wall }: AttackStep,
  environment: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | null; stdout: Buffer; stderr: Buffer }> {
  const covered = coverFor(wall, world);
  const direct = { file: process.execPath, args: [world.bundle], env: environment, script: null };
  const { file, args, env, script } =
    covered === null ? direct : { ...behindCover(world, covered, environment), env: sudoEnvironment };
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd: world.workspace,
      env,
      // Whatever started the runner may have left it an open folder, which is handed on to every child. Node closes low
      // numbers to its children, up to the first gap above 15, and no others.
      stdio: ['pipe', 'pipe', 'pipe', ...Array<'ignore'>(60).fill('ignore'), world.openFolder],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(script ?? '');
    child.once('error', reject);
    child.once('close', (exitCode) =>
      resolve({ exitCode, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) }),
    );
  });
}

const sudoEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

/**
 * What lies over bubblewrap for this wall: nothing, a file that cannot be started, or a bubblewrap that only root can
 * use, as on Ubuntu 24.04. A hosted runner looks like that to the bundle, which has no input that picks a wall.
 */
function coverFor(wall: AttackStep['wall'], world: AttackWorld): string | null {
  if (wall === 'bwrap' || !hasBwrap) return null;
  const cover = path.join(world.base, `cover-${wall}`);
  if (wall.endsWith('unshare')) writeFileSync(cover, '', { mode: 0o644 });
  else {
    const real = path.join(world.base, 'bwrap');
    writeFileSync(real, readFileSync(BWRAP), { mode: 0o755 });
    const refusal =
      '[ "$(id -u)" = 0 ] || { echo \'No permissions to create a new namespace\' >&2; exit 1; }';
    writeFileSync(cover, `#!/bin/sh\n${refusal}\nexec ${quote(real)} "$@"\n`, { mode: 0o755 });
  }
  return cover;
}

/** A mount namespace of the step's own, where the cover lies over bubblewrap; told by its input, as it holds secrets. */
function behindCover(world: AttackWorld, cover: string, environment: Readonly<Record<string, string>>) {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  const words = [
    ...(isRoot ? [] : ['/usr/bin/setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--init-groups', '--']),
    ...['/usr/bin/env', '-i', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
    ...[process.execPath, world.bundle],
  ];
  const script = [
    `mount --bind ${quote(cover)} ${BWRAP} || exit 97`,
    `cd ${quote(world.workspace)} || exit 97`,
    `exec ${words.map(quote).join(' ')} </dev/null`,
  ].join('\n');
  const start = ['/usr/bin/unshare', '--mount', '--propagation', 'private', '--', '/bin/sh', '-s'];
  const [file = '', ...args] = isRoot ? start : ['/usr/bin/sudo', '-n', '--', ...start];
  return { file, args, script };
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
