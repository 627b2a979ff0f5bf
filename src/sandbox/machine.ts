/** What this machine has for a sandbox, and what to tell a person where it has nothing. */
import { access, constants, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether a wall can show a command other files than lie there: macOS mounts for nobody but root, and for all at once. */
export function canMount(platform: NodeJS.Platform): boolean {
  return platform !== 'darwin';
}

/** Where the system keeps its helpers. PATH is not asked: an earlier step may have put anything there. */
export const HELPER_FOLDERS: readonly string[] = [
  '/usr/bin',
  '/bin',
  '/usr/local/bin',
  '/run/current-system/sw/bin',
];

/** The absolute path of the first of these names that is an executable in one of the folders; null where none is. */
export async function findHelper(
  names: readonly string[],
  folders: readonly string[],
): Promise<string | null> {
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, name);
      try {
        await access(path, constants.X_OK);
        return path;
      } catch {
        // Not here.
      }
    }
  }
  return null;
}

const WAY_OUT =
  'For a repository and pull requests that you trust entirely, set `sandbox: off`; with `sandbox: auto` the agent works without its shell.';

const IN_CONTAINER =
  'This job runs in a container, which as a rule may not make the mounts that a sandbox is made of. Fix: take `container:` away from the job, or give it `options: --privileged`; in a pod (Actions Runner Controller) let the job run on a runner of its own kind, with `securityContext: { privileged: true }`.';

/**
 * Whether this process runs in a container, as Docker, Podman and Kubernetes leave hints of it.
 * @param root where the file system begins.
 */
export async function isContainer(root = '/'): Promise<boolean> {
  const hints = ['.dockerenv', 'run/.containerenv', 'var/run/secrets/kubernetes.io'];
  for (const hint of hints) if (await isThere(join(root, hint))) return true;
  const cgroup = await readFile(join(root, 'proc/1/cgroup'), 'utf8').catch(() => '');
  return /docker|kubepods|containerd|libpod|lxc/u.test(cgroup);
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** The sentence for a machine without a wall: what is missing, one fix to paste, the way out. */
export function missingWall(platform: string, inContainer = false): string {
  if (platform === 'darwin') {
    return `The sandbox needs sandbox-exec in /usr/bin, and this Mac has none. ${ON_MAC} ${WAY_OUT}`;
  }
  if (platform !== 'linux') {
    return `The sandbox needs Linux, and this runner is ${platform}. Fix: use \`runs-on: ubuntu-latest\`. ${WAY_OUT}`;
  }
  const needs =
    'The sandbox needs bubblewrap, or util-linux (unshare, nsenter, setpriv) with a sudo that asks for no password';
  if (inContainer) {
    return `${needs}, and this container has neither: \`apt-get update && apt-get install -y bubblewrap\` brings the one. ${IN_CONTAINER} ${WAY_OUT}`;
  }
  return `${needs}, and this runner has neither. Fix, as a step before this one: \`sudo apt-get update && sudo apt-get install -y bubblewrap\`. ${WAY_OUT}`;
}

const ON_MAC =
  'The sandbox of macOS is untested, and on some versions commands can read the environment of this step in spite of it. Fix: use `runs-on: ubuntu-latest`.';

/** The sentence for a wall that is there and does not stand. */
export function brokenWall(problem: string, inContainer = false, platform: string = 'linux'): string {
  if (platform === 'darwin') return `${problem}. ${ON_MAC} ${WAY_OUT}`;
  if (inContainer) return `${problem}. ${IN_CONTAINER} ${WAY_OUT}`;
  return `${problem}. Fix where unprivileged user namespaces are restricted (Ubuntu 24.04), as a step before this one: \`sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\`. ${WAY_OUT}`;
}
