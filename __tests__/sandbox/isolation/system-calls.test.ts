import { expect, it } from 'vitest';
import { systemCallFilter } from '../../../src/sandbox/isolation/system-calls.ts';

const X64 = 0xc000_003e;
const I386 = 0x4000_0003;
const ARM64 = 0xc000_00b7;
const ARM = 0x4000_0028;
const USER = 0x1000_0000;
const THREAD = 0x003d_0f00;

interface SystemCall {
  readonly abi: number;
  readonly number: number;
  readonly first?: number;
}

/** The decision of the kernel for a call: the part of classic BPF that filters use (seccomp(2)). */
function decide(filter: Buffer, { abi, number, first = 0 }: SystemCall): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(abi, 4);
  data.writeUInt32LE(first, 16);
  let loaded = 0;
  for (let at = 0; at < filter.length; ) {
    const value = filter.readUInt32LE(at + 4);
    const holds: Readonly<Record<number, () => boolean>> = {
      21: () => loaded === value,
      53: () => loaded >= value,
      69: () => (loaded & value) !== 0,
    };
    const code = filter.readUInt16LE(at);
    const test = holds[code];
    if (test !== undefined) at += 8 * filter.readUInt8(at + (test() ? 2 : 3));
    else if (code === 32) loaded = data.readUInt32LE(value);
    else if (code === 6)
      return value === 0x7fff_0000 ? 'allowed' : value === 0x8000_0000 ? 'killed' : `errno ${value & 0xffff}`;
    else throw new Error(`unknown instruction ${code}`);
    at += 8;
  }
  throw new Error('the filter has no end');
}

const NAMES =
  'add request keyctl unshare clone socket pair bpf perf fault read write ptrace setns syslog'.split(' ');
// Numbers from the kernel's tables: arch/x86/entry/syscalls/syscall_{64,32}.tbl, include/uapi/asm-generic/unistd.h.
const decisions: readonly (readonly [string, 'x64' | 'arm64', SystemCall, string])[] = [
  ...(
    [
      ['x64', X64, [248, 249, 250, 272, 56, 41, 53, 321, 298, 323, 0, 1, 101, 308, 103]],
      ['x64', I386, [286, 287, 288, 310, 120, 359, 360, 357, 336, 374, 3, 4, 26, 346, 103]],
      ['arm64', ARM64, [217, 218, 219, 97, 220, 198, 199, 280, 241, 282, 63, 64, 117, 268, 116]],
    ] as const
  ).flatMap(([machine, abi, numbers]) => {
    const call = (name: string) => numbers[NAMES.indexOf(name)] ?? -1;
    const one = (what: string, number: number, expected: string, first = 0) =>
      [`${what} (${abi.toString(16)})`, machine, { abi, number, first }, expected] as const;
    return [
      one('add_key', call('add'), 'errno 1'),
      one('request_key', call('request'), 'errno 1'),
      one('keyctl', call('keyctl'), 'errno 1'),
      one('unshare of a user namespace', call('unshare'), 'errno 1', USER | 0x0002_0000),
      one('unshare of files', call('unshare'), 'allowed', 0x400),
      one('clone into a user namespace', call('clone'), 'errno 1', USER | 17),
      one('clone of a thread', call('clone'), 'allowed', THREAD),
      one('clone3', 435, 'errno 38'),
      one('setns', call('setns'), 'errno 1'),
      one('AF_VSOCK', call('socket'), 'errno 97', 40),
      one('AF_ALG', call('socket'), 'errno 97', 38),
      one('AF_UNIX', call('socket'), 'allowed', 1),
      one('AF_INET', call('socket'), 'allowed', 2),
      one('AF_INET6', call('socket'), 'allowed', 10),
      one('AF_NETLINK', call('socket'), 'allowed', 16),
      one('a pair of AF_UNIX', call('pair'), 'allowed', 1),
      one('a pair of AF_TIPC', call('pair'), 'errno 97', 30),
      one('io_uring_setup', 425, 'errno 1'),
      one('io_uring_enter', 426, 'errno 1'),
      one('io_uring_register', 427, 'errno 1'),
      one('bpf', call('bpf'), 'errno 1'),
      one('perf_event_open', call('perf'), 'errno 1'),
      one('userfaultfd', call('fault'), 'errno 1'),
      one('syslog', call('syslog'), 'errno 1'),
      one('read', call('read'), 'allowed'),
      one('write', call('write'), 'allowed'),
      one('ptrace', call('ptrace'), 'allowed'),
    ];
  }),
  ['socketcall(SYS_SOCKET) (i386)', 'x64', { abi: I386, number: 102, first: 1 }, 'errno 97'],
  ['socketcall(SYS_CONNECT) (i386)', 'x64', { abi: I386, number: 102, first: 3 }, 'allowed'],
  ['keyctl of x32', 'x64', { abi: X64, number: 0x4000_00fa }, 'errno 38'],
  ['number -1', 'x64', { abi: X64, number: 0xffff_ffff }, 'errno 38'],
  ['32-bit read', 'arm64', { abi: ARM, number: 3 }, 'killed'],
  ['a call of another architecture', 'x64', { abi: ARM64, number: 219 }, 'killed'],
];

it.each(decisions)('%s on %s', (_, machine, call, expected) => {
  const filter = systemCallFilter(machine);
  expect(filter === null ? null : decide(filter, call)).toBe(expected);
});

it('another architecture has no filter', () => {
  expect(systemCallFilter('riscv64')).toBeNull();
});
