/** What the text of a path alone says: closed to the model or to its changes, or the name of a binary file. */

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

/** The suffixes of files that nobody reads by lines. In any other file a NUL may be in a comment. */
export const BINARY_SUFFIXES: readonly string[] = [
  ...['7z', 'a', 'bin', 'bmp', 'bz2', 'class', 'db', 'dll', 'dylib', 'eot', 'exe', 'gif', 'gz', 'ico', 'jar'],
  ...['jpeg', 'jpg', 'mo', 'mp3', 'mp4', 'node', 'o', 'otf', 'pack', 'pdf', 'png', 'pyc', 'so', 'sqlite'],
  ...['sqlite3', 'tar', 'tgz', 'tif', 'tiff', 'ttf', 'wasm', 'webp', 'whl', 'woff', 'woff2', 'xls', 'xlsx'],
  ...['xz', 'zip', 'zst'],
];

/** Bytes at the start of a file in which a NUL tells a binary file, as in git. */
export const BINARY_LOOK = 8_000;

/** Whether the name of a file is one of a binary file. Such a file is binary if there is a NUL at its start as well. */
export function isBinaryName(path: string): boolean {
  return BINARY_SUFFIXES.includes(path.slice(path.lastIndexOf('.') + 1).toLowerCase());
}
