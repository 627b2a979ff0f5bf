/** Creates the scratch copy, in which the agent works instead of the checkout; it never touches the checkout. */
import { chown, mkdir, readdir, stat, statfs } from 'node:fs/promises';
import { InputError, messageOf, SandboxError } from '../../errors.ts';
import { READ } from '../../text/limits.ts';
import { findHelper, type ProgramResult, runHelper, runProgram } from '../exec/host-program.ts';

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
  const { exitCode, stderr } = await runForEach(copy, [into], paths, signal);
  if (exitCode === 0) return { missing: null };
  const { bavail, bsize } = await statfs(into);
  if (bavail * bsize < FULL_DISK_BYTES) {
    // The run still has to write its result to this disk.
    await runQuietly('rm', ['-rf', '--', into], signal);
    throw new SandboxError(
      'The disk of RUNNER_TEMP is full: the scratch copy of the workspace does not fit. Free some space, or set `workspace-access: in-place`.',
    );
  }
  return { missing: stderr.split('\n')[0] ?? '' };
}

async function refuseLarge(paths: Buffer, signal: AbortSignal): Promise<void> {
  const { stdout } = await runForEach('du -skc -- "$@" | tail -n 1', [], paths, signal);
  let kibibytes = 0;
  for (const match of stdout.matchAll(/^(\d+)\s/gmu)) kibibytes += Number(match[1]);
  if (kibibytes * 1024 <= READ.scratchCopy) return;
  const size = (kibibytes / 1024 ** 2).toFixed(1);
  throw new InputError(
    'workspace-access',
    `The workspace holds ${size} GiB, and a scratch copy may have 2 GiB at most. Set workspace-access: in-place (the agent changes the checkout itself) or read-only, or check out less.`,
  );
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
): Promise<ProgramResult> {
  // Without any path, xargs would still run the line once.
  if (paths.length === 0) return { exitCode: 0, stdout: '', stderr: '' };
  return runQuietly('xargs', ['-0', 'sh', '-c', line, 'sh', ...args], signal, paths);
}

/** Runs a program. @throws the signal's reason; SandboxError if the program cannot be started. */
async function runQuietly(...program: Parameters<typeof runProgram>): Promise<ProgramResult> {
  const [, , signal] = program;
  try {
    return await runProgram(...program);
  } catch (cause) {
    signal.throwIfAborted();
    throw new SandboxError(`The workspace could not be copied: ${messageOf(cause)}.`, { cause });
  }
}
