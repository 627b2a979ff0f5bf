/** Runs a step of the committed bundle with a chosen backend as the runner does: its environment, files and raw streams. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { shellWord } from '../../../src/sandbox/sandbox.ts';
import { type Script, startModel } from '../fakes/model/server.ts';
import { inputVariables } from '../fakes/runner/inputs.ts';
import { parseOutputFile } from '../fakes/runner/runner.ts';
import { mountUserFiles, ROOT_ENVIRONMENT, SHELL_IN_NAMESPACE, wordsAsUser } from '../fakes/runner/user.ts';
import { type AttackWall, BWRAP, isRoot } from './backends.ts';
import { ATTACK_KEY, type AttackWorld } from './world.ts';

type Texts = Readonly<Record<string, string>>;

/** The options of a step. */
export interface AttackStep {
  readonly world: AttackWorld;
  /** The backend that must be used: preferred ones are hidden from the step. */
  readonly wall: AttackWall;
  readonly script: Script;
  readonly inputs?: Texts;
  /** The content of the event file; empty by default. */
  readonly event?: unknown;
  /** Variables that override those of the world. */
  readonly variables?: Texts;
}

/** The raw streams and the files that a step left: the runner reads each separately. */
export type AttackResult = Awaited<ReturnType<typeof runAttackStep>>;

/** Runs a step to its end. */
export async function runAttackStep(step: AttackStep) {
  const { runner, commands, temp, variables } = step.world;
  const own = {
    GITHUB_EVENT_PATH: path.join(temp, 'event.json'),
    GITHUB_OUTPUT: path.join(commands, 'set_output_2'),
    GITHUB_STEP_SUMMARY: path.join(commands, 'step_summary_2'),
    GITHUB_ENV: path.join(commands, 'set_env_2'),
    GITHUB_PATH: path.join(commands, 'add_path_2'),
    GITHUB_STATE: path.join(commands, 'save_state_2'),
  };
  for (const file of Object.values(own)) {
    writeFileSync(file, file === own.GITHUB_EVENT_PATH ? JSON.stringify(step.event ?? {}) : '');
    if (runner !== undefined) chownSync(file, runner.id, runner.id);
  }
  const model = await startModel(step.script);
  try {
    const inputs = {
      prompt: 'Judge.',
      provider: 'openai-compatible',
      model: 'scripted-1',
      'base-url': `${model.url}/v1`,
      'api-key': ATTACK_KEY,
      sandbox: 'required',
      'max-turns': '-1',
      ...step.inputs,
    };
    const environment = {
      LANG: 'C.UTF-8',
      CI: 'true',
      // The log shows whole results of tools.
      RUNNER_DEBUG: '1',
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'example/cart',
      GITHUB_SHA: '0123456789012345678901234567890123456789',
      GITHUB_EVENT_NAME: 'push',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_RUN_ID: '1',
      RUNNER_OS: 'Linux',
      ...own,
      ...variables,
      ...step.variables,
      ...inputVariables(inputs),
    };
    const ended = await runInShell(step, environment);
    const outputText = readFileSync(own.GITHUB_OUTPUT, 'utf8');
    const outputs = parseOutputFile(outputText);
    return {
      ...ended,
      outputText,
      outputs,
      summary: readFileSync(own.GITHUB_STEP_SUMMARY, 'utf8'),
      transcript: readResult(outputs, 'transcript.jsonl'),
      envelope: readResult(outputs, 'result.json'),
      /** The bodies of the model requests. */
      bodies: model.requests.map(({ raw }) => raw),
      /** The content of the files for variables, PATH and state. */
      commandFiles: [own.GITHUB_ENV, own.GITHUB_PATH, own.GITHUB_STATE]
        .map((file) => readFileSync(file, 'utf8'))
        .join(''),
    };
  } finally {
    await model.close();
  }
}

/**
 * Runs the bundle to its end, if need be in a mount namespace with the user of the runner, and with bubblewrap covered by a
 * file that cannot be executed: the bundle has no input that selects a backend. The script is on stdin because it contains
 * secrets.
 */
async function runInShell({ world, wall }: AttackStep, environment: Texts) {
  const { runner, base, home, node, bundle, workspace, openFolder } = world;
  // As root no bubblewrap is used.
  const isDirect = runner === undefined && (isRoot || wall === 'bwrap');
  const cover = path.join(base, 'cover');
  writeFileSync(cover, '', { mode: 0o644 });
  const own = ['/usr/bin/setpriv', `--reuid=${process.getuid?.()}`, `--regid=${process.getgid?.()}`];
  const asSelf = isDirect ? [] : [...own, '--init-groups', '--'];
  const words = [
    ...(runner === undefined ? asSelf : wordsAsUser(runner)),
    ...['/usr/bin/env', '-i', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
    ...[node, bundle],
  ];
  const script = [
    ...(isDirect || wall === 'bwrap' || !existsSync(BWRAP)
      ? []
      : [`mount --bind ${shellWord(cover)} ${BWRAP} || exit 97`]),
    ...(runner === undefined ? [] : mountUserFiles(runner, path.join(base, `etc-${Date.now()}`), home)),
    `cd ${shellWord(workspace)} || exit 97`,
    `exec ${words.map(shellWord).join(' ')} </dev/null`,
  ];
  const inNamespace = isRoot ? SHELL_IN_NAMESPACE : ['/usr/bin/sudo', '-n', '--', ...SHELL_IN_NAMESPACE];
  const [file = '', ...rest] = isDirect ? ['/bin/sh', '-s'] : inNamespace;
  const child = spawn(file, rest, {
    env: ROOT_ENVIRONMENT,
    // The parent of the runner can leave a directory open, which every child inherits. Node closes descriptors in its
    // children only up to the first gap above 15.
    stdio: ['pipe', 'pipe', 'pipe', ...Array<'ignore'>(60).fill('ignore'), openFolder],
  });
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(script.join('\n'));
  const [stdout, stderr] = await Promise.all([
    buffer(child.stdout ?? Readable.from([])),
    buffer(child.stderr ?? Readable.from([])),
    once(child, 'close'),
  ]);
  return { exitCode: child.exitCode, stdout, stderr };
}

/** Reads a file of the results folder; empty if there is none. */
function readResult(outputs: ReadonlyMap<string, string>, name: string): string {
  const file = path.join(outputs.get('run-results') ?? '', name);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
