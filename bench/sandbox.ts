/** What the sandbox costs: per command beside a plain spawn, and the scratch copy beside `cp -a` by hand. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openSandbox } from '../src/sandbox/open.ts';
import { removeFolder } from '../src/sandbox/run-folder.ts';
import type { OpenedSandbox } from '../src/sandbox/sandbox.ts';
import { copyWorkspace } from '../src/sandbox/workspace/scratch.ts';
import type { Isolation } from '../src/types.ts';

/** An isolation backend, and what a command in it costs. */
export interface BackendFigure {
  readonly kind: Isolation;
  /** The whole command, milliseconds, one for each run. */
  readonly ms: readonly number[];
}

const KINDS: readonly Isolation[] = ['bwrap', 'sudo-bwrap', 'unshare', 'sudo-unshare'];
const PLAIN = { cwd: '/', env: { PATH: '/usr/bin:/bin' } };

/** Runs `true` with every isolation backend of this user, and plainly: in turns, so that all see the same machine. */
export async function measureBackends(
  runs: number,
): Promise<{ readonly plain: readonly number[]; readonly backends: readonly BackendFigure[] }> {
  const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'bench-sandbox-')));
  const opened: { readonly kind: Isolation; readonly sandbox: OpenedSandbox; readonly ms: number[] }[] = [];
  const plain: number[] = [];
  try {
    for (const kind of KINDS) {
      const sandbox = await open(base, kind);
      if (sandbox !== null) opened.push({ kind, sandbox, ms: [] });
    }
    for (let run = 0; run < runs; run++) {
      plain.push(await timed(runPlain));
      for (const { sandbox, ms } of opened) ms.push(await timed(() => runBehind(sandbox)));
    }
  } finally {
    for (const { sandbox } of opened) await sandbox.close();
    await removeFolder(base);
  }
  return { plain, backends: opened.map(({ kind, ms }) => ({ kind, ms })) };
}

/** null where the backend does not start here. */
async function open(base: string, kind: Isolation): Promise<OpenedSandbox | null> {
  const at = (...names: string[]) => path.join(base, kind, ...names);
  for (const name of ['home', 'workspace', 'temp/run']) mkdirSync(at(name), { recursive: true });
  const sandbox = await openSandbox({
    workspace: at('workspace'),
    workingDirectory: at('workspace'),
    mode: 'required',
    kinds: [kind],
    access: 'in-place',
    shellNetwork: false,
    readable: [],
    passEnv: [],
    environment: { PATH: process.env['PATH'] },
    home: at('home'),
    runnerTemp: at('temp'),
    isSecret: () => false,
    runFolder: at('temp', 'run'),
  });
  const stands = await sandbox.ready().then(
    () => true,
    () => false,
  );
  if (stands) return sandbox;
  await sandbox.close();
  return null;
}

async function runPlain(): Promise<void> {
  const child = spawn('/bin/bash', ['-c', 'true'], { ...PLAIN, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  await once(child, 'close');
}

async function runBehind(sandbox: OpenedSandbox): Promise<void> {
  const signal = new AbortController().signal;
  await sandbox.exec('true', { timeoutMs: 20_000, maxOutputBytes: 1_000, signal });
}

/** A repository to copy, and how long it took. */
export interface CopyFigure {
  readonly name: string;
  /** Seconds that each way took. */
  readonly ours: number;
  readonly byHand: number;
  /** Just the mount, as root; null where it cannot be made. */
  readonly overlay: number | null;
}

/** Makes a workspace of 100,000 files. */
export function makeManyFiles(folder: string): void {
  for (let at = 0; at < 100_000; at++) {
    const place = path.join(folder, `d${Math.floor(at / 1_000)}`, `e${Math.floor(at / 100) % 10}`);
    if (at % 100 === 0) mkdirSync(place, { recursive: true });
    writeFileSync(path.join(place, `file-${at}.txt`), `${at}\n`);
  }
}

/** Makes a workspace of 1 GB in 200 files. */
export function makeGigabyte(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const block = Buffer.alloc(5_000_000, 'x');
  for (let at = 0; at < 200; at++) writeFileSync(path.join(folder, `large-${at}.bin`), block);
}

/**
 * Copies a workspace as a run does, and by hand, and leaves both copies: for minutes after many files were removed, ext4
 * takes ten times as long to make new ones. What is in the disk's cache is so for both: it was just written.
 */
export async function measureCopy(name: string, workspace: string): Promise<CopyFigure> {
  const into = (copy: string) => `${workspace}-${copy}`;
  const signal = new AbortController().signal;
  const byHand = await timed(async () => {
    execFileSync('/bin/cp', ['-a', '--', workspace, into('by-hand')]);
  });
  const ours = await timed(() => copyWorkspace(workspace, into('ours'), { withGit: false, signal }));
  return { name, ours: ours / 1_000, byHand: byHand / 1_000, overlay: await timeOverlay(workspace) };
}

async function timeOverlay(workspace: string): Promise<number | null> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/unshare')) return null;
  const at = `${workspace}-overlay`;
  for (const name of ['upper', 'work', 'at']) mkdirSync(path.join(at, name), { recursive: true });
  const options = `lowerdir=${workspace},upperdir=${at}/upper,workdir=${at}/work`;
  try {
    const ms = await timed(async () => {
      execFileSync(
        '/usr/bin/unshare',
        ['--mount', '--', 'mount', '-t', 'overlay', '-o', options, 'none', `${at}/at`],
        { stdio: 'ignore' },
      );
    });
    return ms / 1_000;
  } catch {
    return null;
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
}

/** Milliseconds. */
async function timed(action: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await action();
  return performance.now() - started;
}
