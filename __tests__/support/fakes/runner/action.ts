import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { BUNDLE, startStep } from '../../../../examples/demo/runner.ts';
import { putFiles } from '../../local.ts';
import { issuesOf } from '../../schemas/envelope-issues.ts';
import { SKIP_WAITS } from '../../waits.ts';
import { type Script, startModel } from '../model/server.ts';
import { parseOutputFile } from './runner.ts';

export { calls, submits } from '../model/server.ts';

/** The key of every run; it may appear only in a request header. */
export const KEY = 'sk-canary-0123456789abcdef';

/** Whether this machine has the sandbox; if not, runs use `sandbox: off`. */
export const HAS_BWRAP = existsSync('/usr/bin/bwrap');

/** The results of a run in RUNNER_TEMP; its own temporary folders have a longer name. */
const RESULTS_FOLDER = /^structured-agent-[A-Za-z0-9]{6}$/u;

/** The committed bundle's other entry. */
export const MERGE = path.join(path.dirname(BUNDLE), 'merge.js');

/** The GitHub of a run: a loopback server and an event. The repository is `octo/demo`. */
export interface OnGitHub {
  readonly hub: { readonly apiUrl: string; readonly graphqlUrl: string };
  /** The name of the event; `pull_request` by default. */
  readonly name?: string;
  /** The content of the event file. */
  readonly event: object;
  /** `100` by default. */
  readonly runId?: string;
}

/** The options of a run of the committed bundle. */
export interface ActionOptions {
  /** Runs the merge instead, which has no default inputs. */
  readonly entry?: 'merge';
  /** Another bundle than the committed one: the path of its index.js. */
  readonly bundle?: string;
  readonly script?: Script;
  readonly provider?: 'openai-compatible' | 'anthropic';
  /** Override the default inputs; an empty string is an absent input. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** Files of the workspace, by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly github?: OnGitHub;
  /** Additional variables of the runner. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Called before the start with the directories of the run. */
  readonly prepare?: (places: Places) => Promise<void>;
  /** Delays reading the log by this many milliseconds. */
  readonly readAfterMs?: number;
  /** Called with each line of the log, and a way to send the process a signal. */
  readonly onLine?: (line: string, kill: (signal: NodeJS.Signals) => void) => void;
  /** Folders of the workspace that an earlier step put on PATH. */
  readonly path?: readonly string[];
  /** Called with the outputs before the files of the run are removed. */
  readonly onEnd?: (outputs: ReadonlyMap<string, string>) => void;
  /** Called after the process has started. */
  readonly meanwhile?: (kill: (signal: NodeJS.Signals) => void) => void;
}

export interface Places {
  readonly workspace: string;
  /** RUNNER_TEMP. */
  readonly temp: string;
  readonly outputFile: string;
}

/** The result of a run. */
export type ActionRun = Awaited<ReturnType<typeof runAction>>;

/** Runs the committed bundle once as the runner would, against a scripted model on loopback. */
export async function runAction(options: ActionOptions = {}) {
  const folder = await realpath(await mkdtemp(path.join(os.tmpdir(), 'action-')));
  const workspace = path.join(folder, 'work', 'repo');
  const temp = path.join(folder, 'temp');
  const outputFile = path.join(temp, '_runner_file_commands', 'set_output');
  await mkdir(workspace, { recursive: true });
  putFiles(workspace, options.files ?? {});
  await options.prepare?.({ workspace, temp, outputFile });
  const model = await startModel(options.script ?? []);
  const searchPath = [
    ...(options.path ?? []).map((name) => path.join(workspace, name)),
    process.env['PATH'],
  ].join(path.delimiter);
  let log = '';
  try {
    const provider = options.provider ?? 'openai-compatible';
    const usual = {
      prompt: 'Judge.',
      provider,
      model: 'scripted-1',
      'base-url': provider === 'anthropic' ? model.url : `${model.url}/v1`,
      'api-key': KEY,
      sandbox: HAS_BWRAP ? 'required' : 'off',
      // Most scripts deliver a payload at once, which rests on nothing.
      'min-coverage': 'off',
    };
    const step = startStep({
      workspace,
      folder,
      sha: '0123456789012345678901234567890123456789',
      bundle: options.entry === 'merge' ? MERGE : (options.bundle ?? BUNDLE),
      inputs: { ...(options.entry === 'merge' ? {} : usual), ...options.inputs },
      environment: { PATH: searchPath, HOME: folder },
      extra: { ...(await githubVariables(options.github, folder)), ...options.variables },
      ...(options.readAfterMs === undefined ? {} : { readAfterMs: options.readAfterMs }),
      onLine: (line) => {
        log += `${line}\n`;
        options.onLine?.(line, kill);
      },
    });
    function kill(signal: NodeJS.Signals): void {
      try {
        if (step.pid !== undefined) process.kill(step.pid, signal);
      } catch {
        // The process ended while its last lines were read.
      }
    }
    options.meanwhile?.(kill);
    const { exitCode, summary } = await step.done;
    const hasOutputs = statSync(outputFile, { throwIfNoEntry: false })?.isFile() === true;
    const outputs = parseOutputFile(hasOutputs ? readFileSync(outputFile, 'utf8') : '');
    options.onEnd?.(outputs);
    const folders = readdirSync(temp).filter((name) => RESULTS_FOLDER.test(name));
    const results = readTree(outputs.get('run-results') ?? path.join(temp, folders[0] ?? 'none'));
    return {
      exitCode,
      log,
      outputs,
      /** The parsed result file; null if there is none. */
      envelope: readEnvelope(results['result.json'] ?? ''),
      summary,
      transcript: results['transcript.jsonl'] ?? '',
      /** The texts of the files in the results folder, by name. */
      results,
      requests: model.requests,
      survivors: survivorsIn(folder),
      /** Names left in RUNNER_TEMP, except results and files of the runner. */
      leftovers: readdirSync(temp).filter(
        (name) => !RESULTS_FOLDER.test(name) && name !== '_runner_file_commands',
      ),
      /** The workspace's files after the run, `.git` aside. */
      files: readTree(workspace),
    };
  } finally {
    await model.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function githubVariables(
  github: OnGitHub | undefined,
  folder: string,
): Promise<Record<string, string>> {
  if (github === undefined) return {};
  const file = path.join(folder, 'event.json');
  await writeFile(file, JSON.stringify(github.event));
  return {
    GITHUB_REPOSITORY: 'octo/demo',
    GITHUB_API_URL: github.hub.apiUrl,
    GITHUB_GRAPHQL_URL: github.hub.graphqlUrl,
    GITHUB_EVENT_NAME: github.name ?? 'pull_request',
    GITHUB_EVENT_PATH: file,
    GITHUB_RUN_ID: github.runId ?? '100',
    GITHUB_RUN_ATTEMPT: '1',
    NO_PROXY: '127.0.0.1',
    ...SKIP_WAITS,
  };
}

function readEnvelope(text: string): Readonly<Record<string, unknown>> | null {
  if (text === '') return null;
  const envelope = JSON.parse(text);
  const issues = issuesOf(envelope);
  if (issues.length > 0)
    throw new Error(`Not as schemas/envelope.schema.json has it: ${JSON.stringify(issues)}`);
  return envelope;
}

/**
 * Processes whose command line or working directory is in the directory of the run. Its name alone is not enough: the
 * self-test of a concurrent run checks the entries of /tmp and has every name in its command line.
 */
function survivorsIn(folder: string): readonly string[] {
  const found: string[] = [];
  for (const pid of existsSync('/proc') ? readdirSync('/proc') : []) {
    if (!/^\d+$/u.test(pid) || Number(pid) === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const cwd = readlinkSync(`/proc/${pid}/cwd`);
      if (command.includes(`${folder}/`) || `${cwd}/`.startsWith(`${folder}/`))
        found.push(`${pid} ${command}`);
    } catch {
      // The process ended meanwhile.
    }
  }
  return found;
}

function readTree(root: string): Readonly<Record<string, string>> {
  const files: Record<string, string> = {};
  if (!existsSync(root)) return files;
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(root, file);
    if (entry.isFile() && !name.startsWith('.git/')) files[name] = readFileSync(file, 'utf8');
  }
  return files;
}

/** All files and logs of a run, except the add-mask commands. */
export function left(run: ActionRun): string {
  const log = run.log.replace(/^::add-mask::.*$/gmu, '');
  const outputs = JSON.stringify([...run.outputs]);
  return [log, run.summary, run.transcript, JSON.stringify(run.envelope), outputs].join('\n');
}
