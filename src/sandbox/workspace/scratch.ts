/** The scratch copy: what the agent works on instead of the checkout, which nothing of it ever touches. */
import { spawn } from 'node:child_process';
import { chown, mkdir, readdir, stat, statfs } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { InputError, SandboxError } from '../../errors.ts';
import { findHelper, runHelper } from '../exec/host-program.ts';

/** The largest workspace that is copied, in bytes on disk: 2 GiB. */
const MAX_BYTES = 2 * 1024 ** 3;
/** A disk with less left than this, in bytes, is what made a copy fail. */
const FULL_DISK_BYTES = 4 * 1024 ** 2;
/** What was copied. */
export interface Scratch {
  /** What could not be read, and so is missing in the copy; null where all is there. */
  readonly missing: string | null;
}

/**
 * Copies a workspace with the system's own `cp`, which clones blocks where the file system can (reflinks) and keeps
 * times, modes and links. git's folder at the top is left out unless asked for: in a sandbox it is mounted instead.
 * @param into made here; must not be there.
 * @throws InputError for a workspace that is too large, SandboxError where the disk is full.
 */
export async function copyWorkspace(
  workspace: string,
  into: string,
  { withGit, signal }: { readonly withGit: boolean; readonly signal: AbortSignal },
): Promise<Scratch> {
  // As bytes: a commit may hold names that are not UTF-8, and a copy without them would be judged in the checkout's place.
  const isCopied = (name: Buffer) => withGit || !name.equals(Buffer.from('.git'));
  const names = (await readdir(workspace, 'buffer')).filter(isCopied);
  const paths = Buffer.concat(names.flatMap((name) => [Buffer.from(`${workspace}/`), name, Buffer.of(0)]));
  await refuseLarge(paths, signal);
  const top = await stat(workspace);
  await mkdir(into, { mode: top.mode & 0o777 });
  // Root copies for somebody else, who then has to be able to write here.
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
    // The run still has its result to write there.
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
  if (kibibytes * 1024 <= MAX_BYTES) return;
  const size = (kibibytes / 1024 ** 2).toFixed(1);
  throw new InputError(
    'workspace-access',
    `The workspace holds ${size} GiB, and a scratch copy may have 2 GiB at most. Set workspace-access: in-place (the agent changes the checkout itself) or read-only, or check out less.`,
  );
}

interface Ran {
  readonly code: number | null;
  readonly said: string;
  /** The first line of its error output. */
  readonly complaint: string;
}

/**
 * Runs a line of shell with some arguments and then paths, as many at a time as a command line holds.
 * @param paths each with a NUL after it. They are input of `xargs`, because Node's arguments for a program have to be UTF-8.
 */
async function runForEach(
  line: string,
  args: readonly string[],
  paths: Buffer,
  signal: AbortSignal,
): Promise<Ran> {
  // Without any path, xargs would run the line once all the same.
  if (paths.length === 0) return { code: 0, said: '', complaint: '' };
  return runQuietly('xargs', ['-0', 'sh', '-c', line, 'sh', ...args], signal, paths);
}

/** Runs one of the system's programs to its end. @throws the signal's reason; SandboxError where there is no such program. */
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
    // A group of its own, to end what it has started, too.
    detached: true,
  });
  // One that ends before it has read everything says so by its exit code.
  child.stdin.on('error', () => undefined).end(input);
  const stop = () => killGroup(child.pid);
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

function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {
    // It has ended.
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
