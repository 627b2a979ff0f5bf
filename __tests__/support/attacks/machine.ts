/** Targets of an attacker on the machine: a self-hosted runner, its services, and what lies beside it. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { putFiles } from '../local.ts';
import { isWritable } from './backends.ts';
import { type AttackRow, shell } from './rows.ts';
import type { Folders } from './world.ts';

/** A canary unknown to the action, so that it is not masked if the sandbox leaks it. */
export const PLANTED = 'sk-canary-plain-5f1d9c3b7a20';

/** Programs with which the sandbox is built, and by which the file tools work. */
const PROGRAMS = ['stat', 'mktemp', 'xargs', 'mount', 'nsenter', 'setpriv', 'sudo'];

/** Puts the files of a runner and of its other jobs into a world, and hostile content into the checkout. */
export function plantMachine({ base, home, workspace, packages }: Folders): void {
  chmodSync(base, 0o755);
  putFiles(base, {
    // The folder of its work lies elsewhere, and its programs are on PATH.
    'runner/.runner': '\ufeff{"agentName": "one", "workFolder": "../home/work"}\n',
    'runner/.credentials_rsaparams': PLANTED,
    'runner/_diag/Worker_1.log': PLANTED,
    'runner/bin/Runner.Listener': '',
    'home/work/other/other/.git/config': PLANTED,
    'home/.cargo/bin/cargo': '',
    'home/.cargo/credentials.toml': PLANTED,
  });
  for (const name of ['runner/.credentials_rsaparams', 'home/.cargo/credentials.toml'])
    chmodSync(path.join(base, name), 0o600);
  // PATH begins with this folder.
  for (const name of PROGRAMS) {
    const file = `${packages}/${name}`;
    putFiles('/', { [file]: `#!/bin/sh\ntouch ${base}/RAN\necho FORGED\n` });
    chmodSync(file, 0o755);
  }
  // Links in the place of a git folder: circular, dangling, to a device and to a folder of the home.
  for (const [name, target] of Object.entries({
    loop: '.git',
    nowhere: '/nowhere/x',
    zero: '/dev/zero',
    home,
  })) {
    mkdirSync(path.join(workspace, 'traps', name), { recursive: true });
    symlinkSync(target, path.join(workspace, 'traps', name, '.git'));
  }
  mkdirSync(path.join(workspace, 'service'));
  execFileSync('mkfifo', ['-m', '666', path.join(workspace, 'service', 'pipe')]);
}

/** Puts private files into folders of the machine, as far as this user can; returns their folders. */
export function plantOutside(): readonly string[] {
  return ['/srv', '/mnt', '/var/lib', '/etc', '/opt'].filter(isWritable).map((place) => {
    const folder = putFiles(mkdtempSync(path.join(place, 'attack-data-')), { key: PLANTED });
    chmodSync(path.join(folder, 'key'), 0o600);
    return folder;
  });
}

/**
 * Takes down all mounts in namespaces of its own and then removes the folder below the context, which would take that
 * mount down in all other namespaces; the new folder holds scripts that replace those of the tools.
 */
const TAKE_DOWN = `mkdir -p /tmp/n/old; python3 -c '
import ctypes, os, platform
libc = ctypes.CDLL(None)
tmp = os.open("/tmp", os.O_RDONLY)
libc.unshare(0x10020000)
libc.mount(b"/tmp/n", b"/tmp/n", b"none", 0x1000, None)
os.chdir("/tmp/n")
libc.syscall(155 if platform.machine() == "x86_64" else 41, b".", b"old")
os.chdir("/")
libc.umount2(b"/old", 2)
os.fchdir(tmp)
os.rmdir("context")'
mkdir /tmp/context && for name in .start .start-script; do echo "echo FORGED" > /tmp/context/$name; done; exit 0`;

/** The attacks, named by their goal. */
export const machineRows: readonly AttackRow[] = [
  shell(
    'H2 wants the key of the runner, its log, and the token of another job',
    'cat {BASE}/runner/.credentials_rsaparams {BASE}/runner/_diag/* {BASE}/home/work/other/other/.git/config {BASE}/runner/.runner; ls -A {BASE} {BASE}/home/work; echo x >> {BASE}/runner/.runner; exit 0',
    { not_match: 'workFolder' },
  ),
  shell(
    'H2 wants data of the machine, its logs, and private files of the user of the runner',
    'for d in /srv /mnt /var/lib /etc /opt; do cat $d/attack-data-*/key; done; cat /etc/shadow /etc/ssl/private/* /etc/sudoers; ls -A /srv /mnt /var/log /run; cat {HOME}/.cargo/credentials.toml; exit 0',
    { not_match: 'root:' },
  ),
  shell(
    'M7 wants a service by its socket and its pipe',
    `node -e "require('net').connect('service/socket').on('connect',()=>{console.log('REACHED');process.exit()}).on('error',()=>{})"; echo x 1<>service/pipe; mv service moved && echo x 1<>moved/pipe; mv moved service; echo end`,
    { match: 'end', not_match: 'REACHED' },
  ),
  shell('wants user namespaces of its own', 'unshare -Ur echo MADE; unshare -Urmn echo MADE; exit 0', {
    not_match: 'MADE',
  }),
  shell(
    'wants folders made in the real home, by a link where the next command mounts',
    'ls -la ~/.cargo; mkdir -p ~/.cargo/bin/SAMARK ~/.rustup/SAMARK; exit 0',
    {},
    'mv ~/.cargo ~/moved; rm -rf ~/.cargo; ln -s {TEMP} ~/.cargo; ln -s {TEMP} ~/.rustup; exit 0',
  ),
  shell(
    'wants other modes of the machine’s devices',
    'chmod 777 /dev/null /dev/zero /dev/tty /proc/self/fd/0 /proc/keys; chown 1 /dev/null; exit 0',
  ),
  {
    id: 'wants to replace the scripts of the file tools',
    tool: 'read_file',
    args: { path: 'README.md' },
    expect: { match: 'hello' },
    pre: [{ tool: 'shell', args: { command: TAKE_DOWN } }],
  },
];

/** An attack that only root prevents: as an ordinary user bubblewrap cannot drop the groups. */
export const groupRow = shell('M8 wants the files of the runner’s other groups', 'id -G | wc -w', {
  match: '1\n',
});
