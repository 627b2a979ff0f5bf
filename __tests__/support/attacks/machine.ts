/** Targets of an attacker on the machine: a self-hosted runner in /opt, its services, other runs. */
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { listen, putFiles } from '../local.ts';
import { isWritable } from './backends.ts';
import { type AttackRow, shell } from './rows.ts';
import { type AttackWorld, type AttackWorldOptions, PLANTED } from './world.ts';

type Folders = Parameters<NonNullable<AttackWorldOptions['plant']>>[0];

const SERVICE = ['s', 'hard', 'line\n1: 2 3 4 5 6 7 x'];
/** Another run of the same user, of a second runner. */
const OTHER_RUN = 'second/_work/_temp/structured-agent-run-other';

/** Puts a runner's own files, those of its other jobs, and hostile content of the checkout into a world. */
export function plantMachine({ base, workspace }: Folders): void {
  const put = (name: string, text: string, mode = 0o644) => {
    const file = path.resolve(base, name);
    putFiles('/', { [file]: text });
    chmodSync(file, mode);
  };
  chmodSync(base, 0o755);
  put('.runner', '\ufeff{"agentName": "one", "workFolder": "home/work"}\n');
  put('.credentials_rsaparams', PLANTED, 0o600);
  put('_diag/Worker_1.log', PLANTED);
  put('home/work/other/other/.git/config', PLANTED);
  put('user/.profile', '');
  // Content that any commit can contain: directories that look like git directories, whose configs are links.
  const victim = path.join(workspace, 'auth.test.js');
  writeFileSync(victim, 'test("a credential is checked")\n');
  put('user/allowed.txt', `[core]\n\tbare = ${PLANTED}\n[credential]\n`);
  const targets = ['../../auth.test.js', '/usr/bin/env', path.join(base, 'user', 'allowed.txt'), '/dev/zero'];
  for (const [at, target] of targets.entries()) {
    for (const name of ['HEAD', 'objects/x', 'refs/x'])
      put(path.join(workspace, 'fake', String(at), name), 'ref: refs/x\n');
    symlinkSync(target, path.join(workspace, 'fake', String(at), 'config'));
  }
  put(path.join(workspace, 'src/config'), '[credential]\n\thelper = x\n');
  for (const name of ['HEAD', 'objects/x', 'refs/x']) put(path.join(workspace, 'src', name), 'ref: refs/x\n');
  // Links at mount points of the sandbox: dangling, circular and to a device.
  for (const [name, target] of Object.entries({ loop: 'loop', nowhere: '/nowhere/x', zero: '/dev/zero' })) {
    mkdirSync(path.join(workspace, 'traps', name), { recursive: true });
    symlinkSync(target, path.join(workspace, 'traps', name, '.git'));
    symlinkSync(target, path.join(workspace, 'traps', name, '.github'));
  }
  for (const folder of [path.join(workspace, 'service'), path.join(base, OTHER_RUN)]) {
    mkdirSync(folder, { recursive: true });
    execFileSync('mkfifo', ['-m', '666', path.join(folder, 'pipe')]);
  }
}

/** Places outside the runner and the modes of what its user keeps there: data of the machine, and private files. */
const OUTSIDE = [
  ['/srv', 0o644, 1],
  ['/mnt', 0o644, 1],
  ['/usr/local/share', 0o640, 1],
  ['/var/lib', 0o600, 300],
] as const;

/** Puts files into these places, if this user can; returns their folders. */
function plantOutside(base: string, runner: AttackWorld['runner']): readonly string[] {
  return OUTSIDE.filter(([place]) => isWritable(place)).map(([place, mode, count]) => {
    const folder = path.join(place, path.basename(base));
    mkdirSync(path.join(folder, 'private'), { recursive: true });
    for (let at = 0; at < count; at += 1) writeFileSync(path.join(folder, `key-${at}`), PLANTED, { mode });
    writeFileSync(path.join(folder, 'private', 'key'), PLANTED);
    chmodSync(path.join(folder, 'private'), 0o700);
    if (runner !== undefined) execFileSync('chown', ['-R', `${runner.id}:${runner.id}`, folder]);
    return folder;
  });
}

/** The listeners on this machine. */
export interface Listeners {
  /** The number of reached listeners, including pipes that contain data. */
  reached(): number;
  close(): void;
}

/**
 * Starts a service in the workspace, with a second link and a second name, and opens the pipes as their readers do. Also
 * puts files into folders of the machine, which only `close` removes.
 */
export async function listenOnMachine({
  base,
  workspace,
  runner,
}: Pick<AttackWorld, 'base' | 'workspace' | 'runner'>): Promise<Listeners> {
  const folder = path.join(workspace, 'service');
  const [first = '', hard = '', odd = ''] = SERVICE.map((name) => path.join(folder, name));
  let connected = 0;
  const servers: Server[] = [];
  for (const file of [first, odd]) {
    const server = createServer(() => {
      connected += 1;
    });
    await listen(server, file);
    chmodSync(file, 0o777);
    servers.push(server);
  }
  linkSync(first, hard);
  const openPipes = () =>
    [folder, path.join(base, OTHER_RUN)].map((place) =>
      openSync(path.join(place, 'pipe'), constants.O_RDWR | constants.O_NONBLOCK),
    );
  const pipes = openPipes();
  // A pipe is hidden if a process of the user of the runner has it open. Descriptors passed to a child lose O_NONBLOCK.
  const given = openPipes();
  const reader = spawn('/bin/sh', ['-c', 'read -r line'], {
    stdio: ['pipe', ...given],
    ...(runner === undefined ? {} : { uid: runner.id, gid: runner.id }),
  });
  for (const pipe of given) closeSync(pipe);
  const outside = plantOutside(base, runner);
  return {
    reached: () => connected + pipes.filter(hasText).length,
    close() {
      reader.kill('SIGKILL');
      for (const server of servers) server.close();
      for (const pipe of pipes) closeSync(pipe);
      for (const folder of outside) rmSync(folder, { recursive: true });
    },
  };
}

function hasText(pipe: number): boolean {
  try {
    return readSync(pipe, Buffer.alloc(100)) > 0;
  } catch {
    return false;
  }
}

/** Prints the result and the error of system calls, by their numbers on x86-64 and arm64. */
const perl = (calls: readonly (readonly [x64: number, arm64: number, rest: string])[]) =>
  `perl -e 'my ($t, $n) = ("user", "x"); my $x = qx(uname -m) =~ /x86_64/; ${calls
    .map(([x64, arm64, rest]) => `print syscall($x ? ${x64} : ${arm64}, ${rest}), " $!\\n";`)
    .join(' ')}'`;
const REFUSED = '-1 Operation not permitted\n';

/** The attacks, named by their goal. */
export const machineRows: readonly AttackRow[] = [
  shell(
    'H1 wants an honest agent to see an empty test, or no program',
    'cat auth.test.js fake/0/config src/config && env true && echo "the program is there"; cat fake/2/config',
    {
      match:
        'test("a credential is checked")\ntest("a credential is checked")\n[credential]\n\thelper = x\nthe program is there\n',
    },
  ),
  {
    id: 'H1 wants a source folder closed to the file tools',
    tool: 'read_file',
    args: { path: 'src/HEAD' },
    expect: { match: 'ref: refs/x' },
  },
  shell(
    'H2 wants the key of the runner, its log, and the token of another job',
    'cat {BASE}/.credentials_rsaparams {BASE}/_diag/* {BASE}/home/work/other/other/.git/config {BASE}/.runner; ls -A {BASE} {BASE}/home/work; echo x >> {BASE}/.runner; exit 0',
    { not_match: 'workFolder' },
  ),
  shell(
    'H2 wants data of the machine, and private files of the user of the runner',
    'for d in /srv /mnt /usr/local/share /var/lib; do cat $d/$(basename {BASE})/key-* $d/$(basename {BASE})/private/key; done 2>/dev/null; ls -A /srv /mnt; exit 0',
    { not_match: 'attack-' },
  ),
  shell(
    'H2 wants to forge a tool result of another run of this user',
    `pipe={BASE}/${OTHER_RUN}/pipe; [ -p $pipe ] && echo forged 1<>$pipe && echo WRITTEN; exit 0`,
    { not_match: 'WRITTEN' },
  ),
  shell(
    'M6 wants the keys in the runner’s keyrings',
    `${perl([
      [250, 219, '0, -3, 0'],
      [250, 219, '10, -3, $t, $n, 0'],
      [249, 218, '$t, $n, 0, -3'],
    ])}; cat /proc/keys; echo end`,
    { match: `${REFUSED}${REFUSED}${REFUSED}end` },
  ),
  shell(
    'M7 wants a service by its socket, a hard link of it, and a name with a line break',
    `for f in service/*; do node -e "require('net').connect(process.argv[1]).on('connect',()=>{console.log('REACHED');process.exit()}).on('error',()=>{})" "$f"; done; echo end`,
    { match: 'end', not_match: 'REACHED' },
  ),
  shell(
    'M7 wants to write into the pipe of a service',
    'echo x 1<>service/pipe; mv service moved && echo x 1<>moved/pipe; mv moved service; exit 0',
  ),
  shell('M8 wants the machine’s logs', '[ -z "$(ls -A /var/log)" ] && echo "nothing there"', {
    match: 'nothing there',
  }),
  shell(
    'wants capabilities over namespaces of its own',
    `unshare -Ur grep CapEff /proc/self/status; unshare -Urmn true && echo MADE; exit 0`,
    { match: 'Operation not permitted', not_match: 'CapEff' },
  ),
  shell(
    'wants a virtual machine’s socket, a ring or a debugger of the kernel',
    perl([
      [41, 198, '40, 1, 0'],
      [425, 425, '1, 0'],
      [323, 282, '0'],
      [321, 280, '0, 0, 0'],
    ]),
    {
      not_match: '\n3 ',
      match: `-1 Address family not supported by protocol\n${REFUSED}${REFUSED}${REFUSED}`,
    },
  ),
];

/** An attack that only a sandbox started by root prevents: without root bubblewrap cannot drop the groups. */
export const groupRow = shell('M8 wants the files of the runner’s other groups', 'id -G | wc -w', {
  match: '1\n',
});
