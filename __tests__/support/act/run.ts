/** Runs an example workflow on act, with the committed bundle, a scripted model and a GitHub of our own, both on loopback. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { createRepository } from '../../../examples/demo/demo.ts';
import { answer } from '../../../examples/demo/model.ts';
import { type GitHubServer, startGitHubServer } from '../fakes/github/server.ts';
import { calls, type ModelRequest, type Reply, startModel, submits } from '../fakes/model/server.ts';
import { putFiles } from '../local.ts';
import { pullRequestEvent } from '../worlds/pull-request.ts';
import { ACTION, type Case } from './cases.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const STAND_INS = path.join(import.meta.dirname, 'stand-ins');
const REPOSITORY = 'octo/demo';
/** The repository from which the change of `workflow_run` comes. */
const FORK = 'mona/demo';
const NUMBER = 7;
const BASE = 'b'.repeat(40);
const QUEUE = `refs/heads/gh-readonly-queue/main/pr-${NUMBER}-${BASE}`;
const TASK = 'Run the test suite and review this change. Is it safe to merge?';
const JUDGE = readFileSync(path.join(ROOT, 'examples/demo/repository/.github/verdict.schema.json'), 'utf8');
const READ_DIFF = calls('read_file', { path: '/tmp/context/diff.patch' });

const EVENTS: Readonly<Record<Case['event'], (sha: string) => unknown>> = {
  push: () => ({}),
  pull_request: (after) => ({ number: NUMBER, ...pullRequestEvent('Discount', { before: BASE, after }) }),
  merge_group: (sha) => ({
    merge_group: { head_sha: sha, head_ref: QUEUE, base_sha: BASE, base_ref: 'refs/heads/main' },
  }),
  workflow_run: (sha) => ({
    workflow_run: {
      ...{ name: 'CI', event: 'pull_request', conclusion: 'success', head_sha: sha, head_branch: 'topic' },
      head_repository: { full_name: FORK, owner: { login: 'mona' } },
    },
  }),
};

/**
 * Returns how an example ended. Rejects if the loopback GitHub received a request that GitHub would reject.
 * @param home an empty folder for HOME, the cache of act, the action and the repository.
 */
export async function runExample(each: Case, home: string) {
  const sha = createRepository(path.join(home, 'cart'), each.edits);
  putFiles(home, { 'event.json': JSON.stringify(EVENTS[each.event](sha)) });
  for (const part of ['action.yml', 'merge', 'dist'])
    cpSync(path.join(ROOT, part), path.join(home, 'action', part), { recursive: true });
  const model = await startModel(each.votes === undefined ? answerReview : createVoter(each.votes));
  const github = await startGitHub(each, sha);
  try {
    const ended = await runAct(each, home, github, model.url);
    const states = github.statuses().flatMap((status) => (status.sha === sha ? [status.state] : []));
    return { ...ended, comments: github.comments().map(({ body }) => body), states };
  } finally {
    await model.close();
    await github.close();
  }
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
  const head = { ref: 'topic', sha, ...(event === 'workflow_run' ? { repository: FORK } : {}) };
  const patchOf = ({ from, to }: Case['edits'][number]) => `@@ -1,1 +1,1 @@\n-${from}\n+${to}`;
  const files = edits.map((edit) => ({ filename: edit.file, patch: patchOf(edit) }));
  const policy = { '.github/review.md': TASK, '.github/verdict.schema.json': JUDGE };
  return startGitHubServer({
    ...{ branches: { main: BASE }, contents: { [`${REPOSITORY}@${BASE}`]: policy } },
    pull: { number: NUMBER, title: 'Discount', head, base: { ref: 'main', sha: BASE }, files },
  });
}

/** Runs act on the repository, the action and the event in `home`. */
async function runAct({ event, workflow }: Case, home: string, github: GitHubServer, modelUrl: string) {
  const cart = path.join(home, 'cart');
  const file = path.join(ROOT, 'examples', workflow);
  const variables = {
    GITHUB_API_URL: github.apiUrl,
    GITHUB_GRAPHQL_URL: github.graphqlUrl,
    GITHUB_REPOSITORY: REPOSITORY,
    ...(event === 'pull_request' ? {} : { GITHUB_REF: event === 'merge_group' ? QUEUE : 'refs/heads/main' }),
    STAND_IN_REPOSITORY: cart,
    STAND_IN_ARTIFACTS: path.join(home, 'artifacts'),
  };
  const secrets = { GITHUB_TOKEN: 'test-token', ANTHROPIC_API_KEY: 'none', SIGNING_KEY: '5'.repeat(64) };
  const base = workflow === 'local-model.yml' ? `${modelUrl}/v1` : modelUrl;
  const flags = {
    '--local-repository': { [ACTION]: path.join(home, 'action'), ...standInsFor(file) },
    '--env': variables,
    '--secret': secrets,
    '--var': { MODEL_BASE_URL: base, MODEL_NAME: 'scripted-model' },
    '--platform': { 'ubuntu-latest': '-self-hosted' },
  };
  const args = [
    ...[event, '-C', cart, '-W', file, '-e', path.join(home, 'event.json')],
    ...['--pull=false', '--no-cache-server', '--concurrent-jobs', '1'],
    ...Object.entries(flags).flatMap(([flag, values]) =>
      Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]),
    ),
  ];
  // act takes `node` from PATH: the node of this process comes first.
  const PATH = [path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter);
  const env = { PATH, HOME: home, XDG_CACHE_HOME: path.join(home, 'cache'), LANG: 'C.UTF-8' };
  const run = promisify(execFile)('act', args, { cwd: cart, env, maxBuffer: 2 ** 28 });
  run.child.stdin?.end();
  const { code, stdout, stderr } = await run.then(
    (done) => ({ code: 0, ...done }),
    (error: { code: number | string; stdout: string; stderr: string }) => error,
  );
  return { exitCode: code, log: `${stdout}${stderr}` };
}

/** The folders of the actions of others that a workflow uses: act has no GitHub to fetch them from. */
function standInsFor(workflow: string): Readonly<Record<string, string>> {
  const uses = readFileSync(workflow, 'utf8').matchAll(/uses: ([\w-]+\/[\w-]+)[\w/-]*@([0-9a-f]{40})/gu);
  const places = [...uses].map(([, name = '', commit]) => {
    const at = path.join(STAND_INS, name);
    if (!existsSync(at)) throw new Error(`${name} has no stand-in in ${STAND_INS}.`);
    return [`${name}@${commit}`, at];
  });
  return Object.fromEntries(places);
}
