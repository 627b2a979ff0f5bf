/** The world of one run of an example on act: a repository, a pull request on a loopback GitHub, stand-ins for others' actions. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRepository, type Edit } from '../../../examples/demo/demo.ts';
import { type GitHubServer, startGitHubServer } from '../fakes/github/server.ts';
import { writeStandIns } from './stand-ins.ts';

/** The action reference in the examples. */
export const ACTION = 'org/structured-agent@v1';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const REPOSITORY = 'octo/demo';
/** The repository from which the change comes. */
const FORK = 'mona/demo';
const PULL = 7;
const BASE = 'b'.repeat(40);
const SIGNING_KEY = '5'.repeat(64);
const TASK = 'Run the test suite and review this change. Is it safe to merge?';
const JUDGE = readFileSync(path.join(ROOT, 'examples/demo/repository/.github/verdict.schema.json'), 'utf8');

/** The event that triggers an example. */
export type ActEvent = 'push' | 'pull_request' | 'merge_group' | 'workflow_run' | 'issue_comment';

/** One run of one example. */
export interface ActRun {
  readonly workflow: string;
  readonly event: ActEvent;
  readonly edits: readonly Edit[];
  /** Whether the run has the secrets of the repository, which a fork has not. */
  readonly secrets: boolean;
  /** Whether the legs of a matrix run one after the other; else act runs four at once. */
  readonly inTurn?: boolean;
  /** The jobs to re-run after the first attempt: the legs of the matrix with these values, and the jobs that need them. */
  readonly again?: readonly Readonly<Record<string, string>>[];
}

/** The outcome of a vote; a killed one is killed after it asks its model. */
export type Vote = 'pass' | 'fail' | 'killed';

/** The votes of each leg, in the order of their requests. */
export type Votes = Readonly<Record<string, readonly Vote[]>>;

/** One run of an example, with the texts that the log of act and GitHub must or must not contain after it. */
export interface Case extends ActRun {
  readonly title: string;
  readonly exitCode: 0 | 1;
  readonly holds: readonly string[];
  readonly lacks: readonly string[];
  /** Texts that the comments contain; none by default. */
  readonly comments?: readonly string[];
  /** `head: NAME STATE`, in the order they were set; none by default. */
  readonly statuses?: readonly string[];
  /** The votes of its legs if it has several; otherwise the tests of the repository decide. */
  readonly votes?: Votes;
}

/** The directories of a run. */
export interface ActPlace {
  readonly act: string;
  /** A new directory for HOME, the cache of act and the repository. */
  readonly home: string;
  /** A directory with action.yml, merge and dist. */
  readonly action: string;
  readonly modelUrl: string;
}

/** The result of a run. */
export interface ActResult {
  /** The conclusion of the last attempt. */
  readonly exitCode: number | null;
  /** The log of all attempts. */
  readonly log: string;
  /** The comments and statuses on GitHub. */
  readonly comments: readonly string[];
  readonly statuses: readonly string[];
}

/** Runs an example. Rejects if act cannot be started or the loopback GitHub received a request that GitHub would reject. */
export async function runOnAct(run: ActRun, place: ActPlace): Promise<ActResult> {
  mkdirSync(place.home);
  const repository = path.join(place.home, 'cart');
  const sha = createRepository(repository, run.edits) ?? '';
  const github = await startGitHub(run, sha);
  try {
    const event = path.join(place.home, 'event.json');
    writeFileSync(event, JSON.stringify(EVENTS[run.event](sha)));
    const started = { ...place, repository, sha, event, github };
    let { exitCode, log } = await spawnAct(run, started, 1, {});
    for (const [index, legs] of (run.again ?? []).entries()) {
      const next = await spawnAct(run, started, index + 2, legs);
      exitCode = next.exitCode;
      log += next.log;
    }
    return {
      exitCode,
      log,
      comments: github.comments().map(({ body }) => body),
      statuses: github
        .statuses()
        .map((each) => `${each.sha === sha ? 'head' : each.sha}: ${each.context} ${each.state}`),
    };
  } finally {
    await github.close();
  }
}

/** The pull request in the event and the API, with the edits of the run as its changes. */
function startGitHub({ edits, event }: ActRun, sha: string): Promise<GitHubServer> {
  const files = edits.map(({ file, from, to }) => ({
    filename: file,
    patch: `@@ -1,1 +1,1 @@\n-${from}\n+${to}`,
  }));
  return startGitHubServer({
    repository: REPOSITORY,
    pulls: [
      {
        number: PULL,
        title: 'Discount from 100.00',
        body: 'An order of exactly 100.00 gets the discount, too.',
        head: { ref: 'change', sha, ...(event === 'workflow_run' ? { repository: FORK } : {}) },
        base: { ref: 'main', sha: BASE },
        files,
      },
    ],
    branches: { main: BASE },
    contents: {
      [`${REPOSITORY}@${BASE}`]: { '.github/review.md': TASK, '.github/verdict.schema.json': JUDGE },
    },
  });
}

const repo = { full_name: REPOSITORY };

const EVENTS: Readonly<Record<ActEvent, (sha: string) => unknown>> = {
  push: () => ({}),
  pull_request: (sha) => ({
    number: PULL,
    pull_request: {
      number: PULL,
      title: 'Discount from 100.00',
      body: 'An order of exactly 100.00 gets the discount, too.',
      user: { login: 'octocat' },
      base: { ref: 'main', sha: BASE, repo },
      head: { ref: 'change', sha, repo },
    },
  }),
  merge_group: (sha) => ({
    merge_group: {
      head_sha: sha,
      head_ref: `refs/heads/gh-readonly-queue/main/pr-${PULL}-${BASE}`,
      base_sha: BASE,
      base_ref: 'refs/heads/main',
    },
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
  issue_comment: () => ({
    action: 'created',
    issue: { number: PULL, pull_request: { url: 'https://api.github.com/' } },
    comment: { body: '/review', author_association: 'MEMBER' },
  }),
};

interface Started extends ActPlace {
  readonly repository: string;
  readonly sha: string;
  /** The event's file. */
  readonly event: string;
  readonly github: GitHubServer;
}

async function spawnAct(
  run: ActRun,
  place: Started,
  attempt: number,
  legs: Readonly<Record<string, string>>,
): Promise<{ exitCode: number | null; log: string }> {
  const workflow = path.join(place.home, run.workflow);
  const text = readFileSync(path.join(ROOT, 'examples', run.workflow), 'utf8');
  writeFileSync(
    workflow,
    run.inTurn === true ? text.replace('strategy: {', 'strategy: { max-parallel: 1,') : text,
  );
  const base = run.workflow === 'local-model.yml' ? `${place.modelUrl}/v1` : place.modelUrl;
  const ref =
    run.event === 'merge_group' ? `refs/heads/gh-readonly-queue/main/pr-${PULL}-${BASE}` : 'refs/heads/main';
  const variables = {
    GITHUB_API_URL: place.github.apiUrl,
    GITHUB_GRAPHQL_URL: place.github.graphqlUrl,
    GITHUB_REPOSITORY: REPOSITORY,
    ...(run.event === 'pull_request' ? {} : { GITHUB_REF: ref }),
    // act knows of one attempt only.
    GITHUB_RUN_ATTEMPT: String(attempt),
    STAND_IN_REPOSITORY: place.repository,
    STAND_IN_ARTIFACTS: path.join(place.home, 'artifacts'),
    STAND_IN_HEAD: place.sha,
  };
  const child = spawn(
    place.act,
    [
      run.event,
      ...['-C', place.repository, '-W', workflow, '-e', place.event, '-P', 'ubuntu-latest=-self-hosted'],
      ...['--pull=false', '--no-cache-server', '--concurrent-jobs', '1'],
      ...['--local-repository', `${ACTION}=${place.action}`],
      ...writeStandIns(workflow, path.join(place.home, 'stand-ins')).flatMap((each) => [
        '--local-repository',
        each,
      ]),
      ...Object.entries(legs).flatMap(([name, value]) => ['--matrix', `${name}:${value}`]),
      ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...['--var', `MODEL_BASE_URL=${base}`, '--var', 'MODEL_NAME=scripted-model'],
      ...['-s', 'GITHUB_TOKEN=test-token'],
      ...(run.secrets
        ? ['-s', 'ANTHROPIC_API_KEY=emulator-needs-no-key', '-s', `SIGNING_KEY=${SIGNING_KEY}`]
        : []),
    ],
    { cwd: place.repository, env: actEnvironment(place.home), stdio: ['ignore', 'pipe', 'pipe'] },
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

/** act takes `node` from PATH: the node of this process comes first, after the replacement for GitHub CLI. */
function actEnvironment(home: string): NodeJS.ProcessEnv {
  const bin = path.join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(path.join(bin, 'gh'), '#!/bin/sh\necho "$STAND_IN_HEAD"\n');
  chmodSync(path.join(bin, 'gh'), 0o755);
  const node = path.dirname(process.execPath);
  return {
    PATH: [bin, node, process.env['PATH'] ?? ''].join(path.delimiter),
    HOME: home,
    XDG_CACHE_HOME: path.join(home, 'cache'),
    LANG: 'C.UTF-8',
  };
}
