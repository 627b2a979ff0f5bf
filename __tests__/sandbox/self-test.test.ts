/**
 * Shows the purpose of each argument and mount by leaving it out: a wrapper changes the words, or the script that builds
 * the root, and runs the real program. Then the self-test refuses the sandbox, or a command finds something open.
 */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import type { Detected } from '../../src/sandbox/detect.ts';
import { shellWord } from '../../src/sandbox/sandbox.ts';
import { CANARY, describeOpen, detected, exec, isRoot, useWorld } from './world.ts';

const world = await useWorld();

type Row = readonly [
  program: 'bwrap' | 'unshare' | 'nsenter' | 'setpriv',
  /** Words that follow one another, or a part of a word, as of the script. */
  without: readonly string[] | string,
  /** What stands there instead. */
  instead: readonly string[] | string,
  /** Exits with 0 if something is open that should be closed, or broken that should work. */
  look: string,
  /** Whether the self-test refuses the sandbox, or it does not start. */
  isRefused: boolean,
];

const inOurs = (name: string) =>
  `[ "$(readlink /proc/self/ns/${name})" = '${fs.readlinkSync(`/proc/self/ns/${name}`)}' ]`;
const HAS_CAPABILITIES = "grep -qE '^Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]' /proc/self/status";
const HAS_BOUNDING = "grep -qE '^CapBnd:.*[1-9a-f]' /proc/self/status";
const GAINS_PRIVILEGES = "grep -q '^NoNewPrivs:.*0$' /proc/self/status";
const READS_KEYS = 'head -c1 /proc/keys > /dev/null && [ ! /proc/keys -ef /dev/null ]';
/** Whether there is a key that the self-test could see. */
const HAS_KEYS = fs.existsSync('/proc/keys') && fs.readFileSync('/proc/keys', 'utf8') !== '';
const SEES_MACHINE = `[ -e ${world.temp} ] && ls ${world.temp} | grep -q .`;
const { home } = world;
const READS_HOME = `grep -q ${CANARY} ~/.npmrc`;
const HAS_DISK = 'df --output=fstype /tmp | grep -qv -e tmpfs -e Type';

const USR = ['--ro-bind', '/usr', '/usr'];
const BWRAP: readonly Row[] = [
  ...['pid', 'ipc', 'uts', 'net'].map(
    (name) => ['bwrap', [`--unshare-${name}`], [], inOurs(name), true] as const,
  ),
  ['bwrap', ['--disable-userns'], [], 'unshare -Ur true', false],
  ['bwrap', ['--new-session'], [], `[ "$(cut -d' ' -f6 /proc/$$/stat)" = 0 ]`, false],
  ['bwrap', ['--proc', '/proc'], [], '[ ! -e /proc/self ]', true],
  ['bwrap', ['--dev', '/dev'], ['--dev-bind', '/dev', '/dev'], '[ -e /dev/kmsg ]', false],
  ['bwrap', ['--ro-bind', '/dev/null', '/proc/keys'], [], READS_KEYS, HAS_KEYS],
  ['bwrap', ['--remount-ro', '/'], [], 'mkdir /new', true],
  ['bwrap', ['--ro-bind-try', '/usr', '/usr'], ['--ro-bind', '/', '/old', ...USR], '[ -e /old/etc ]', true],
  ['bwrap', `/home\x01${home}`, `/home\x01${home}\x01--bind\x01${home}\x01${home}`, READS_HOME, true],
];

const SPACES = ['--ipc', '--uts', '--cgroup', '--net'];
const ENTER = ['--mount', '--pid', ...SPACES];
const withoutSpace = (name: string): readonly Row[] => [
  ['unshare', SPACES, SPACES.filter((one) => one !== `--${name}`), inOurs(name), name !== 'cgroup'],
  ['nsenter', ENTER, ENTER.filter((one) => one !== `--${name}`), inOurs(name), name !== 'cgroup'],
];
const PROC = 'mount -t proc -o nosuid,nodev,noexec proc root/proc';
const UNSHARE: readonly Row[] = [
  ...['ipc', 'uts', 'cgroup', 'net'].flatMap(withoutSpace),
  ['nsenter', ENTER, ENTER.slice(1), SEES_MACHINE, true],
  ['unshare', PROC, ':', '[ ! -e /proc/self ]', true],
  ['unshare', 'mount --bind root/dev/null root/proc/keys', ':', READS_KEYS, HAS_KEYS],
  ['unshare', 'echo 0 > root/proc/sys/user/max_user_namespaces', ':', 'unshare -U true', false],
  ['unshare', 'exec /bin/sh -c', 'set +e; eval', 'grep -q pivot_root /proc/1/cmdline', false],
  ['setpriv', ['--bounding-set=-all'], [], isRoot ? HAS_CAPABILITIES : HAS_BOUNDING, isRoot],
  ['setpriv', ['--no-new-privs'], [], GAINS_PRIVILEGES, true],
  ['unshare', 'umount -l /old', ':', '[ -e /old/etc ]', true],
  ['unshare', 'mount -o remount,ro,nosuid,nodev root', 'chmod 777 root', 'mkdir /new', true],
  ['unshare', 'mount -o remount,ro,nosuid,noexec root/dev', 'chmod 777 root/dev', 'touch /dev/x', false],
  ['unshare', 'bind,ro,nosuid,nodev "$1"', 'bind,rw "$1"', `touch ${world.workspace}/.git/x`, true],
  ['unshare', 'mount -t tmpfs -o mode=0711,nosuid,nodev none private', ':', HAS_DISK, false],
];

/** The folder of the run whose sandbox is tried. */
const run = join(world.temp, 'run-without');
const tmp = detected.kind === 'bwrap' ? `${run}/tmp` : `${run}/private/tmp`;
const layer = `${run}/layer/${detected.kind === 'bwrap' ? 'copy' : 'merged'}`;
const withoutMount = (
  kind: 'show' | 'open',
  from: string,
  at: string,
  look: string,
  isRefused = true,
): Row =>
  detected.kind === 'bwrap'
    ? ['bwrap', [kind === 'show' ? '--ro-bind-try' : '--bind', from, at], [], look, isRefused]
    : ['unshare', `${kind} '${from}' '${run}/root${at}'`, ':', look, isRefused];
const MOUNTS = [
  withoutMount('open', tmp, '/tmp', '[ ! -w /tmp ]'),
  withoutMount('open', layer, world.workspace, '[ ! -e README.md ]', false),
  withoutMount('show', `${layer}/.git`, `${world.workspace}/.git`, 'touch .git/x'),
  withoutMount('show', `${run}/context`, '/tmp/context', 'touch /tmp/context/x'),
  withoutMount('show', '/etc/passwd', '/etc/passwd', '[ ! -e /etc/passwd ]', false),
];

const ROWS = { bwrap: [...BWRAP, ...MOUNTS], unshare: [...UNSHARE, ...MOUNTS], none: [] }[detected.kind];

const REFUSED = /^The sandbox (?:failed its self-test|could not be built): (?!.*(?:not found|execute))/u;

describeOpen('without a part of the sandbox', () => {
  it('nothing of that is open with all of them', async () => {
    const sandbox = await world.openReady();
    for (const [, , , look] of ROWS)
      expect([look, (await exec(sandbox, look)).exitCode === 0]).toEqual([look, false]);
  });

  it.each(ROWS)('%s %j: something is open, or the self-test fails', async (...row) => {
    expect(await tryLook(row)).toMatch(row[4] ? REFUSED : /^open$/u);
  });
});

async function tryLook([program, without, instead, look]: Row): Promise<string> {
  const file = weaken(program, joinWords(without), joinWords(instead));
  fs.rmSync(run, { recursive: true, force: true });
  fs.mkdirSync(run, { mode: 0o700 });
  const weak: Detected =
    detected.kind === 'unshare'
      ? { ...detected, programs: { ...detected.programs, [program]: file } }
      : { kind: 'bwrap', bwrap: file };
  // Some programs are started in the new root.
  const sandbox = world.open({ detected: weak, readable: [dirname(file)], runFolder: run });
  try {
    await sandbox.ready();
    return (await exec(sandbox, look)).exitCode === 0 ? 'open' : 'closed';
  } catch (error) {
    if (error instanceof SandboxError) return error.message;
    throw error;
  } finally {
    await sandbox.close();
  }
}

function joinWords(words: readonly string[] | string): string {
  return typeof words === 'string' ? words : words.map((word) => `\x01${word}`).join('');
}

/** Makes a program that changes its words and runs the real one. */
function weaken(program: string, without: string, instead: string): string {
  const file = join(fs.mkdtempSync(join(world.base, 'weak-')), program);
  const script = `#!/bin/bash
printf -v all '\\001%s' "$@"
without=${shellWord(without)}
instead=${shellWord(instead)}
all=\${all//"$without"/"$instead"}
mapfile -t -d $'\\001' words < <(printf '%s\\001' "\${all:1}")
exec /usr/bin/${program} "\${words[@]}"
`;
  fs.writeFileSync(file, script, { mode: 0o755 });
  return file;
}
