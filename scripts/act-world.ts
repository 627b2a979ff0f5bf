/** The world of one run of an example on act: a repository, a pull request on a loopback GitHub, stand-ins for others' actions. */
import { spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type GitHubServer, startGitHubServer } from '../__tests__/support/github-server.ts';
import { createRepository, type Edit } from '../examples/demo/demo.ts';

/** The action as the examples name it. */
export const ACTION = 'org/structured-agent@v1';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const REPOSITORY = 'octo/demo';
/** Where the change comes from that is judged after CI. */
const FORK = 'mona/demo';
const PULL = 7;
const BASE = 'b'.repeat(40);
const TASK = 'Run the test suite and review this change. Is it safe to merge?';
const JUDGE = readFileSync(path.join(ROOT, 'examples/demo/repository/.github/verdict.schema.json'), 'utf8');

/** What starts an example. */
export type ActEvent = 'push' | 'pull_request' | 'merge_group' | 'workflow_run' | 'issue_comment';

/** One run of one example. */
export interface ActRun {
  readonly workflow: string;
  readonly event: ActEvent;
  readonly edits: readonly Edit[];
  /** Whether the repository gives the run its secrets; not where a fork asks. */
  readonly secrets: boolean;
}

/** Where it runs. */
export interface ActPlace {
  readonly act: string;
  /** A fresh folder for HOME, act's cache and the repository; it is made. */
  readonly home: string;
  /** A folder with action.yml and dist. */
  readonly action: string;
  readonly modelUrl: string;
}

/** What it gave. */
export interface ActResult {
  readonly exitCode: number | null;
  readonly log: string;
  /** What GitHub was told. */
  readonly comments: readonly string[];
  readonly statuses: readonly string[];
}

/** Runs an example. Rejects where act cannot be started, or the loopback GitHub was asked what GitHub would refuse. */
export async function runOnAct(run: ActRun, place: ActPlace): Promise<ActResult> {
  mkdirSync(place.home);
  const repository = path.join(place.home, 'cart');
  const sha = createRepository(repository, run.edits) ?? '';
  const github = await startGitHub(run, sha);
  try {
    const event = path.join(place.home, 'event.json');
    writeFileSync(event, JSON.stringify(EVENTS[run.event](sha)));
    const { exitCode, log } = await spawnAct(run, { ...place, repository, sha, event, github });
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

/** The pull request as the event and the API tell it: it changes what the run's edits change. */
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

async function spawnAct(run: ActRun, place: Started): Promise<{ exitCode: number | null; log: string }> {
  const workflow = path.join(place.home, run.workflow);
  cpSync(path.join(ROOT, 'examples', run.workflow), workflow);
  const base = run.workflow === 'local-model.yml' ? `${place.modelUrl}/v1` : place.modelUrl;
  const ref =
    run.event === 'merge_group' ? `refs/heads/gh-readonly-queue/main/pr-${PULL}-${BASE}` : 'refs/heads/main';
  const variables = {
    GITHUB_API_URL: place.github.apiUrl,
    GITHUB_GRAPHQL_URL: place.github.graphqlUrl,
    GITHUB_REPOSITORY: REPOSITORY,
    ...(run.event === 'pull_request' ? {} : { GITHUB_REF: ref }),
    STAND_IN_REPOSITORY: place.repository,
    STAND_IN_HEAD: place.sha,
  };
  const child = spawn(
    place.act,
    [
      run.event,
      ...['-C', place.repository, '-W', workflow, '-e', place.event, '-P', 'ubuntu-latest=-self-hosted'],
      ...['--pull=false', '--no-cache-server', '--concurrent-jobs', '1'],
      ...['--local-repository', `${ACTION}=${place.action}`],
      ...standIns(workflow, place.home).flatMap((each) => ['--local-repository', each]),
      ...Object.entries(variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...['--var', `MODEL_BASE_URL=${base}`, '--var', 'MODEL_NAME=scripted-model'],
      ...['-s', 'GITHUB_TOKEN=test-token'],
      ...(run.secrets ? ['-s', 'ANTHROPIC_API_KEY=emulator-needs-no-key'] : []),
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

/** act takes `node` from PATH: this process's own comes first, and before it what stands in for GitHub's command line. */
function actEnvironment(home: string): NodeJS.ProcessEnv {
  const bin = path.join(home, 'bin');
  mkdirSync(bin);
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

/** What the actions of others do here, where there is no GitHub to fetch them from. act skips a checkout without `ref`. */
const STAND_INS = {
  'actions/checkout': {
    file: 'action.yml',
    inputs: ['ref', 'persist-credentials', 'allow-unsafe-pr-checkout'],
    run: 'git clone --quiet "$STAND_IN_REPOSITORY" . && git checkout --quiet "$REF"',
    env: { name: 'REF', input: 'ref' },
  },
  'github/codeql-action': {
    file: 'upload-sarif/action.yml',
    inputs: ['sarif_file'],
    run: `node -e 'const [run] = JSON.parse(require("fs").readFileSync(process.env.SARIF, "utf8")).runs; console.log("uploaded " + run.results.length + " of " + run.automationDetails.id)'`,
    env: { name: 'SARIF', input: 'sarif_file' },
  },
} as const;

function standIns(workflow: string, home: string): readonly string[] {
  const text = readFileSync(workflow, 'utf8');
  return Object.entries(STAND_INS).flatMap(([name, { file, inputs, run, env }]) => {
    const commit = new RegExp(`uses: ${name}[\\w/-]*@([0-9a-f]{40})`, 'u').exec(text)?.[1];
    if (commit === undefined) return [];
    const folder = path.join(home, 'stand-ins', name);
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(
      path.join(folder, file),
      [
        `name: a stand-in for ${name}`,
        'description: what the example needs of it',
        'inputs:',
        ...inputs.map((input) => `  ${input}:\n    description: as there\n    required: false`),
        'runs:\n  using: composite\n  steps:\n    - shell: bash',
        `      env:\n        ${env.name}: \${{ inputs.${env.input} }}`,
        `      run: |\n        ${run}\n`,
      ].join('\n'),
    );
    return [`${name}@${commit}=${folder}`];
  });
}
