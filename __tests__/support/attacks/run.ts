/**
 * Runs the committed bundle as a self-hosted runner would, in a setting, and reads what it left: for one attack by a payload,
 * or for many attacks by tool calls, where a scripted model observes the effects of each call before the next.
 */
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, lstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { shellWord } from '../../../src/sandbox/sandbox.ts';
import { isAlive, isRoot } from '../../sandbox/world.ts';
import { testAll } from '../all.ts';
import { type Script, startModel, submits } from '../fakes/model/server.ts';
import { inputVariables } from '../fakes/runner/inputs.ts';
import { parseOutputFile } from '../fakes/runner/runner.ts';
import { type AttackCall, type AttackRow, callsOf, replyOf, SHARED_FOLDERS, SYSTEM_FOLDERS } from './rows.ts';
import { ATTACK_KEY, type AttackWorld, CANARIES, COMMENT_KEY, JOB_TOKEN } from './world.ts';

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
      ...{ 'api-key': ATTACK_KEY, 'github-token': JOB_TOKEN, 'commit-status': 'verdict' },
      ...{ comment: 'always', 'comment-key': COMMENT_KEY, ...step.inputs },
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

/** The final payload of the model. */
export const FINAL = { verdict: 'pass', summary: 'nothing came of it' };

export type BatchResult = Awaited<ReturnType<typeof runBatch>>;

/** Runs attacks in order and then submits an honest verdict; `harm` is what each attack did, by the id of its row. */
export async function runBatch(step: Omit<AttackStep, 'script'>, rows: readonly AttackRow[]) {
  const { world } = step;
  const turns = rows.flatMap((row, number) => {
    const mark = `${world.mark}-${number}-`;
    const calls = callsOf(row, { ...world.names, SAMARK: mark });
    return calls.map((call, at) => ({ call, mark, row: at === calls.length - 1 ? row : null }));
  });
  const files = namedFiles(turns, world.mark);
  const state = (): Texts => ({
    ...Object.fromEntries(files.map((file) => [file, describeFile(file)])),
    ...{ ...world.manifest(), core_pattern: readFileSync('/proc/sys/kernel/core_pattern', 'utf8') },
  });
  const harm = new Map<string, readonly string[]>();
  let before: Texts | null = null;
  let startedAt = 0;
  const result = await runAttackStep({
    ...step,
    inputs: { 'timeout-minutes': '6', ...step.inputs },
    script: async ({ toolResults }, index) => {
      const elapsedMs = performance.now() - startedAt;
      before ??= state();
      const { row = null, mark = '' } = turns[index - 1] ?? {};
      if (row !== null) {
        await sleep(Number(row.expect['settle_ms'] ?? 0));
        const text = toolResults.map((each) => each.text).join('\n');
        const seen = [...findLeaks(text), ...findDifferences(before, state())];
        if (world.reached() > 0) seen.push(`reaches a listener ${world.reached()} times`);
        if (isAlive(mark)) seen.push('leaves a process');
        harm.set(row.id, [...seen, ...findUnmet(row.expect, text, elapsedMs)]);
      }
      const next = turns[index];
      startedAt = performance.now();
      return next === undefined ? submits(FINAL) : replyOf(next.call);
    },
  });
  return { ...result, harm };
}

/** The encodings in which a text may contain a secret. */
const NEEDLES = CANARIES.flatMap((value) => {
  const bytes = Buffer.from(value);
  const rot13 = value.replace(/[a-z]/giu, (letter) =>
    String.fromCharCode(letter.charCodeAt(0) + (letter.toLowerCase() < 'n' ? 13 : -13)),
  );
  const reversed = [...value].toReversed().join('');
  return [value, rot13, reversed, bytes.toString('base64').slice(0, -4), bytes.toString('hex')];
});

/** One line for each secret in a text. */
export function findLeaks(text: string): readonly string[] {
  return NEEDLES.filter((needle) => text.includes(needle)).map((needle) => `leaks ${needle}`);
}

/** The file tools' own messages, not those of another failure. */
const DENIED = /^".*" (?:does not exist\. Read|is not a regular file)|^Access to ".*" is denied\.$/mu;

/** What a row expects and the result does not show, one line each. */
function findUnmet(expected: AttackRow['expect'], result: string, elapsedMs: number): readonly string[] {
  const { tool, match, max_ms: maxMs, max_out: maxOut, not_match: unwanted } = expected;
  const unmet: string[] = [];
  if (tool === 'denied' && !DENIED.test(result)) unmet.push(`is not denied: ${result}`);
  for (const text of [match, tool === 'timeout' ? 'timed out after' : null])
    if (typeof text === 'string' && !result.includes(text)) unmet.push(`lacks ${text} in ${result}`);
  if (typeof unwanted === 'string' && result.includes(unwanted)) unmet.push(`says ${unwanted}`);
  if (typeof maxMs === 'number' && elapsedMs >= 4 * maxMs) unmet.push(`takes ${elapsedMs} ms`);
  if (typeof maxOut === 'number' && result.length >= maxOut) unmet.push(`prints ${result.length} characters`);
  return unmet;
}

/**
 * The files that calls can create, change or remove in the shared folders: each absolute path in a call, each name in a
 * call in the system folders, and each name with the mark in the others. Other programs, a second run of these tests among
 * them, add and remove other files at any time.
 */
function namedFiles(turns: readonly { readonly call: AttackCall }[], mark: string): readonly string[] {
  // read_file writes nothing.
  const writing = turns.filter(({ call }) => call.tool !== 'read_file');
  const text = writing.flatMap(({ call }) => Object.values(call.args)).join('\n');
  const names = [...new Set(text.match(/[\w.@+-]+/gu))];
  const marked = names.filter((name) => name.includes(mark));
  const paths = [...new Set(text.match(/(?<![\w.~$}])(?:\/[\w.@+-]+)+/gu))];
  return [
    ...[...SYSTEM_FOLDERS, ...paths.filter((file) => !file.startsWith('/proc/'))],
    ...SYSTEM_FOLDERS.flatMap((folder) => names.map((name) => path.join(folder, name))),
    ...SHARED_FOLDERS.flatMap((folder) => marked.map((name) => path.join(folder, name))),
  ];
}

/** The type, mode and owner of an entry, and the time at which a file was changed. */
function describeFile(file: string): string {
  try {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) return 'absent';
    return `${stats.mode.toString(8)} ${stats.uid} ${stats.isFile() ? stats.ctimeMs : ''}`;
  } catch {
    return 'closed to this user';
  }
}

/** One line for each path whose description differs. */
function findDifferences(before: Texts, after: Texts): string[] {
  return Object.keys({ ...before, ...after })
    .filter((name) => before[name] !== after[name])
    .map((name) => `${name}: ${before[name] ?? 'absent'} -> ${after[name] ?? 'absent'}`);
}
