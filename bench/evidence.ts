/**
 * What it costs to see which lines of a large change the tools show, and to look up findings in its files: 50 results of
 * 25 KB, a diff of 20,000 lines, 50 findings.
 */
import { execFileSync } from 'node:child_process';
import { readClaim } from '../src/evidence/claims.ts';
import { createCoverageMeter } from '../src/evidence/coverage.ts';
import { groundFindings } from '../src/evidence/grounding.ts';
import { parseDiff } from '../src/evidence/parse-diff.ts';

const FILES = 100;
const LINES = 200;
const RESULTS = 50;
const RESULT_CHARACTERS = 25_000;
const FINDINGS = 50;

/**
 * The default of Node's, which a run reaches before its first result: otherwise most of what is measured is that the first
 * one to make garbage lets the heap grow.
 */
const HEAP = ['--min-semi-space-size=16', '--max-semi-space-size=16'];

type Part = 'coverage' | 'grounding' | 'none';

/** CPU time, and the peak memory of a process with it and without. */
export interface EvidenceCost {
  readonly coverageMs: number;
  readonly groundingMs: number;
  readonly coveragePeakBytes: number;
  readonly groundingPeakBytes: number;
  readonly barePeakBytes: number;
  /** The share of the changed lines that the results show. */
  readonly share: number;
  /** How many of the findings are proven. */
  readonly proven: number;
}

/** Measures once, in processes of its own. */
export function measureEvidence(): EvidenceCost {
  const run = (part: Part): { ms: number; peakKib: number; found: number } =>
    JSON.parse(execFileSync(process.execPath, [...HEAP, import.meta.filename, part], { encoding: 'utf8' }));
  const [coverage, grounding, bare] = [run('coverage'), run('grounding'), run('none')];
  return {
    ...{ coverageMs: coverage.ms, groundingMs: grounding.ms, share: coverage.found, proven: grounding.found },
    coveragePeakBytes: coverage.peakKib * 1024,
    groundingPeakBytes: grounding.peakKib * 1024,
    barePeakBytes: bare.peakKib * 1024,
  };
}

function lineOf(file: number, hunk: number, at: number): string {
  return `  const value${at} = compute(${file}, ${hunk}, ${at}); // as in the other`;
}

/** A file of the diff: hunks of 14 added, 3 removed and 3 unchanged lines. */
function makeFile(file: number): string {
  const path = `src/module-${file}.ts`;
  const lines: string[] = [`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`];
  for (let hunk = 0; hunk < LINES / 20; hunk++) {
    lines.push(`@@ -${1 + hunk * 50},6 +${1 + hunk * 61},17 @@`);
    for (let at = 0; at < 20; at++) {
      const mark = at < 3 ? ' ' : at < 6 ? '-' : '+';
      lines.push(`${mark}${at % 5 === 0 ? '  }' : lineOf(file, hunk, at)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Fills the young generation of the heap, so that its pages are counted in each process. */
function fillHeap(): void {
  for (let at = 0; at < 200; at++)
    JSON.parse(JSON.stringify(Array.from({ length: 2_000 }, (_, id) => ({ id, name: `n${id}` }))));
}

function measureCoverage(diff: string): number {
  const results = Array.from({ length: RESULTS }, (_, at) => {
    const start = (at * RESULT_CHARACTERS) % Math.max(1, diff.length - RESULT_CHARACTERS);
    return diff.slice(start, start + RESULT_CHARACTERS);
  });
  const change = { files: parseDiff(diff), incomplete: null, marked: new Map() };
  const meter = createCoverageMeter(change, { root: '/r', workingDirectory: '/r', subjectPaths: [] });
  for (const text of results) meter.observe({ tool: 'shell', target: 'git diff', text });
  const { lines } = meter.measure();
  return lines.shown / lines.changed;
}

/**
 * Each finding is in a file of its own, which has the lines of the new side, and every tenth quote is in none. The change
 * is parsed already, for coverage.
 */
function prepareGrounding(diff: string): () => Promise<number> {
  const change = { files: parseDiff(diff), incomplete: null, marked: new Map() };
  const texts = new Map(
    change.files.map(({ path, hunks }) => {
      const lines = hunks.flatMap((hunk) => hunk.lines.filter((line) => !line.startsWith('-')));
      return [path, lines.map((line) => line.slice(1)).join('\n')] as const;
    }),
  );
  const claims = Array.from({ length: FINDINGS }, (_, at) => {
    const path = `src/module-${at}.ts`;
    const quote = at % 10 === 9 ? `  const other = compute(${at});` : lineOf(at, 5, 7);
    return readClaim({ quote }, { path, line: 1, endLine: null });
  });
  const files = {
    text: (path: string) => texts.get(path) ?? null,
    exists: (path: string) => texts.has(path),
    holdsSecret: () => false,
  };
  return async () => {
    const found = await groundFindings(claims, files, change);
    return found.filter(({ status }) => status === 'exact').length;
  };
}

async function main(part: Part): Promise<void> {
  const diff = Array.from({ length: FILES }, (_, file) => makeFile(file)).join('');
  const measures = {
    coverage: () => measureCoverage(diff),
    grounding: part === 'grounding' ? prepareGrounding(diff) : () => 0,
    none: () => 0,
  };
  fillHeap();
  const before = process.threadCpuUsage();
  const found = await measures[part]();
  const { user, system } = process.threadCpuUsage(before);
  const peakKib = process.resourceUsage().maxRSS;
  process.stdout.write(JSON.stringify({ ms: (user + system) / 1_000, peakKib, found }));
}

function readPart(word: string | undefined): Part {
  return word === 'coverage' || word === 'grounding' ? word : 'none';
}

if (process.argv[1] === import.meta.filename) await main(readPart(process.argv[2]));
