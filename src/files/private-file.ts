/** Writes files where others can write too: in the workspace, which the agent may have changed, and for the runner. */
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

const NEW_FILE = { mode: 0o600, flag: 'ax' } as const;
/** Undefined on Windows. */
const { O_APPEND, O_CREAT, O_NONBLOCK = 0, O_WRONLY } = constants;

/**
 * Creates the folder of a file. Its path was real when it was chosen, so a symbolic link in it was created by the agent
 * and may lead anywhere; nothing is created or written behind it.
 * @throws Error for such a link, otherwise the error of the file system.
 */
function makeRealFolder(folder: string): void {
  let existing = folder;
  while (!existsSync(existing) && existing !== path.dirname(existing)) existing = path.dirname(existing);
  if (realpathSync.native(existing) !== existing) {
    throw new Error(
      `${existing} leads through a symbolic link that was not there when the run began: check what the repository instructs the agent to do`,
    );
  }
  mkdirSync(folder, { recursive: true });
}

/**
 * Writes a file atomically, for its owner only. Replaces what is at the path, a link included, and follows none.
 * @param file an absolute path whose folder is a real path.
 * @throws Error if the path of the folder contains a link, otherwise the error of the file system.
 */
export function writePrivateFile(file: string, content: string | Buffer): void {
  makeRealFolder(path.dirname(file));
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${randomUUID()}`);
  try {
    writeFileSync(draft, content, NEW_FILE);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * Replaces what is at the path in the same way, but at once, with an empty file. Returns a function that appends a line
 * to this file, even if the path is replaced later, and throws the error of the file system.
 */
export function openPrivateLog(file: string): (line: string) => void {
  makeRealFolder(path.dirname(file));
  rmSync(file, { force: true });
  const handle = openSync(file, NEW_FILE.flag, NEW_FILE.mode);
  return (line) => appendFileSync(handle, `${line}\n`);
}

/** Appends text to a file of the runner. Fails if it was replaced with a pipe that nobody reads, instead of waiting. */
export function appendWithoutWaiting(file: string, text: string): void {
  const handle = openSync(file, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK, NEW_FILE.mode);
  try {
    appendFileSync(handle, text);
  } finally {
    closeSync(handle);
  }
}
