/** The world of one run of an example on act: a repository, a pull request on a loopback GitHub, stand-ins for others' actions. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createRepository } from '../../../examples/demo/demo.ts';
import { type GitHubServer, startGitHubServer } from '../fakes/github/server.ts';
import { ACTION, type Case } from './cases.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const STAND_INS = path.join(import.meta.dirname, 'stand-ins');
const REPOSITORY = 'octo/demo';
/** The repository from which the change of `workflow_run` comes. */
const FORK = 'mona/demo';
const PULL = 7;
const BASE = 'b'.repeat(40);
const TASK = 'Run the test suite and review this change. Is it safe to merge?';
const JUDGE = readFileSync(path.join(ROOT, 'examples/demo/repository/.github/verdict.schema.json'), 'utf8');

/** The places of a run. */
interface ActPlace {
  /** A new folder for HOME, the cache of act and the repository. */
  readonly home: string;
  /** A folder with action.yml, merge and dist. */
  readonly action: string;
  readonly modelUrl: string;
}

/** The result of a run: its exit code and log, the comments on the pull request, and the states of the head commit. */
export type ActResult = Awaited<ReturnType<typeof runOnAct>>;

/** Runs an example. Rejects if act cannot be started or the loopback GitHub received a request that GitHub would reject. */
export async function runOnAct(each: Case, place: ActPlace) {
  mkdirSync(place.home);
  const repository = path.join(place.home, 'cart');
  const sha = createRepository(repository, each.edits);
  const github = await startGitHub(each, sha);
  try {
    const event = path.join(place.home, 'event.json');
    writeFileSync(event, JSON.stringify(EVENTS[each.event](sha)));
    const ended = await spawnAct(each, { ...place, repository, event, github });
    return {
      ...ended,
      comments: github.comments().map(({ body }) => body),
      statuses: github.statuses().flatMap((status) => (status.sha === sha ? [status.state] : [])),
    };
  } finally {
    await github.close();
  }
}

/** The pull request in the event and the API, with the edits of the run as its changes. */
function startGitHub({ edits, event }: Case, sha: string): Promise<GitHubServer> {
  const head = { ref: 'change', sha, ...(event === 'workflow_run' ? { repository: FORK } : {}) };
  const files = edits.map(({ file, from, to }) => ({
    filename: file,
    patch: `@@ -1,1 +1,1 @@\n-${from}\n+${to}`,
  }));
  return startGitHubServer({
    repository: REPOSITORY,
    pulls: [{ number: PULL, title: 'Discount', head, base: { ref: 'main', sha: BASE }, files }],
    branches: { main: BASE },
    contents: {
      [`${REPOSITORY}@${BASE}`]: { '.github/review.md': TASK, '.github/verdict.schema.json': JUDGE },
    },
  });
}

const repo = { full_name: REPOSITORY };
const QUEUE = `refs/heads/gh-readonly-queue/main/pr-${PULL}-${BASE}`;

const EVENTS: Readonly<Record<Case['event'], (sha: string) => unknown>> = {
  push: () => ({}),
  pull_request: (sha) => ({
    number: PULL,
    pull_request: {
      number: PULL,
      title: 'Discount',
      user: { login: 'octocat' },
      base: { ref: 'main', sha: BASE, repo },
      head: { ref: 'change', sha, repo },
    },
  }),
  merge_group: (sha) => ({
    merge_group: { head_sha: sha, head_ref: QUEUE, base_sha: BASE, base_ref: 'refs/heads/main' },
  }),
  workflow_run: (sha) => ({
    workflow_run: {
      name: 'CI',
      event: 'pull_request',
      conclusion: 'success',
      head_sha: sha,
      head_branch: 'change',
      head_repository: { full_name: FORK, owner: { login: 'mona' } },
    },
  }),
};

interface Started extends ActPlace {
  readonly repository: string;
  /** The event's file. */
  readonly event: string;
  readonly github: GitHubServer;
}

async function spawnAct(each: Case, place: Started) {
  const workflow = path.join(ROOT, 'examples', each.workflow);
  const base = each.workflow === 'local-model.yml' ? `${place.modelUrl}/v1` : place.modelUrl;
  const ref = each.event === 'merge_group' ? QUEUE : 'refs/heads/main';
  const variables = {
    GITHUB_API_URL: place.github.apiUrl,
    GITHUB_GRAPHQL_URL: place.github.graphqlUrl,
    GITHUB_REPOSITORY: REPOSITORY,
    ...(each.event === 'pull_request' ? {} : { GITHUB_REF: ref }),
    STAND_IN_REPOSITORY: place.repository,
    STAND_IN_ARTIFACTS: path.join(place.home, 'artifacts'),
  };
  const secrets = {
    GITHUB_TOKEN: 'test-token',
    ANTHROPIC_API_KEY: 'emulator-needs-no-key',
    SIGNING_KEY: '5'.repeat(64),
  };
  const local = [`${ACTION}=${place.action}`, ...standInsFor(workflow)];
  const args = [
    each.event,
    ...['-C', place.repository, '-W', workflow, '-e', place.event, '-P', 'ubuntu-latest=-self-hosted'],
    ...['--pull=false', '--no-cache-server', '--concurrent-jobs', '1'],
    ...local.flatMap((value) => ['--local-repository', value]),
    ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...Object.entries(secrets).flatMap(([name, value]) => ['-s', `${name}=${value}`]),
    ...['--var', `MODEL_BASE_URL=${base}`, '--var', 'MODEL_NAME=scripted-model'],
  ];
  // act takes `node` from PATH: the node of this process comes first.
  const child = spawn('act', args, {
    cwd: place.repository,
    env: {
      PATH: [path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter),
      HOME: place.home,
      XDG_CACHE_HOME: path.join(place.home, 'cache'),
      LANG: 'C.UTF-8',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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

/** Values of `--local-repository` for the actions of others that a workflow uses: act has no GitHub to fetch them from. */
function standInsFor(workflow: string): readonly string[] {
  const uses = readFileSync(workflow, 'utf8').matchAll(/uses: ([\w-]+\/[\w-]+)[\w/-]*@([0-9a-f]{40})/gu);
  const pinned = new Set([...uses].map(([, name, commit]) => `${name}@${commit}`));
  return [...pinned].map((use) => {
    const folder = path.join(STAND_INS, use.split('@')[0] ?? '');
    if (!existsSync(folder)) throw new Error(`${use} has no stand-in in ${STAND_INS}.`);
    return `${use}=${folder}`;
  });
}
