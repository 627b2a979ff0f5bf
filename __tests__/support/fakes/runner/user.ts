/**
 * A user other than root, with or without sudo, for tests that run as root. It exists only in the mount namespace of one step:
 * nothing is added to /etc, so that concurrent runs of these tests do not conflict and a killed run leaves no user.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A user with a primary group of the same number, and a second group of the next one. */
export interface RunnerUser {
  readonly name: string;
  readonly id: number;
  /** Whether this user can use sudo without a password. */
  readonly hasSudo: boolean;
}

/** The same as on Debian and Ubuntu. */
const SUDOERS =
  'Defaults env_reset\nDefaults secure_path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"';
/** The environment of what root runs. */
export const ROOT_ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
/** A shell in a mount namespace of its own, with its script on stdin. */
export const SHELL_IN_NAMESPACE = [
  '/usr/bin/unshare',
  '--mount',
  '--propagation',
  'private',
  '--',
  '/bin/sh',
  '-s',
];
const [FIRST_ID, LAST_ID] = [20_000, 59_998];

/** Chooses a number that no user and no group of this machine has. */
export function createRunnerUser(hasSudo = true): RunnerUser {
  const known = `${readOr('/etc/passwd')}\n${readOr('/etc/group')}`;
  for (;;) {
    const id = FIRST_ID + Math.floor(Math.random() * (LAST_ID - FIRST_ID));
    if (!known.includes(`:${id}:`) && !known.includes(`:${id + 1}:`))
      return { name: `attack-${id}`, id, hasSudo };
  }
}

/** Writes /etc/passwd and similar files for the user to a directory; returns the shell lines that mount them. */
export function mountUserFiles(
  { name, id, hasSudo }: RunnerUser,
  folder: string,
  home: string,
): readonly string[] {
  mkdirSync(folder);
  const files: readonly (readonly [file: string, mode: number, text: string])[] = [
    ['passwd', 0o644, `${readOr('/etc/passwd')}${name}:x:${id}:${id}::${home}:/bin/sh\n`],
    ['group', 0o644, `${readOr('/etc/group')}${name}:x:${id}:\n${name}-more:x:${id + 1}:${name}\n`],
    // Without the passwords of this machine: only the expiry of the account is checked.
    ['shadow', 0o600, `root:*:19000:0:99999:7:::\n${name}:*:19000:0:99999:7:::\n`],
    ['sudoers', 0o440, `${SUDOERS}\n${hasSudo ? `${name} ALL=(ALL) NOPASSWD: ALL\n` : ''}`],
  ];
  return files.map(([file, mode, text]) => {
    const own = path.join(folder, file);
    writeFileSync(own, text);
    chmodSync(own, mode);
    return `mount --bind '${own}' /etc/${file} || exit 97`;
  });
}

/** The arguments that start a program as this user. */
export function wordsAsUser({ id }: RunnerUser): readonly string[] {
  return ['/usr/bin/setpriv', `--reuid=${id}`, `--regid=${id}`, `--groups=${id},${id + 1}`, '--'];
}

/** Why root cannot create such a user on this machine; null if it can. */
export function findUserProblem(): string | null {
  const missing = ['/usr/bin/sudo', '/usr/bin/unshare', '/usr/bin/setpriv'].find((file) => !existsSync(file));
  if (missing !== undefined) return `${missing} is missing`;
  const folder = mkdtempSync(path.join(tmpdir(), 'runner-user-'));
  const user = createRunnerUser();
  const script = [
    ...mountUserFiles(user, path.join(folder, 'etc'), folder),
    `exec ${wordsAsUser(user).join(' ')} /usr/bin/sudo -n true`,
  ].join('\n');
  const [file = '', ...args] = SHELL_IN_NAMESPACE;
  const options = { input: script, encoding: 'utf8', env: ROOT_ENVIRONMENT } as const;
  const { status, stderr } = spawnSync(file, args, options);
  rmSync(folder, { recursive: true });
  return status === 0 ? null : `a user of the test's own cannot use sudo: ${stderr.trim()}`;
}

function readOr(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
