/**
 * `npm run bench`: the committed bundle beside a bare Node client that has the same conversation with the same server, in
 * one run. Prints each figure beside its bound. Always ends 0, because a busy machine is not a fault.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { commitAll, createRepository, hasBubblewrap } from '../examples/demo/demo.ts';
import { BUNDLE, startStep } from '../examples/demo/runner.ts';
import { isDistCurrent } from '../scripts/sources-hash.ts';
import { measureHostile } from './hostile.ts';

const RUNS = 11;
const FEW_READS = 3;
const MANY_READS = 40;
const LARGE_FILES = 100_000;
/** Size of a file that git ignores, as of a build. */
const IGNORED_BYTES = 3_000_000_000;
const CHANGED_FILES = 50;
const FEW_CHANGED = 5;
/** Of each changed file: the diff of many files is too long for the first message. */
const LINES = 30;
const LEGS = 256;
const VOTES = 3;
/** Makes an envelope of 100 KB: it contains the payload three times. */
const FINDINGS = 100;
const MB = 1_000_000;

/** Loads before a program, and prints its peak memory in KiB as it exits. */
const PEAK =
  "--import=data:text/javascript,process.on('exit',()=>console.log('peak',process.resourceUsage().maxRSS))";

/** What was seen of one process. Times are those of `performance.now()`. */
interface Run {
  readonly startedAt: number;
  readonly endedAt: number;
  /** When each request was complete. */
  readonly requests: readonly number[];
  /** NaN unless it was started with PEAK. */
  readonly peakMb: number;
}

interface Call {
  readonly name: string;
  readonly input: unknown;
}

/** The model: it answers each request at once with the next call, and refuses one more. */
interface Model {
  readonly url: string;
  readonly server: Server;
  calls: readonly Call[];
  requests: number[];
  /** Of all requests; a token has about four. */
  characters: number;
}

interface Bench {
  readonly model: Model;
  readonly workspace: string;
  /** For what runs leave; it is removed at the end. */
  readonly folder: string;
}

async function main(): Promise<void> {
  if (!isDistCurrent(path.join(import.meta.dirname, '..'))) {
    console.log('dist/ is not what src/ builds. Run: npm run build');
    return;
  }
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-bench-')));
  const model = await startModel();
  try {
    const workspace = path.join(folder, 'cart');
    createRepository(workspace, []);
    const bench: Bench = { model, workspace, folder };
    console.log(`node ${process.version}, sandbox ${sandbox}, medians of ${RUNS} runs`);
    const bare = await compareWithBare(bench);
    await compareCheckouts(bench);
    await compareInlinedDiff(bench);
    await compareEvidence(bench);
    await measureEvidence();
    await measureMerge(bench, bare);
  } finally {
    model.server.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

const sandbox = hasBubblewrap() ? 'required' : 'off';

/** The clients take turns, so that they see the same machine. Returns the short runs of the bare client. */
async function compareWithBare(bench: Bench): Promise<readonly Run[]> {
  const [bare, ours, responses, anthropic]: [Run[], Run[], Run[], Run[]] = [[], [], [], []];
  const [bareLong, oursLong]: [Run[], Run[]] = [[], []];
  for (let run = 0; run < RUNS; run++) {
    bare.push(await runBare(bench, FEW_READS));
    ours.push(await runBundle(bench, FEW_READS));
    responses.push(await runRefused(bench, 'openai', '/v1'));
    anthropic.push(await runRefused(bench, 'anthropic', ''));
    bareLong.push(await runBare(bench, MANY_READS, PEAK));
    oursLong.push(await runBundle(bench, MANY_READS, PEAK));
  }
  const turns = ({ requests }: Run) =>
    median(requests.slice(1).map((at, index) => at - (requests[index] ?? Number.NaN)));
  // From the start of the process to its first request.
  for (const [wire, runs] of Object.entries({ 'chat completions': ours, responses, anthropic }))
    ratio(`start: ${wire}`, runs.map(startOf), bare.map(startOf), 'ms', 2.2);
  more('turn: a read of a small file', oursLong.map(turns), bareLong.map(turns), 25);
  ratio(`wall: ${FEW_READS} reads, process to exit`, ours.map(wallOf), bare.map(wallOf), 'ms', 4);
  const peak = ({ peakMb }: Run) => peakMb;
  ratio(`memory: peak of ${MANY_READS} reads`, oursLong.map(peak), bareLong.map(peak), 'MB', 1.6);
  return bare;
}

/** The same run in a checkout of many files, and in one with a large ignored file, beside the small one. */
async function compareCheckouts(bench: Bench): Promise<void> {
  const [many, ignored] = [path.join(bench.folder, 'many'), path.join(bench.folder, 'ignored')];
  for (let at = 0; at < LARGE_FILES; at++) {
    const folder = path.join(many, `folder-${Math.floor(at / 100)}`);
    if (at % 100 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, `${at}.txt`), `${at}\n`.repeat(20));
  }
  createRepository(many, []);
  mkdirSync(ignored);
  writeFileSync(path.join(ignored, '.gitignore'), 'output\n');
  createRepository(ignored, []);
  writeIgnored(path.join(ignored, 'output'));
  const runs: Record<'small' | 'many' | 'ignored', Run[]> = { small: [], many: [], ignored: [] };
  for (let run = 0; run < RUNS; run++) {
    runs.small.push(await runBundle(bench, FEW_READS));
    runs.many.push(await runBundle({ ...bench, workspace: many }, FEW_READS));
    runs.ignored.push(await runBundle({ ...bench, workspace: ignored }, FEW_READS));
  }
  for (const [name, large] of [
    [`${LARGE_FILES} files`, runs.many],
    [`${IGNORED_BYTES / 1e9} GB ignored`, runs.ignored],
  ] as const) {
    little(`${name}, first tool result`, large.map(firstResultOf), runs.small.map(firstResultOf));
    little(`${name}, wall`, large.map(wallOf), runs.small.map(wallOf));
  }
}

function writeIgnored(file: string): void {
  const chunk = Buffer.alloc(10 * MB, 'x');
  for (let written = 0; written < IGNORED_BYTES; written += chunk.length) appendFileSync(file, chunk);
}

/** A checkout to which a change of new modules was pushed. */
interface Pushed {
  readonly workspace: string;
  readonly sha: string;
  readonly extra: Inputs;
}

const moduleName = (at: number) => `src/module-${at}.js`;
const moduleLine = (file: number, at: number) =>
  `export const value_${file}_${at} = compute(${file}, ${at});`;

function pushModules({ folder }: Bench, files: number): Pushed {
  const workspace = path.join(folder, `changed-${files}`);
  const before = createRepository(workspace, []);
  for (let file = 0; file < files; file++) {
    const lines = Array.from({ length: LINES }, (_, at) => moduleLine(file, at));
    writeFileSync(path.join(workspace, moduleName(file)), `${lines.join('\n')}\n`);
  }
  const sha = commitAll(workspace, 'Many modules');
  const event = path.join(folder, `event-${files}.json`);
  writeFileSync(event, JSON.stringify({ before, after: sha }));
  return { workspace, sha, extra: { GITHUB_EVENT_PATH: event } };
}

/** Lets the model read files one after another, and deliver a review with a finding in each file of the change. */
function reviewModules(bench: Bench, change: Pushed, reads: readonly string[], inputs: Inputs): Promise<Run> {
  const finding = { severity: 'warning', category: 'correctness', title: 'Unused', message: 'Is it used?' };
  const findings = reads.map((name, at) => ({ ...finding, path: name, line: 3, quote: moduleLine(at, 2) }));
  prepare(bench.model, [
    ...reads.map((name) => ({ name: 'read_file', input: { path: name } })),
    { name: 'structured_output', input: { passed: true, summary: 'Good.', complete: true, findings } },
  ]);
  const all = { ...inputsOf(bench), schema: 'code-review', ...inputs };
  const { workspace, sha, extra } = change;
  return runStep({ ...bench, workspace }, { inputs: all, sha, extra, nodeOptions: PEAK });
}

/** The same review of a change of many files, with its evidence and without. */
async function compareEvidence(bench: Bench): Promise<void> {
  const change = pushModules(bench, CHANGED_FILES);
  const reads = Array.from({ length: CHANGED_FILES }, (_, at) => moduleName(at));
  const [withEvidence, without]: [Run[], Run[]] = [[], []];
  for (let run = 0; run < RUNS; run++) {
    withEvidence.push(await reviewModules(bench, change, reads, {}));
    without.push(await reviewModules(bench, change, reads, { 'min-coverage': 'off', grounding: 'off' }));
  }
  const what = `evidence of ${CHANGED_FILES} changed files`;
  ratio(`${what}, wall`, withEvidence.map(wallOf), without.map(wallOf), 'ms', 1.03, 'off');
  const peakOf = (runs: readonly Run[]) => median(runs.map(({ peakMb }) => peakMb));
  const extraMb = peakOf(withEvidence) - peakOf(without);
  line(
    `${what}, memory`,
    `${extraMb < 0 ? '' : '+'}${extraMb.toFixed(1)} MB`,
    'at most +10 MB',
    extraMb <= 10,
  );
}

/** The time that the worst texts take, and twice as much of them. */
async function measureEvidence(): Promise<void> {
  for (const { name, seconds, growth } of await measureHostile()) {
    const figure = `${seconds.toFixed(2)} s, of twice as much ${growth.toFixed(1)}×`;
    line(name, figure, '1 s, 2.5×', seconds < 1 && growth <= 2.5);
  }
}

/** A review of a small change, whose diff is in the first message, and one that reads its files. */
async function compareInlinedDiff(bench: Bench): Promise<void> {
  const change = pushModules(bench, FEW_CHANGED);
  const describe = async (reads: readonly string[], inputs: Inputs) => {
    await reviewModules(bench, change, reads, inputs);
    const { requests, characters } = bench.model;
    return { turns: requests.length, tokens: Math.round(characters / 4) };
  };
  const inlined = await describe([], {});
  const names = Array.from({ length: FEW_CHANGED }, (_, at) => moduleName(at));
  const read = await describe(names, { 'min-coverage': 'off' });
  const say = ({ turns, tokens }: typeof read) => `${turns} turns, ${tokens} tokens`;
  const isLess = inlined.turns <= read.turns && inlined.tokens <= read.tokens;
  line(`review of ${FEW_CHANGED} files, diff in the prompt`, say(inlined), `read: ${say(read)}`, isLess);
}

/** Merges copies of a real envelope in which only the names of leg and vote differ. */
async function measureMerge(bench: Bench, bare: readonly Run[]): Promise<void> {
  const findings = Array.from({ length: FINDINGS }, (_, at) => ({
    severity: 'warning',
    path: `src/LEG-NAME/module-${at}.ts`,
    line: 10 * at + 1,
    message: `VOTE-NAME: ${'the value is read before it was written. '.repeat(5)}`,
  }));
  const workspace = path.join(bench.folder, 'legs');
  let envelope = '';
  prepare(bench.model, [{ name: 'structured_output', input: { passed: true, summary: 'Good.', findings } }]);
  // The run looks at nothing, and its findings are about no file.
  const unchecked = { 'min-coverage': 'off', grounding: 'off' };
  const named = { schema: 'verdict', leg: 'LEG-NAME', vote: 'VOTE-NAME' };
  const inputs = { ...inputsOf(bench), ...unchecked, ...named };
  await runStep(bench, { inputs, onEnd: (outputs) => (envelope = readFileSync(outputs, 'utf8')) });
  const legs = Array.from({ length: LEGS }, (_, leg) => `leg-${leg}`);
  for (const leg of legs) {
    for (let vote = 0; vote < VOTES; vote++) {
      const place = path.join(workspace, 'verdicts', `${leg}-${vote}`);
      mkdirSync(place, { recursive: true });
      const text = envelope.replaceAll('LEG-NAME', leg).replaceAll('VOTE-NAME', `vote-${vote}`);
      writeFileSync(path.join(place, 'result.json'), text);
    }
  }
  const bundle = path.join(path.dirname(BUNDLE), 'merge.js');
  const runs: Run[] = [];
  for (let run = 0; run < 3; run++) {
    const inputs = { verdicts: 'verdicts', expect: JSON.stringify(legs), votes: `majority of ${VOTES}` };
    runs.push(await runStep({ ...bench, workspace }, { bundle, inputs, nodeOptions: PEAK }));
  }
  const size = (envelope.length / 1000).toFixed(0);
  ratio(`merge: ${LEGS * VOTES} envelopes of ${size} KB`, runs.map(wallOf), bare.map(wallOf), 'ms', 25);
  const peak = median(runs.map(({ peakMb }) => peakMb));
  line('merge: peak memory', `${peak.toFixed(0)} MB`, 'at most 400 MB', peak <= 400);
}

/** Runs the bare client. */
async function runBare(bench: Bench, reads: number, nodeOptions = ''): Promise<Run> {
  const { model, workspace } = bench;
  prepare(model, readsOf(reads));
  const startedAt = performance.now();
  const client = path.join(import.meta.dirname, 'bare-client.mjs');
  const child = spawn(process.execPath, [client, `${model.url}/v1`, workspace], {
    env: { PATH: process.env['PATH'], NODE_OPTIONS: nodeOptions },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let log = '';
  child.stdout.on('data', (chunk) => {
    log += String(chunk);
  });
  const [exitCode] = await once(child, 'close');
  if (exitCode !== 0) throw new Error(`The bare client ended with ${exitCode}.`);
  return { startedAt, endedAt: performance.now(), requests: model.requests, peakMb: peakIn(log) };
}

const SCHEMA = { type: 'object', properties: { ok: { type: 'boolean' }, note: { type: 'string' } } };

/** Runs the bundle with the same conversation. */
function runBundle(bench: Bench, reads: number, nodeOptions = ''): Promise<Run> {
  prepare(bench.model, readsOf(reads));
  return runStep(bench, { inputs: inputsOf(bench), nodeOptions });
}

/** Runs the bundle against another API, which refuses the first request. */
function runRefused(bench: Bench, provider: string, folder: string): Promise<Run> {
  prepare(bench.model, []);
  const inputs = { ...inputsOf(bench), provider, 'base-url': `${bench.model.url}${folder}` };
  return runStep(bench, { inputs, exitCode: 1 });
}

function inputsOf({ model }: Bench): Inputs {
  return {
    prompt: 'Read the files, then deliver.',
    schema: JSON.stringify(SCHEMA),
    provider: 'openai-compatible',
    model: 'bench',
    'base-url': `${model.url}/v1`,
    'api-key': 'the-benchmark-needs-no-key',
    sandbox,
    'max-turns': '-1',
  };
}

type Inputs = Readonly<Record<string, string>>;

interface StepOptions {
  readonly inputs: Inputs;
  readonly bundle?: string;
  readonly nodeOptions?: string;
  readonly sha?: string;
  /** Further variables of the runner. */
  readonly extra?: Inputs;
  readonly exitCode?: number;
  /** Called with the path of the envelope, which is removed afterwards. */
  readonly onEnd?: (resultFile: string) => void;
}

async function runStep(bench: Bench, options: StepOptions): Promise<Run> {
  const { inputs, bundle = BUNDLE, nodeOptions = '', exitCode: expected = 0, onEnd } = options;
  const folder = mkdtempSync(path.join(bench.folder, 'run-'));
  const log: string[] = [];
  const startedAt = performance.now();
  const step = startStep({
    bundle,
    workspace: bench.workspace,
    folder,
    sha: options.sha ?? '0'.repeat(40),
    inputs,
    environment: process.env,
    extra: { ...options.extra, NODE_OPTIONS: nodeOptions },
    onLine: (line) => log.push(line),
  });
  const { exitCode, outputs } = await step.done;
  const endedAt = performance.now();
  if (exitCode !== expected) throw new Error(`The bundle ended with ${exitCode}.\n${log.join('\n')}`);
  onEnd?.(outputs.get('run-result-file') ?? '');
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  return { startedAt, endedAt, requests: bench.model.requests, peakMb: peakIn(log.join('\n')) };
}

function readsOf(count: number): readonly Call[] {
  const read = { name: 'read_file', input: { path: 'package.json' } };
  const verdict = { name: 'structured_output', input: { ok: true, note: 'read' } };
  return [...Array.from({ length: count }, () => read), verdict];
}

function prepare(model: Model, calls: readonly Call[]): void {
  model.calls = calls;
  model.requests = [];
  model.characters = 0;
}

/** Starts the model on a free loopback port. It speaks chat completions, as a stream if it is asked for one. */
async function startModel(): Promise<Model> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      model.requests.push(performance.now());
      const call = model.calls[model.requests.length - 1];
      if (call === undefined) {
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end('{"error":{"message":"refused"}}');
        return;
      }
      const text = Buffer.concat(chunks).toString();
      model.characters += text.length;
      const isStream = text.includes('"stream":true');
      const tokens = Math.ceil(text.length / 4);
      const body = JSON.stringify(completion(call, model.requests.length, isStream, tokens));
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
      response.end(isStream ? `data: ${body}\n\ndata: [DONE]\n\n` : body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const model: Model = {
    url: `http://127.0.0.1:${address.port}`,
    server,
    calls: [],
    requests: [],
    characters: 0,
  };
  return model;
}

function completion({ name, input }: Call, count: number, isStream: boolean, tokens: number): object {
  const tool = { name, arguments: JSON.stringify(input) };
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: [{ index: 0, id: `call_${count}`, type: 'function', function: tool }],
  };
  return {
    id: `chatcmpl-${count}`,
    object: isStream ? 'chat.completion.chunk' : 'chat.completion',
    created: 0,
    model: 'bench',
    choices: [{ index: 0, finish_reason: 'tool_calls', [isStream ? 'delta' : 'message']: message }],
    usage: { prompt_tokens: tokens, completion_tokens: 1, total_tokens: tokens + 1 },
  };
}

function startOf({ startedAt, requests }: Run): number {
  return (requests[0] ?? Number.NaN) - startedAt;
}

/** The second request holds the result of the first tool. */
function firstResultOf({ startedAt, requests }: Run): number {
  return (requests[1] ?? Number.NaN) - startedAt;
}

function wallOf({ startedAt, endedAt }: Run): number {
  return endedAt - startedAt;
}

function peakIn(log: string): number {
  return (Number(/^peak (\d+)$/mu.exec(log)?.[1]) * 1024) / MB;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Prints the median of figures as a multiple of that of others. */
function ratio(
  name: string,
  ours: readonly number[],
  others: readonly number[],
  unit: string,
  most: number,
  other = 'bare',
): void {
  const [figure, base] = [median(ours), median(others)];
  const text = `${(figure / base).toFixed(2)}× (${figure.toFixed(1)} ${unit}, ${other} ${base.toFixed(1)})`;
  line(name, text, `at most ${most}×`, figure / base <= most);
}

/** Prints by how many milliseconds the median of figures is more than that of others. */
function more(name: string, ours: readonly number[], others: readonly number[], most: number): void {
  const [figure, base] = [median(ours), median(others)];
  const text = `+${(figure - base).toFixed(1)} ms (${figure.toFixed(1)} ms, bare ${base.toFixed(1)})`;
  line(name, text, `at most +${most} ms`, figure - base <= most);
}

/** Prints the median of figures beside that of small checkouts: at most 1.3 times, or 0.3 s more. */
function little(name: string, ours: readonly number[], others: readonly number[]): void {
  const [figure, base] = [median(ours), median(others)];
  const text = `${(figure / base).toFixed(2)}× (${figure.toFixed(0)} ms, small ${base.toFixed(0)})`;
  line(name, text, '1.3× or +0.3 s', figure <= Math.max(1.3 * base, base + 300));
}

function line(name: string, figure: string, wanted: string, isMet: boolean): void {
  console.log(`${name.padEnd(38)} ${figure.padEnd(34)} ${wanted.padEnd(14)} ${isMet ? 'ok' : 'MISSED'}`);
}

await main();
