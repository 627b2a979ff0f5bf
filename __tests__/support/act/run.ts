/**
 * Runs the example workflows on act, with the committed bundle, a scripted model and a GitHub of our own, both on loopback.
 * `node __tests__/support/act/run.ts [WORKFLOW …]` prints one line for each run and exits with 1 if one of them did not end as
 * expected. act is found on PATH.
 */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { answer } from '../../../examples/demo/model.ts';
import { calls, type ModelRequest, type Reply, startModel, submits } from '../fakes/model/server.ts';
import { CASES, type Case } from './cases.ts';
import { type ActResult, runOnAct } from './world.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const READ_DIFF = calls('read_file', { path: '/tmp/context/diff.patch' });

const only = process.argv.slice(2);
const unknown = only.filter((name) => !CASES.some(({ workflow }) => workflow === name));
if (unknown.length > 0) throw new Error(`No case runs ${unknown.join(', ')}.`);
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-act-')));
try {
  const action = path.join(folder, 'action');
  mkdirSync(action);
  for (const part of ['action.yml', 'merge', 'dist'])
    cpSync(path.join(ROOT, part), path.join(action, part), { recursive: true });
  for (const [index, each] of CASES.entries()) {
    if (only.length > 0 && !only.includes(each.workflow)) continue;
    const model = await startModel(each.votes === undefined ? answerReview : createVoter(each.votes));
    const result = await runOnAct(each, { action, modelUrl: model.url, home: path.join(folder, `${index}`) });
    await model.close();
    const problems = findProblems(each, result);
    console.log(`${problems.length === 0 ? 'ok' : 'NOT OK'}  ${each.workflow}: ${each.title}`);
    if (problems.length === 0) continue;
    process.exitCode = 1;
    console.log([...problems.map((problem) => `    ${problem}`), result.log].join('\n'));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function findProblems(each: Case, { exitCode, log, comments, statuses }: ActResult): readonly string[] {
  const said = comments.join('\n');
  const set = statuses.join(', ');
  const wanted = (each.statuses ?? []).join(', ');
  return [
    ...(exitCode === each.exitCode ? [] : [`exit code ${exitCode}, expected ${each.exitCode}`]),
    ...each.holds.filter((text) => !log.includes(text)).map((text) => `the log lacks: ${text}`),
    ...each.lacks.filter((text) => log.includes(text)).map((text) => `the log holds: ${text}`),
    ...(each.comment === null && said !== '' ? [`there is a comment: ${said}`] : []),
    ...(said.includes(each.comment ?? '') ? [] : [`no comment says: ${each.comment}; but: ${said}`]),
    ...(set === wanted ? [] : [`the statuses are ${set}, expected ${wanted}`]),
  ];
}

/** The demo's model, which reads the diff when it is told that it has not been shown every changed file. */
function answerReview(request: ModelRequest): Reply {
  const last = request.toolResults.at(-1);
  return last?.text.startsWith('Not taken yet: ') === true ? READ_DIFF : answer(request);
}

/** Answers for many legs: each run reads the diff and is the next vote of the leg that its prompt names. */
function createVoter(votes: NonNullable<Case['votes']>): (request: ModelRequest) => Reply {
  const asked = new Map<string, number>();
  return ({ messages }) => {
    const text = messages.map((message) => message.text).join('\n');
    const leg = Object.keys(votes).find((each) => text.includes(`Review the ${each} of`)) ?? '';
    const [read] = messages.flatMap(({ calls = [] }) => calls);
    if (read === undefined) {
      const vote = asked.get(leg) ?? 0;
      asked.set(leg, vote + 1);
      // Runs of a leg go on side by side: the id of this call says which vote the next request is for.
      return { calls: (READ_DIFF.calls ?? []).map((call) => ({ ...call, id: `vote-${vote}` })) };
    }
    const passed = votes[leg]?.[Number(read.id?.split('-')[1])];
    if (passed === undefined) throw new Error(`The leg "${leg}" asks more often than it has votes.`);
    const finding = {
      severity: 'error',
      path: 'src/discount.js',
      line: 3,
      message: `The ${leg} suffers here.`,
    };
    const summary = `The ${leg} of this change is ${passed ? 'in order' : 'not in order'}.`;
    return submits({ passed, summary, findings: passed ? [] : [finding] });
  };
}
