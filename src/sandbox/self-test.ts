/** Tests the sandbox from inside before the model runs any command: a broken one is detected, not assumed to work. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError } from '../errors.ts';
import { CONTEXT_FOLDER, type RunScript, shellWord } from './sandbox.ts';
import type { RootPlan } from './system-root.ts';

/** Runs all probes in one script. @throws SandboxError with the output line of the first failed probe */
export async function runSelfTest(plan: RootPlan, runScript: RunScript, signal: AbortSignal): Promise<void> {
  const sentinel = randomBytes(16).toString('hex');
  const file = join(plan.run, 'sentinel');
  await writeFile(file, sentinel);
  const bystander = await startBystander(sentinel);
  try {
    const limits = { maxBytes: 1_000, timeoutMs: 15_000, signal };
    const { stdout } = await runScript(await makeProbes(plan, sentinel, file), limits);
    const said = stdout.toString('utf8').trim() || 'the probes did not finish';
    if (said !== 'all probes passed') throw new SandboxError(`The sandbox failed its self-test: ${said}.`);
  } finally {
    bystander.kill('SIGKILL');
  }
}

/** Starts a process outside whose environment holds what that of this process holds: a text that nothing inside may read. */
async function startBystander(sentinel: string): Promise<ChildProcess> {
  const child = spawn('/bin/sh', ['-c', 'read -r line', sentinel], {
    env: { STRUCTURED_AGENT_SENTINEL: sentinel },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin?.on('error', () => undefined);
  await once(child, 'spawn');
  return child;
}

/** Returns a shell script that prints one line: which probe failed, or that none did. */
async function makeProbes(
  { workspace, home, gitFolders, shellNetwork }: RootPlan,
  sentinel: string,
  file: string,
): Promise<string> {
  const closed = gitFolders
    .map((folder) => join(workspace, folder))
    .flatMap((folder) => [folder, join(folder, 'config')]);
  const homeStats = await stat(home).catch(() => null);
  // The namespaces of this process, as the kernel names them (namespaces(7)).
  const kinds = ['mnt', 'pid', 'ipc', 'uts', ...(shellNetwork ? [] : ['net'])];
  const namespaces = await Promise.all(kinds.map((kind) => readlink(`/proc/self/ns/${kind}`)));
  // A pattern that does not match its own text, which is part of the command lines of these probes.
  const pattern = shellWord(`[${sentinel.slice(0, 1)}]${sentinel.slice(1)}`);
  return [
    'failed() { echo "$1"; exit 1; }',
    `while read -r key value rest; do case $key in
       CapInh:|CapPrm:|CapEff:|CapAmb:) case $value in *[!0]*) failed "a capability is left ($key $value)";; esac;;
       NoNewPrivs:) [ "$value" = 1 ] || failed "privileges can be gained (NoNewPrivs $value)";;
     esac; done < /proc/self/status || failed "/proc cannot be read"`,
    '{ read -r key < /proc/keys; } 2>/dev/null && failed "the keys of this machine are listed"',
    `cat /proc/[0-9]*/environ 2>/dev/null | grep -aq ${pattern} && failed "another process's environment can be read"`,
    `cat /proc/[0-9]*/cmdline 2>/dev/null | grep -aq ${pattern} && failed "processes outside can be seen"`,
    'spaces=$(readlink /proc/self/ns/*)',
    ...namespaces.map(
      (name) =>
        `case $spaces in *${shellWord(name)}*) failed ${shellWord(`a namespace is shared (${name})`)};; esac`,
    ),
    `[ -e ${shellWord(file)} ] && failed "the folder of the run can be seen"`,
    `[ "$(stat -c %d:%i ${shellWord(home)})" = ${homeStats?.dev}:${homeStats?.ino} ] && failed "the home folder is the machine's own"`,
    '[ -e /old/etc ] && failed "the machine\'s own root can be reached"',
    ...['/', '/etc', '/usr', '/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', ...closed].map(
      (path) => `[ -w ${shellWord(path)} ] && failed ${shellWord(`${path} can be written`)}`,
    ),
    `[ -e ${CONTEXT_FOLDER}/.start ] && ! [ -w ${CONTEXT_FOLDER} ] || failed "the context folder is missing, or can be written"`,
    '[ "$(ulimit -c)" = 0 ] || failed "a command has no limits"',
    '[ -w "$TMPDIR" ] || failed "the private /tmp cannot be written"',
    `[ -w ${shellWord(workspace)} ] || failed "the workspace cannot be written: it belongs to another user"`,
    'echo "all probes passed"',
  ].join('\n');
}
