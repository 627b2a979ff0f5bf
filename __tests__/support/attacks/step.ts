/** Runs the committed bundle as a self-hosted runner would, in a setting, and reads what it left. */
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { shellWord } from '../../../src/sandbox/sandbox.ts';
import { isRoot } from '../../sandbox/world.ts';
import { testAll } from '../all.ts';
import { type Script, startModel } from '../fakes/model/server.ts';
import { inputVariables } from '../fakes/runner/inputs.ts';
import { parseOutputFile } from '../fakes/runner/runner.ts';
import { ATTACK_KEY, type AttackWorld } from './world.ts';

type Texts = Readonly<Record<string, string>>;

const BWRAP = '/usr/bin/bwrap';
const hasBwrap = existsSync(BWRAP);
const hasSudo = spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
/** A backend, and the owner of the workspace if it is not the user of the runner. */
const settings: readonly { name: string; wall: 'bwrap' | 'unshare'; owner?: number; isHere: boolean }[] = [
  // As if the runner were root and had checked out for a user, and as in a container job.
  { name: 'root-over-user', wall: 'unshare', owner: 65534, isHere: isRoot },
  { name: 'root', wall: 'unshare', isHere: isRoot },
  { name: 'user', wall: 'bwrap', isHere: !isRoot && hasBwrap },
  { name: 'sudo', wall: 'unshare', isHere: !isRoot && hasSudo },
];

/** All settings of this user. `.ci/run` runs the list as other users. */
export const allSettings = settings.filter(({ isHere }) => isHere);

/** The settings of this run: the one that the variable ATTACKS names, all with TEST_ALL=1, or the first. */
export const attackSettings = allSettings.filter(({ name }, at) =>
  process.env['ATTACKS'] === undefined ? testAll || at === 0 : process.env['ATTACKS'] === name,
);

export interface AttackStep {
  readonly world: AttackWorld;
  readonly wall: 'bwrap' | 'unshare';
  readonly script: Script;
  readonly inputs?: Texts;
  /** The name of the event; `pull_request` by default. */
  readonly event?: 'pull_request' | 'issue_comment';
}

export type AttackResult = Awaited<ReturnType<typeof runAttackStep>>;

const VERDICT_SCHEMA = {
  type: 'object',
  required: ['verdict', 'summary'],
  additionalProperties: false,
  properties: { verdict: { enum: ['pass', 'fail'] }, summary: { type: 'string' } },
};

/** Runs a step to its end; returns the raw streams and the files that it left: the runner reads each separately. */
export async function runAttackStep(step: AttackStep) {
  const { temp, pull, variables } = step.world;
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
  for (const file of Object.values(own)) writeFileSync(file, '');
  writeFileSync(own.GITHUB_EVENT_PATH, next.event);
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const model = await startModel(step.script);
  try {
    const inputs = {
      ...{ prompt: 'Judge.', schema: JSON.stringify(VERDICT_SCHEMA), sandbox: 'required', 'max-turns': '-1' },
      ...{ provider: 'openai-compatible', model: 'scripted-1', 'base-url': `${model.url}/v1` },
      ...{ 'api-key': ATTACK_KEY, ...next.inputs, ...step.inputs },
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
      bodies: model.requests.map(({ raw }) => raw),
      /** The content of the files for variables, PATH and state. */
      commandFiles: [own.GITHUB_ENV, own.GITHUB_PATH, own.GITHUB_STATE].map(read).join(''),
    };
  } finally {
    await model.close();
  }
}

/**
 * Runs the bundle to its end. The bundle has no input that selects a backend: as a user with sudo it runs in a mount
 * namespace where a file that cannot be executed covers bubblewrap. The script is on stdin because it contains secrets.
 */
async function runInShell({ world, wall }: AttackStep, environment: Texts) {
  const { home, action, workspace } = world;
  // As root no bubblewrap is used.
  const isDirect = isRoot || wall === 'bwrap';
  const self = [`--reuid=${process.getuid?.()}`, `--regid=${process.getgid?.()}`, '--init-groups', '--'];
  const words = [
    ...(isDirect ? [] : ['/usr/bin/setpriv', ...self]),
    ...['/usr/bin/env', '-i', ...Object.entries(environment).map(([name, value]) => `${name}=${value}`)],
    ...[process.execPath, path.join(action, 'dist', 'index.js')],
  ];
  const script = [
    ...(isDirect || !hasBwrap ? [] : [`mount --bind '${action}/action.yml' ${BWRAP} || exit 97`]),
    `cd '${workspace}' || exit 97`,
    `exec ${words.map(shellWord).join(' ')} </dev/null`,
  ];
  const inNamespace = ['/usr/bin/sudo', '-n', '/usr/bin/unshare', '--mount', '--propagation', 'private'];
  const [file = '', ...rest] = [...(isDirect ? [] : inNamespace), '/bin/sh', '-s'];
  // The parent of the runner can leave a directory open, which every child inherits.
  const openFolder = openSync(home, 'r');
  const child = spawn(file, rest, {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    // Node closes descriptors in its children only up to the first gap above 15.
    stdio: ['pipe', 'pipe', 'pipe', ...Array<'ignore'>(60).fill('ignore'), openFolder],
  });
  closeSync(openFolder);
  const { stdin, stdout, stderr } = child as ChildProcessByStdio<Writable, Readable, Readable>;
  stdin.on('error', () => undefined).end(script.join('\n'));
  const [log, errors] = await Promise.all([buffer(stdout), buffer(stderr), once(child, 'close')]);
  return { exitCode: child.exitCode, stdout: log, stderr: errors };
}
