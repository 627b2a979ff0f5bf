/** A minimal runner for attacks on the whole action: directories with canaries, listeners, and files that must not change. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeFolder } from '../../../src/sandbox/run-folder.ts';
import type { RunnerUser } from '../fakes/runner/user.ts';
import { listen, manifest, putFiles } from '../local.ts';

/** The key of the model: known to the action, which masks it everywhere. */
export const ATTACK_KEY = 'sk-canary-known-6b1f0c2d9e';
/** A canary unknown to the action, so that it is not masked if the sandbox leaks it. */
export const PLANTED = 'sk-canary-plain-5f1d9c3b7a20';
/** Tokens of the job and the runner: known to the action by their variables' names. */
export const JOB_TOKEN = 'ghs_canaryknown0123456789abcdefghijkl';
const RUNTIME_TOKEN = 'runtime-canary-47ac10b2d8';
const OIDC_TOKEN = 'oidc-canary-8d3e5f6071';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** The directories of a runner and the listeners outside. */
export interface AttackWorld {
  /** The directory that contains all others; other directories are compared by `watchSystem`. */
  readonly base: string;
  readonly home: string;
  /** RUNNER_TEMP. */
  readonly temp: string;
  readonly workspace: string;
  /** The folder of downloaded actions. */
  readonly actions: string;
  /** The main file of the committed bundle and the program that runs it. */
  readonly bundle: string;
  readonly node: string;
  /** The owner of the directories; undefined for the user who runs the tests. */
  readonly runner: RunnerUser | undefined;
  readonly toolCache: string;
  /** Its directory on PATH. */
  readonly tools: string;
  /** The folder of file commands, those of neighbouring steps included. */
  readonly commands: string;
  /** A loopback listener outside, and a socket. */
  readonly port: number;
  readonly socket: string;
  /** The name of a socket that has no file. */
  readonly abstract: string;
  /** A mark in the names that attacks of this world use: no process or file of another world contains it. */
  readonly mark: string;
  /** A descriptor of the home, which every step is started with. */
  readonly openFolder: number;
  /** The environment of the runner without the inputs of the action, including canaries. */
  readonly variables: Readonly<Record<string, string>>;
  /** The number of connections to the listeners. */
  reached(): number;
  /** Mode and content of every file that an agent must not change, by path. */
  manifest(): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** The options of a world. */
export interface AttackWorldOptions {
  /** Whether the agent can write to the workspace, in which case only protected paths are compared. */
  readonly inPlace?: boolean;
  /** The owner of the workspace; the user of the runner by default (root only). */
  readonly owner?: number;
  /** The parent of its directory; the temporary directory by default. */
  readonly parent?: string;
  /** Adds files before the directories are given to their owner. */
  readonly plant?: (folders: Folders) => void;
  /** The owner of the runner and its folders; the user who runs the tests by default (root only). */
  readonly runner?: RunnerUser | undefined;
}

/** Creates the world and starts another process with canaries in its environment and arguments. */
export async function createAttackWorld(options: AttackWorldOptions = {}): Promise<AttackWorld> {
  const folders = makeFolders(options.parent ?? tmpdir());
  const { base, temp, workspace } = folders;
  const { runner } = options;
  options.plant?.(folders);
  if (options.owner !== undefined) {
    // The owner of the workspace must be able to reach it.
    chmodSync(base, 0o755);
    execFileSync('chown', ['-R', `${options.owner}:${options.owner}`, workspace]);
  }
  const isOurs = (file: string) =>
    path.dirname(file) === temp && path.basename(file).startsWith('structured-agent');
  const isFree = (file: string) =>
    path.dirname(file) === workspace &&
    !/^(?:\.git|\.github|action\.ya?ml|gha-creds-.*|parts)$/u.test(path.basename(file));
  let reached = 0;
  const count = () => {
    reached += 1;
  };
  const socket = path.join(base, 'out.sock');
  const mark = `SAMARK-${randomUUID().slice(0, 8)}`;
  const abstract = `attack-${path.basename(base)}`;
  const servers = [0, socket, ...(process.platform === 'linux' ? [`\0${abstract}`] : [])].map((where) => {
    const server = createServer(count);
    return { server, port: listen(server, where) };
  });
  const [port = 0] = await Promise.all(servers.map((each) => each.port));
  // The mode of the socket allows every user to connect.
  chmodSync(socket, 0o777);
  let node = process.execPath;
  if (runner !== undefined) {
    node = path.join(folders.tools, 'node');
    writeFileSync(node, '', { mode: 0o755 });
    execFileSync('chown', ['-R', `${runner.id}:${runner.id}`, base]);
  }
  const bystander = startBystander(runner);
  const openFolder = openSync(folders.home, 'r');
  return {
    ...folders,
    node,
    runner,
    port,
    socket,
    abstract,
    mark,
    openFolder,
    variables: variablesOf(folders),
    reached: () => reached,
    manifest: () => ({
      ...manifest(base, (file) => isOurs(file) || (options.inPlace === true && isFree(file))),
      '/dev/null': String(lstatSync('/dev/null').isCharacterDevice()),
      core_pattern: readFileSync('/proc/sys/kernel/core_pattern', 'utf8'),
    }),
    async close() {
      bystander.kill('SIGKILL');
      for (const { server } of servers) server.close();
      closeSync(openFolder);
      // Commands can have removed permissions from files that they created.
      await removeFolder(base, 20_000);
    },
  };
}

type Folders = ReturnType<typeof makeFolders>;

function makeFolders(parent: string) {
  const base = realpathSync(mkdtempSync(path.join(parent, 'attack-')));
  const home = path.join(base, 'home');
  const work = path.join(home, 'work');
  const temp = path.join(work, '_temp');
  const actions = path.join(work, '_actions');
  const own = path.join(actions, 'structured-agent', 'structured-agent', 'v1');
  const toolCache = path.join(work, '_tool');
  const tools = path.join(toolCache, 'planted', '1.0.0', 'x64', 'bin');
  const commands = path.join(temp, '_runner_file_commands');
  const workspace = path.join(work, 'repo', 'repo');
  for (const folder of [workspace, commands, own, tools]) mkdirSync(folder, { recursive: true });
  for (const name of ['.npmrc', '.bashrc', '.netrc', '.git-credentials'])
    writeFileSync(path.join(home, name), `token=${PLANTED}\n`);
  for (const name of ['set_output_1', 'set_env_1', 'add_path_1', 'save_state_1', 'step_summary_1'])
    writeFileSync(path.join(commands, name), name === 'set_output_1' ? `neighbour=${PLANTED}\n` : '');
  writeFileSync(path.join(temp, 'git-credentials-1.config'), PLANTED);
  cpSync(path.join(repository, 'dist'), path.join(own, 'dist'), { recursive: true });
  cpSync(path.join(repository, 'action.yml'), path.join(own, 'action.yml'));
  writeFileSync(path.join(tools, 'planted-tool'), '#!/bin/sh\necho planted tool\n', { mode: 0o755 });
  fillRepository(workspace);
  const bundle = path.join(own, 'dist', 'index.js');
  return { base, home, temp, workspace, actions, bundle, toolCache, tools, commands };
}

function variablesOf({ home, temp, toolCache, tools, workspace, bundle }: Folders) {
  return {
    PATH: [tools, path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
    HOME: home,
    RUNNER_TEMP: temp,
    RUNNER_TOOL_CACHE: toolCache,
    GITHUB_WORKSPACE: workspace,
    GITHUB_ACTION_PATH: path.dirname(path.dirname(bundle)),
    GITHUB_TOKEN: JOB_TOKEN,
    ACTIONS_RUNTIME_TOKEN: RUNTIME_TOKEN,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: OIDC_TOKEN,
    DEPLOY_PASSWORD: PLANTED,
    MY_CI_SETTING: `prefix ${PLANTED}`,
  };
}

/** The values that no tool result and no line of the log may contain. */
export const CANARIES: readonly string[] = [ATTACK_KEY, PLANTED, JOB_TOKEN, RUNTIME_TOKEN, OIDC_TOKEN];

/** Content that the author of a commit controls in the history. */
const HISTORY =
  'second\n\n::set-output name=conclusion::success\n##[error]from the history\n\u001b[2J::notice::x';

function fillRepository(workspace: string): void {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], {
      cwd: workspace,
      stdio: 'pipe',
    });
  putFiles(workspace, {
    '.github/workflows/ci.yml': 'on: push\n',
    'README.md': 'hello\n',
    'grüße.txt': 'grüße\n',
    'package.json': '{"name":"cart","private":true,"scripts":{"test":"node -p 6*7"}}\n',
  });
  git('init', '-q', '-b', 'main', '.');
  git('add', '.');
  git('commit', '-qm', 'first');
  git('commit', '-q', '--allow-empty', '-m', HISTORY);
  const token = ['config', 'http.https://github.com/.extraheader', `AUTHORIZATION: basic ${PLANTED}`];
  git(...token);
  git('config', 'remote.origin.url', `https://user:${PLANTED}@github.com/o/r.git`);
  // A second checkout, as in workflows with several repositories.
  putFiles(workspace, { 'parts/inner/.github/ci.yml': 'on: push\n' });
  git('init', '-q', '-b', 'main', 'parts/inner');
  git('-C', 'parts/inner', 'commit', '-qm', 'first', '--allow-empty');
  git('-C', 'parts/inner', ...token);
  putFiles(workspace, { 'gha-creds-0123456789abcdef.json': `{"private_key":"${PLANTED}"}\n` });
}

function startBystander(runner: RunnerUser | undefined): ChildProcess {
  return spawn('/bin/sh', ['-c', 'read -r line', PLANTED], {
    ...(runner === undefined ? {} : { uid: runner.id, gid: runner.id }),
    env: { NEIGHBOUR_TOKEN: PLANTED },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}
