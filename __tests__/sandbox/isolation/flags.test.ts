/**
 * Shows the purpose of each bubblewrap argument by leaving it out: a wrapper drops it and runs the real bwrap.
 * Then the self-test refuses the sandbox, or a command reaches something that the argument closes.
 */
import { chmodSync, mkdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasBwrap, useWorld } from '../world.ts';

const isRoot = process.getuid?.() === 0;

interface Row {
  /** The consecutive arguments to leave out; `*` stands for any one argument. */
  readonly without: readonly string[];
  /** The arguments that replace them. */
  readonly instead?: readonly string[];
  /** Exits with 0 if something is open that should be closed. */
  readonly look: string;
  /** Whether the self-test refuses the sandbox without them. */
  readonly isRefused: boolean;
  /** Whether only a sandbox started by root needs them. */
  readonly ofRoot?: boolean;
}

const namespaceOf = (name: string) => readlinkSync(`/proc/self/ns/${name}`);
const inOurs = (name: string) => `[ "$(readlink /proc/self/ns/${name})" = '${namespaceOf(name)}' ]`;

const ROWS: readonly Row[] = [
  { without: ['--unshare-pid'], look: inOurs('pid'), isRefused: true },
  { without: ['--unshare-ipc'], look: inOurs('ipc'), isRefused: true },
  { without: ['--unshare-uts'], look: inOurs('uts'), isRefused: true },
  { without: ['--unshare-net'], look: inOurs('net'), isRefused: true },
  { without: ['--new-session'], look: `[ "$(cut -d' ' -f6 /proc/$$/stat)" = 0 ]`, isRefused: false },
  { without: ['--proc', '/proc'], look: `[ -e /proc/${process.pid}/root ]`, isRefused: true },
  {
    without: ['--dev', '/dev'],
    instead: ['--dev-bind', '/dev', '/dev'],
    look: '[ -e /dev/kmsg ]',
    isRefused: false,
  },
  {
    without: ['--ro-bind', '/', '/'],
    instead: ['--bind', '/', '/'],
    look: '[ -w /etc/hostname ]',
    isRefused: true,
  },
  { without: ['--seccomp', '5'], look: "grep -q '^Seccomp:.*0$' /proc/self/status", isRefused: true },
  { without: ['--remount-ro', '*'], look: 'touch /root/written', isRefused: false },
  {
    without: ['--cap-drop', 'ALL'],
    look: "! grep -q '^CapEff:.*0000000000000000$' /proc/self/status",
    isRefused: true,
    ofRoot: true,
  },
  {
    without: ['--ro-bind', '/proc/sys', '/proc/sys'],
    look: '[ -w /proc/sys/kernel/core_pattern ]',
    isRefused: true,
    ofRoot: true,
  },
];

const world = await useWorld();

describe.runIf(hasBwrap)('bubblewrap without an argument', () => {
  it.each(ROWS.filter(({ ofRoot }) => ofRoot !== true || isRoot))(
    '$without: something is open, or the self-test fails',
    async ({ without, instead = [], look, isRefused }) => {
      const folder = path.join(world.base, `helpers-${ROWS.findIndex((row) => row.without === without)}`);
      placeHelpers(folder, without, instead);
      const weakened = await tryLook(look, [folder]);
      expect(await tryLook(look, ['/usr/bin', '/bin', '/usr/sbin', '/sbin'])).toBe('closed');
      expect(weakened).toBe(isRefused ? 'refused' : 'open');
    },
  );
});

async function tryLook(look: string, helperFolders: readonly string[]): Promise<string> {
  const options = { mode: 'required', kinds: ['bwrap'], helperFolders } as const;
  const opened = await world.open(options);
  try {
    await opened.ready;
    const limits = { timeoutMs: 20_000, maxOutputBytes: 10_000, signal: AbortSignal.timeout(30_000) };
    const { exitCode } = await opened.exec(look, limits);
    return exitCode === 0 ? 'open' : 'closed';
  } catch (error) {
    if (error instanceof Error && error.name === 'SandboxError') return 'refused';
    throw error;
  } finally {
    await opened.close();
  }
}

/** A directory of helpers with a bwrap that drops these arguments and links to the other system programs. */
function placeHelpers(folder: string, without: readonly string[], instead: readonly string[]): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const name of ['setpriv', 'unshare', 'nsenter', 'sudo', 'perl'])
    symlinkSync(`/usr/bin/${name}`, path.join(folder, name));
  const words = (list: readonly string[]) => list.map((word) => `'${word}'`).join(' ');
  writeFileSync(
    path.join(folder, 'bwrap'),
    `#!/bin/bash
without=(${words(without)}) instead=(${words(instead)})
weaken() {
  kept=()
  while [ "$#" -gt 0 ]; do
    for index in "\${!without[@]}"; do
      at=$((index + 1))
      [ "\${without[index]}" = '*' ] || [ "\${!at}" = "\${without[index]}" ] || { kept+=("$1"); shift; continue 2; }
    done
    kept+=("\${instead[@]}")
    shift "\${#without[@]}"
  done
}
if [ "$1" = --args ]; then
  mapfile -d '' -u "$2" given
  weaken "\${given[@]}"
  exec 3< <(printf '%s\\0' "\${kept[@]}")
  exec /usr/bin/bwrap "$@"
fi
weaken "$@"
exec /usr/bin/bwrap "\${kept[@]}"
`,
  );
  chmodSync(path.join(folder, 'bwrap'), 0o755);
}
