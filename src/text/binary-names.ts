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
