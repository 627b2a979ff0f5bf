import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemCallFilter } from '../../../src/sandbox/isolation/system-calls.ts';
import type { OpenedSandbox } from '../../../src/sandbox/sandbox.ts';
import { createMark, createWorld, exec, shellWays, type World } from '../world.ts';

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

const PERL = '/usr/bin/perl';
const numbers = {
  x64: { add_key: 248, request_key: 249, keyctl: 250, io_uring_setup: 425, clone: 56, clone3: 435 },
  arm64: { add_key: 217, request_key: 218, keyctl: 219, io_uring_setup: 425, clone: 220, clone3: 435 },
}[process.arch === 'arm64' ? 'arm64' : 'x64'];
/** The keyrings of a thread's session, of its user, and of its user's sessions. */
const SESSION = -3;
const USERS = -4;
const USERS_SESSION = -5;
const mark = createMark('key');

/** A Perl command that makes system calls by number. */
const perl = (code: string) => `${PERL} -e '${code}'`;
const outside = (code: string) => spawnSync(PERL, ['-e', code], { encoding: 'utf8' }).stdout.trim();
const addKey = (name: string, ring: number) =>
  `my ($t, $n, $p) = ("user", "${name}", "held-${name}"); print syscall(${numbers.add_key}, $t, $n, $p, length $p, ${ring}), "\\n"`;
/** Prints the payload of a key, once for each keyring in which it is found. */
const readKey = (name: string) =>
  `for my $r (${SESSION}, ${USERS}, ${USERS_SESSION}) { my ($t, $n, $b) = ("user", "${name}", "\\0" x 100); my $id = syscall(${numbers.keyctl}, 10, $r, $t, $n, 0); $id > 0 and syscall(${numbers.keyctl}, 11, $id, $b, 100) > 0 and print $b =~ s/\\0+$//r, "\\n" }`;

const removeKey = (name: string) =>
  `my ($t, $n) = ("user", "${name}"); my $id = syscall(${numbers.keyctl}, 10, ${USERS_SESSION}, $t, $n, 0); syscall(${numbers.keyctl}, 9, $id, ${USERS_SESSION})`;

const hasKeyrings = existsSync(PERL) && Number(outside(addKey(mark, USERS_SESSION))) > 0;
afterAll(() => {
  if (hasKeyrings) outside(removeKey(mark));
});

describe.each(shellWays.filter(({ name }) => name !== 'none'))('behind $name', ({ options }) => {
  let world: World;
  let sandbox: OpenedSandbox;
  const run = async (command: string) => (await exec(sandbox, command)).output;
  beforeAll(async () => {
    world = await createWorld();
    sandbox = await world.openReady(options);
  });
  afterAll(() => world.close());

  it.runIf(hasKeyrings)('the keys of the runner cannot be read or listed', async () => {
    expect(outside(readKey(mark))).toContain(`held-${mark}`);
    expect(await run(perl(readKey(mark)))).toBe('');
    expect(await run('cat /proc/keys')).toBe('');
    const request = `my ($t, $n) = ("user", "${mark}"); print syscall(${numbers.request_key}, $t, $n, 0, ${SESSION}), " $!\\n"`;
    expect(await run(perl(request))).toBe('-1 Operation not permitted\n');
  });

  it.runIf(hasKeyrings)('no key can be left for the next job', async () => {
    for (const ring of [SESSION, USERS, USERS_SESSION])
      expect(await run(perl(addKey(`${mark}-planted`, ring)))).toBe('-1\n');
    expect(outside(readKey(`${mark}-planted`))).toBe('');
  });

  it('no user namespace gives a command capabilities', async () => {
    const clone = `print syscall(${numbers.clone}, ${USER | 17}, 0, 0, 0, 0), " $!\\n"`;
    const clone3 = `my $a = pack("Q8", ${USER}, 0, 0, 0, 17, 0, 0, 0); print syscall(${numbers.clone3}, $a, 64), " $!\\n"`;
    expect(await run(`unshare -Ur grep CapEff /proc/self/status; ${perl(clone)}; ${perl(clone3)}`)).toBe(
      'unshare: unshare failed: Operation not permitted\n-1 Operation not permitted\n-1 Function not implemented\n',
    );
  });

  it('no virtual socket and no io_uring can be created', async () => {
    const socket = (family: number) => `socket(my $s, ${family}, 1, 0) ? print "made\\n" : print "$!\\n"`;
    const ring = `my $p = "\\0" x 120; print syscall(${numbers.io_uring_setup}, 1, $p), " $!\\n"`;
    expect(await run([40, 1, 2, 10].map((family) => perl(socket(family))).join(';'))).toBe(
      'Address family not supported by protocol\nmade\nmade\nmade\n',
    );
    expect(await run(perl(ring))).toBe('-1 Operation not permitted\n');
  });

  it.runIf(process.arch === 'x64')('32-bit system calls cannot access keys', async () => {
    writeFileSync(join(world.workspace, 'int80'), keyctlOf32Bit(), { mode: 0o755 });
    // EPERM, or a segmentation fault if the kernel has no 32-bit calls.
    expect(await run('./int80; echo $?')).toMatch(/^(?:1|.*139)\n$/su);
  });

  it('the filter is not reported as a weakness', () => {
    expect(sandbox.weaknesses().join('\n')).not.toContain('seccomp');
  });
});

const byUtilLinux = shellWays.find(({ name }) => name.endsWith('unshare'));
it.runIf(byUtilLinux !== undefined)(
  'util-linux without Perl has no filter and reports a weakness',
  async () => {
    const world = await createWorld();
    const folder = join(world.base, 'helpers');
    mkdirSync(folder);
    for (const name of ['setpriv', 'unshare', 'nsenter', 'sudo'])
      symlinkSync(`/usr/bin/${name}`, join(folder, name));
    const sandbox = await world.openReady({
      ...byUtilLinux?.options,
      helperFolders: [folder],
      readable: [folder],
    });
    const { output } = await exec(sandbox, 'grep Seccomp: /proc/self/status; cat /proc/keys');
    expect([output, sandbox.weaknesses().filter((text) => text.includes('seccomp')).length]).toEqual([
      readFileSync('/proc/self/status', 'utf8').match(/^Seccomp:.*\n/mu)?.[0],
      1,
    ]);
    await world.close();
  },
);

/** A program that requests its session keyring with `int 0x80` and exits with the error number. */
function keyctlOf32Bit(): Buffer {
  const code = Buffer.from('b82001000031dbb9fdffffff31d2cd8089c7f7dfb83c0000000f05', 'hex');
  const start = 0x40_0000;
  const header = Buffer.alloc(120);
  Buffer.from('7f454c46020101', 'hex').copy(header);
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(62, 18);
  header.writeUInt32LE(1, 20);
  header.writeUInt32LE(start + header.length, 24);
  header.writeUInt32LE(64, 32);
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  header.writeUInt32LE(1, 64);
  header.writeUInt32LE(5, 68);
  header.writeUInt32LE(start, 80);
  header.writeUInt32LE(start, 88);
  for (const at of [96, 104]) header.writeUInt32LE(header.length + code.length, at);
  header.writeUInt32LE(0x1000, 112);
  return Buffer.concat([header, code]);
}
