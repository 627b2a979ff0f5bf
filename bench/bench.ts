/**
 * `npm run bench`: the committed bundle beside a bare Node client that does the same exchange with the same server, in
 * one run. Prints each figure beside its target; always ends 0, for a figure is no test. `-- --sandbox` measures the sandbox
 * alone, as the user who runs it; `-- --merge` the merge alone; `-- --large` the scratch layer alone, on large checkouts (8 GB of disk, some minutes);
 * `-- --evidence` what coverage and grounding cost a run, alone (five minutes);
 * `-- --readers` the readers of hostile text alone, or those whose names hold one of the words after it (some minutes).
 */
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { INTERRUPTIBLE } from '../__tests__/support/texts/parsers.ts';
import { createRepository, hasBubblewrap } from '../examples/demo/demo.ts';
import { BUNDLE } from '../examples/demo/runner.ts';
import { PROVIDERS } from '../src/providers/registry.ts';
import { measureAdapter } from './adapters.ts';
import { type Bench, type Format, type Run, runBare, runBundle, runCli, timeCheck } from './clients.ts';
import { bundleFiles, loadedSdks } from './dist.ts';
import { type EvidenceRun, type EvidenceWay, makeChange, runEvidence } from './evidence.ts';
import { endMs, firstResultMs, makeCheckouts, measureLarge, type Way } from './large.ts';
import { measureMerge } from './merge.ts';
import { measureReaders } from './readers.ts';
import { measureBackends } from './sandbox.ts';
import { type Exchange, startBenchServer } from './server.ts';

const RUNS = 15;
const COMMANDS = 30;
const EVIDENCE_RUNS = 7;
/** A tenth of what a fast model takes for a turn. */
const EVIDENCE_DELAY_MS = 100;
const SHORT = { reads: 3, file: 'package.json' };
const MANY = { reads: 40, file: 'package.json' };
const LONG = { reads: 200, file: 'twenty-kilobytes.txt' };
const MB = 1_000_000;
const FORMATS: readonly Format[] = ['openai', 'openai-compatible', 'anthropic'];

if (process.argv.includes('--sandbox')) await backends();
else if (process.argv.includes('--merge')) await merges(os.tmpdir());
else if (process.argv.includes('--readers')) await readers();
else if (existsSync(BUNDLE)) await main();
else console.log('dist/index.js is not there. Run: npm run build');

async function main(): Promise<void> {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-bench-')));
  const server = await startBenchServer();
  try {
    const workspace = path.join(folder, 'cart');
    const sha = createRepository(workspace, []) ?? '0'.repeat(40);
    writeFileSync(path.join(workspace, LONG.file), `${'x'.repeat(99)}\n`.repeat(200));
    const sandbox = hasBubblewrap() ? 'required' : 'off';
    const bench: Bench = { server, workspace, sha, folder, sandbox };
    console.log(`node ${process.version}, sandbox ${sandbox}, medians of repeated runs\n`);
    if (process.argv.includes('--large')) {
      await large(bench);
      return;
    }
    if (process.argv.includes('--evidence')) {
      await evidence(bench);
      return;
    }
    await compare(bench);
    await commandLine(bench);
    await size(bench);
    await long(bench);
    await evidence(bench);
    await adapters();
    await merges(folder);
    await backends();
    await scratch(bench);
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** What one client did. */
interface Runs {
  readonly short: Run[];
  readonly many: Run[];
}

/** The start of the command line beside the bare client's, and the offline check. */
async function commandLine(bench: Bench): Promise<void> {
  const [ours, bare, checks]: [Run[], Run[], number[]] = [[], [], []];
  for (let run = 0; run < RUNS; run++) {
    bare.push(await runBare(bench, SHORT));
    ours.push(await runCli(bench, SHORT));
    checks.push((await timeCheck(path.join(import.meta.dirname, '..'))) ?? Number.NaN);
  }
  console.log('command line (openai-compatible)');
  ratio('process start to first request', median(ours.map(startMs)), median(bare.map(startMs)), 'ms', 2.5);
  const check = median(checks);
  line('structured-agent check', `${check.toFixed(0)} ms`, '≤ 300 ms', check <= 300);
}

/** Start, memory and first request of short runs, turns of long ones. The clients take turns, so that all see the same machine. */
async function compare(bench: Bench): Promise<void> {
  const clients = new Map<Format | 'bare', Runs>(
    (['bare', ...FORMATS] as const).map((name) => [name, { short: [], many: [] }]),
  );
  const once = (name: Format | 'bare', exchange: Exchange) =>
    name === 'bare' ? runBare(bench, exchange) : runBundle(bench, exchange, name);
  for (let run = 0; run < RUNS; run++) {
    for (const [name, { short, many }] of clients) {
      short.push(await once(name, SHORT));
      if (run % 3 === 0) many.push(await once(name, MANY));
    }
  }
  const bare = clients.get('bare') ?? { short: [], many: [] };
  for (const [name, ours] of clients) {
    if (name === 'bare') continue;
    const figure = (of: (run: Run) => number) =>
      [median(ours.short.map(of)), median(bare.short.map(of))] as const;
    console.log(name);
    ratio('process start to first request', ...figure(startMs), 'ms', 2.5);
    ratio(
      'a turn with a read',
      median(ours.many.flatMap(turnsMs)),
      median(bare.many.flatMap(turnsMs)),
      'ms',
      3,
    );
    ratio('peak memory', ...figure(peakMb), 'MB', 2);
    const [first] = figure((run) => run.requests[0]?.bytes ?? Number.NaN);
    line('first request, two properties', `${first} bytes`, '≤ 4,000 bytes', first <= 4_000);
  }
}

/** What lies in dist/, and which provider's SDK a run of each loads. */
async function size(bench: Bench): Promise<void> {
  console.log('bundle');
  const files = bundleFiles();
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  line('dist/', `${(bytes / MB).toFixed(2)} MB in ${files.length} files`, '≤ 3.5 MB', bytes <= 3.5 * MB);
  for (const format of FORMATS) {
    const coverage = path.join(bench.folder, 'coverage');
    await runBundle(bench, SHORT, format, { NODE_V8_COVERAGE: coverage });
    const { sdks, bytes: loaded } = loadedSdks(coverage);
    rmSync(coverage, { recursive: true, force: true });
    const wanted = format === 'anthropic' ? 'anthropic' : 'openai';
    line(
      `SDKs loaded by ${format}`,
      `${sdks.join(', ') || 'none'} (${(loaded / MB).toFixed(2)} MB of code)`,
      `${wanted} alone`,
      sdks.join() === wanted,
    );
  }
}

/** A run of 200 turns, each adding 20 KB: the time of a turn may grow with the bytes sent and with nothing else. */
async function long(bench: Bench): Promise<void> {
  console.log('200 turns with 20 KB each (openai-compatible)');
  const bare = quarters(await runBare(bench, LONG));
  const ours = quarters(await runBundle(bench, LONG, 'openai-compatible'));
  for (const [name, parts] of [['bare client', bare] as const, ['bundle', ours] as const]) {
    const shown = parts.map((part) => `${part.ms.toFixed(1)} ms for ${(part.bytes / MB).toFixed(2)} MB`);
    console.log(`  ${`${name}, by quarter`.padEnd(36)} ${shown.join(' · ')}`);
  }
  const [, second, , last] = ours;
  if (second === undefined || last === undefined) return;
  const time = last.ms / second.ms;
  const bytes = last.bytes / second.bytes;
  line(
    'last ÷ second quarter, time',
    `${time.toFixed(2)}×`,
    `≤ 1.25 × ${bytes.toFixed(2)} (bytes)`,
    time <= 1.25 * bytes,
  );
}

/** Coverage and grounding, in a whole run: against a model faster than any, and against one that answers at once. */
async function evidence(bench: Bench): Promise<void> {
  console.log('evidence: 50 results of 20 KB, a diff of 20,000 lines, 50 findings');
  const workspace = makeChange(bench.folder);
  const compare = async (way: EvidenceWay) => {
    const runs: Record<'with' | 'without', EvidenceRun[]> = { with: [], without: [] };
    for (let run = 0; run < EVIDENCE_RUNS; run++) {
      runs.without.push(await runEvidence({ ...bench, workspace }, false, way));
      runs.with.push(await runEvidence({ ...bench, workspace }, true, way));
    }
    const figure = (measure: (run: EvidenceRun) => number) =>
      [median(runs.with.map(measure)), median(runs.without.map(measure))] as const;
    const since = (at: number) => (run: EvidenceRun) => run.endedAt - (run.requests.at(at)?.at ?? Number.NaN);
    return { runs, figure, turns: figure(since(1)), end: figure(since(-1)) };
  };
  const slow = await compare({ delayMs: EVIDENCE_DELAY_MS, collects: false });
  const { runs, figure, turns, end } = slow;
  ratio(`50 answers after ${EVIDENCE_DELAY_MS} ms each`, ...turns, 'ms', 1.03, 'without');
  line('of these, verdict to exit', end.map((ms) => `${ms.toFixed(0)} ms`).join(', without '));
  const peakOf = ({ figure }: Pick<typeof slow, 'figure'>) => {
    const [peak, without] = figure((run) => (run.peakBytes ?? Number.NaN) / MB);
    return { more: peak - without, text: `+${(peak - without).toFixed(1)} MB (${peak.toFixed(1)} MB)` };
  };
  const held = peakOf(await compare({ delayMs: 0, collects: true }));
  line('peak memory, all collected', held.text, '≤ +10 MB', held.more <= 10);
  line('peak memory, as V8 collects', peakOf(slow).text);
  const [fast, fastWithout] = (await compare({ delayMs: 0, collects: false })).turns;
  line(
    '50 answers at once',
    `${(fast / fastWithout).toFixed(2)}× (${fast.toFixed(1)} ms, without ${fastWithout.toFixed(1)})`,
  );
  const first = figure((run) => (run.requests[1]?.at ?? Number.NaN) - (run.requests[0]?.at ?? Number.NaN));
  line(
    'context from git, beside the first request',
    `first tool result after ${first.map((ms) => `${ms.toFixed(0)} ms`).join(', without ')}`,
  );
  const { coverage, grounding } = JSON.parse(runs.with[0]?.stdout ?? '[]').at(-1).evidence;
  line('changed lines shown', `${coverage.lines.shown} of ${coverage.lines.changed}`);
  line('findings proven', `${grounding.exact} of 50`);
}

/** Each adapter beside a bare client that sends the same bodies, at the 1st, 50th and 200th turn of a conversation. */
async function adapters(): Promise<void> {
  for (const name of PROVIDERS) {
    const { looks, unsharedBytes } = await measureAdapter(name);
    console.log(`adapter of ${name}`);
    for (const { turn, adapterMs, bareMs, bytes } of looks) {
      const times = `${(adapterMs / bareMs).toFixed(2)}× (${adapterMs.toFixed(2)} ms, bare ${bareMs.toFixed(2)})`;
      line(`a completion at turn ${turn}`, `${times}, ${bytes.toLocaleString('en')} bytes sent`);
    }
    const [, middle, last] = looks;
    if (middle === undefined || last === undefined) continue;
    const growth = last.adapterMs / middle.adapterMs;
    const bytes = last.bytes / middle.bytes;
    line(
      `turn ${last.turn} ÷ turn ${middle.turn}, time`,
      `${growth.toFixed(2)}×`,
      `≤ 1.25 × ${bytes.toFixed(2)} (bytes)`,
      growth <= 1.25 * bytes,
    );
    line(
      'not the beginning of the next request',
      `${unsharedBytes} bytes at most`,
      '≤ 64 bytes',
      unsharedBytes <= 64,
    );
  }
}

/** The slowest text of each reader of hostile text, at 1 MB and at 10 MB or the limit of the product. */
async function readers(): Promise<void> {
  const words = process.argv.slice(process.argv.indexOf('--readers') + 1);
  for await (const { reader, length, limit, text, seconds } of measureReaders(words)) {
    const size = `${(length / 1024 ** 2).toFixed(2)} MiB${limit === null ? '' : ` (${limit})`}`;
    if (INTERRUPTIBLE.has(reader))
      console.log(`  ${reader}: ${seconds.toFixed(2)} s: ${size}, ${text} (interruptible)`);
    else line(reader, `${seconds.toFixed(2)} s: ${size}, ${text}`, '≤ 1 s', seconds <= 1);
  }
}

/** What a command in a sandbox costs beside a plain one. */
async function backends(): Promise<void> {
  const { plain, backends: figures } = await measureBackends(COMMANDS);
  console.log(`a command in a sandbox (uid ${process.getuid?.()}, plain ${median(plain).toFixed(1)} ms)`);
  for (const { kind, ms } of figures) {
    const over = median(ms) - median(plain);
    const most = kind === 'bwrap' ? 10 : 25;
    line(kind, `+${over.toFixed(1)} ms (${median(ms).toFixed(1)} ms)`, `≤ +${most} ms`, over <= most);
  }
}

/** 256 legs of three votes each, 768 envelopes of 100 KB, in a process of its own. */
async function merges(folder: string): Promise<void> {
  const runs = await measureMerge(folder, 3);
  const [first] = runs;
  if (first === undefined) return;
  console.log(`a merge of ${first.envelopes} envelopes of 100 KB (256 legs × 3 votes)`);
  const seconds = median(runs.map(({ ms }) => ms)) / 1_000;
  const peak = median(runs.map(({ peakBytes }) => peakBytes)) / MB;
  const cpu = median(runs.map(({ cpuMs }) => cpuMs)) / 1_000;
  line(
    'process start to its end',
    `${seconds.toFixed(2)} s (${cpu.toFixed(2)} s of CPU)`,
    '≤ 3 s',
    seconds <= 3,
  );
  line('peak memory', `${peak.toFixed(0)} MB`, '≤ 400 MB', peak <= 400);
  line('findings', `${first.found.toLocaleString('en')}, told once: ${first.told.toLocaleString('en')}`);
}

/** The time to the first request, with a scratch layer and without. */
async function scratch(bench: Bench): Promise<void> {
  const times = { scratch: [] as number[], 'read-only': [] as number[] };
  for (let run = 0; run < RUNS; run++) {
    for (const access of ['scratch', 'read-only'] as const) {
      const extra = { 'INPUT_WORKSPACE-ACCESS': access };
      times[access].push(startMs(await runBundle(bench, SHORT, 'openai-compatible', extra)));
    }
  }
  console.log('process start to first request');
  ratio(
    'scratch beside read-only',
    median(times.scratch),
    median(times['read-only']),
    'ms',
    1.05,
    'read-only',
  );
}

/** The scratch layer on large checkouts. */
async function large(bench: Bench): Promise<void> {
  for (const { name, workspace } of makeCheckouts(bench.folder)) {
    const figure = await measureLarge({ ...bench, workspace }, 7);
    const of = (way: Way, measure: (run: Run) => number) => median(figure[way].map(measure));
    const beside = (title: string, measure: (run: Run) => number, unit: string, most: number) =>
      ratio(title, of('scratch', measure), of('read-only', measure), unit, most, 'read-only');
    console.log(`${name}, user ${process.getuid?.()}`);
    beside('process start to first request', startMs, 'ms', 1.3);
    beside('first request to first tool result', firstResultMs, 'ms', 1.3);
    beside('verdict to exit', endMs, 'ms', 1.3);
    beside('peak memory', peakMb, 'MB', 1.1);
    const copied = [firstResultMs, endMs].map((measure) => `${(of('copy', measure) / 1_000).toFixed(1)} s`);
    line('a copy (sandbox: off)', copied.join(' to the first tool result, and to exit '));
  }
}

function startMs(run: Run): number {
  return (run.requests[0]?.at ?? Number.NaN) - run.startedAt;
}

/** The time from each request to the next. */
function turnsMs(run: Run): readonly number[] {
  return run.requests.slice(1).map((request, index) => request.at - (run.requests[index]?.at ?? Number.NaN));
}

function peakMb(run: Run): number {
  return (run.peakBytes ?? Number.NaN) / MB;
}

/** Median time and bytes of a turn in each quarter of a run. */
function quarters(run: Run): readonly { readonly ms: number; readonly bytes: number }[] {
  const times = turnsMs(run);
  const length = Math.floor(times.length / 4);
  return [0, 1, 2, 3].map((quarter) => {
    const from = quarter * length;
    return {
      ms: median(times.slice(from, from + length)),
      bytes: median(run.requests.slice(from + 1, from + 1 + length).map((request) => request.bytes)),
    };
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function ratio(name: string, ours: number, base: number, unit: string, most: number, other = 'bare'): void {
  const times = ours / base;
  line(
    name,
    `${times.toFixed(2)}× (${ours.toFixed(1)} ${unit}, ${other} ${base.toFixed(1)})`,
    `≤ ${most}×`,
    times <= most,
  );
}

/** A figure, and whether it is what it should be; just a figure where nothing is asked of it. */
function line(name: string, value: string, target = '', met: boolean | null = null): void {
  const judged = met === null ? '' : met ? 'PASS' : 'MISS';
  console.log(`  ${name.padEnd(36)} ${value.padEnd(44)} ${target.padEnd(24)} ${judged}`.trimEnd());
}
