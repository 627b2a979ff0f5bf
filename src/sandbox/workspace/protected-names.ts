/** Decides from the text of a path alone which names the model may use. */
import { TOOL } from '../../text/limits.ts';

/** Characters that some file systems ignore in names, so that `.g<zero width>it` is `.git` there (CVE-2014-9390). */
const IGNORED = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;
const CONTROL = /[\u0000-\u001f\u007f]/u;
/** The folder of git, and its short name on Windows. */
const GIT_NAMES: readonly string[] = ['.git', 'git~1'];
/** Folders that are never written to, at any depth of a checkout. */
const PROTECTED_FOLDERS: readonly string[] = [...GIT_NAMES, '.github'];
/** Files in the root folder that GitHub runs with the repository's permissions. */
const ACTION_FILES: readonly string[] = ['action.yml', 'action.yaml'];
/**
 * Names in the root folder of a repository that the agent must not change: the single list for the mounts, the rules of
 * the file tools, the tamper check, the patch, and the check of links in output paths.
 */
export const PROTECTED_NAMES: readonly string[] = [...PROTECTED_FOLDERS, ...ACTION_FILES];
const CREDENTIALS = new Set(['.git-credentials', '.netrc', '_netrc']);

/**
 * Whether a file of this name holds credentials stored by a tool: file tools do not read it, and the shell sees it
 * empty.
 */
export function holdsCredentials(name: string): boolean {
  const folded = foldName(name);
  return CREDENTIALS.has(folded) || /^gha-creds-.*\.json$/u.test(folded);
}

/** Whether a name in the root folder of a repository is protected. */
export function isProtectedName(name: string): boolean {
  return PROTECTED_NAMES.includes(foldName(name));
}

/** Whether a path is protected, given its components relative to the root of a repository. */
export function isProtectedPath(components: readonly string[]): boolean {
  return (
    components.some((name) => PROTECTED_FOLDERS.includes(foldName(name))) ||
    (components.length === 1 && components.some(isActionFile))
  );
}

/** Whether a file of this name is an action, in any folder. */
export function isActionFile(name: string): boolean {
  return ACTION_FILES.includes(foldName(name));
}

/** Why access to the folder of git is denied, as the end of a sentence. */
export const GIT_CLOSED =
  'the .git folder is closed to this tool; git itself works in the shell (git log, git diff, git status)';

/** Normalizes a component like the most lenient file system: case, dots, streams, invisible characters. */
export function foldName(component: string): string {
  const stream = component.replace(IGNORED, '').normalize('NFKC').toLowerCase().split(':', 1)[0] ?? '';
  return stream.replace(/(?<![. ])[. ]+$/u, '');
}

/** Why a path cannot be valid, as the end of a sentence; null if it can. */
export function refuseText(path: string): string | null {
  if (path === '') return 'the path is empty';
  if (CONTROL.test(path)) return 'a path must not contain line breaks or other control characters';
  if (path.includes('\\')) return 'a path must not contain a backslash; write / between folders';
  if (Buffer.byteLength(path) > TOOL.path) return 'the path is too long';
  return null;
}

/**
 * Why the components of a path are closed to the agent, as the end of a sentence; null if they are not. `.git` and
 * credentials are never read; `.github`, and `action.yml` in the root folder of the workspace, are never written.
 */
export function refuseComponents(
  components: readonly string[],
  intent: 'read' | 'edit',
  inWorkspace: boolean,
): string | null {
  const folded = components.map(foldName);
  if (folded.some((name) => GIT_NAMES.includes(name))) {
    return GIT_CLOSED;
  }
  if (components.some(holdsCredentials)) {
    return 'it holds credentials, which are closed to this tool';
  }
  if (intent === 'read' || !inWorkspace) return null;
  if (!isProtectedPath(components)) return null;
  const name = folded.find((each) => PROTECTED_NAMES.includes(each));
  return `${name} is protected and may be read but not changed`;
}
