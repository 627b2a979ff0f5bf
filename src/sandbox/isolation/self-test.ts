/**
 * Tests the sandbox from inside before the model runs any command, so that a broken sandbox is detected rather than
 * assumed to work.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { SandboxError } from '../../errors.ts';
import { type ProcessOptions, runProcess } from '../exec/process.ts';
import { quote } from '../exec/shell-line.ts';
import type { IsolationBackend } from './backend.ts';
import type { MountPlan } from './mount-plan.ts';

export interface SelfTestOptions extends Pick<MountPlan, 'unseen' | 'emptied' | 'masked'> {
  readonly backend: IsolationBackend;
  readonly process: ProcessOptions;
  readonly shell: string;
  readonly runFolder: string;
  readonly workspace: string;
  readonly workspaceWritable: boolean;
  /** Git configs that must not be writable. */
  readonly configs: readonly string[];
  readonly shellNetwork: boolean;
}

/**
 * A path outside the workspace that must be hidden is visible. Another process may have recreated it between the mounts
 * and the check; a restarted sandbox then hides it.
 */
export class VisiblePathError extends SandboxError {}

/** The exit code of a probe that found a visible path. */
const VISIBLE_PATH = 3;

/**
 * Runs all probes in one command.
 * @throws SandboxError with the output line of the first failed probe; VisiblePathError if it is about a hidden path.
 */
export async function runSelfTest(options: SelfTestOptions): Promise<void> {
  const sentinel = randomBytes(16).toString('hex');
  const secrets = join(options.runFolder, 'secret');
  await mkdir(secrets, { recursive: true, mode: 0o700 });
  const file = join(secrets, 'sentinel');
  await writeFile(file, sentinel);
  const bystander = await startBystander(options.shell, sentinel);
  const listener = await startListener();
  try {
    const expected = { ...options, unseen: [file, ...options.unseen] };
    const outside = await namespacesOf(options.shellNetwork);
    const script = probes(expected, { sentinel, port: listener.port, outside });
    const result = await runProcess(options.backend, script, options.process);
    const verdict = result.text.trim();
    if (result.exitCode !== 0 || verdict !== 'all probes passed') {
      const Failure = result.exitCode === VISIBLE_PATH ? VisiblePathError : SandboxError;
      throw new Failure(`The sandbox failed its self-test: ${verdict || 'the probes did not finish'}`);
    }
    if (!options.shellNetwork && listener.reached()) {
      throw new SandboxError('The sandbox failed its self-test: a listener outside was reached');
    }
  } finally {
    bystander.kill('SIGKILL');
    listener.server.close();
  }
}

/** Starts a process outside whose environment holds the same as that of this process, which nothing inside may read. */
async function startBystander(shell: string, sentinel: string): Promise<ChildProcess> {
  const child = spawn(shell, ['-c', 'read -r line', sentinel], {
    env: { STRUCTURED_AGENT_SENTINEL: sentinel },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin?.on('error', () => undefined);
  await once(child, 'spawn');
  return child;
}

async function startListener(): Promise<{ server: Server; port: number; reached: () => boolean }> {
  let reached = false;
  const server = createServer((socket) => {
    reached = true;
    socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { server, port, reached: () => reached };
}

/**
 * Returns the namespaces of this process, as the kernel names them (namespaces(7)); a command inside must be in none of
 * them.
 */
async function namespacesOf(shellNetwork: boolean): Promise<readonly string[]> {
  const kinds = ['mnt', 'pid', 'ipc', 'uts', ...(shellNetwork ? [] : ['net'])];
  return Promise.all(kinds.map((kind) => readlink(`/proc/self/ns/${kind}`)));
}

/** Returns a shell script, mostly of builtins, that prints one line: which probe failed, or that none did. */
function probes(
  options: SelfTestOptions,
  { sentinel, port, outside }: { sentinel: string; port: number; outside: readonly string[] },
): string {
  const { backend, workspace, workspaceWritable, configs, unseen, emptied, masked, shellNetwork } = options;
  // A pattern that does not match its own text, which is part of the command lines of these probes.
  const pattern = quote(`[${sentinel.slice(0, 1)}]${sentinel.slice(1)}`);
  return [
    'failed() { echo "$1"; exit 1; }',
    `visible() { echo "$1"; exit ${VISIBLE_PATH}; }`,
    `while read -r key value rest; do case $key in
       CapInh:|CapPrm:|CapEff:|CapAmb:) case $value in *[!0]*) failed "a capability is left ($key $value)";; esac;;
       NoNewPrivs:) [ "$value" = 1 ] || failed "privileges can be gained (NoNewPrivs $value)";;
       Seccomp:) [ "$value" = ${backend.filtersCalls === true ? 2 : '"$value"'} ] || failed "no system call is filtered (Seccomp $value)";;
     esac; done < /proc/self/status`,
    ...(backend.filtersCalls === true
      ? ['unshare --user true 2>/dev/null && failed "a user namespace can be made"']
      : []),
    '{ read -r key < /proc/keys; } 2>/dev/null && failed "the keys of this machine are listed"',
    `cat /proc/[0-9]*/environ 2>/dev/null | grep -aq ${pattern} && failed "another process's environment can be read"`,
    `cat /proc/[0-9]*/cmdline 2>/dev/null | grep -aq ${pattern} && failed "processes outside can be seen"`,
    'spaces=$(readlink /proc/self/ns/*)',
    ...outside.map(
      (name) => `case $spaces in *${quote(name)}*) failed ${quote(`a namespace is shared (${name})`)};; esac`,
    ),
    ...unseen.map(
      (path) => `[ -e ${quote(path)} ] && failed ${quote(`a hidden path can be seen (${path})`)}`,
    ),
    ...emptied.map(
      (path) =>
        `for _f in ${quote(path)}/* ${quote(path)}/.[!.]*; do [ -e "$_f" ] && visible ${quote(`a hidden folder is not empty (${path})`)}; done`,
    ),
    ...masked.map(
      (path) => `[ -s ${quote(path)} ] && visible ${quote(`a private file can be read (${path})`)}`,
    ),
    '[ -e /dev/.old ] && failed "the machine\'s own root can be reached (/dev/.old)"',
    '[ -w / ] && failed "the root folder can be written"',
    '[ -w /etc ] && failed "/etc can be written"',
    ...configs.map((path) => `[ -w ${quote(path)} ] && failed ${quote(`${path} can be written`)}`),
    '[ -w /proc/sys/kernel/core_pattern ] && failed "/proc/sys/kernel/core_pattern can be written"',
    '[ -w /proc/sysrq-trigger ] && failed "/proc/sysrq-trigger can be written"',
    '[ "$(ulimit -c)" = 0 ] || failed "a command has no limits"',
    '[ -w "$TMPDIR" ] && [ -e "$GIT_CONFIG_GLOBAL" ] || failed "the private /tmp is not there or cannot be written"',
    workspaceWritable
      ? `[ -w ${quote(workspace)} ] || failed "the workspace cannot be written: it belongs to another user"`
      : `[ -w ${quote(workspace)} ] && failed "the workspace can be written although it is read-only"`,
    ...(shellNetwork
      ? []
      : [`(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && failed "a listener outside can be reached"`]),
    'echo "all probes passed"',
  ].join('\n');
}
