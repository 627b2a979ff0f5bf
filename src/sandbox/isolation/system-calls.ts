/**
 * A seccomp filter for all processes in the sandbox. No namespace isolates the kernel's keyrings: without the filter a
 * command can read the runner's session keyring, and a key that it adds remains for the next job. The filter also
 * denies new user namespaces, in which a process has every capability, socket families that a network namespace does
 * not contain (AF_VSOCK), and kernel interfaces with a history of privilege escalation that no build or test needs.
 * `ptrace` is allowed: debuggers and sanitizers use it, it only reaches processes of the PID namespace, and the filter
 * also applies to a traced process.
 */

type Rule = 'refuse' | 'no-user-namespace' | 'known-family' | 'no-socket';

interface Call {
  readonly name: string;
  readonly rule: Rule;
  readonly errno: number;
  /** The number for each architecture; null if the call does not exist there. */
  readonly x64: number | null;
  readonly i386: number | null;
  readonly arm64: number | null;
}

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const row = (
  name: string,
  [x64, i386, arm64]: readonly [number | null, number | null, number | null],
  rule: Rule = 'refuse',
  errno = EPERM,
): Call => ({ name, rule, errno, x64, i386, arm64 });

/** System calls that are denied always or with some arguments. */
const CALLS: readonly Call[] = [
  row('add_key', [248, 286, 217]),
  row('request_key', [249, 287, 218]),
  row('keyctl', [250, 288, 219]),
  row('unshare', [272, 310, 97], 'no-user-namespace'),
  row('clone', [56, 120, 220], 'no-user-namespace'),
  // Its flags are in memory, which a filter cannot read. The C libraries fall back to clone if clone3 is missing.
  row('clone3', [435, 435, 435], 'refuse', ENOSYS),
  row('setns', [308, 346, 268]),
  row('socket', [41, 359, 198], 'known-family', EAFNOSUPPORT),
  row('socketpair', [53, 360, 199], 'known-family', EAFNOSUPPORT),
  // One call for all socket operations, with the arguments in memory: 32-bit glibc programs get no sockets, only socket
  // pairs.
  row('socketcall', [null, 102, null], 'no-socket', EAFNOSUPPORT),
  // A ring creates sockets and opens files without a system call that the filter sees.
  row('io_uring_setup', [425, 425, 425]),
  row('io_uring_enter', [426, 426, 426]),
  row('io_uring_register', [427, 427, 427]),
  row('userfaultfd', [323, 374, 282]),
  row('bpf', [321, 357, 280]),
  row('perf_event_open', [298, 336, 241]),
  // The kernel log is that of the whole machine.
  row('syslog', [103, 103, 116]),
];

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. All others are denied, including those that need a kernel module. */
const FAMILIES: readonly number[] = [1, 2, 10, 16];
const CLONE_NEWUSER = 0x1000_0000;
/** SYS_SOCKET, a call number of socketcall. */
const SOCKETCALL_SOCKET = 1;
/** Numbers from here on belong to x32, which is not in the table. */
const X32_BIT = 0x4000_0000;

/** The kernel's architecture ids (AUDIT_ARCH_*, linux/audit.h), with the table's column for each. */
const ABIS = {
  x64: [
    { id: 0xc000_003e, column: 'x64' },
    { id: 0x4000_0003, column: 'i386' },
  ],
  // 32-bit programs are denied: few of these machines run them, and the filter could not be tested with them.
  arm64: [{ id: 0xc000_00b7, column: 'arm64' }],
} as const;

/** The number of prctl, with which a process installs a filter for itself. */
const PRCTL = { x64: 157, arm64: 167 } as const;

// Classic BPF (linux/bpf_common.h) and the decisions of seccomp(2).
const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_GREATER_OR_EQUAL = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const fail = (errno: number) => 0x0005_0000 | errno;
// Offsets in struct seccomp_data. Of an argument, only the lower half, which is all that the kernel uses of these.
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

interface Instruction {
  readonly code: number;
  readonly value: number;
  /** Number of instructions to skip if a comparison is true, and if it is false. */
  readonly whenTrue?: number;
  readonly whenFalse?: number;
}

/**
 * Returns the filter in the kernel's format (an array of `struct sock_filter`), or null for an architecture that is not
 * in the table.
 */
export function systemCallFilter(architecture: string): Buffer | null {
  if (architecture !== 'x64' && architecture !== 'arm64') return null;
  const program: Instruction[] = [{ code: LOAD, value: ARCHITECTURE }];
  for (const { id, column } of ABIS[architecture]) {
    const body = [
      { code: LOAD, value: NUMBER },
      ...(column === 'x64' ? guarded(JUMP_GREATER_OR_EQUAL, X32_BIT, [answer(fail(ENOSYS))]) : []),
      ...CALLS.flatMap((call) => {
        const number = call[column];
        return number === null ? [] : guarded(JUMP_EQUAL, number, decide(call));
      }),
      answer(ALLOW),
    ];
    program.push(...guarded(JUMP_EQUAL, id, body));
  }
  program.push(answer(KILL_PROCESS));
  return Buffer.concat(program.map(encode));
}

/**
 * Returns the words that start a program with the filter by means of Perl, an essential package in Debian and Ubuntu,
 * where nothing else can set it. The process must already have set `no_new_privs`.
 */
export function filteredByPerl(perl: string, architecture: string): readonly string[] {
  const filter = systemCallFilter(architecture);
  if (filter === null || (architecture !== 'x64' && architecture !== 'arm64')) return [];
  const script = [
    "my $filter = pack('H*', shift @ARGV)",
    // struct sock_fprog
    "my $program = pack('S x![P] P', length($filter) / 8, $filter)",
    // PR_SET_SECCOMP, SECCOMP_MODE_FILTER
    `syscall(${PRCTL[architecture]}, 22, 2, $program, 0, 0) == 0 or die "The system call filter could not be set: $!\\n"`,
    'exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n"',
  ];
  return [perl, '-f', '-e', script.join('; '), filter.toString('hex')];
}

function decide({ rule, errno }: Call): readonly Instruction[] {
  const refused = answer(fail(errno));
  const argument = { code: LOAD, value: FIRST_ARGUMENT };
  switch (rule) {
    case 'refuse':
      return [refused];
    case 'no-user-namespace':
      return [argument, ...guarded(JUMP_ANY_BIT, CLONE_NEWUSER, [refused]), answer(ALLOW)];
    case 'known-family':
      return [
        argument,
        ...FAMILIES.flatMap((family) => guarded(JUMP_EQUAL, family, [answer(ALLOW)])),
        refused,
      ];
    case 'no-socket':
      return [argument, ...guarded(JUMP_EQUAL, SOCKETCALL_SOCKET, [refused]), answer(ALLOW)];
  }
}

/** Returns instructions that are skipped unless the comparison is true. */
function guarded(code: number, value: number, body: readonly Instruction[]): readonly Instruction[] {
  return [{ code, value, whenTrue: 0, whenFalse: body.length }, ...body];
}

function answer(value: number): Instruction {
  return { code: RETURN, value };
}

function encode({ code, value, whenTrue = 0, whenFalse = 0 }: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(whenTrue, 2);
  bytes.writeUInt8(whenFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
