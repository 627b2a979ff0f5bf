/**
 * A stand-in for `/usr/bin/sandbox-exec -p PROFILE -- COMMAND …` on Linux: it reads the profile, and bubblewrap keeps
 * what the profile says about paths, the network and other processes. Like macOS it shows no /proc.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { decide, pathRules } from './seatbelt.ts';

const [flag, profile = '', dashes, ...command] = process.argv.slice(2);
if (flag !== '-p' || dashes !== '--' || command.length === 0) {
  process.stderr.write('sandbox-exec: usage: sandbox-exec -p PROFILE -- COMMAND\n');
  process.exit(64);
}
const paths = new Set(
  pathRules(profile)
    .filter(
      ({ filter, text }) =>
        filter !== 'regex' && text !== '/' && !text.startsWith('/dev') && existsSync(text),
    )
    .filter(({ operations }) => operations.some((name) => name === 'file-read*' || name === 'file-write*'))
    .map(({ text }) => text),
);
const mounts: string[] = [];
const closed: string[] = [];
for (const path of [...paths].sort((a, b) => a.length - b.length)) {
  const [reads, writes] = ['file-read-data', 'file-write-data'].map(
    (name) => decide(profile, name, path) === 'allow',
  );
  if (reads === true) mounts.push(writes === true ? '--bind' : '--ro-bind', path, path);
  else if (statSync(path).isDirectory()) {
    mounts.push('--tmpfs', path);
    closed.push('--remount-ro', path);
  }
  // A device on a mount without devices: nobody opens it.
  else mounts.push('--ro-bind', '/dev/null', path);
}
const offline = !profile.includes('(allow network* (local ip) (remote ip))');
const { status, signal } = spawnSync(
  '/usr/bin/bwrap',
  [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--tmpfs', '/proc', '--unshare-pid', '--die-with-parent'],
    ...(offline ? ['--unshare-net'] : []),
    ...[...mounts, ...closed, '--chdir', process.cwd(), '--', ...command],
  ],
  { stdio: [0, 1, 2, 3, 4] },
);
if (signal !== null) process.kill(process.pid, signal);
process.exit(status ?? 71);
