/**
 * What hostile texts cost the evidence of a run. `npx node bench/hostile.ts` prints these rows alone; with a word, the time
 * of each text that has it in its row.
 */
import { type Change, parseDiff } from '../src/evidence/change.ts';
import { createCoverageMeter } from '../src/evidence/coverage.ts';
import { groundFindings } from '../src/evidence/grounding.ts';

/** The text that takes the longest. */
interface HostileRow {
  readonly name: string;
  readonly text: string;
  /** Processor time. */
  readonly seconds: number;
  /** The time for twice as much as a multiple of that. */
  readonly growth: number;
}

const FILE_BYTES = 1024 ** 2;
const COMMAND_BYTES = 60_000;
const FILES = 50;
const LINES = 9_000;
const FINDINGS = 200;
const ROUNDS = 2;
const ROOT = '/work';

/** Parts by their index, which make a text of the size that is measured. */
type Texts = Readonly<Record<string, (at: number) => string>>;

const RESULTS: Texts = {
  'closing braces': () => '}\n',
  'blank lines': () => '\n',
  'one line': () => 'x',
  'one line of blanks': () => ' ',
  'one line of paths': () => 'a0.ts:1:',
  'one line of parents': () => '../:1:',
  'one quoted line': (at) => (at === 0 ? '\t"' : '\\a'),
  'lines of paths': () => 'a0.ts:1:a1.ts:2:a2.ts:3:a3.ts:4:\n',
  'numbered lines': (at) => `${(at % LINES) + 1}\t}\n`,
  'lines of the change': (at) => `value(${at % LINES});\n`,
  'lines of the change among braces': (at) => (at % 50 === 0 ? `value(${at % LINES});\n` : '}\n'),
  'a line of the change before braces': (at) => (at % LINES === 0 ? 'value(0);\n' : '}\n'),
  'headers of diffs': () => 'diff --git a/a0.ts b/a0.ts\n@@ -1 +1 @@\n',
  'starts of colors': () => '\x1b[1',
};
const COMMANDS: Texts = {
  folders: () => 'cd a;',
  parents: () => '../',
  names: (at) => `a${at % FILES}.ts `,
  'one word': () => 'x',
  quotes: (at) => (at % 2 === 0 ? '"' : "'"),
  revisions: () => 'HEAD:a1.ts ',
};
const QUOTES = [
  '}\n}\nvalue(1);',
  'value(1); and what is nowhere at all',
  `${'x'.repeat(300)}y${'x'.repeat(600)}`,
];

export async function measureHostile(word?: string): Promise<readonly HostileRow[]> {
  const change = makeChange();
  const paths = change.files.map(({ path }) => `${ROOT}/${path}`);
  // The folder makes each path that a line names a long one.
  const command = `cat ${paths.join(' ')}; cd ${'a/'.repeat(120)}`;
  const options = { root: ROOT, workingDirectory: ROOT, subject: '', diff: null };
  const meter = createCoverageMeter(change, options);
  const observe = (target: string, text: string) => meter.observe({ tool: 'shell', target, text });
  const claims = Array.from({ length: FINDINGS }, (_, at) => {
    return { path: 'a0.ts', line: at, quote: QUOTES[at % QUOTES.length] ?? '' };
  });
  const ground = (text: string) => groundFindings(claims, (path) => (path === 'a0.ts' ? text : null), change);
  const output = `${'a0.ts:1:value(0);\n'.repeat(1_000)}`;
  const [file, line] = ['hostile file of 1 MiB', 'hostile command line of 60 KB'];
  return [
    await findWorst(`${file}, shown`, RESULTS, FILE_BYTES, (text) => observe(command, text), word),
    await findWorst(`${file}, quoted`, RESULTS, FILE_BYTES, ground, word),
    await findWorst(line, COMMANDS, COMMAND_BYTES, (text) => observe(text, output), word),
  ];
}

/** Makes a change of lines that hostile texts repeat: many or one that no other line of the file is like. */
function makeChange(): Change {
  const diffs = Array.from({ length: FILES }, (_, at) => {
    const every = at % 2 === 0 ? 3 : LINES;
    const lines = Array.from({ length: LINES }, (_, of) => (of % every === 0 ? `+value(${of});\n` : '+}\n'));
    const header = `diff --git a/a${at}.ts b/a${at}.ts\n--- /dev/null\n+++ b/a${at}.ts\n`;
    return `${header}@@ -0,0 +1,${LINES} @@\n${lines.join('')}`;
  });
  return { status: 'measured', why: null, files: parseDiff(diffs.join('')), marked: new Map() };
}

async function findWorst(
  name: string,
  texts: Texts,
  size: number,
  use: (text: string) => unknown,
  word: string | undefined,
): Promise<HostileRow> {
  let worst: HostileRow = { name, text: '', seconds: 0, growth: 0 };
  for (const [text, make] of Object.entries(texts)) {
    const seconds = await timeOf(use, fill(make, size));
    const growth = (await timeOf(use, fill(make, 2 * size))) / seconds;
    if (word !== undefined && name.includes(word)) console.log(text, seconds.toFixed(3), growth.toFixed(1));
    if (seconds > worst.seconds) worst = { name, text, seconds, growth };
  }
  return worst;
}

function fill(make: (at: number) => string, size: number): string {
  const parts: string[] = [];
  for (let [at, length] = [0, 0]; length < size; at++) {
    const part = make(at);
    length += part.length;
    parts.push(part);
  }
  return parts.join('');
}

/** Returns the shortest processor time of some rounds, in seconds. */
async function timeOf(use: (text: string) => unknown, text: string): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    await use(text);
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1e6);
  }
  return Math.min(...times);
}

if (import.meta.main) console.table(await measureHostile(process.argv[2]));
