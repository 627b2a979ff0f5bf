/**
 * Runs the example workflows on a real runner: nektos/act in host mode, the committed bundle, the provider emulator and a
 * GitHub of our own, both on loopback. `node __tests__/support/act/run.ts [path of act] [workflow …]` prints one line a run
 * and exits 1 if one of them did not end as expected; with names of workflows it runs only their cases, and a name
 * without a case is an error.
 */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { answer } from '../../../examples/demo/model.ts';
import { type ModelRequest, type Reply, startModel } from '../fakes/model/server.ts';
import { CASES } from './cases.ts';
import { type ActResult, type Case, runOnAct, type Votes } from './world.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const READ_DIFF = { name: 'read_file', arguments: JSON.stringify({ path: '/tmp/context/diff.patch' }) };

process.exitCode = await main(process.argv[2] ?? 'act', process.argv.slice(3));

async function main(act: string, only: readonly string[]): Promise<number> {
  const known = [...new Set(CASES.map(({ workflow }) => workflow))];
  const unknown = only.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    console.error(`No case runs ${unknown.join(', ')}. Use: ${known.join(', ')}.`);
    return 1;
  }
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-act-')));
  const model = await startModel(answerPreset);
  let failed = 0;
  try {
    const action = path.join(folder, 'action');
    mkdirSync(action);
    for (const part of ['action.yml', 'merge', 'dist'])
      cpSync(path.join(ROOT, part), path.join(action, part), { recursive: true });
    for (const [index, each] of CASES.entries()) {
      if (only.length > 0 && !only.includes(each.workflow)) continue;
      const home = path.join(folder, `run-${index}`);
      const { problems, log } = await tryCase(each, { act, home, action, modelUrl: model.url });
      console.log(`${problems.length === 0 ? 'ok' : 'NOT OK'}  ${each.workflow}: ${each.title}`);
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

async function tryCase(
  each: Case,
  place: Parameters<typeof runOnAct>[1],
): Promise<{ problems: readonly string[]; log: string }> {
  const own =
    each.votes === undefined ? null : await startModel(createVoter(each.votes, () => killAction(place.home)));
  try {
    const result = await runOnAct(each, { ...place, modelUrl: own?.url ?? place.modelUrl });
    return { problems: findProblems(each, result), log: result.log };
  } catch (error) {
    return { problems: [String(error)], log: '' };
  } finally {
    await own?.close();
  }
}

/** Kills the action that runs below a directory, as the kernel does when it is out of memory. */
function killAction(home: string): void {
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/u.test(each))) {
    try {
      const [, file = ''] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (file.startsWith(`${home}/`) && file.endsWith('/dist/index.js'))
        process.kill(Number(name), 'SIGKILL');
    } catch {
      // The process has ended meanwhile.
    }
  }
}

function findProblems(each: Case, { exitCode, log, comments, statuses }: ActResult): readonly string[] {
  const said = comments.join('\n');
  const { comments: wanted = [], statuses: set = [] } = each;
  const [one, other] = [JSON.stringify(set), JSON.stringify(statuses)];
  return [
    ...(exitCode === each.exitCode ? [] : [`exit code ${exitCode}, expected ${each.exitCode}`]),
    ...each.holds.filter((text) => !log.includes(text)).map((text) => `the log lacks: ${text}`),
    ...each.lacks.filter((text) => log.includes(text)).map((text) => `the log holds: ${text}`),
    ...wanted.filter((text) => !said.includes(text)).map((text) => `no comment says: ${text}; but: ${said}`),
    ...(wanted.length === 0 && said !== '' ? [`there is a comment: ${said}`] : []),
    ...(one === other ? [] : [`the statuses are ${other}, expected ${one}`]),
  ];
}

/**
 * The scripted model of the demo, which supports the preset `verdict`, with the properties that the other presets require.
 * It reads the diff when it is told that it has not been shown every changed file.
 */
function answerPreset(request: ModelRequest): Reply {
  const reply = answer(request);
  if (isToldToRead(request)) return { ...reply, calls: [READ_DIFF] };
  const offered = request.tools.find(({ name }) => name === 'structured_output');
  const schema = JSON.stringify(offered?.parameters ?? {});
  const calls = reply.calls?.map((call) =>
    call.name === 'structured_output' ? { ...call, arguments: complete(call.arguments, schema) } : call,
  );
  return calls === undefined ? reply : { ...reply, calls };
}

/** Whether a payload came back because of files that were not shown, and the diff has not been read since. */
function isToldToRead({ messages }: ModelRequest): boolean {
  const calls = messages.flatMap((each) => (each.role === 'assistant' ? each.calls : []));
  return (
    messages.some(({ role, text }) => role === 'tool' && text.startsWith('Not taken yet: ')) &&
    !calls.some((call) => call.name === 'read_file' && call.arguments.includes('diff.patch'))
  );
}

function complete(argumentText: string, schema: string): string {
  const payload: Readonly<Record<string, unknown>> = JSON.parse(argumentText);
  const wants = (name: string) => schema.includes(`"${name}":{`);
  const findings = Array.isArray(payload['findings']) ? payload['findings'] : [];
  const knows = findings.length > 0 || payload['passed'] === true;
  const failures = Number(payload['failure_count'] ?? 0);
  const tests = Number(/(?:of|All) (\d+) tests/u.exec(String(payload['summary']))?.[1] ?? 0);
  return JSON.stringify({
    ...payload,
    ...(wants('complete') ? { complete: knows } : {}),
    ...(wants('complete') && findings.length > 0
      ? { findings: findings.map((row) => ({ ...row, category: 'tests', title: 'A test fails' })) }
      : {}),
    ...(wants('test_count')
      ? {
          command: 'npm test',
          test_count: tests,
          skipped_count: 0,
          failures: failures === 0 ? [] : [{ test: 'the discount', message: String(payload['summary']) }],
        }
      : {}),
  });
}

/** Responds for the example with many legs: each run reads the diff and is a vote of the leg that its prompt names. */
function createVoter(votes: Votes, kill: () => void): (request: ModelRequest) => Reply {
  const asked = new Map<string, number>();
  return ({ messages }) => {
    const tasks = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
    const leg = Object.keys(votes).find((each) =>
      tasks.some((text) => text.includes(`Review the ${each} of`)),
    );
    if (leg === undefined) throw new Error('No leg is known that would ask this.');
    const isFirst = messages.every(({ role }) => role !== 'assistant');
    const runs = (asked.get(leg) ?? 0) + Number(isFirst);
    asked.set(leg, runs);
    const vote = votes[leg]?.[runs - 1];
    if (vote === undefined) throw new Error(`The leg ${leg} asks once more than it has votes.`);
    if (vote === 'killed') kill();
    if (isFirst) return { calls: [READ_DIFF] };
    const payload = {
      passed: vote === 'pass',
      summary: `The ${leg} of this change is ${vote === 'pass' ? 'in order' : 'not in order'}.`,
      findings:
        vote === 'pass'
          ? []
          : [{ severity: 'error', path: 'src/discount.js', line: 3, message: `The ${leg} suffers here.` }],
    };
    return { calls: [{ name: 'structured_output', arguments: JSON.stringify(payload) }] };
  };
}
