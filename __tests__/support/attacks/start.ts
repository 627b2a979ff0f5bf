/** Starts the bundle behind a chosen wall, as the user that the wall is for. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { mountUserFiles, wordsAsUser } from '../fakes/runner/user.ts';
import { type AttackWall, BWRAP } from './backends.ts';
import type { AttackWorld } from './world.ts';

/** How the process of a step ended, and both its streams as they came. */
export interface EndedStep {
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

const isRoot = process.getuid?.() === 0;
const sudoEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

/** Runs it to its end, with arguments where something else stands in its place. */
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
      // Whatever started the runner may have left it an open folder, which is handed on to every child. Node closes low
      // numbers to its children, up to the first gap above 15, and no others.
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
 * What lies over bubblewrap for this wall: nothing, a file that cannot be started, or a bubblewrap that only root can
 * use, as on Ubuntu 24.04. A hosted runner looks like that to the bundle, which has no input that picks a wall.
 */
function coverFor(wall: AttackWall, world: AttackWorld): string | null {
  if (wall === 'bwrap' || !existsSync(BWRAP)) return null;
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

/** A mount namespace of the step's own, where the cover lies over bubblewrap; its script is on standard input, because it holds secrets. */
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
          // The project's own node may lie in a folder that this user cannot enter, as below /root.
          `mount --bind ${quote(process.execPath)} ${quote(path.join(world.tools, 'node'))} || exit 97`,
        ]),
    `cd ${quote(world.workspace)} || exit 97`,
    // What root wrote is looked at, and removed, by the user who runs the tests.
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
