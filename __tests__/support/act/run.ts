/**
 * Runs the example workflows on act, with the committed bundle, a scripted model and a GitHub of our own, both on loopback.
 * `node __tests__/support/act/run.ts [WORKFLOW …]` prints one line for each run and exits with 1 if one of them did not end as
 * expected. act is found on PATH.
 */
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createRepository } from '../../../examples/demo/demo.ts';
import { answer } from '../../../examples/demo/model.ts';
import { type GitHubServer, startGitHubServer } from '../fakes/github/server.ts';
import { calls, type ModelRequest, type Reply, startModel, submits } from '../fakes/model/server.ts';
import { ACTION, CASES, type Case } from './cases.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const STAND_INS = path.join(import.meta.dirname, 'stand-ins');
const REPOSITORY = 'octo/demo';
/** The repository from which the change of `workflow_run` comes. */
const FORK = 'mona/demo';
const PULL = 7;
const BASE = 'b'.repeat(40);
const QUEUE = `refs/heads/gh-readonly-queue/main/pr-${PULL}-${BASE}`;
const TASK = 'Run the test suite and review this change. Is it safe to merge?';
const JUDGE = readFileSync(path.join(ROOT, 'examples/demo/repository/.github/verdict.schema.json'), 'utf8');
const READ_DIFF = calls('read_file', { path: '/tmp/context/diff.patch' });

const repo = { full_name: REPOSITORY };
const EVENTS: Readonly<Record<Case['event'], (sha: string) => unknown>> = {
  push: () => ({}),
  pull_request: (sha) => ({
    number: PULL,
    pull_request: {
      ...{ number: PULL, title: 'Discount', user: { login: 'octocat' } },
      base: { ref: 'main', sha: BASE, repo },
      head: { ref: 'change', sha, repo },
    },
  }),
  merge_group: (sha) => ({
    merge_group: { head_sha: sha, head_ref: QUEUE, base_sha: BASE, base_ref: 'refs/heads/main' },
  }),
  workflow_run: (sha) => ({
    workflow_run: {
      ...{ name: 'CI', event: 'pull_request', conclusion: 'success', head_sha: sha, head_branch: 'change' },
      head_repository: { full_name: FORK, owner: { login: 'mona' } },
    },
  }),
};

const only = process.argv.slice(2);
const unknown = only.filter((name) => !CASES.some(({ workflow }) => workflow === name));
if (unknown.length > 0) throw new Error(`No case runs ${unknown.join(', ')}.`);
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'structured-agent-act-')));
const action = path.join(folder, 'action');
try {
  mkdirSync(action);
  for (const part of ['action.yml', 'merge', 'dist'])
    cpSync(path.join(ROOT, part), path.join(action, part), { recursive: true });
  for (const [index, each] of CASES.entries()) {
    if (only.length > 0 && !only.includes(each.workflow)) continue;
    const { log, problems } = await play(each, path.join(folder, `${index}`));
    console.log(`${problems.length === 0 ? 'ok' : 'NOT OK'}  ${each.workflow}: ${each.title}`);
    if (problems.length === 0) continue;
    process.exitCode = 1;
    console.log([...problems.map((problem) => `    ${problem}`), log].join('\n'));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Runs an example, and says what did not end as expected. Rejects if the loopback GitHub received a request that GitHub
 * would reject.
 * @param home a new folder for HOME, the cache of act and the repository.
 */
async function play(each: Case, home: string) {
  mkdirSync(home);
  const sha = createRepository(path.join(home, 'cart'), each.edits);
  writeFileSync(path.join(home, 'event.json'), JSON.stringify(EVENTS[each.event](sha)));
  const model = await startModel(each.votes === undefined ? answerReview : createVoter(each.votes));
  const github = await startGitHub(each, sha);
  try {
    const { exitCode, log } = await runAct(each, home, github, model.url);
    const said = github.comments().map(({ body }) => body);
    const set = github.statuses().flatMap((status) => (status.sha === sha ? [status.state] : []));
    return { log, problems: findProblems(each, exitCode, log, said.join('\n'), set.join(', ')) };
  } finally {
    await model.close();
    await github.close();
  }
}

function findProblems(each: Case, exitCode: number | string, log: string, said: string, set: string) {
  return [
    ...(exitCode === each.exitCode ? [] : [`exit code ${exitCode}, expected ${each.exitCode}`]),
    ...each.has.filter((text) => !log.includes(text)).map((text) => `the log lacks: ${text}`),
    ...each.lacks.filter((text) => log.includes(text)).map((text) => `the log has: ${text}`),
    ...(each.comment === null && said !== '' ? [`there is a comment: ${said}`] : []),
    ...(said.includes(each.comment ?? '') ? [] : [`no comment says: ${each.comment}; but: ${said}`]),
    ...(set === (each.statuses ?? '') ? [] : [`the statuses are ${set}, expected ${each.statuses}`]),
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
    const message = `The ${leg} suffers here.`;
    const findings = passed ? [] : [{ severity: 'error', path: 'src/discount.js', line: 3, message }];
    return submits({ passed, summary: `The ${leg} of this change is judged.`, findings });
  };
}

/** The pull request in the event and the API, with the edits of the run as its changes. */
function startGitHub({ edits, event }: Case, sha: string): Promise<GitHubServer> {
  const head = { ref: 'change', sha, ...(event === 'workflow_run' ? { repository: FORK } : {}) };
  const patchOf = ({ from, to }: Case['edits'][number]) => `@@ -1,1 +1,1 @@\n-${from}\n+${to}`;
  const files = edits.map((edit) => ({ filename: edit.file, patch: patchOf(edit) }));
  const policy = { '.github/review.md': TASK, '.github/verdict.schema.json': JUDGE };
  return startGitHubServer({
    ...{ repository: REPOSITORY, branches: { main: BASE }, contents: { [`${REPOSITORY}@${BASE}`]: policy } },
    pulls: [{ number: PULL, title: 'Discount', head, base: { ref: 'main', sha: BASE }, files }],
  });
}

/** Runs act on the repository and the event in `home`. */
async function runAct(each: Case, home: string, github: GitHubServer, modelUrl: string) {
  const [repository, event] = [path.join(home, 'cart'), path.join(home, 'event.json')];
  const workflow = path.join(ROOT, 'examples', each.workflow);
  const base = each.workflow === 'local-model.yml' ? `${modelUrl}/v1` : modelUrl;
  const ref = each.event === 'merge_group' ? QUEUE : 'refs/heads/main';
  const variables = {
    GITHUB_API_URL: github.apiUrl,
    GITHUB_GRAPHQL_URL: github.graphqlUrl,
    GITHUB_REPOSITORY: REPOSITORY,
    ...(each.event === 'pull_request' ? {} : { GITHUB_REF: ref }),
    STAND_IN_REPOSITORY: repository,
    STAND_IN_ARTIFACTS: path.join(home, 'artifacts'),
  };
  const key = { ANTHROPIC_API_KEY: 'emulator-needs-no-key', SIGNING_KEY: '5'.repeat(64) };
  const local = [`${ACTION}=${action}`, ...standInsFor(workflow)];
  const args = [
    each.event,
    ...['-C', repository, '-W', workflow, '-e', event, '-P', 'ubuntu-latest=-self-hosted'],
    ...['--pull=false', '--no-cache-server', '--concurrent-jobs', '1'],
    ...local.flatMap((value) => ['--local-repository', value]),
    ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...Object.entries({ GITHUB_TOKEN: 'test-token', ...key }).flatMap(([name, value]) => [
      '-s',
      `${name}=${value}`,
    ]),
    ...['--var', `MODEL_BASE_URL=${base}`, '--var', 'MODEL_NAME=scripted-model'],
  ];
  // act takes `node` from PATH: the node of this process comes first.
  const PATH = [path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter);
  const env = { PATH, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache'), LANG: 'C.UTF-8' };
  const options = { cwd: repository, env, maxBuffer: 2 ** 28 };
  const run = promisify(execFile)('act', args, options);
  run.child.stdin?.end();
  const { code, stdout, stderr } = await run.then(
    (done) => ({ code: 0, ...done }),
    (error: { code: number | string; stdout: string; stderr: string }) => error,
  );
  return { exitCode: code, log: `${stdout}${stderr}` };
}

/** Values of `--local-repository` for the actions of others that a workflow uses: act has no GitHub to fetch them from. */
function standInsFor(workflow: string): readonly string[] {
  const uses = readFileSync(workflow, 'utf8').matchAll(/uses: ([\w-]+\/[\w-]+)[\w/-]*@([0-9a-f]{40})/gu);
  const pinned = new Set([...uses].map(([, name, commit]) => `${name}@${commit}`));
  return [...pinned].map((use) => {
    const at = path.join(STAND_INS, use.split('@')[0] ?? '');
    if (!existsSync(at)) throw new Error(`${use} has no stand-in in ${STAND_INS}.`);
    return `${use}=${at}`;
  });
}
