/**
 * The util-linux backend, by root or `sudo -n`: the root file system is built once, in namespaces that live as long as
 * this process, and commands enter them. The layer is an overlay, or a copy if none can be mounted.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxError } from '../errors.ts';
import { isInside } from '../files/real-paths.ts';
import { race } from '../text/wait.ts';
import type { Backend } from './command.ts';
import { SYSTEM_ENVIRONMENT, SYSTEM_FOLDERS, tryWords } from './host-program.ts';
import { shellWord } from './sandbox.ts';
import { CLEAN, COPY_WITHIN, type Identity } from './scratch.ts';
import { listMounts, type RootPlan } from './system-root.ts';

/** Absolute paths of the programs. */
export interface UnsharePrograms {
  readonly unshare: string;
  readonly nsenter: string;
  readonly setpriv: string;
  /** The words before a command of root; empty if this process is root. */
  readonly asRoot: readonly string[];
}

function namespaceArguments(shellNetwork: boolean): readonly string[] {
  return `--mount --pid --fork --ipc --uts${shellNetwork ? '' : ' --net'}`.split(' ');
}

/** Returns why namespaces cannot be made here, or null. */
export async function probeUnshare(
  { asRoot, unshare }: UnsharePrograms,
  shellNetwork: boolean,
): Promise<string | null> {
  const namespaces = [...namespaceArguments(shellNetwork), '--mount-proc', '/bin/sh', '-c', ':'];
  return tryWords([...asRoot, unshare, ...namespaces], 'unshare did not end');
}

/** Builds the root. @throws SandboxError with what the machine said if it cannot be built */
export async function startUnshareBackend(
  programs: UnsharePrograms,
  plan: RootPlan,
  identity: Identity,
  signal: AbortSignal,
): Promise<Backend> {
  const { run, shellNetwork } = plan;
  const mark = `sandbox-${randomBytes(8).toString('hex')}`;
  const words = [programs.unshare, ...namespaceArguments(shellNetwork), '/bin/sh', '-c'];
  const script = [
    [...words, rootScript(plan, identity, mark)].map(shellWord).join(' '),
    'code=$?',
    `cd / && rm -rf -- ${shellWord(run)} 2>/dev/null`,
    'exit $code',
  ].join('\n');
  const [file = '', ...args] = [...programs.asRoot, '/bin/sh', '-s'];
  // Detached, so that Ctrl-C in its terminal does not end it before this process has used it.
  const holder = spawn(file, args, { cwd: '/', env: SYSTEM_ENVIRONMENT, detached: true, stdio: 'pipe' });
  let complaint = '';
  holder.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < 1_000) complaint += chunk.toString('utf8');
  });
  holder.stdin.on('error', () => undefined);
  const ended = once(holder, 'close').catch((error: Error) => {
    complaint = error.message;
  });
  const lines = createInterface({ input: holder.stdout })[Symbol.asyncIterator]();
  // All of it is read before any of it runs; what follows on stdin is for the holder.
  holder.stdin.write(`{\n${script}\n}; exit\n`);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(COPY_WITHIN)]);
  const up = await race(lines.next(), limit).catch(() => null);
  const [, pid, layer, users] = /^up (\d+) (overlay|copy) (yes|no)$/u.exec(String(up?.value)) ?? [];
  if (pid === undefined) {
    holder.stdin.end();
    if (up !== null) await ended;
    const reason = up === null ? `not within ${COPY_WITHIN / 1000} s` : complaint.trim().split('\n')[0];
    throw new SandboxError(`The sandbox could not be built: ${reason || 'no reason was given'}.`);
  }
  let hasEnded = false;
  const usersFile = users === 'yes' ? `/proc/${pid}/root/dev/${mark}-user` : null;
  return {
    name: 'unshare',
    layer: layer === 'copy' ? 'copy' : 'overlay',
    words: enterWords(programs, plan, identity, { pid, mark, usersFile }),
    asRoot: programs.asRoot,
    // As the same user, a command can stop what started it.
    endsWithGroup: programs.asRoot.length === 0,
    // The holder kills: another process may have its number by the time that a program of ours looks for it.
    async killInside() {
      holder.stdin.write('kill\n');
      // It answers when it has killed.
      hasEnded = (await lines.next()).done === true;
    },
    findFailure: async () => (hasEnded ? 'the process that holds its namespaces has ended' : null),
    async close() {
      holder.stdin.end();
      // What is still to be removed then is removed after this process has exited.
      await Promise.race([ended, sleep(5_000, undefined, { ref: false })]);
      holder.unref();
    },
  };
}

/**
 * Returns the words that run a program in the namespaces of the holder, as the user without privileges.
 * @param holder its pid, the name of a file in its /dev, and the file that is the user namespace of the commands
 */
function enterWords(
  { nsenter, setpriv }: UnsharePrograms,
  { shellNetwork }: RootPlan,
  { uid, gid }: Identity,
  holder: { readonly pid: string; readonly mark: string; readonly usersFile: string | null },
): readonly string[] {
  const { pid, mark, usersFile } = holder;
  const enter = [
    // If the holder has died, another process may have its number.
    `[ -e /dev/${mark} ] || exit 125`,
    // The pipe belongs to root; as /dev/stderr it is opened again.
    ...(uid !== 0 ? ['chmod 666 /proc/self/fd/1'] : []),
    // Without exec: nsenter stops with the process that it starts, which must not be one of the agent. Root could change
    // the mode of the machine's own /dev/null by a descriptor.
    '"$@" </dev/null',
    'exit $?',
  ].join('\n');
  return [
    ...[nsenter, ...`--target ${pid} --mount --pid --ipc --uts`.split(' ')],
    ...(shellNetwork ? [] : ['--net']),
    ...(usersFile === null ? [] : [`--user=${usersFile}`]),
    ...['/bin/sh', '-c', enter, 'sh'],
    ...[setpriv, ...`--reuid ${uid} --regid ${gid} --clear-groups --no-new-privs`.split(' ')],
    ...['--inh-caps=-all', '--bounding-set=-all'],
  ];
}

/** Makes the layer over the checkout, at `layer/merged`: what the agent writes never reaches the checkout. */
const LAYER = `
mkdir layer/upper layer/work layer/merged
chown $owner layer/upper
chmod "$(stat -c %a lower/.)" layer/upper
folders=lowerdir=lower,upperdir=layer/upper,workdir=layer/work
layer=overlay
if ! mount -t overlay -o $folders overlay layer/merged 2>/dev/null; then
  layer=copy
  cp -a -- lower/. layer/copy
  mount --bind layer/copy layer/merged
fi
mount -o remount,bind,nodev layer/merged
(cd layer/merged; . ../../${CLEAN})`;

/**
 * Makes all mounts by one process, after all mount points by another: a process for each would take longer than all the
 * rest. A mount is $1, whose mount point is $2, as the entry $3. What another program removed meanwhile has nothing to
 * show. A folder may hold device files. nosuid is not needed: with no_new_privs a set-user-ID program is like any other.
 */
const MOUNT = `
show() { if [ -d "$1" ]; then printf '%s\\0' "$2"; else printf '%s\\0' "\${2%/*}"; fi; }
open() { printf '%s\\0' "$1" "$2"; }
link() { printf '%s\\0' "\${2%/*}"; }
mounts | xargs -0 mkdir -p --
show() {
  [ -e "$1" ] || return 0
  [ -e "$2" ] || : > "$2"
  printf '%s none bind,ro,nodev\\n' "$3"
}
open() { printf '%s none bind\\n' "$3"; }
link() { ln -s "$1" "$2"; }
mounts > table
mount --all --fstab table`;

/** With the half of the memory that home and /tmp may take, /dev/shm must not take all of it. */
const DEVICES = `
mount -t tmpfs none root/dev
: > root/dev/$mark
mkdir root/dev/pts root/dev/shm
for name in null zero full random urandom tty; do
  : > root/dev/$name
  mount -o bind,ro /dev/$name root/dev/$name
done
mount -t devpts -o ptmxmode=0666 none root/dev/pts
mount -t tmpfs -o size=10% none root/dev/shm
(cd root/dev; ln -s pts/ptmx ptmx; ln -s /proc/self/fd fd; ln -s fd/0 stdin; ln -s fd/1 stdout; ln -s fd/2 stderr)`;

/**
 * Makes a user namespace for the commands, held by a file, unless none can be made here. All users are the same in it,
 * and no user namespace can be made in it: in one of its own a command could take down the mounts over its folders, that
 * of the context among them.
 */
const USERS = `
users=no
if unshare --user true 2>/dev/null; then
  users=yes
  unshare --user sleep 60 &
  sleeper=$!
  for kind in uid gid; do
    map=$(while read -r first rest count; do echo "$first $first $count"; done < /proc/self/\${kind}_map)
    tries=0
    until echo "$map" 2>/dev/null > "root/proc/$sleeper/\${kind}_map"; do
      tries=$((tries + 1))
      [ $tries -lt 500 ]
      sleep 0.01
    done
  done
  : > root/dev/$mark-user
  mount --bind "root/proc/$sleeper/ns/user" root/dev/$mark-user
  kill -s KILL "$sleeper"
  nsenter --user=root/dev/$mark-user -- sh -c 'echo 0 > root/proc/sys/user/max_user_namespaces'
fi`;

/**
 * Returns the script of the holder: it builds the root, enters it, prints `up`, its pid and the kind of layer, and then
 * kills all other processes in its namespace at each line of its stdin. Everything ends with its stdin. Its pid is read
 * from the host's /proc, so that it is the one outside; private/ is a tmpfs, whose limit is half of the memory. Root can
 * write core_pattern and the like in /proc without any capability. The loop waits for a subshell, thus for all that
 * died; without one `command` goes on.
 */
function rootScript(plan: RootPlan, { uid, gid }: Identity, mark: string): string {
  const { run } = plan;
  const places = { tmp: `${run}/private/tmp`, home: `${run}/private/home`, layer: `${run}/layer/merged` };
  const all = listMounts(plan, places);
  /** Where a mount point is made: in the folder that will be mounted around it, or in the new root. */
  const pointOf = (at: string) => {
    const outer = all.findLast((one) => one.kind === 'open' && one.at !== at && isInside(at, one.at));
    return outer === undefined ? `${run}/root${at}` : join(outer.from, relative(outer.at, at));
  };
  const mounts = all.map(({ kind, from, at }) => {
    // As fstab(5) writes paths.
    const octal = (mark: string) => `\\${mark.charCodeAt(0).toString(8).padStart(3, '0')}`;
    const entry = [from, `${run}/root${at}`].map((path) => path.replace(/[ \t\n\\]/gu, octal)).join(' ');
    return `${kind} ${shellWord(from)} ${shellWord(pointOf(at))} ${shellWord(entry)}`;
  });
  return `set -eu
PATH=${SYSTEM_FOLDERS.join(':')}
umask 022
owner=${uid}:${gid} mark=${mark}
read -r self rest < /proc/self/stat
cd ${shellWord(run)}${LAYER}
mount -t tmpfs none private
mkdir -m 1777 private/tmp
mkdir -m 0700 private/home
mount -t tmpfs none root
mkdir root/proc root/dev root/old
mounts() {
${mounts.join('\n')}
}${MOUNT}
chown -R $owner private/tmp private/home
mount -t proc proc root/proc${DEVICES}${USERS}
mount -o remount,ro root/dev
[ ! -e root/proc/keys ] || mount --bind root/dev/null root/proc/keys
mount -o remount,bind,ro root/proc
${plan.shellNetwork ? '' : 'ip link set lo up 2>/dev/null || :'}
mount -o remount,ro root
cd root
pivot_root . old
cd /
umount -l /old
echo "up $self $layer $users"
set +e
while read -r line; do
  kill -s KILL -- -1
  command eval '(:)'
  echo killed
done 2>/dev/null`;
}
