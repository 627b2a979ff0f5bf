/** Runs a step of the committed bundle with a chosen backend as the runner does: its environment, files and raw streams. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { shellWord } from '../../../src/sandbox/sandbox.ts';
import { type Script, startModel } from '../fakes/model/server.ts';
import { inputVariables } from '../fakes/runner/inputs.ts';
import { parseOutputFile } from '../fakes/runner/runner.ts';
import { mountUserFiles, ROOT_ENVIRONMENT, SHELL_IN_NAMESPACE, wordsAsUser } from '../fakes/runner/user.ts';
import { type AttackSetting, BWRAP, hasBwrap, isRoot } from './backends.ts';
import { ATTACK_KEY, type AttackWorld } from './world.ts';

type Texts = Readonly<Record<string, string>>;

/** The options of a step; its backend is used because preferred ones are hidden from it. */
export interface AttackStep extends Pick<AttackSetting, 'wall'> {
  readonly world: AttackWorld;
  readonly script: Script;
  readonly inputs?: Texts;
  /** The name of the event; `pull_request` by default. */
  readonly event?: 'pull_request' | 'issue_comment';
}

/** The raw streams and the files that a step left: the runner reads each separately. */
export type AttackResult = Awaited<ReturnType<typeof runAttackStep>>;

/** The schema of a step by default. */
const VERDICT_SCHEMA = {
  type: 'object',
  required: ['verdict', 'summary'],
  additionalProperties: false,
  properties: { verdict: { enum: ['pass', 'fail'] }, summary: { type: 'string' } },
};

/** Runs a step to its end. */
export async function runAttackStep(step: AttackStep) {
  const { runner, temp, pull, variables } = step.world;
  const next = pull.next(step.event ?? 'pull_request');
  const commandFile = (name: string) => path.join(temp, '_runner_file_commands', `${name}_2`);
  const own = {
    GITHUB_EVENT_PATH: path.join(temp, 'event.json'),
    GITHUB_OUTPUT: commandFile('set_output'),
    GITHUB_STEP_SUMMARY: commandFile('step_summary'),
    GITHUB_ENV: commandFile('set_env'),
    GITHUB_PATH: commandFile('add_path'),
    GITHUB_STATE: commandFile('save_state'),
  };
  for (const file of Object.values(own)) {
    writeFileSync(file, file === own.GITHUB_EVENT_PATH ? next.event : '');
    if (runner !== undefined) chownSync(file, runner.id, runner.id);
  }
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const model = await startModel(step.script);
  try {
    const inputs = {
      prompt: 'Judge.',
      schema: JSON.stringify(VERDICT_SCHEMA),
      provider: 'openai-compatible',
      model: 'scripted-1',
      'base-url': `${model.url}/v1`,
      'api-key': ATTACK_KEY,
      sandbox: 'required',
      'max-turns': '-1',
      ...next.inputs,
      ...step.inputs,
    };
    const environment = { ...own, ...variables, ...next.variables, ...inputVariables(inputs) };
    const ended = await runInShell(step, environment);
    const outputText = read(own.GITHUB_OUTPUT);
    const outputs = parseOutputFile(outputText);
    const results = outputs.get('run-results') ?? temp;
    return {
      ...ended,
      outputText,
      outputs,
      summary: read(own.GITHUB_STEP_SUMMARY),
      transcript: read(path.join(results, 'transcript.jsonl')),
      envelope: read(path.join(results, 'result.json')),
      /** The bodies of the model requests. */
      bodies: model.requests.map(({ raw }) => raw),
      /** The content of the files for variables, PATH and state. */
      commandFiles: [own.GITHUB_ENV, own.GITHUB_PATH, own.GITHUB_STATE].map(read).join(''),
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
  const { runner, base, home, node, action, workspace } = world;
  // As root no bubblewrap is used.
  const isDirect = runner === undefined && (isRoot || wall === 'bwrap');
  const cover = path.join(action, 'action.yml');
  const self = [`--reuid=${process.getuid?.()}`, `--regid=${process.getgid?.()}`, '--init-groups', '--'];
  const asUser = runner === undefined ? ['/usr/bin/setpriv', ...self] : wordsAsUser(runner);
  const words = [
    ...(isDirect ? [] : asUser),
    ...['/usr/bin/env', '-i', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
    ...[node, path.join(action, 'dist', 'index.js')],
  ];
  const script = [
    ...(isDirect || wall === 'bwrap' || !hasBwrap ? [] : [`mount --bind '${cover}' ${BWRAP} || exit 97`]),
    ...(runner === undefined ? [] : mountUserFiles(runner, path.join(base, `etc-${Date.now()}`), home)),
    `cd '${workspace}' || exit 97`,
    `exec ${words.map(shellWord).join(' ')} </dev/null`,
  ];
  const inNamespace = isRoot ? SHELL_IN_NAMESPACE : ['/usr/bin/sudo', '-n', '--', ...SHELL_IN_NAMESPACE];
  const [file = '', ...rest] = isDirect ? ['/bin/sh', '-s'] : inNamespace;
  // The parent of the runner can leave a directory open, which every child inherits.
  const openFolder = openSync(home, 'r');
  const child = spawn(file, rest, {
    env: ROOT_ENVIRONMENT,
    // Node closes descriptors in its children only up to the first gap above 15.
    stdio: ['pipe', 'pipe', 'pipe', ...Array<'ignore'>(60).fill('ignore'), openFolder],
  });
  closeSync(openFolder);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(script.join('\n'));
  const [stdout, stderr] = await Promise.all([
    buffer(child.stdout ?? Readable.from([])),
    buffer(child.stderr ?? Readable.from([])),
    once(child, 'close'),
  ]);
  return { exitCode: child.exitCode, stdout, stderr };
}
