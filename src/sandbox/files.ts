/**
 * How tools read and write files: by small scripts inside, so that they see what commands see. Without a sandbox
 * (`auto`) this process reads them, which nothing races, because no command runs.
 */
import { closeSync, type Dirent, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, relative, resolve } from 'node:path';
import { openRegular } from '../files/read-bounded.ts';
import { isInside } from '../files/real-paths.ts';
import { isClosedPath } from '../text/file-names.ts';
import { DeniedError, type FileView, MissingError, type ScriptResult, shellWord } from './sandbox.ts';
import { realOrSame } from './system-root.ts';

const EXIT = { notRegular: 3, missing: 4, denied: 5, isFolder: 6 } as const;

/** A script that prints a folder's entries, or the beginning of a file. */
export function readScript(path: string, maxBytes: number): string {
  return `${locate(path)}
if [ -d "$f" ]; then
  [ -r "$f" ] && [ -x "$f" ] || exit ${EXIT.denied}
  echo d
  for e in "$f"/* "$f"/.[!.]* "$f"/..?*; do
    if [ -L "$e" ]; then k=@; elif [ -d "$e" ]; then k=/; elif [ -f "$e" ]; then k=.; elif [ -e "$e" ]; then k=?; else continue; fi
    printf '%s%s\\0' "$k" "\${e##*/}"
  done
elif [ -f "$f" ]; then
  [ -r "$f" ] || exit ${EXIT.denied}
  echo f
  exec head -c ${maxBytes + 1} -- "$f"
elif [ -e "$f" ]; then exit ${EXIT.notRegular}
else exit ${EXIT.missing}; fi`;
}

/** A script that replaces a file by $INPUT, or creates it. A file that is replaced keeps its mode and owner's rights. */
export function writeScript(path: string): string {
  return `${locate(path)}
if [ -d "$f" ]; then exit ${EXIT.isFolder}; fi
if [ -e "$f" ] && ! [ -f "$f" ]; then exit ${EXIT.notRegular}; fi
if [ -f "$f" ] && ! [ -w "$f" ]; then exit ${EXIT.denied}; fi
if [ -L "$f" ]; then f=$(readlink -f -- "$f") || exit ${EXIT.denied}; fi
d=$(dirname -- "$f")
mkdir -p -- "$d" || exit ${EXIT.denied}
t=$(mktemp -- "$d/.edit-XXXXXX") || exit ${EXIT.denied}
if [ -e "$f" ]; then cp -p -- "$f" "$t"; else chmod 644 "$t"; fi
if cat -- "$INPUT" > "$t" && mv -f -- "$t" "$f"; then exit 0; fi
rm -f -- "$t"
exit ${EXIT.denied}`;
}

/** A relative path that begins with `-` or a path with a trailing slash is one like any other. */
function locate(path: string): string {
  return `f=${shellWord(path.startsWith('/') ? path : `./${path}`)}`;
}

/** @throws DeniedError */
export function parseRead({ exitCode, stdout }: ScriptResult, path: string, maxBytes: number): FileView {
  requireExit(exitCode, path);
  const end = stdout.indexOf('\n');
  const first = stdout.subarray(0, end).toString('latin1');
  const rest = stdout.subarray(end + 1);
  if (first === 'd') {
    const entries = rest
      .toString('utf8')
      .split('\0')
      .filter((entry) => entry !== '');
    return {
      kind: 'directory',
      entries: entries.map((entry) => ({ name: entry.slice(1), mark: entry.charAt(0).replace('.', '') })),
    };
  }
  return { kind: 'file', bytes: rest.subarray(0, maxBytes), truncated: rest.length > maxBytes };
}

/** @throws DeniedError with a sentence for the model */
export function requireExit(exitCode: number | null, path: string): void {
  const name = JSON.stringify(path);
  switch (exitCode) {
    case 0:
      return;
    case EXIT.missing:
      throw new MissingError(`${name} does not exist.`);
    case EXIT.notRegular:
      throw new DeniedError(`${name} is not a regular file.`);
    case EXIT.isFolder:
      throw new DeniedError(`${name} is a folder. Name a file in it.`);
    case null:
      throw new DeniedError(`${name} could not be read or written in time.`);
    default:
      throw new DeniedError(`Access to ${name} is denied.`);
  }
}

/**
 * Reads a file or lists a folder in one of the folders. Links are followed as long as they lead to one of them.
 * @param path absolute.
 * @throws DeniedError with a sentence for the model
 */
export async function readConfined(
  path: string,
  folders: readonly string[],
  maxBytes: number,
): Promise<FileView> {
  const name = JSON.stringify(path);
  const real = realOrSame(resolve(path));
  const folder = folders.map(realOrSame).find((one) => isInside(real, one));
  if (folder === undefined)
    throw new DeniedError(
      `${name} is outside of the checkout, and without a sandbox nothing else can be read.`,
    );
  if (isClosedPath(relative(folder, real)))
    throw new DeniedError(`${name} is closed: ${basename(real)} can hold credentials.`);
  const entries = await readdir(real, { withFileTypes: true }).catch(() => null);
  if (entries !== null) {
    const listed = entries.map((entry) => ({ name: entry.name, mark: markOf(entry) }));
    return { kind: 'directory', entries: listed.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }
  const opened = openRegular(real, 'refuse');
  if (!opened.ok) {
    if (opened.failure === 'missing') throw new MissingError(`${name} does not exist.`);
    throw new DeniedError(`${name} cannot be read.`);
  }
  try {
    const bytes = Buffer.alloc(Math.min(maxBytes, opened.size));
    const length = readSync(opened.handle, bytes);
    return { kind: 'file', bytes: bytes.subarray(0, length), truncated: opened.size > maxBytes };
  } finally {
    closeSync(opened.handle);
  }
}

function markOf(entry: Dirent): string {
  if (entry.isSymbolicLink()) return '@';
  if (entry.isDirectory()) return '/';
  return entry.isFile() ? '' : '?';
}
