/** How files are read and written inside: by small scripts, so that tools see what commands see. */
import { DeniedError, type FileView, MissingError, type ScriptResult, shellWord } from './sandbox.ts';

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
