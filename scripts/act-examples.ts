/**
 * Runs the example workflows on a real runner: nektos/act in host mode, the committed bundle, the provider emulator on
 * loopback. `node scripts/act-examples.ts [path of act]` prints one line a run and exits 1 when one went otherwise.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startModel } from '../__tests__/support/model-server.ts';
import { createRepository, type Edit, MEND } from '../examples/demo/demo.ts';
import { answer } from '../examples/demo/model.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const ACTION = 'org/structured-agent@v1';

/** One workflow on one state of the demo repository, and what act's log must and must not hold. */
interface Case {
  readonly workflow: string;
  readonly event: 'push' | 'pull_request';
  readonly edits: readonly Edit[];
  readonly exitCode: 0 | 1;
  readonly holds: readonly string[];
  readonly lacks: readonly string[];
}

const FAILING: readonly Edit[] = [];
const MENDED: readonly Edit[] = [MEND];

const CASES: readonly Case[] = [
  {
    workflow: 'gate.yml',
    event: 'push',
    edits: FAILING,
    exitCode: 0,
    holds: [
      `Success - Main ${ACTION}`,
      '::set-output:: passed=false',
      '::set-output:: failure_count=1',
      'Success - Main Say what is in the way',
      '| Not released, 1 failing. 1 of 9 tests fails: an order of exactly 100.00 gets the discount.',
    ],
    lacks: ['Main Announce the release', 'Main Release'],
  },
  {
    workflow: 'gate.yml',
    event: 'push',
    edits: MENDED,
    exitCode: 0,
    holds: [
      `Success - Main ${ACTION}`,
      '::set-output:: passed=true',
      'Success - Main Announce the release',
      '| Cleared for release.',
      'Success - Main Release',
      '| Releasing.',
    ],
    lacks: ['Main Say what is in the way'],
  },
  {
    workflow: 'pull-request-review.yml',
    event: 'pull_request',
    edits: FAILING,
    exitCode: 1,
    holds: [
      `Failure - Main ${ACTION}`,
      '::set-output:: passed=false',
      '::set-output:: run-gate=not_met',
      '| review failure (gate_not_met) after 4 turns',
    ],
    lacks: ['::set-output:: passed=true'],
  },
  {
    workflow: 'pull-request-review.yml',
    event: 'pull_request',
    edits: MENDED,
    exitCode: 0,
    holds: [
      `Success - Main ${ACTION}`,
      '::set-output:: passed=true',
      '| review success (accepted) after 4 turns',
    ],
    lacks: ['::set-output:: passed=false'],
  },
  {
    workflow: 'local-model.yml',
    event: 'push',
    edits: FAILING,
    exitCode: 1,
    holds: [`Failure - Main ${ACTION}`, '::set-output:: failure_count=1', '::set-output:: run-gate=not_met'],
    lacks: ['Main Count'],
  },
  {
    workflow: 'local-model.yml',
    event: 'push',
    edits: MENDED,
    exitCode: 0,
    holds: [`Success - Main ${ACTION}`, '::set-output:: failure_count=0', '| No test fails.'],
    lacks: [],
  },
];

process.exitCode = await main(process.argv[2] ?? 'act');

async function main(act: string): Promise<number> {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-act-')));
  const model = await startModel(answer);
  let failed = 0;
  try {
    const action = path.join(folder, 'action');
    mkdirSync(action);
    for (const part of ['action.yml', 'dist'])
      cpSync(path.join(ROOT, part), path.join(action, part), { recursive: true });
    for (const [index, each] of CASES.entries()) {
      const home = path.join(folder, `run-${index}`);
      const { exitCode, log } = await runAct(act, each, { home, action, modelUrl: model.url });
      const problems = judge(each, exitCode, log);
      const title = `${each.workflow} on the ${each.edits === FAILING ? 'failing' : 'mended'} repository`;
      console.log(`${problems.length === 0 ? 'ok' : 'NOT OK'}  ${title}: exit ${exitCode}`);
      if (problems.length === 0) continue;
      failed++;
      console.log([...problems.map((problem) => `    ${problem}`), log].join('\n'));
    }
  } finally {
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return failed === 0 ? 0 : 1;
}

interface Place {
  /** A fresh folder for HOME, act's cache and the repository. */
  readonly home: string;
  readonly action: string;
  readonly modelUrl: string;
}

async function runAct(
  act: string,
  each: Case,
  place: Place,
): Promise<{ exitCode: number | null; log: string }> {
  mkdirSync(place.home);
  const repository = path.join(place.home, 'cart');
  const sha = createRepository(repository, each.edits);
  const workflow = path.join(place.home, each.workflow);
  cpSync(path.join(ROOT, 'examples', each.workflow), workflow);
  const event = path.join(place.home, 'event.json');
  const pull = { number: 7, base: { ref: 'main', sha }, head: { ref: 'change', sha } };
  writeFileSync(event, JSON.stringify(each.event === 'pull_request' ? { pull_request: pull } : {}));
  const base = each.workflow === 'local-model.yml' ? `${place.modelUrl}/v1` : place.modelUrl;
  const child = spawn(
    act,
    [
      each.event,
      ...['-C', repository, '-W', workflow, '-e', event, '-P', 'ubuntu-latest=-self-hosted'],
      ...['--local-repository', `${ACTION}=${place.action}`, '--pull=false', '--no-cache-server'],
      ...['--var', `MODEL_BASE_URL=${base}`, '--var', 'MODEL_NAME=scripted-model'],
      ...['-s', 'ANTHROPIC_API_KEY=emulator-needs-no-key'],
    ],
    { cwd: repository, env: actEnvironment(place.home), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text;
    });
  }
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { exitCode, log };
}

/** act takes `node` from PATH: this process's own comes first. */
function actEnvironment(home: string): NodeJS.ProcessEnv {
  const node = path.dirname(process.execPath);
  return {
    PATH: `${node}${path.delimiter}${process.env['PATH'] ?? ''}`,
    HOME: home,
    XDG_CACHE_HOME: path.join(home, 'cache'),
    LANG: 'C.UTF-8',
  };
}

function judge(each: Case, exitCode: number | null, log: string): readonly string[] {
  return [
    ...(exitCode === each.exitCode ? [] : [`exit code ${exitCode}, expected ${each.exitCode}`]),
    ...each.holds.filter((text) => !log.includes(text)).map((text) => `the log lacks: ${text}`),
    ...each.lacks.filter((text) => log.includes(text)).map((text) => `the log holds: ${text}`),
  ];
}
