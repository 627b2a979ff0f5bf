/** Programs in the place of macOS's own. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `ps` as macOS's `ps -A -E -ww` with four columns tells of processes, with their environments. */
export const PS = 'exec /usr/bin/ps axeww -o pid= -o ppid= -o stat= -o command=';

/** A sandbox-exec that looks at its arguments and keeps nothing of the profile. */
export const THROUGH = '[ "$1" = -p ] && [ "$3" = -- ] || exit 64\nshift 3\nexec "$@"';

/** A sandbox-exec that keeps the profile. */
export const STAND_IN = `exec '${process.execPath}' '${fileURLToPath(new URL('seatbelt-stand-in.ts', import.meta.url))}' "$@"`;

/** A new folder in `base` with shell scripts of these names. */
export function seatbeltHelpers(base: string, scripts: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(base, 'helpers-'));
  for (const [name, body] of Object.entries(scripts))
    writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return folder;
}
