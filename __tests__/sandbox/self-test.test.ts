/**
 * Shows the purpose of each argument and mount by leaving it out: a wrapper changes the words, or the script that builds
 * the root, and runs the real program. Then the self-test refuses the sandbox, or a command finds something open.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { SandboxError } from '../../src/errors.ts';
import type { Detected } from '../../src/sandbox/detect.ts';
import { shellWord } from '../../src/sandbox/sandbox.ts';
import { putFiles } from '../support/local.ts';
import { CANARY, describeOpen, detected, exec, isRoot, useWorld } from './world.ts';

const world = await useWorld();
const { base, home, temp, workspace } = world;
const shown = putFiles(join(base, 'shown'), { file: '' });
putFiles(home, { '.cargo/bin/cargo': '', '.local/share/pnpm/x': '', 'work/repo/repo/sub/.git/HEAD': '' });
const environment = { PATH: '/usr/bin:/bin' };
/** The user of the commands. */
const [uid, gid] = isRoot ? [46_007, 46_008] : [process.getuid?.(), process.getgid?.()];
if (detected.kind === 'unshare') {
  const script = `mknod -m 666 ${shown}/device c 1 3; cp -a ${shown}/device ${workspace}; chown -R ${uid}:${gid} ${workspace}`;
  execFileSync('/usr/bin/env', [...detected.programs.asRoot, '/bin/sh', '-ec', script]);
}

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
const hasCapabilities = (sets: string) => `grep -qE '^Cap(${sets}):.*[1-9a-f]' /proc/self/status`;
const GAINS_PRIVILEGES = "grep -q '^NoNewPrivs:.*0$' /proc/self/status";
const READS_KEYS = 'head -c1 /proc/keys > /dev/null && [ ! /proc/keys -ef /dev/null ]';
/** Whether there is a key that the self-test could see. */
const HAS_KEYS = !isRoot && fs.existsSync('/proc/keys') && fs.readFileSync('/proc/keys', 'utf8') !== '';
const SEES_MACHINE = `[ -e ${temp} ] && ls ${temp} | grep -q .`;
const READS_HOME = `grep -q ${CANARY} ~/.npmrc`;
const HAS_DISK = 'df --output=fstype /tmp | grep -qv -e tmpfs -e Type';
const HAS_STDIN = '! grep -q "^$(sed -n "s/^mnt_id:[^0-9]*//p" /proc/self/fdinfo/0) " /proc/self/mountinfo';
const sizeOf = (folder: string) => `$(df --output=size ${folder} | tail -1)`;
const FILLS_MEMORY = `[ ${sizeOf('/dev/shm')} -gt $((${sizeOf('/tmp')} / 2)) ]`;
const SEES_HOLDER = 'grep -q pivot_root /proc/2/cmdline';
/** Of a part without which the sandbox does not start. */
const NOTHING = 'false';

const USR = ['--ro-bind', '/usr', '/usr'];
const BWRAP: readonly Row[] = [
  ['bwrap', ['--unshare-user'], [], NOTHING, true],
  ...['pid', 'ipc', 'uts', 'net'].map(
    (name) => ['bwrap', [`--unshare-${name}`], [], inOurs(name), true] as const,
  ),
  ['bwrap', ['--disable-userns'], [], 'unshare -Ur true', false],
  ['bwrap', ['--new-session'], [], `[ "$(cut -d' ' -f6 /proc/$$/stat)" = 0 ]`, false],
  ['bwrap', ['--as-pid-1'], [], 'grep -q bwrap /proc/1/cmdline', false],
  ['bwrap', ['--proc', '/proc'], [], '[ ! -e /proc/self ]', true],
  ['bwrap', ['--dev', '/dev'], ['--dev-bind', '/dev', '/dev'], '[ -e /dev/kmsg ]', false],
  ['bwrap', ['--ro-bind', '/dev/null', '/proc/keys'], [], READS_KEYS, HAS_KEYS],
  ['bwrap', ['--remount-ro', '/'], [], 'mkdir /new', true],
  ['bwrap', ['--ro-bind-try', '/usr', '/usr'], ['--ro-bind', '/', '/old', ...USR], '[ -e /old/etc ]', true],
  ['bwrap', `/home\x01${home}`, `/home\x01${home}\x01--bind\x01${home}\x01${home}`, READS_HOME, true],
];

/** As if the number of the holder were that of another process. */
const TARGET = ['--target', `${process.pid}`, '--setgid'];
const OF_ANOTHER: Row = ['nsenter', ['--target'], TARGET, NOTHING, true];
const UNSHARE: readonly Row[] = [
  // In namespaces around it: those of the machine would be changed.
  ['unshare', ['--mount'], '\x01--mount\x01--propagation\x01shared\x01/usr/bin/unshare', NOTHING, true],
  ['unshare', ['--pid'], ['--pid', '--fork', '/usr/bin/unshare'], SEES_HOLDER, false],
  ['unshare', ['--fork'], [], NOTHING, true],
  ...['ipc', 'uts', 'net'].flatMap((name) =>
    (['unshare', 'nsenter'] as const).map(
      (program) => [program, [`--${name}`], [], inOurs(name), true] as const,
    ),
  ),
  ['unshare', 'chown $owner layer/upper', ':', '! touch new', true],
  ['unshare', 'chown -R $owner private/tmp private/home', ':', '! touch ~/x', true],
  ['unshare', 'remount,bind,nodev', 'remount,bind', ': < device', false],
  ['unshare', 'mount -t tmpfs none private', ':', HAS_DISK, false],
  ['unshare', 'mount -t tmpfs none root\n', ':\n', NOTHING, true],
  ['unshare', 'bind,ro,nodev', 'bind,nodev', `touch ${workspace}/.git/x`, true],
  ['unshare', 'bind,ro,nodev', 'bind,ro', `: < ${shown}/device`, false],
  ['unshare', 'mount --all --fstab table', 'false', NOTHING, true],
  ['unshare', 'mount -t proc proc root/proc', ':', '[ ! -e /proc/self ]', true],
  ['unshare', 'mount -t tmpfs none root/dev', ':', NOTHING, true],
  ['unshare', 'null zero full random urandom tty', 'null', '[ ! -c /dev/urandom ]', false],
  ['unshare', 'bind,ro /dev/$name', 'bind /dev/$name', 'touch /dev/null', false],
  ['unshare', ' -o ptmxmode=0666', '', '! : <> /dev/ptmx', false],
  ['unshare', ' -o size=10%', '', FILLS_MEMORY, false],
  ['unshare', 'echo 0 > root/proc/sys/user/max_user_namespaces', ':', 'unshare -U true', false],
  ['nsenter', '\x01--user=', '\x01/usr/bin/env\x01user=', 'unshare -U true', false],
  ['unshare', 'mount --bind "root/proc', ': "', NOTHING, true],
  ['unshare', 'remount,ro root/dev', 'remount,rw root/dev', 'touch /dev/x', false],
  ['unshare', 'mount --bind root/dev/null root/proc/keys', ':', READS_KEYS, HAS_KEYS],
  ['unshare', 'remount,bind,ro root/proc', 'remount,bind,rw root/proc', 'echo x > /proc/self/comm', false],
  ['unshare', 'remount,ro root\n', 'remount,rw root\n', 'mkdir /new', true],
  ['unshare', 'umount -l /old', ':', '[ -e /old/etc ]', true],
  OF_ANOTHER,
  ['nsenter', ['--mount'], [], SEES_MACHINE, true],
  ['nsenter', ['--pid'], [], inOurs('pid'), true],
  ['nsenter', '"$@" </dev/null', '"$@"', HAS_STDIN, false],
  ...(isRoot
    ? [['nsenter', 'chmod 666 /proc/self/fd/1', ':', '! echo x > /dev/stderr', false] as const]
    : []),
  ['setpriv', ['--reuid', `${uid}`], [], '[ "$(id -u)" = 0 ]', true],
  ['setpriv', ['--regid', `${gid}`], [], '[ "$(id -g)" = 0 ]', false],
  ['setpriv', ['--clear-groups'], ['--groups', '0'], 'id -G | grep -qw 0', false],
  ['setpriv', ['--no-new-privs'], [], GAINS_PRIVILEGES, true],
  // As in a container whose processes have inheritable capabilities.
  ['setpriv', ['--inh-caps=-all'], ['--inh-caps=+all'], hasCapabilities('Inh|Prm|Eff|Amb'), true],
  ['setpriv', ['--bounding-set=-all'], [], hasCapabilities('Bnd'), false],
];

/** The folder of the run whose sandbox is tried. */
const run = join(temp, 'run-without');
const isBwrap = detected.kind === 'bwrap';
/** Folders that lead to mounts. They are mounts, too: a command cannot put a link there for the next one. */
const LEADING = ['.cargo', '.local', '.local/share', 'work', 'work/repo', 'work/repo/repo/sub'];
const withoutMount = (place: string, look: string, isRefused = false): Row =>
  isBwrap
    ? ['bwrap', [place, ''], ['/elsewhere', ''], look, isRefused]
    : ['unshare', ` ${run}/root${place}'`, ` ${run}/root${place} none noauto 0 0'`, look, isRefused];
const MOUNTS = [
  withoutMount('/tmp', '[ ! -w /tmp ]', true),
  withoutMount('/var/tmp', '[ ! -w /var/tmp ]'),
  withoutMount(home, `mv -T ${home} ${home}-moved`, !isBwrap),
  withoutMount(workspace, '[ ! -e README.md ]', !isBwrap),
  withoutMount(`${workspace}/.git`, 'touch .git/x', true),
  withoutMount(`${workspace}/sub/.git`, 'touch sub/.git/x', true),
  withoutMount('/tmp/context', 'touch /tmp/context/x', true),
  withoutMount('/etc/passwd', '[ ! -s /etc/passwd ]'),
  ...[base, ...LEADING.map((name) => join(home, name))].map((place) =>
    withoutMount(place, `! grep -q ' ${place} ' /proc/self/mountinfo`),
  ),
];

const ROWS = { bwrap: [...BWRAP, ...MOUNTS], unshare: [...UNSHARE, ...MOUNTS], none: [] }[detected.kind];
/** What is left out elsewhere: `ends a command in time`, `without an overlay`. */
const ELSEWHERE = ['\x01--die-with-parent', '  mount --bind layer/copy layer/merged'];

const REFUSED =
  /^(?:The sandbox (?:failed its self-test|could not be built)|No .*started any more): (?!.*(?:not found|execute))/u;

describeOpen('without a part of the sandbox', () => {
  it('nothing of that is open with all of them', async () => {
    const sandbox = await world.openReady({ readable: [shown], environment });
    for (const [, , , look] of ROWS)
      expect([look, (await exec(sandbox, look)).exitCode === 0]).toEqual([look, false]);
  });

  it.each(ROWS)('%s %j: something is open, or the self-test fails', async (...row) => {
    expect(await tryLook(row)).toMatch(row[4] ? REFUSED : /^exit 0$/u);
  });

  it.runIf(!isBwrap)('a command does not enter another process with the number of the holder', async () => {
    expect(await tryLook(OF_ANOTHER, true)).toBe('exit 125');
  });

  const PROGRAMS = isBwrap ? (['bwrap'] as const) : (['unshare', 'nsenter'] as const);
  it.each(PROGRAMS)('each part of %s has a row', async (program) => {
    await tryLook([program, '', '', NOTHING, false]);
    // An option with its values, and a line that mounts.
    const parts = /\x01--[^\x01]+(?:\x01(?!-)[^\x01\n]+)*|^ *mount .*\n|^(?:open|show) '.*\n/gmu;
    const found = fs.readFileSync(join(base, 'words'), 'utf8').match(parts) ?? [];
    const named = [...ELSEWHERE, ...ROWS.map(([, without]) => joinWords(without))];
    const isNamed = (part: string) => named.some((one) => `${part}\x01`.includes(one) || one.includes(part));
    // The list of the system has a test of its own.
    const isSystem = (part: string) =>
      /^(?:show |\x01--(?:ro-bind-try|symlink))./u.test(part) &&
      !/\/run-without\/(?:layer|context)/u.test(part);
    expect(found.filter((part) => !isSystem(part) && !isNamed(part))).toEqual([]);
    expect(found.length).toBeGreaterThan(8);
  });
});

/** @param isLate whether the part is there until the sandbox is ready */
async function tryLook([program, without, instead, look]: Row, isLate = false): Promise<string> {
  const file = weaken(program, joinWords(without), joinWords(instead));
  if (!isLate) fs.writeFileSync(`${file}.on`, '');
  fs.rmSync(run, { recursive: true, force: true });
  fs.mkdirSync(run, { mode: 0o700 });
  const weak: Detected =
    detected.kind === 'unshare'
      ? { ...detected, programs: { ...detected.programs, [program]: file } }
      : { kind: 'bwrap', bwrap: file };
  // Some programs are started in the new root.
  const readable = [dirname(file), shown];
  const sandbox = world.open({ detected: weak, readable, environment, runFolder: run });
  try {
    await sandbox.ready();
    fs.writeFileSync(`${file}.on`, '');
    return `exit ${(await exec(sandbox, look)).exitCode}`;
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
printf '%s\\n' "$all" > ${base}/words 2>/dev/null
[ -e "$0.on" ] || exec /usr/bin/${program} "$@"
without=${shellWord(without)}
instead=${shellWord(instead)}
all=\${all//"$without"/"$instead"}
mapfile -t -d $'\\001' words < <(printf '%s\\001' "\${all:1}")
exec /usr/bin/${program} "\${words[@]}"
`;
  fs.writeFileSync(file, script, { mode: 0o755 });
  return file;
}
