/** Messages about the sandbox: what is missing and how to fix it, and what is weaker than it could be. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxOptions } from './sandbox.ts';

const WAY_OUT =
  'For a repository and pull requests that you trust entirely, set sandbox to `off`. With `auto` the agent only reads files.';

const IN_CONTAINER =
  'This is a container, which usually may not make the mounts that a sandbox needs. Fix: run outside the container, or start it with `--privileged`. In a workflow, take `container:` away from the job, or give it `options: --privileged`; in a pod (Actions Runner Controller), use a runner with `securityContext: { privileged: true }`.';

/**
 * Whether this process runs in a container, based on the traces that Docker, Podman and Kubernetes leave.
 * @param root the root of the file system.
 */
export async function isContainer(root = '/'): Promise<boolean> {
  const hints = ['.dockerenv', 'run/.containerenv', 'var/run/secrets/kubernetes.io'];
  if (hints.some((hint) => existsSync(join(root, hint)))) return true;
  const cgroup = await readFile(join(root, 'proc/1/cgroup'), 'utf8').catch(() => '');
  return /docker|kubepods|containerd|libpod|lxc/u.test(cgroup);
}

const SYSTEMS: Readonly<Record<string, string>> = { darwin: 'macOS', win32: 'Windows' };

export function describeOtherSystem(platform: string): string {
  const system = SYSTEMS[platform] ?? platform;
  return `The sandbox needs Linux, and this machine runs ${system}. Fix: run it on Linux, in a workflow with \`runs-on: ubuntu-latest\`. ${WAY_OUT}`;
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

/**
 * Describes what is weaker than it could be, one sentence each.
 * @param missing why mode `auto` found no sandbox; null if there is one.
 */
export function describeWeaknesses(
  { mode, shellNetwork, environment, passEnv, isSecret }: SandboxOptions,
  missing: string | null,
  hasCredentials: boolean,
  inContainer: boolean,
): readonly string[] {
  const isIsolated = mode !== 'off' && missing === null;
  const list: string[] = [];
  if (mode === 'off')
    list.push(
      "sandbox: off. The agent's commands run as the step itself: they can read its keys and change the checkout. For trusted repositories only.",
    );
  if (missing !== null)
    list.push(`sandbox: auto found no sandbox, so the agent only reads files and runs nothing. ${missing}`);
  if (shellNetwork) list.push('shell-network: on. What the agent reads it can send anywhere.');
  const passed = passEnv.filter((name) => environment[name] !== undefined && !isSecret(environment[name]));
  if (passed.length > 0) list.push(`pass-env: the agent's commands can read ${passed.join(', ')}.`);
  // Container jobs run as root by default, so readers would soon ignore a warning above each of their verdicts.
  if (process.getuid?.() === 0 && !(isIsolated && inContainer))
    list.push(
      'The step runs as root (uid 0): what escapes the sandbox has the whole machine. Run the job as an ordinary user.',
    );
  if (hasCredentials)
    list.push(
      `The checkout holds credentials${isIsolated ? ', which the agent does not see' : ''}. Fix: \`persist-credentials: false\` for actions/checkout.`,
    );
  return list;
}
