/**
 * Takes one layer of the walls out at a time, in a copy of the sources, and tells which tests notice:
 * `npm run mutate-walls [-- WORD…]`; with words only the mutants whose name holds one of them. Behind a wall the
 * self-test is off while the attacks run (else it would be all that is seen), and asked on its own. Needs Linux, and
 * root or a sudo without password: what a wall with a hole lets out must not reach this machine. Ends with 1 where the
 * table is stale, 0 otherwise: a layer that nothing notices is argued in docs/threat-model.md.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { shellWays } from '../__tests__/sandbox/world.ts';
import type { Isolation } from '../src/types.ts';
import type { Group, Mutant } from './mutant.ts';
import { RULE_GROUPS } from './rule-mutants.ts';
import { WALL_GROUPS } from './wall-mutants.ts';

const ROOT = join(import.meta.dirname, '..');
/** The whole of one mutant takes this long at most, in seconds. */
const LIMIT = 60;
const COPIED = ['src', '__tests__', 'scripts', 'schemas', 'examples', 'docs', 'action.yml', 'README.md'];
const SETTINGS = ['package.json', 'tsconfig.json', 'vitest.config.ts'];
const UNNOTICED = 'NOTHING';
/** A loaded machine, or tests that wait for ever: no answer either way. */
const UNDECIDED = `UNDECIDED: over ${LIMIT} s`;
const ATTACKS = '__tests__/tools/attacks.test.ts';
const SELF_TEST = { file: 'src/sandbox/isolation/start.ts', call: 'await runSelfTest({' };

interface Trial {
  readonly group: Group;
  readonly mutant: Mutant;
  /** null where no wall is part of it. */
  readonly wall: Isolation | null;
  readonly label: string;
}

/** A copy of the project that only a namespace of its own sees, as /tmp/tree. */
interface Copy {
  readonly base: string;
  readonly tree: string;
}

function makeCopy(): Copy {
  const base = mkdtempSync('/tmp/walls-');
  const tmp = join(base, 'tmp');
  const tree = join(tmp, 'tree');
  mkdirSync(join(tree, 'node_modules'), { recursive: true });
  for (const path of [...COPIED, ...SETTINGS])
    cpSync(join(ROOT, path), join(tree, path), { recursive: true });
  chmodSync(base, 0o755);
  chmodSync(tmp, 0o1777);
  const raise = join(tree, SELF_TEST.file);
  const text = readFileSync(raise, 'utf8');
  writeFileSync(
    raise,
    text.replace(SELF_TEST.call, `if (process.env['SELF_TEST'] !== 'off') ${SELF_TEST.call}`),
  );
  return { base, tree };
}

function asRoot(): readonly string[] {
  return process.getuid?.() === 0 ? [] : ['sudo', '-n', '--'];
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/**
 * Runs a command in the copy, in namespaces of its own with the copy's folder as /tmp: what gets out of a wall with a
 * hole meets neither this machine's processes nor other people's files in /tmp.
 */
function runInside(
  copy: Copy,
  words: readonly string[],
  seconds: number,
  variables: readonly string[],
): Promise<Ran> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const inside = [
    'base=$1; modules=$2; shift 2',
    'mount --bind "$modules" "$base/tmp/tree/node_modules"',
    'mount --rbind "$base/tmp" /tmp',
    'cd /tmp/tree',
    'exec "$@"',
  ].join(' && ');
  const path = `PATH=/tmp/tree/node_modules/.bin:${process.env['PATH'] ?? ''}`;
  const all = [
    ...asRoot(),
    ...['timeout', '--signal=KILL', String(seconds)],
    ...['unshare', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc', '--ipc', '--uts', '--'],
    ...['/bin/sh', '-c', inside, 'sh', copy.base, join(ROOT, 'node_modules')],
    ...['setpriv', '--reuid', String(uid), '--regid', String(gid), '--init-groups'],
    ...['env', '-u', 'TMPDIR', path, `HOME=${process.env['HOME'] ?? '/'}`, 'NO_COLOR=1', ...variables],
    ...words,
  ];
  return new Promise((resolve) => {
    const [file = '', ...args] = all;
    const child = spawn(file, args, { cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
      });
    child.once('error', (error) => resolve({ code: null, output: error.message }));
    child.once('close', (code) => resolve({ code, output }));
  });
}

/** What vitest's JSON report tells, as far as it is read here. */
interface TestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** The titles of the tests that went red; a file that failed as a whole counts under its name. */
async function redTests(
  copy: Copy,
  files: readonly string[],
  pattern: string | null,
  off: boolean,
  seconds: number,
) {
  const report = join(copy.tree, 'report.json');
  rmSync(report, { force: true });
  const words = [
    ...['vitest', 'run', '--configLoader', 'runner', '--bail', '4'],
    ...['--reporter', 'json', '--outputFile', 'report.json'],
    ...(pattern === null ? [] : ['--testNamePattern', pattern]),
    ...files,
  ];
  const { output } = await runInside(copy, words, seconds, off ? ['SELF_TEST=off'] : []);
  if (!existsSync(report)) return [/error/iu.test(output) ? `no report: ${lastLine(output)}` : UNDECIDED];
  const { testResults }: TestReport = JSON.parse(readFileSync(report, 'utf8'));
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const red = assertionResults.filter((test) => test.status === 'failed').map(({ fullName }) => fullName);
    const short = name.replace(/^.*__tests__\//u, '');
    return red.length === 0 && status === 'failed' ? [`${short}: ${lastLine(message)}`] : red;
  });
}

function lastLine(text: string): string {
  return (text.trim().split('\n').at(-1) ?? '').slice(0, 160);
}

/** Whether the self-test alone refuses the wall, and with which words. */
async function askSelfTest(copy: Copy, wall: Isolation): Promise<string> {
  const script = `
    import { createWorld } from './__tests__/sandbox/world.ts';
    const world = await createWorld();
    const sandbox = await world.open({ mode: 'required', kinds: ['${wall}'] });
    console.log(await sandbox.ready().then(() => 'passes', (error) => error.message));
    await world.close();`;
  const { output } = await runInside(copy, ['node', '--input-type=module', '--eval', script], 25, []);
  const said =
    output.match(/^passes$|failed its self-test: .*|did not come up: .*/mu)?.[0] ?? lastLine(output);
  return said.replace(/\. Fix .*$/u, '').slice(0, 140);
}

async function attempt(copy: Copy, { group, wall }: Trial): Promise<readonly string[]> {
  const until = performance.now() + LIMIT * 1000;
  const left = () => Math.max(1, Math.ceil((until - performance.now()) / 1000));
  const behind = (test: string) => wall !== null && /(?:open|killed)\.test\.ts$/u.test(test);
  const others = group.tests.filter((test) => !behind(test));
  const red = others.length === 0 ? [] : await redTests(copy, others, null, false, left());
  if (wall === null) return red.length === 0 ? [UNNOTICED] : red;
  const first = `self-test: ${await askSelfTest(copy, wall)}`;
  if (red.length > 0) return [first, ...red];
  // In place: what the scratch copy would catch by itself must not stand in for the wall.
  const pattern = `behind (the wall of )?${wall}(?!, scratch).* ${group.attacks ?? ''}`;
  const files = [ATTACKS, ...group.tests.filter(behind)].filter((file) => existsSync(join(copy.tree, file)));
  const reached = await redTests(copy, files, pattern, true, left());
  return [first, ...(reached.length === 0 ? [UNNOTICED] : reached)];
}

function trialsOf(asked: readonly string[]): readonly Trial[] {
  const here = new Set<Isolation>(shellWays.map(({ name }) => name));
  return [...WALL_GROUPS, ...RULE_GROUPS]
    .flatMap((group) =>
      group.mutants.flatMap((mutant) => {
        const walls = group.walls.length === 0 ? [null] : group.walls.filter((wall) => here.has(wall));
        return walls.map((wall) => {
          const label = `${group.name}: ${mutant.name}${wall === null ? '' : ` @${wall}`}`;
          return { group, mutant, wall, label };
        });
      }),
    )
    .filter(({ label }) => asked.length === 0 || asked.some((word) => label.includes(word)));
}

async function main(asked: readonly string[]): Promise<number> {
  const copy = makeCopy();
  const tally = { noticed: 0, unnoticed: 0, undecided: 0, stale: 0 };
  try {
    for (const trial of trialsOf(asked)) {
      const { file, cut, put } = trial.mutant;
      const path = join(copy.tree, file);
      const text = readFileSync(path, 'utf8');
      const isStale = text.split(cut).length !== 2;
      let lines: readonly string[] = [`STALE: ${file} does not hold it once: ${cut}`];
      if (!isStale) {
        writeFileSync(
          path,
          text.replace(cut, () => put),
        );
        lines = await attempt(copy, trial);
        writeFileSync(path, text);
      }
      if (isStale) tally.stale += 1;
      else if (lines.at(-1) === UNDECIDED) tally.undecided += 1;
      else if (lines.at(-1) === UNNOTICED) tally.unnoticed += 1;
      else tally.noticed += 1;
      console.log([trial.label, ...lines.map((line) => `    ${line}`)].join('\n'));
    }
  } finally {
    // Where sudo was part of it, some of what is left there is root's.
    const [file = '', ...args] = [...asRoot(), '/bin/rm', '-rf', '--', copy.base];
    spawnSync(file, args, { stdio: 'inherit' });
  }
  console.log(
    `\n${tally.noticed} noticed, ${tally.unnoticed} not, ${tally.undecided} undecided, ${tally.stale} stale`,
  );
  return tally.stale === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
