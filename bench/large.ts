/**
 * What the scratch layer costs on large checkouts, beside `read-only` on the same checkout, and what a copy would cost.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Bench, type Run, runBundle } from './clients.ts';

/** The inputs of each way. A copy is forced by a run without a sandbox, which mounts nothing. */
const WAYS = {
  'read-only': { 'INPUT_WORKSPACE-ACCESS': 'read-only' },
  scratch: { 'INPUT_WORKSPACE-ACCESS': 'scratch' },
  copy: { 'INPUT_WORKSPACE-ACCESS': 'scratch' },
} as const;

export type Way = keyof typeof WAYS;

/** Runs with one tool call, in each way. */
export type LargeFigure = Readonly<Record<Way, readonly Run[]>>;

/** Makes repositories of 20 files, of 100,000 files (400 MB), and of 20 files with 3 GB of ignored output. */
export function makeCheckouts(
  folder: string,
): readonly { readonly name: string; readonly workspace: string }[] {
  const make = (name: string, fill: (workspace: string) => void) => {
    const workspace = path.join(folder, name.replaceAll(/\W/gu, '-'));
    mkdirSync(workspace, { recursive: true });
    writeFileSync(path.join(workspace, '.gitignore'), 'output/\n');
    makeFiles(workspace, name.startsWith('100,000') ? 100_000 : 20);
    commitAll(workspace);
    fill(workspace);
    return { name, workspace };
  };
  return [
    make('20 files', () => undefined),
    make('100,000 files', () => undefined),
    make('3 GB of ignored output', (workspace) => {
      mkdirSync(path.join(workspace, 'output'));
      const block = Buffer.alloc(5_000_000, 'x');
      for (let at = 0; at < 600; at++) writeFileSync(path.join(workspace, 'output', `${at}.bin`), block);
    }),
  ];
}

function makeFiles(workspace: string, count: number): void {
  for (let at = 0; at < count; at++) {
    const folder = path.join(workspace, `d${Math.floor(at / 1_000)}`, `e${Math.floor(at / 100) % 10}`);
    if (at % 100 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `file-${at}.txt`), `${at}\n`.repeat(700));
  }
}

function commitAll(workspace: string): void {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', ...args], {
      cwd: workspace,
      stdio: 'ignore',
    });
  git('init', '-q');
  git('add', '--all');
  // Packed as in a clone, and before the runs are measured.
  git('-c', 'gc.auto=0', 'commit', '-qm', 'first');
  git('gc', '-q');
}

/** Runs each way in turns, so that all see the same machine, and the copy last and once: it takes a minute. */
export async function measureLarge(bench: Bench, runs: number): Promise<LargeFigure> {
  const exchange = { reads: 1, file: 'd0/e0/file-0.txt' };
  const figure: Record<Way, Run[]> = { 'read-only': [], scratch: [], copy: [] };
  const once = async (way: Way) =>
    void figure[way].push(
      await runBundle(
        way === 'copy' ? { ...bench, sandbox: 'off' } : bench,
        exchange,
        'openai-compatible',
        WAYS[way],
      ),
    );
  for (let run = 0; run < runs; run++) {
    await once('read-only');
    await once('scratch');
  }
  await once('copy');
  return figure;
}

/** Milliseconds from the first request to the next one, which holds the first tool result. */
export function firstResultMs({ requests }: Run): number {
  return (requests[1]?.at ?? Number.NaN) - (requests[0]?.at ?? Number.NaN);
}

/** Milliseconds from the request that is answered with the verdict to the end of the process. */
export function endMs({ requests, endedAt }: Run): number {
  return endedAt - (requests.at(-1)?.at ?? Number.NaN);
}
