/**
 * A seccomp filter for everything that runs in the sandbox. No namespace holds the kernel's keyrings: without the filter
 * a command reads the runner's session keyring, and a key that it adds is there for the next job. The filter also refuses
 * new user namespaces, in which a process has every capability, socket families that a network namespace does not
 * contain (AF_VSOCK), and interfaces of the kernel with a history of privilege escalation that no build or test needs.
 * `ptrace` stays: debuggers and sanitizers use it, it reaches the processes of the PID namespace only, and the filter
 * holds for a traced process too.
 */

/** How a system call is decided where it is not simply refused. */
type Rule = 'refuse' | 'no-user-namespace' | 'known-family' | 'no-socket';

interface Call {
  readonly name: string;
  readonly rule: Rule;
  readonly errno: number;
  /** Numbers by architecture; null where it does not exist. */
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

/** What is not passed on to the kernel, or not with every argument. */
const CALLS: readonly Call[] = [
  row('add_key', [248, 286, 217]),
  row('request_key', [249, 287, 218]),
  row('keyctl', [250, 288, 219]),
  row('unshare', [272, 310, 97], 'no-user-namespace'),
  row('clone', [56, 120, 220], 'no-user-namespace'),
  // Its flags lie in memory, where no filter can look. The C libraries fall back on clone where there is no clone3.
  row('clone3', [435, 435, 435], 'refuse', ENOSYS),
  row('setns', [308, 346, 268]),
  row('socket', [41, 359, 198], 'known-family', EAFNOSUPPORT),
  row('socketpair', [53, 360, 199], 'known-family', EAFNOSUPPORT),
  // One call for all of them, with the arguments in memory: 32-bit programs of glibc have no sockets, only pairs.
  row('socketcall', [null, 102, null], 'no-socket', EAFNOSUPPORT),
  // A ring makes sockets and opens files without a system call that the filter sees.
  row('io_uring_setup', [425, 425, 425]),
  row('io_uring_enter', [426, 426, 426]),
  row('io_uring_register', [427, 427, 427]),
  row('userfaultfd', [323, 374, 282]),
  row('bpf', [321, 357, 280]),
  row('perf_event_open', [298, 336, 241]),
  // The kernel's log is that of the whole machine.
  row('syslog', [103, 103, 116]),
];

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: others are refused, those that only come with a kernel module included. */
const FAMILIES: readonly number[] = [1, 2, 10, 16];
const CLONE_NEWUSER = 0x1000_0000;
/** Of socketcall: SYS_SOCKET. */
const SOCKETCALL_SOCKET = 1;
/** Numbers from here on are those of x32, which the table does not hold. */
const X32_BIT = 0x4000_0000;

/** The kernel's names of architectures (AUDIT_ARCH_*, linux/audit.h), with the table's column for each. */
const ABIS = {
  x64: [
    { id: 0xc000_003e, column: 'x64' },
    { id: 0x4000_0003, column: 'i386' },
  ],
  // 32-bit programs are refused: few of these machines run them, and none of ours could try the filter.
  arm64: [{ id: 0xc000_00b7, column: 'arm64' }],
} as const;

/** The number of prctl, with which a process gives itself a filter. */
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
// struct seccomp_data; of an argument the lower half, which is all that the kernel takes of these.
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

interface Instruction {
  readonly code: number;
  readonly value: number;
  /** How many instructions are skipped where a comparison holds, and where it does not. */
  readonly whenTrue?: number;
  readonly whenFalse?: number;
}

/** The filter as the kernel takes it (an array of `struct sock_filter`), or null for an architecture without a table. */
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
 * The words that start a program with the filter where nothing else can set it: Perl, which Debian and Ubuntu cannot be
 * without. The process must have given up gaining privileges before (`no_new_privs`).
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

/** Instructions that are skipped unless the comparison holds. */
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
