/** What a command costs behind each isolation backend beside a plain spawn. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openSandbox } from '../src/sandbox/open.ts';
import { removeFolder } from '../src/sandbox/run-folder.ts';
import type { OpenedSandbox } from '../src/sandbox/sandbox.ts';
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

/** Milliseconds. */
async function timed(action: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await action();
  return performance.now() - started;
}
