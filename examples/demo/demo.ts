/** The demo as functions: a copy of the demo repository, and one run of the action on it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type StepResult, startStep } from './runner.ts';

const REPOSITORY = path.join(import.meta.dirname, 'repository');

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

/** What one run of the demo left. */
export interface DemoResult extends StepResult {
  /** Whether git sees no change in the checkout. */
  readonly isClean: boolean;
}

/** Whether bubblewrap works here, as the action would use it. */
export function hasBubblewrap(): boolean {
  const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
  const probe = spawnSync('bwrap', [...mounts, '--unshare-pid', '--unshare-net', 'true'], {
    stdio: 'ignore',
  });
  return probe.status === 0;
}

/** Copies the repository into a new folder, commits it there, runs the action on it and removes the folder. */
export async function runDemo(options: {
  /** Changes made to the repository before it is committed. */
  readonly edits: readonly Edit[];
  /** Further inputs: the model, and what differs from the demo's own task. */
  readonly inputs: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
}): Promise<DemoResult> {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-demo-')));
  try {
    const workspace = path.join(folder, 'cart');
    const sha = createRepository(workspace, options.edits);
    const sandbox = hasBubblewrap() ? 'required' : 'off';
    const result = await startStep({
      workspace,
      folder,
      sha,
      environment: process.env,
      inputs: { ...TASK, sandbox, ...options.inputs },
      onLine: options.onLine,
    }).done;
    return { ...result, isClean: git(workspace, 'status', '--porcelain', '--ignored') === '' };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Copies the demo repository, applies the edits and commits it; returns the commit. */
export function createRepository(workspace: string, edits: readonly Edit[]): string {
  cpSync(REPOSITORY, workspace, { recursive: true });
  for (const edit of edits) {
    const file = path.join(workspace, edit.file);
    const text = readFileSync(file, 'utf8');
    if (!text.includes(edit.from)) throw new Error(`${edit.file} does not hold ${edit.from}`);
    writeFileSync(file, text.replace(edit.from, edit.to));
  }
  git(workspace, 'init', '--quiet', '--initial-branch=main');
  return commitAll(workspace, 'The cart');
}

/** Commits what was changed in a repository; returns the commit. */
export function commitAll(workspace: string, message: string): string {
  git(workspace, 'add', '--all');
  git(workspace, 'commit', '--quiet', `--message=${message}`);
  return git(workspace, 'rev-parse', 'HEAD');
}

function git(workspace: string, ...args: readonly string[]): string {
  const identity = { 'user.name': 'demo', 'user.email': 'demo@example.com', 'commit.gpgsign': 'false' };
  const config = Object.entries(identity).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return execFileSync('git', ['-C', workspace, ...config, ...args], { encoding: 'utf8' }).trim();
}
