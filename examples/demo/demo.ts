/** The demo as functions: a copy of the demo repository, a model, one run of the action on it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JournalEntry, startModel } from '../../__tests__/support/fakes/model/server.ts';
import { answer } from './model.ts';
import { runStep, type StepResult } from './runner.ts';

const REPOSITORY = fileURLToPath(new URL('repository', import.meta.url));

/** What the agent is asked for, and what has to hold for a green step. */
export const TASK = {
  prompt: 'Run the test suite of this repository and say whether it may be merged.',
  schema: '@.github/verdict.schema.json',
  gate: 'passed',
} as const;

/** One exact replacement in a file of the repository. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Mends the bug that the repository is committed with. */
export const MEND: Edit = {
  file: 'src/discount.js',
  from: 'totalCents > FROM_CENTS',
  to: 'totalCents >= FROM_CENTS',
};

/** Breaks a second test. */
export const BREAK: Edit = { file: 'src/money.js', from: 'toFixed(2)', to: 'toFixed(1)' };

/** Where the model sits: the action's inputs that name it. */
export type ModelInputs = Readonly<Partial<Record<'provider' | 'model' | 'api-key' | 'base-url', string>>>;

/** What one run of the demo is given. */
export interface DemoOptions {
  /** Changes made to the repository before it is committed. */
  readonly edits: readonly Edit[];
  readonly model: ModelInputs;
  readonly sandbox: 'required' | 'off';
  /** More inputs, which win over the demo's own. */
  readonly inputs?: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onLine: (line: string) => void;
}

/** What one run of the demo gave. */
export interface DemoResult extends StepResult {
  /** The envelope as parsed JSON; null when none was written. */
  readonly envelope: unknown;
  /** Whether every file of the checkout has its bytes of before, and git, where it is there, sees no change. */
  readonly clean: boolean;
}

/** A running emulator with the demo's scripted model. */
export interface Emulator {
  readonly inputs: ModelInputs;
  readonly requests: readonly JournalEntry[];
  close(): Promise<void>;
}

/** Starts the provider emulator on a loopback port; the scripted model answers from what it is sent. */
export async function startEmulator(format: 'openai-compatible' | 'anthropic'): Promise<Emulator> {
  const server = await startModel(answer);
  const inputs =
    format === 'anthropic'
      ? {
          provider: format,
          model: 'claude-sonnet-4-5',
          'base-url': server.url,
          'api-key': 'emulator-needs-no-key',
        }
      : { provider: format, model: 'scripted-model', 'base-url': `${server.url}/v1` };
  return { inputs, requests: server.requests, close: server.close };
}

/** Whether bubblewrap works here, as the action would use it. */
export function hasBubblewrap(): boolean {
  const probe = [
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--unshare-pid',
    '--unshare-net',
    'true',
  ];
  return spawnSync('bwrap', probe, { stdio: 'ignore' }).status === 0;
}

/** Copies the repository into a fresh folder, commits it there, runs the action on it and removes the folder. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-demo-')));
  try {
    const workspace = path.join(folder, 'cart');
    const sha = createRepository(workspace, options.edits);
    const before = fingerprint(workspace);
    const result = await runStep({
      workspace,
      folder,
      sha: sha ?? '0'.repeat(40),
      environment: options.environment,
      inputs: {
        ...TASK,
        sandbox: options.sandbox,
        // A real model may be tempted to mend what it finds.
        'workspace-access': 'read-only',
        ...options.model,
        ...options.inputs,
      },
      onLine: options.onLine,
    });
    const unchanged = fingerprint(workspace) === before;
    const clean = unchanged && (sha === null || git(workspace, 'status', '--porcelain') === '');
    return { ...result, envelope: readEnvelope(result.outputs.get('run-result-file')), clean };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies the demo repository, applies the edits and commits it; gives the commit, null where there is no git. */
export function createRepository(workspace: string, edits: readonly Edit[]): string | null {
  cpSync(REPOSITORY, workspace, { recursive: true });
  for (const edit of edits) {
    const file = path.join(workspace, edit.file);
    const text = readFileSync(file, 'utf8');
    if (!text.includes(edit.from)) throw new Error(`${edit.file} does not hold ${edit.from}`);
    writeFileSync(file, text.replace(edit.from, edit.to));
  }
  if (spawnSync('git', ['--version'], { stdio: 'ignore' }).status !== 0) return null;
  git(workspace, 'init', '--quiet', '--initial-branch=main');
  git(workspace, 'add', '--all');
  git(workspace, 'commit', '--quiet', '--message=The cart');
  return git(workspace, 'rev-parse', 'HEAD');
}

function git(workspace: string, ...args: readonly string[]): string {
  const identity = [
    '-c',
    'user.name=demo',
    '-c',
    'user.email=demo@example.com',
    '-c',
    'commit.gpgsign=false',
  ];
  return execFileSync('git', ['-C', workspace, ...identity, ...args], { encoding: 'utf8' }).trim();
}

/** One hash over the names and bytes of every file outside `.git`. */
function fingerprint(workspace: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(workspace, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(path.join(workspace, '.git', path.sep)));
  for (const file of files.toSorted()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

function readEnvelope(file: string | undefined): unknown {
  if (file === undefined || file === '') return null;
  return JSON.parse(readFileSync(file, 'utf8'));
}
