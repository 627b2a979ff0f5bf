/** Creates the scratch copy, in which the agent works instead of the checkout; it never touches the checkout. */
import { spawn } from 'node:child_process';
import { chown, mkdir, readdir, stat, statfs } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { InputError, SandboxError } from '../../errors.ts';
import { READ } from '../../text/limits.ts';
import { findHelper, runHelper } from '../exec/host-program.ts';
import { killOne } from '../isolation/host.ts';

/** If a copy fails with less free disk space than this, in bytes, the cause is a full disk. */
const FULL_DISK_BYTES = 4 * 1024 ** 2;
export interface Scratch {
  /** What could not be read and is therefore missing in the copy; null if the copy is complete. */
  readonly missing: string | null;
}

/**
 * Copies a workspace with the system's `cp`, which clones blocks where the file system supports it (reflinks) and
 * preserves times, modes and links. Leaves out the top-level `.git` unless `withGit` is set: a sandbox mounts it
 * instead.
 * @param into created here; must not exist.
 * @throws InputError if the workspace is too large, SandboxError if the disk is full.
 */
export async function copyWorkspace(
  workspace: string,
  into: string,
  { withGit, signal }: { readonly withGit: boolean; readonly signal: AbortSignal },
): Promise<Scratch> {
  // As bytes: a commit may contain names that are not UTF-8, and a copy without them would be evaluated in place of the
  // checkout.
  const isCopied = (name: Buffer) => withGit || !name.equals(Buffer.from('.git'));
  const names = (await readdir(workspace, 'buffer')).filter(isCopied);
  const paths = Buffer.concat(names.flatMap((name) => [Buffer.from(`${workspace}/`), name, Buffer.of(0)]));
  await refuseLarge(paths, signal);
  const top = await stat(workspace);
  await mkdir(into, { mode: top.mode & 0o777 });
  // Root copies on behalf of another user, who must be able to write here.
  if (process.getuid?.() === 0) await chown(into, top.uid, top.gid);
  const cp = await findHelper(['cp']);
  const clone =
    cp !== null && (await runHelper(cp, ['--reflink=auto', '--version'], { signal }))?.exitCode === 0;
  const options = clone ? '-a --reflink=auto' : '-a';
  const copy = `into=$1; shift; exec cp ${options} -- "$@" "$into"`;
  const { code, complaint } = await runForEach(copy, [into], paths, signal);
  if (code === 0) return { missing: null };
  const { bavail, bsize } = await statfs(into);
  if (bavail * bsize < FULL_DISK_BYTES) {
    // The run still has to write its result to this disk.
    await runQuietly('rm', ['-rf', '--', into], signal);
    throw new SandboxError(
      'The disk of RUNNER_TEMP is full: the scratch copy of the workspace does not fit. Free some space, or set `workspace-access: in-place`.',
    );
  }
  return { missing: complaint };
}

async function refuseLarge(paths: Buffer, signal: AbortSignal): Promise<void> {
  const { said } = await runForEach('du -skc -- "$@" | tail -n 1', [], paths, signal);
  let kibibytes = 0;
  for (const match of said.matchAll(/^(\d+)\s/gmu)) kibibytes += Number(match[1]);
  if (kibibytes * 1024 <= READ.scratchCopy) return;
  const size = (kibibytes / 1024 ** 2).toFixed(1);
  throw new InputError(
    'workspace-access',
    `The workspace holds ${size} GiB, and a scratch copy may have 2 GiB at most. Set workspace-access: in-place (the agent changes the checkout itself) or read-only, or check out less.`,
  );
}

interface Ran {
  readonly code: number | null;
  readonly said: string;
  /** The first line of stderr. */
  readonly complaint: string;
}

/**
 * Runs a line of shell with some arguments followed by paths, as many at a time as fit in a command line.
 * @param paths each followed by a NUL. Passed on stdin of `xargs`, because Node.js program arguments must be UTF-8.
 */
async function runForEach(
  line: string,
  args: readonly string[],
  paths: Buffer,
  signal: AbortSignal,
): Promise<Ran> {
  // Without any path, xargs would still run the line once.
  if (paths.length === 0) return { code: 0, said: '', complaint: '' };
  return runQuietly('xargs', ['-0', 'sh', '-c', line, 'sh', ...args], signal, paths);
}

/** Runs a system program to its end. @throws the signal's reason; SandboxError if the program does not exist. */
async function runQuietly(
  file: string,
  args: readonly string[],
  signal: AbortSignal,
  input: Buffer = Buffer.alloc(0),
): Promise<Ran> {
  signal.throwIfAborted();
  const child = spawn(file, args, {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A process group of its own, so that everything it starts can be killed, too.
    detached: true,
  });
  // A program that exits before it has read all its input reports that by its exit code.
  child.stdin.on('error', () => undefined).end(input);
  const stop = () => {
    if (child.pid !== undefined) killOne(-child.pid);
  };
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

/** Returns the first 64 KiB of a stream. */
function collect(stream: Readable): () => string {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    if (text.length < 65_536) text += chunk.toString('utf8');
  });
  return () => text;
}
