/** What this machine has for a sandbox, and what to tell a person where it has nothing. */
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';

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

/** The sentence for a machine without a wall: what is missing, one fix to paste, the way out. */
export function missingWall(platform: string): string {
  if (platform !== 'linux') {
    return `The sandbox needs Linux, and this runner is ${platform}. Fix: use \`runs-on: ubuntu-latest\`. ${WAY_OUT}`;
  }
  return `The sandbox needs bubblewrap, or util-linux (unshare, nsenter, setpriv) with a sudo that asks for no password, and this runner has neither. Fix, as a step before this one: \`sudo apt-get update && sudo apt-get install -y bubblewrap\`. ${WAY_OUT}`;
}

/** The sentence for a wall that is there and does not stand. */
export function brokenWall(problem: string): string {
  return `${problem}. Fix where unprivileged user namespaces are restricted (Ubuntu 24.04), as a step before this one: \`sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\`. In a container job: take \`container:\` away, or give it \`options: --privileged\`. ${WAY_OUT}`;
}
