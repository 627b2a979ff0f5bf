/** Names that are closed to the model or to its changes, by the text of a path alone. */

/** Files in which tools leave keys. */
export const CREDENTIAL_FILE = /^(?:\.git-credentials|[._]netrc|gha-creds-.*\.json)$/u;
/** What GitHub runs with the repository's permissions, and what names the code that git fetches. */
const TRUSTED_FILES = /^(?:action\.ya?ml|\.gitmodules)$/u;

/** Whether a path leads into the folder of git or to credentials that a tool has stored: these are never read. */
export function isClosedPath(path: string): boolean {
  return namesIn(path).some((name) => name === '.git' || CREDENTIAL_FILE.test(name));
}

/** Whether a patch must not contain a path, in any folder of the repository. */
export function isProtectedPath(path: string): boolean {
  const names = namesIn(path);
  return names.includes('.git') || names.includes('.github') || TRUSTED_FILES.test(names.at(-1) ?? '');
}

/** The file systems of macOS and Windows ignore the case of a name. */
function namesIn(path: string): readonly string[] {
  return path.toLowerCase().split(/[/\\]/u);
}
