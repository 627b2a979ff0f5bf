import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BUNDLE, startStep } from '../../../../examples/demo/runner.ts';
import { hasSandbox, processesWith, until } from '../../../sandbox/world.ts';
import { putFiles } from '../../local.ts';
import { issuesOf } from '../../schemas/envelope-issues.ts';
import { SKIP_WAITS } from '../../waits.ts';
import type { GitHubServer } from '../github/server.ts';
import { type Script, startModel } from '../model/server.ts';

export { calls, submits } from '../model/server.ts';

/** The key of every run; it may appear only in a request header. */
export const KEY = 'sk-canary-0123456789abcdef';

/** The results of a run in RUNNER_TEMP; its own temporary folders have a longer name. */
const RESULTS_FOLDER = /^structured-agent-[A-Za-z0-9]{6}$/u;

export interface ActionOptions {
  /** Runs the merge instead, which has no default inputs. */
  readonly entry?: 'merge';
  /** The folder of another bundle than the committed one. */
  readonly dist?: string;
  readonly script?: Script;
  /** Override the default inputs; an empty string is an absent input. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** Files of the workspace, by relative path. */
  readonly files?: Readonly<Record<string, string>>;
  /** A loopback GitHub, where the repository is `octo/demo`, and an event: its name, or `pull_request`, and its content. */
  readonly github?: {
    readonly hub: GitHubServer;
    readonly name?: string;
    readonly event: object;
  };
  /** Additional variables of the runner. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Called before the start with the directories of the run. */
  readonly prepare?: (places: Places) => Promise<void>;
  /** Delays reading the log by this many milliseconds. */
  readonly readAfterMs?: number;
  /** Sends signals, once the log has a matching line or the promise resolves. */
  readonly kill?: { readonly when: RegExp | Promise<unknown>; readonly signals: readonly NodeJS.Signals[] };
}

/** `temp` is RUNNER_TEMP. */
export type Places = Readonly<Record<'workspace' | 'temp' | 'outputFile', string>>;

export type ActionRun = Awaited<ReturnType<typeof runAction>>;

/** Runs the committed bundle once as the runner would, against a scripted model on loopback. */
export async function runAction(options: ActionOptions = {}) {
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'action-')));
  const workspace = path.join(folder, 'work', 'repo');
  const temp = path.join(folder, 'temp');
  const outputFile = path.join(temp, '_runner_file_commands', 'set_output');
  mkdirSync(workspace, { recursive: true });
  putFiles(workspace, options.files ?? {});
  await options.prepare?.({ workspace, temp, outputFile });
  const model = await startModel(options.script ?? []);
  const { when, signals = [] } = options.kill ?? {};
  let sentAt = Number.NEGATIVE_INFINITY;
  let log = '';
  try {
    const usual = {
      ...{ prompt: 'Judge.', provider: 'openai-compatible', model: 'scripted-1', 'api-key': KEY },
      'base-url': options.inputs?.['provider'] === 'anthropic' ? model.url : `${model.url}/v1`,
      sandbox: hasSandbox ? 'required' : 'off',
      // Most scripts deliver a payload at once, which rests on nothing.
      'min-coverage': 'off',
    };
    const step = startStep({
      workspace,
      folder,
      sha: '0123456789012345678901234567890123456789',
      bundle: path.join(options.dist ?? path.dirname(BUNDLE), `${options.entry ?? 'index'}.js`),
      inputs: { ...(options.entry === 'merge' ? {} : usual), ...options.inputs },
      environment: { PATH: process.env['PATH'], HOME: folder },
      extra: { ...githubVariables(options.github, folder), ...options.variables },
      readAfterMs: options.readAfterMs ?? 0,
      onLine: (line) => {
        log += `${line}\n`;
        if (when instanceof RegExp && when.test(line)) interrupt();
      },
    });
    function interrupt(): void {
      if (sentAt > 0) return;
      sentAt = performance.now();
      signals.forEach(step.kill);
    }
    if (when instanceof Promise) void when.then(interrupt);
    const { exitCode, summary, outputs } = await step.done;
    const endedAfterMs = performance.now() - sentAt;
    const processes = () => [...processesWith(`${folder}/`), ...processesWith(folder, 'environ')];
    // A sandbox that was still being built removes itself after its run.
    await until(() => processes().length === 0).catch(() => undefined);
    const names = readdirSync(temp).filter((name) => name !== '_runner_file_commands');
    const made = names.find((name) => RESULTS_FOLDER.test(name)) ?? 'none';
    const results = readTree(outputs.get('run-results') ?? path.join(temp, made));
    return {
      exitCode,
      /** The time since the signals. */
      endedAfterMs,
      log,
      outputs,
      /** The parsed result file; null if there is none. */
      envelope: readEnvelope(results['result.json'] ?? ''),
      summary,
      transcript: results['transcript.jsonl'] ?? '',
      /** The texts of the files in the results folder, by name. */
      results,
      requests: model.requests,
      /** Processes of the run. A self-test of another run has every name in /tmp in its command line. */
      survivors: processes(),
      /** Names left in RUNNER_TEMP, except results and files of the runner. */
      leftovers: names.filter((name) => !RESULTS_FOLDER.test(name)),
      /** The workspace's files after the run, `.git` aside. */
      files: readTree(workspace),
    };
  } finally {
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function githubVariables(github: ActionOptions['github'], folder: string): Readonly<Record<string, string>> {
  if (github === undefined) return {};
  putFiles(folder, { 'event.json': JSON.stringify(github.event) });
  return {
    GITHUB_REPOSITORY: 'octo/demo',
    GITHUB_API_URL: github.hub.apiUrl,
    GITHUB_GRAPHQL_URL: github.hub.graphqlUrl,
    GITHUB_EVENT_NAME: github.name ?? 'pull_request',
    GITHUB_EVENT_PATH: path.join(folder, 'event.json'),
    GITHUB_RUN_ID: '100',
    NO_PROXY: '127.0.0.1',
    ...SKIP_WAITS,
  };
}

function readEnvelope(text: string): Readonly<Record<string, unknown>> | null {
  if (text === '') return null;
  const envelope = JSON.parse(text);
  const issues = JSON.stringify(issuesOf(envelope));
  if (issues !== '[]') throw new Error(`Not as schemas/envelope.schema.json has it: ${issues}`);
  return envelope;
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
