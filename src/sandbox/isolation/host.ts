/** What this machine has for a sandbox, and what to tell a person where it has nothing. */
import { access, constants, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Door, Naming, Wording } from '../../text/naming.ts';

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

function wayOut({ setting }: Naming): string {
  return `For a repository and pull requests that you trust entirely, set \`${setting('sandbox', 'off')}\`; with \`${setting('sandbox', 'auto')}\` the agent works without its shell.`;
}

/** Where the command belongs that makes a machine fit. */
function placeOfFix({ door }: Naming): string {
  return door === 'action' ? ', as a step before this one' : '';
}

const OTHER_MACHINE: Readonly<Record<Door, string>> = {
  action: 'use `runs-on: ubuntu-latest`',
  'command-line': 'run it on Linux',
  library: 'run it on Linux',
};

const IN_CONTAINER: Readonly<Record<Door, string>> = {
  action:
    'This job runs in a container, which as a rule may not make the mounts that a sandbox is made of. Fix: take `container:` away from the job, or give it `options: --privileged`; in a pod (Actions Runner Controller) let the job run on a runner of its own kind, with `securityContext: { privileged: true }`.',
  'command-line':
    'This is a container, which as a rule may not make the mounts that a sandbox is made of. Fix: start it with `--privileged`, or run outside of it.',
  library:
    'This is a container, which as a rule may not make the mounts that a sandbox is made of. Fix: start it with `--privileged`, or run outside of it.',
};

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

/** Operating systems by Node's names for them. */
const SYSTEMS: Readonly<Record<string, string>> = { darwin: 'macOS', win32: 'Windows' };

/** The sentence for a machine without a wall: what is missing, one fix to paste, the way out. */
export function missingWall(platform: string, inContainer = false): Wording {
  return (naming) => `${whatIsMissing(platform, inContainer, naming)} ${wayOut(naming)}`;
}

function whatIsMissing(platform: string, inContainer: boolean, naming: Naming): string {
  const { door } = naming;
  if (platform !== 'linux')
    return `The sandbox needs Linux, and this machine runs ${SYSTEMS[platform] ?? platform}. Fix: ${OTHER_MACHINE[door]}.`;
  const needs =
    'The sandbox needs bubblewrap, or util-linux (unshare, nsenter, setpriv) with a sudo that asks for no password';
  if (inContainer)
    return `${needs}, and this container has neither: \`apt-get update && apt-get install -y bubblewrap\` brings the one. ${IN_CONTAINER[door]}`;
  return `${needs}, and this machine has neither. Fix${placeOfFix(naming)}: \`sudo apt-get update && sudo apt-get install -y bubblewrap\`.`;
}

/** The sentence for a wall that is there and does not stand. */
export function brokenWall(problem: string, inContainer = false): Wording {
  return (naming) => {
    const { door } = naming;
    if (inContainer) return `${problem}. ${IN_CONTAINER[door]} ${wayOut(naming)}`;
    const fix = `Fix where unprivileged user namespaces are restricted (Ubuntu 24.04)${placeOfFix(naming)}`;
    return `${problem}. ${fix}: \`sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\`. ${wayOut(naming)}`;
  };
}
