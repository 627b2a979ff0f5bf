/** Which names the model may speak, judged from the text of a path alone. */

/** Characters that some file systems ignore in names, so that `.g<zero width>it` is `.git` there (CVE-2014-9390). */
const IGNORED = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu;
const CONTROL = /[\u0000-\u001f\u007f]/u;
/** git's own folder, and its short name on Windows. */
const GIT_NAMES: readonly string[] = ['.git', 'git~1'];
/** Folders of a checkout that nothing writes to, wherever they lie. */
const PROTECTED_FOLDERS: readonly string[] = [...GIT_NAMES, '.github'];
/** Files that GitHub runs in the repository's name, where they lie at its top. */
const ACTION_FILES: readonly string[] = ['action.yml', 'action.yaml'];
/**
 * What the agent must leave as it is at the top of a repository: the one list for the mounts, the rules of the file tools,
 * the tamper check, the patch, and the links that may lead what is written.
 */
export const PROTECTED_NAMES: readonly string[] = [...PROTECTED_FOLDERS, ...ACTION_FILES];
/** Trees of the kernel: every sandbox has its own, and what lies there depends on who looks. */
export const KERNEL_FOLDERS: readonly string[] = ['/proc', '/dev', '/sys'];
const CREDENTIALS = new Set(['.git-credentials', '.netrc', '_netrc']);

/** Whether a file of this name holds credentials that a tool left there: no tool reads it, and the shell finds it empty. */
export function holdsCredentials(name: string): boolean {
  const folded = foldName(name);
  return CREDENTIALS.has(folded) || /^gha-creds-.*\.json$/u.test(folded);
}

/** Whether a name at the top of a repository is protected. */
export function isProtectedName(name: string): boolean {
  return PROTECTED_NAMES.includes(foldName(name));
}

/** Whether a path is protected: its names from the top of a repository on. */
export function isProtectedPath(components: readonly string[]): boolean {
  return (
    components.some((name) => PROTECTED_FOLDERS.includes(foldName(name))) ||
    (components.length === 1 && components.some(isActionFile))
  );
}

/** Whether a file of this name is an action, wherever it lies. */
export function isActionFile(name: string): boolean {
  return ACTION_FILES.includes(foldName(name));
}

/** Why git's own folder is refused, as the end of a sentence. */
export const GIT_CLOSED =
  'the .git folder is closed to this tool; git itself works in the shell (git log, git diff, git status)';

/** The name that a component would have on the most forgiving file system: case, dots, streams, invisible characters. */
export function foldName(component: string): string {
  const stream = component.replace(IGNORED, '').normalize('NFKC').toLowerCase().split(':', 1)[0] ?? '';
  return stream.replace(/(?<![. ])[. ]+$/u, '');
}

/** Why a path cannot be meant at all, as the end of a sentence; null where it can. */
export function refuseText(path: string): string | null {
  if (path === '') return 'the path is empty';
  if (CONTROL.test(path)) return 'a path must not contain line breaks or other control characters';
  if (path.includes('\\')) return 'a path must not contain a backslash; write / between folders';
  if (Buffer.byteLength(path) > 4000) return 'the path is too long';
  return null;
}

/**
 * Why the components of a path are closed to the agent, as the end of a sentence; null where they are not.
 * `.git` and credentials are never read; `.github`, and `action.yml` at the top of the workspace, never written.
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
