/** Finds out, without looking at the workspace, how commands can be isolated on this machine, or what is missing. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SandboxError } from '../errors.ts';
import { probeBwrap } from './bwrap.ts';
import { findProgram, runOnHost } from './host-program.ts';
import type { SandboxOptions } from './sandbox.ts';
import { probeUnshare, type UnsharePrograms } from './unshare.ts';

export type Detected =
  | { readonly kind: 'bwrap'; readonly bwrap: string }
  | { readonly kind: 'unshare'; readonly programs: UnsharePrograms }
  /** Nothing works; the error says what is missing and how to fix it. */
  | { readonly kind: 'none'; readonly error: SandboxError };

export interface DetectOptions extends Pick<SandboxOptions, 'mode' | 'shellNetwork'> {
  /** Absolute paths of the folders in which programs are looked up. Default: the system's own. */
  readonly programFolders?: readonly string[];
  /** The operating system, as in `process.platform`. Default: that of this machine. */
  readonly platform?: NodeJS.Platform;
}

/** Tries bubblewrap as an ordinary user, then util-linux by root or `sudo -n`. Never rejects. */
export async function detectBackend(options: DetectOptions): Promise<Detected> {
  const { mode, shellNetwork, programFolders, platform = process.platform } = options;
  if (mode === 'off') return { kind: 'none', error: new SandboxError('The sandbox is off.') };
  if (platform !== 'linux') {
    const system = platform === 'darwin' ? 'macOS' : platform === 'win32' ? 'Windows' : platform;
    const text = `The sandbox needs Linux, and this machine runs ${system}. Fix: run it on Linux, in a workflow with \`runs-on: ubuntu-latest\`. ${WAY_OUT}`;
    return { kind: 'none', error: new SandboxError(text) };
  }
  const find = (name: string) => findProgram(name, programFolders);
  const problems: string[] = [];
  const bwrap = process.getuid?.() === 0 ? null : find('bwrap');
  if (bwrap !== null) {
    const problem = await probeBwrap(bwrap, shellNetwork);
    if (problem === null) return { kind: 'bwrap', bwrap };
    problems.push(problem);
  }
  const programs = await findUnshare(find);
  if (programs !== null) {
    const problem = await probeUnshare(programs, shellNetwork);
    if (problem === null) return { kind: 'unshare', programs };
    problems.push(problem);
  }
  const inContainer = await isContainer();
  const text =
    problems.length === 0 ? describeMissing(inContainer) : describeBroken(problems.join('; '), inContainer);
  return { kind: 'none', error: new SandboxError(text) };
}

/** Finds util-linux and a way to be root. Never prompts: `sudo -n` fails if it would need a password. */
async function findUnshare(find: (name: string) => string | null): Promise<UnsharePrograms | null> {
  const [unshare, nsenter, setpriv, sudo] = ['unshare', 'nsenter', 'setpriv', 'sudo'].map(find);
  if (!unshare || !nsenter || !setpriv) return null;
  if (process.getuid?.() === 0) return { unshare, nsenter, setpriv, asRoot: [] };
  if (!sudo || (await runOnHost(sudo, ['-n', 'true']))?.exitCode !== 0) return null;
  return { unshare, nsenter, setpriv, asRoot: [sudo, '-n', '--'] };
}

const WAY_OUT =
  'For a repository and pull requests that you trust entirely, set sandbox to `off`. With `auto` the agent only reads files.';

const IN_CONTAINER =
  'This is a container, which usually may not make the mounts that a sandbox needs. Fix: run outside the container, or start it with `--privileged`. In a workflow, take `container:` away from the job, or give it `options: --privileged`; in a pod (Actions Runner Controller), use a runner with `securityContext: { privileged: true }`.';

/** Whether this process runs in a container: Docker, Podman and Kubernetes leave these traces below the root. */
export async function isContainer(root = '/'): Promise<boolean> {
  const hints = ['.dockerenv', 'run/.containerenv', 'var/run/secrets/kubernetes.io'];
  if (hints.some((hint) => existsSync(join(root, hint)))) return true;
  const cgroup = await readFile(join(root, 'proc/1/cgroup'), 'utf8').catch(() => '');
  return /docker|kubepods|containerd|libpod|lxc/u.test(cgroup);
}

export function describeMissing(inContainer: boolean): string {
  const needs =
    'The sandbox needs bubblewrap 0.8 or newer, or util-linux (unshare, nsenter, setpriv) with a sudo that asks for no password';
  const fix = inContainer
    ? `and this container has neither. Install one: \`apt-get update && apt-get install -y bubblewrap\`. ${IN_CONTAINER}`
    : 'and this machine has neither. Fix: `sudo apt-get update && sudo apt-get install -y bubblewrap`, in a workflow as a step before this one.';
  return `${needs}, ${fix} ${WAY_OUT}`;
}

export function describeBroken(problem: string, inContainer: boolean): string {
  const fix =
    'If unprivileged user namespaces are restricted, as on Ubuntu 24.04, allow them: `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, in a workflow as a step before this one.';
  return `The sandbox does not start here: ${problem}. ${inContainer ? IN_CONTAINER : fix} ${WAY_OUT}`;
}
