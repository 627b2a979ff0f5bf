/**
 * Shows the purpose of each argument and mount by leaving it out: a wrapper changes the words, or the script that builds
 * the root, and runs the real program. Then the self-test refuses the sandbox, or a command finds something open.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Detected } from '../../src/sandbox/detect.ts';
import { CANARY, describeOpen, detected, exec, isRoot, useWorld } from './world.ts';

const world = await useWorld();

interface Row {
  readonly program: 'bwrap' | 'unshare' | 'nsenter' | 'setpriv';
  /** Words that follow one another, or a part of a word, as of the script. */
  readonly without: readonly string[] | string;
  /** What stands there instead. */
  readonly instead?: readonly string[] | string;
  /** Exits with 0 if something is open that should be closed, or broken that should work. */
  readonly look: string;
  /** Whether the self-test refuses the sandbox, or it does not start. */
  readonly isRefused: boolean;
}

const inOurs = (name: string) =>
  `[ "$(readlink /proc/self/ns/${name})" = '${readlinkSync(`/proc/self/ns/${name}`)}' ]`;
const HAS_CAPABILITIES = "grep -qE '^Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]' /proc/self/status";
const HAS_BOUNDING = "grep -qE '^CapBnd:.*[1-9a-f]' /proc/self/status";
const GAINS_PRIVILEGES = "grep -q '^NoNewPrivs:.*0$' /proc/self/status";
const READS_KEYS = 'head -c1 /proc/keys > /dev/null && [ ! /proc/keys -ef /dev/null ]';
/** Whether there is a key that the self-test could see. */
const HAS_KEYS = existsSync('/proc/keys') && readFileSync('/proc/keys', 'utf8') !== '';
const SEES_MACHINE = `[ -e ${world.temp} ] && ls ${world.temp} | grep -q .`;
const { workspace, home } = world;

const BWRAP: readonly Omit<Row, 'program'>[] = [
  { without: ['--unshare-pid'], look: inOurs('pid'), isRefused: true },
  { without: ['--unshare-ipc'], look: inOurs('ipc'), isRefused: true },
  { without: ['--unshare-uts'], look: inOurs('uts'), isRefused: true },
  { without: ['--unshare-net'], look: inOurs('net'), isRefused: true },
  { without: ['--disable-userns'], look: 'unshare -Ur true', isRefused: false },
  { without: ['--new-session'], look: `[ "$(cut -d' ' -f6 /proc/$$/stat)" = 0 ]`, isRefused: false },
  { without: ['--proc', '/proc'], look: `[ ! -e /proc/self ]`, isRefused: true },
  {
    without: ['--dev', '/dev'],
    instead: ['--dev-bind', '/dev', '/dev'],
    look: '[ -e /dev/kmsg ]',
    isRefused: false,
  },
  { without: ['--ro-bind', '/dev/null', '/proc/keys'], look: READS_KEYS, isRefused: HAS_KEYS },
  { without: ['--remount-ro', '/'], look: 'mkdir /new', isRefused: true },
  {
    without: ['--ro-bind-try', '/usr', '/usr'],
    instead: ['--ro-bind', '/', '/old', '--ro-bind', '/usr', '/usr'],
    look: '[ -e /old/etc ]',
    isRefused: true,
  },
  {
    without: `/home\x01${home}`,
    instead: `/home\x01${home}\x01--bind\x01${home}\x01${home}`,
    look: `grep -q ${CANARY} ~/.npmrc`,
    isRefused: true,
  },
];

const ENTER = ['--mount', '--pid', '--ipc', '--uts', '--net'];
const UNSHARE: readonly Row[] = [
  {
    program: 'unshare',
    without: ['--ipc', '--uts', '--net'],
    instead: ['--uts', '--net'],
    look: inOurs('ipc'),
    isRefused: true,
  },
  {
    program: 'unshare',
    without: ['--ipc', '--uts', '--net'],
    instead: ['--ipc', '--net'],
    look: inOurs('uts'),
    isRefused: true,
  },
  {
    program: 'unshare',
    without: ['--ipc', '--uts', '--net'],
    instead: ['--ipc', '--uts'],
    look: inOurs('net'),
    isRefused: true,
  },
  ...['ipc', 'uts', 'net'].map((name) => ({
    ...({ program: 'nsenter', without: ENTER, instead: ENTER.filter((one) => one !== `--${name}`) } as const),
    ...{ look: inOurs(name), isRefused: true },
  })),
  { program: 'nsenter', without: ENTER, instead: ENTER.slice(1), look: SEES_MACHINE, isRefused: true },
  // Without a proc of its own it would see the holder.
  {
    program: 'unshare',
    without: ['--kill-child', '--mount-proc'],
    instead: ['--kill-child'],
    look: 'grep -q pivot_root /proc/1/cmdline',
    isRefused: false,
  },
  {
    program: 'unshare',
    without: '/dev/null /proc/keys',
    instead: '/dev/null /dev/full',
    look: READS_KEYS,
    isRefused: HAS_KEYS,
  },
  {
    program: 'setpriv',
    without: ['--bounding-set=-all'],
    look: isRoot ? HAS_CAPABILITIES : HAS_BOUNDING,
    isRefused: isRoot,
  },
  { program: 'setpriv', without: ['--no-new-privs'], look: GAINS_PRIVILEGES, isRefused: true },
  { program: 'unshare', without: 'umount -l /old', instead: ':', look: '[ -e /old/etc ]', isRefused: true },
  {
    program: 'unshare',
    without: 'mount -o remount,ro,nosuid,nodev root',
    instead: 'chmod 777 root',
    look: 'mkdir /new',
    isRefused: true,
  },
  {
    program: 'unshare',
    without: 'mount -o remount,ro,nosuid,noexec root/dev',
    instead: 'chmod 777 root/dev',
    look: 'touch /dev/x',
    isRefused: false,
  },
  {
    program: 'unshare',
    without: 'remount,bind,ro,nosuid,nodev "$2"',
    instead: 'remount,bind,rw "$2"',
    look: `touch ${workspace}/.git/x`,
    isRefused: true,
  },
  {
    program: 'unshare',
    without: 'mount -t tmpfs -o mode=0711,nosuid,nodev none private',
    instead: ':',
    look: 'df --output=fstype /tmp | grep -qv -e tmpfs -e Type',
    isRefused: false,
  },
];

const rows: readonly Row[] =
  detected.kind === 'bwrap'
    ? BWRAP.map((row) => ({ program: 'bwrap', ...row }))
    : detected.kind === 'unshare'
      ? UNSHARE
      : [];

describeOpen('without a part of the sandbox', () => {
  it('nothing of that is open with all of them', async () => {
    const sandbox = await world.openReady();
    for (const { look } of rows)
      expect([look, (await exec(sandbox, look)).exitCode === 0]).toEqual([look, false]);
  });

  it.each(rows)('$program $without: something is open, or the self-test fails', async (row) => {
    const outcome = await tryLook(row);
    if (row.isRefused)
      expect(outcome).toMatch(/^The sandbox failed its self-test: (?!.*(?:not found|execute))/u);
    else expect(outcome).toBe('open');
  });
});

async function tryLook(row: Row): Promise<string> {
  const folder = weaken(row);
  // Some programs are started in the new root.
  const sandbox = world.open({ detected: useFrom(folder, row.program), readable: [folder] });
  try {
    await sandbox.ready();
    return (await exec(sandbox, row.look)).exitCode === 0 ? 'open' : 'closed';
  } catch (error) {
    if (error instanceof Error && error.name === 'SandboxError') return error.message;
    throw error;
  } finally {
    await sandbox.close();
  }
}

/** Makes a folder with a program that changes its words and runs the real one. */
function weaken({ program, without, instead = [] }: Row): string {
  const folder = mkdtempSync(join(world.base, 'weak-'));
  const file = join(folder, program);
  const joined = (words: readonly string[] | string) =>
    typeof words === 'string' ? words : words.map((word) => `\x01${word}`).join('');
  writeFileSync(
    file,
    `#!/bin/bash
printf -v all '\\001%s' "$@"
without=$(cat <<'X'
${joined(without)}
X
)
instead=$(cat <<'X'
${joined(instead)}
X
)
all=\${all//"$without"/"$instead"}
mapfile -t -d $'\\001' words < <(printf '%s\\001' "\${all:1}")
exec /usr/bin/${program} "\${words[@]}"
`,
  );
  for (const path of [folder, file]) chmodSync(path, 0o755);
  return folder;
}

function useFrom(folder: string, program: string): Detected {
  const file = join(folder, program);
  if (detected.kind === 'bwrap') return { kind: 'bwrap', bwrap: file };
  if (detected.kind !== 'unshare') return detected;
  return { ...detected, programs: { ...detected.programs, [program]: file } };
}
