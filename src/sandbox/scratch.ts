/** The scratch copy: what the agent works on instead of the checkout, which nothing of it ever touches. */
import { spawn } from 'node:child_process';
import { chown, mkdir, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { InputError, SandboxError } from '../errors.ts';

/** The largest workspace that is copied, in bytes on disk: 2 GiB. */
const MAX_BYTES = 2 * 1024 ** 3;
/** A disk with less left than this, in bytes, is what made a copy fail. */
const FULL_DISK_BYTES = 4 * 1024 ** 2;
/** Names given to one program: far below what a command line may hold. */
const BATCH = 500;

/** What was copied. */
export interface Scratch {
  /** What could not be read, and so is missing in the copy; null where all is there. */
  readonly missing: string | null;
}

/**
 * Copies a workspace with the system's own `cp`, which clones blocks where the file system can (reflinks) and keeps
 * times, modes and links. git's folder at the top is left out unless asked for: behind a wall it is mounted instead.
 * @param into made here; must not be there.
 * @throws InputError for a workspace that is too large, SandboxError where the disk is full.
 */
export async function copyWorkspace(
  workspace: string,
  into: string,
  { withGit, signal }: { readonly withGit: boolean; readonly signal: AbortSignal },
): Promise<Scratch> {
  const names = (await readdir(workspace)).filter((name) => withGit || name !== '.git');
  const batches = batchesOf(names.map((name) => join(workspace, name)));
  await refuseLarge(batches, signal);
  const top = await stat(workspace);
  await mkdir(into, { mode: top.mode & 0o777 });
  // Root copies for somebody else, who then has to be able to write here.
  if (process.getuid?.() === 0) await chown(into, top.uid, top.gid);
  const complaints: string[] = [];
  const clone = (await runQuietly('cp', ['--reflink=auto', '--version'], signal)).code === 0;
  for (const batch of batches) {
    const options = ['-a', ...(clone ? ['--reflink=auto'] : [])];
    const { code, complaint } = await runQuietly('cp', [...options, '--', ...batch, into], signal);
    if (code !== 0) complaints.push(complaint);
  }
  if (complaints.length === 0) return { missing: null };
  const { bavail, bsize } = await statfs(into);
  if (bavail * bsize < FULL_DISK_BYTES) {
    // The run still has its result to write there.
    await runQuietly('rm', ['-rf', '--', into], signal);
    throw new SandboxError(
      'The disk of RUNNER_TEMP is full: the scratch copy of the workspace does not fit. Free some space, or set `workspace-access: in-place`.',
    );
  }
  return { missing: complaints[0] ?? '' };
}

async function refuseLarge(batches: readonly (readonly string[])[], signal: AbortSignal): Promise<void> {
  let kibibytes = 0;
  for (const batch of batches) {
    const { said } = await runQuietly('du', ['-sk', '--', ...batch], signal);
    for (const match of said.matchAll(/^(\d+)\s/gmu)) kibibytes += Number(match[1]);
  }
  if (kibibytes * 1024 <= MAX_BYTES) return;
  const size = (kibibytes / 1024 ** 2).toFixed(1);
  throw new InputError(
    'workspace-access',
    `The workspace holds ${size} GiB, and a scratch copy may have 2 GiB at most. Set workspace-access: in-place (the agent changes the checkout itself) or read-only, or check out less.`,
  );
}

function batchesOf(paths: readonly string[]): readonly (readonly string[])[] {
  const batches: string[][] = [];
  for (let at = 0; at < paths.length; at += BATCH) batches.push(paths.slice(at, at + BATCH));
  return batches;
}

interface Ran {
  readonly code: number | null;
  readonly said: string;
  /** The first line of its error output. */
  readonly complaint: string;
}

/** Runs one of the system's programs to its end. @throws the signal's reason; SandboxError where there is no such program. */
async function runQuietly(file: string, args: readonly string[], signal: AbortSignal): Promise<Ran> {
  signal.throwIfAborted();
  const child = spawn(file, args, {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stop = () => child.kill('SIGKILL');
  signal.addEventListener('abort', stop, { once: true });
  try {
    const [said, complaint] = [collect(child.stdout), collect(child.stderr)];
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (cause) =>
        reject(new SandboxError(`The workspace could not be copied: ${cause.message}.`, { cause })),
      );
      child.once('close', resolve);
    });
    signal.throwIfAborted();
    return { code, said: said(), complaint: complaint().split('\n')[0] ?? '' };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The first 64 KiB of what a stream says. */
function collect(stream: Readable): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    if (text.length < 65_536) text += chunk.toString('utf8');
  });
  return () => text;
}
