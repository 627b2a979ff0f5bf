/**
 * The self-test's probes on macOS. There are no namespaces, no capabilities and no /proc to look at; instead each door
 * that a profile may leave open is tried.
 */
import { quote } from '../exec/shell-line.ts';

/** What the probes expect: a part of the self-test's options. */
interface Expected {
  readonly workspace: string;
  readonly workspaceWritable: boolean;
  readonly configs: readonly string[];
  readonly unseen: readonly string[];
  readonly shellNetwork: boolean;
}

/** What was put up outside. */
interface Outside {
  /** A text that stands in `file` and in the bystander's environment. */
  readonly sentinel: string;
  /** In a folder that nobody inside may see. */
  readonly file: string;
  /** The number of a process. */
  readonly bystander: number;
  /** A loopback listener's port. */
  readonly port: number;
  /** perl, where it is not in its usual place. */
  readonly perl?: string;
}

/** Shell text that bash 3.2 runs: one line says which probe failed, or that none did. */
export function seatbeltProbes(expected: Expected, outside: Outside): string {
  const { workspace, workspaceWritable, configs, unseen, shellNetwork } = expected;
  const hidden = quote(outside.file);
  const beside = quote(`${outside.file}-written`);
  return [
    'failed() { echo "$1"; exit 1; }',
    // Whether it may is asked by trying: access(2) knows the rights of files, and need not know the profile.
    'writes() { { : >> "$1"; } 2>/dev/null; }',
    `cat ${hidden} >/dev/null 2>&1 && failed "a hidden file can be read"`,
    `cat ${quote(`/System/Volumes/Data${outside.file}`)} >/dev/null 2>&1 && failed "a hidden file can be read by its other name"`,
    ...unseen.map(
      (path) => `[ -e ${quote(path)} ] && failed ${quote(`a hidden path can be seen (${path})`)}`,
    ),
    `ln ${hidden} "$TMPDIR/.link" 2>/dev/null && failed "a hidden file can be linked to"`,
    `writes ${beside} && failed "a hidden folder can be written"`,
    'for at in / /etc /usr/local /Library /private/var/db; do [ -d "$at" ] && writes "$at/.structured-agent" && { rm -f "$at/.structured-agent"; failed "$at can be written"; }; done',
    ...configs.map((path) => `writes ${quote(path)} && failed ${quote(`${path} can be written`)}`),
    ...configs.map(
      (path) =>
        `ln ${quote(path)} "$TMPDIR/.link" 2>/dev/null && failed ${quote(`${path} can be linked to, and so be written`)}`,
    ),
    'writes "$TMPDIR/.written" && [ -e "$GIT_CONFIG_GLOBAL" ] || failed "the private /tmp is not there or cannot be written"',
    'rm -f "$TMPDIR/.written"',
    '[ "$(ulimit -c)" = 0 ] || failed "a command has no limits"',
    workspaceWritable
      ? `[ -w ${quote(workspace)} ] || failed "the workspace cannot be written: it belongs to another user"`
      : `cd ${quote(workspace)} && writes .structured-agent && { rm -f .structured-agent; failed "the workspace can be written although it is read-only"; }`,
    `kill -0 ${outside.bystander} 2>/dev/null && failed "a process outside can be sent signals"`,
    '[ "$(id -u)" = 0 ] || { sudo -n true >/dev/null 2>&1 && failed "privileges can be gained (sudo)"; }',
    ...readsOf(outside),
    ...(shellNetwork
      ? []
      : [
          `(exec 3<>/dev/tcp/127.0.0.1/${outside.port}) 2>/dev/null && failed "a listener outside can be reached"`,
        ]),
    'echo "walls stand"',
  ].join('\n');
}

/**
 * Whether the environment of a process outside can be read. `ps` may not run, and needs not: sysctl(3) with KERN_PROCARGS2
 * (1, 49; system call 202) tells it to every process of the same user, and no rule of a profile is known to hold it.
 */
function readsOf({ sentinel, bystander, perl = '/usr/bin/perl' }: Outside): readonly string[] {
  const read = `my $name = pack("i3", 1, 49, ${bystander}); my $text = "\\0" x 1048576; my $size = pack("Q", 1048576);
    exit(syscall(202, $name, 3, $text, $size, 0, 0) == 0 && index($text, "${sentinel}") >= 0 ? 0 : 9)`;
  return [
    `ps -Eww -p ${bystander} 2>/dev/null | grep -q ${quote(sentinel)} && failed "another process's environment can be read (ps)"`,
    `${quote(perl)} -e ${quote(read)} 2>/dev/null`,
    'case $? in 9) ;; 0) failed "another process\'s environment can be read (sysctl)";; *) failed "perl, which tries what sysctl tells, cannot be run";; esac',
  ];
}
