/**
 * The text of a profile for macOS's `sandbox-exec`: Scheme, in which the last rule that fits decides, and a rule for one
 * operation (`file-write-unlink`) comes before one for its family (`file-write*`). Apple documents none of it; these are
 * facts from profiles that Nix, Chromium and coding agents run with.
 */

import { SandboxError } from '../../errors.ts';
import { quote } from '../../text/messages.ts';

/** What a command may do with a path and all below it: later rules win. */
export interface Rule {
  readonly verdict: 'allow' | 'deny';
  /** Names of operations, separated by blanks. */
  readonly operations: string;
  readonly filter: 'subpath' | 'literal' | 'regex';
  /** An absolute, real path; with `regex` a pattern over such paths. */
  readonly text: string;
}

/** What holds for every command on macOS. Everything that is not named here is denied, hard links among it. */
const BASE = `(version 1)
(deny default)
; A program that changes its user (sudo, ps) is never started: no rule allows it.
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
; By name: kern.procargs2 tells any process's arguments and environment to its user.
(allow sysctl-read
  (sysctl-name "kern.argmax") (sysctl-name "kern.hostname") (sysctl-name "kern.maxfiles")
  (sysctl-name "kern.maxfilesperproc") (sysctl-name "kern.maxproc") (sysctl-name "kern.ngroups")
  (sysctl-name "kern.osproductversion") (sysctl-name "kern.osrelease") (sysctl-name "kern.ostype")
  (sysctl-name "kern.osvariant_status") (sysctl-name "kern.osversion") (sysctl-name "kern.secure_kernel")
  (sysctl-name "kern.usrstack64") (sysctl-name "kern.version") (sysctl-name "sysctl.proc_cputype")
  (sysctl-name "vm.loadavg") (sysctl-name-prefix "hw.") (sysctl-name-prefix "machdep.cpu.")
  (sysctl-name-prefix "net.routetable."))
; What the Java machine and V8 ask about processors counts as writing.
(allow sysctl-write (sysctl-name "kern.grade_cputype") (sysctl-name "kern.tcsm_enable"))
; Users and groups (getpwuid, id). No keychain, no clipboard, no preferences, no other program's service.
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
; Locks and shared memory of Python's multiprocessing and OpenMP.
(allow ipc-posix-sem)
(allow ipc-posix-shm* (ipc-posix-name-regex #"^/(psm_|__KMP_REGISTERED_LIB_)"))
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* (require-all (regex #"^/dev/ttys[0-9]+") (extension "com.apple.sandbox.pty")))
(allow file-ioctl
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom")
  (literal "/dev/dtracehelper") (regex #"^/dev/ttys[0-9]+"))
(allow file-write-data
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/stdout") (literal "/dev/stderr") (subpath "/dev/fd"))
(allow file-read*)
(allow file-map-executable)`;

/** Sockets by name that resolve hosts, and what checks certificates (as in Nix's profile). */
const NETWORK = `(allow system-socket)
(allow network* (local ip) (remote ip))
(allow network-outbound (remote unix-socket (path-literal "/private/var/run/mDNSResponder")))
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.trustd")
  (global-name "com.apple.trustd.agent"))`;

/**
 * The whole text.
 * @param tmp the folder of the run in which Unix sockets may be made and reached.
 * @throws SandboxError for a path that no rule can name safely.
 */
export function profileText(options: {
  readonly rules: readonly Rule[];
  readonly tmp: string;
  readonly shellNetwork: boolean;
}): string {
  const tmp = `(subpath ${schemeString(options.tmp)})`;
  return [
    BASE,
    ...options.rules.map(ruleText),
    ...(options.shellNetwork ? [NETWORK] : ['(allow system-socket (socket-domain AF_UNIX))']),
    `(allow network-bind network-inbound (local unix-socket ${tmp}))`,
    `(allow network-outbound (remote unix-socket ${tmp}))`,
    '',
  ].join('\n');
}

function ruleText({ verdict, operations, filter, text }: Rule): string {
  return `(${verdict} ${operations} (${filter} ${schemeString(text)}))`;
}

/** A string of the profile. What a control character does there is not known: none is let in. */
function schemeString(text: string): string {
  if (/[\u0000-\u001f\u007f]/u.test(text)) {
    throw new SandboxError(
      `The sandbox cannot name ${quote(text)}, which has a control character in it. Rename it`,
    );
  }
  return `"${text.replace(/["\\]/gu, '\\$&')}"`;
}

/** A pattern for names right in a folder and all below them, in any mixture of case: the file system knows no difference. */
export function namesPattern(folder: string, names: readonly string[]): string {
  const patterns = names.map((name) =>
    [...name]
      .map((letter) => (/[a-z]/u.test(letter) ? `[${letter}${letter.toUpperCase()}]` : escaped(letter)))
      .join(''),
  );
  return `^${escaped(folder)}/(${patterns.join('|')})(/|$)`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^$(){}|[\]\\]/gu, '\\$&');
}
