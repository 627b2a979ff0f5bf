/**
 * What evidence costs a run: 50 turns that read a diff of 20,000 lines in results of 20 KB, then a verdict with 50
 * findings, with `--base` and without. A run without it does the same turns, and measures and looks up nothing.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Bench, CLI } from './clients.ts';
import { type Exchange, type Observation, peakOf } from './server.ts';

const FILES = 100;
const HUNKS = 10;
const TURNS = 50;

/**
 * Makes V8 collect all garbage each time that the young generation is full: otherwise the peak is when it chooses to do so,
 * and two runs of one command differ by more than evidence needs.
 */
const COLLECTING = ['--gc-global', '--min-semi-space-size=2', '--max-semi-space-size=2'];
const PEAK_INTERVAL_MS = 10;

/** One run as it was seen. */
export interface EvidenceRun extends Observation {
  readonly endedAt: number;
  readonly stdout: string;
}

/** Makes a repository whose last commit changes 100 files: 14 lines for 3 in each of 10 places. */
export function makeChange(folder: string): string {
  const workspace = path.join(folder, 'change');
  mkdirSync(path.join(workspace, 'src'), { recursive: true });
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@example.com', ...args], {
      cwd: workspace,
      stdio: 'ignore',
    });
  git('init', '-q');
  git('config', 'gc.auto', '0');
  for (const isNew of [false, true]) {
    for (let file = 0; file < FILES; file++)
      writeFileSync(path.join(workspace, pathOf(file)), makeFile(file, isNew));
    git('add', '--all');
    git('commit', '-qm', 'a commit');
  }
  return workspace;
}

function pathOf(file: number): string {
  return `src/module-${file}.ts`;
}

function lineOf(file: number, hunk: number, at: number): string {
  return `  const value${at} = compute(${file}, ${hunk}, ${at}); // as in the other`;
}

function makeFile(file: number, isNew: boolean): string {
  const lines: string[] = [];
  for (let hunk = 0; hunk < HUNKS; hunk++) {
    for (let at = 0; at < 30; at++)
      lines.push(`  const steady${at} = keep(${file}, ${hunk}, ${at}); // as before`);
    for (let at = 0; at < (isNew ? 14 : 3); at++)
      lines.push(at % 5 === 0 ? '  }' : lineOf(file, hunk, isNew ? at : at + 100));
  }
  return `${lines.join('\n')}\n`;
}

/** What the model calls: the diff of two files in each turn, then the verdict. Every tenth quote is in no file. */
function makeExchange(delayMs: number): Exchange {
  const reads = Array.from({ length: TURNS }, (_, turn) => {
    const files = [2 * turn, 2 * turn + 1].map(pathOf);
    return { name: 'shell', input: { command: `git diff HEAD~1 -- ${files.join(' ')}` } };
  });
  const findings = Array.from({ length: 50 }, (_, at) => ({
    ...{ path: pathOf(at), line: 5, severity: 'warning', category: 'correctness', title: 't', message: 'm' },
    quote: at % 10 === 9 ? `  const other = compute(${at});` : lineOf(at, 5, 7),
  }));
  const input = { passed: true, complete: true, summary: 'read', findings };
  return { reads: TURNS, file: '', delayMs, calls: [...reads, { name: 'structured_output', input }] };
}

/** How a run is measured. */
export interface EvidenceWay {
  /** How long the model takes for each answer. */
  readonly delayMs: number;
  /** Whether memory is measured, at a great cost of time. */
  readonly collects: boolean;
}

/** Runs the command line once. */
export async function runEvidence(
  bench: Bench,
  withEvidence: boolean,
  { delayMs, collects }: EvidenceWay,
): Promise<EvidenceRun> {
  const watched = bench.server.begin(makeExchange(delayMs));
  const model = ['--model', 'bench', '--base-url', `${bench.server.url}/v1`, '--stream', 'off'];
  const verdict = [
    '--json-schema',
    'code-review',
    '--gate',
    'none',
    '--output-format',
    'json',
    '--max-turns',
    '-1',
  ];
  const evidence = withEvidence ? ['--base', 'HEAD~1', '--grounding', 'mark'] : ['--grounding', 'off'];
  const child = spawn(
    process.execPath,
    [
      ...(collects ? COLLECTING : []),
      CLI,
      '-p',
      'Judge.',
      ...model,
      ...verdict,
      ...evidence,
      '--sandbox',
      bench.sandbox,
    ],
    {
      cwd: bench.workspace,
      env: { PATH: process.env['PATH'], HOME: bench.folder },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  let peakBytes: number | null = null;
  const timer = setInterval(() => {
    peakBytes = (child.pid === undefined ? null : peakOf(child.pid)) ?? peakBytes;
  }, PEAK_INTERVAL_MS);
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearInterval(timer);
  const endedAt = performance.now();
  if (exitCode !== 0) throw new Error(`The command line ended with ${exitCode}.`);
  return { ...watched.end(), peakBytes, endedAt, stdout };
}
