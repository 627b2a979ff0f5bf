/** One step with the committed bundle behind a chosen wall, as the runner runs it: its environment, its files, its raw streams. */
import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Script, startModel } from '../fakes/model/server.ts';
import { parseOutputFile } from '../fakes/runner/runner.ts';
import type { AttackWall } from './backends.ts';
import { startStep } from './start.ts';
import { ATTACK_KEY, type AttackWorld } from './world.ts';

/** What a step is run with. */
export interface AttackStep {
  readonly world: AttackWorld;
  /** The wall that must be found: better ones are hidden from the step. */
  readonly wall: AttackWall;
  readonly script: Script;
  readonly inputs?: Readonly<Record<string, string>>;
  /** What the event file says; nothing unless given. */
  readonly event?: unknown;
  /** Over the world's own variables. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** What a step left. */
export interface AttackResult {
  readonly exitCode: number | null;
  /** Both streams as they came: the runner reads each on its own. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** The file that GITHUB_OUTPUT names, and what the runner reads from it. */
  readonly outputText: string;
  readonly outputs: ReadonlyMap<string, string>;
  readonly summary: string;
  readonly transcript: string;
  /** The result file as text. */
  readonly envelope: string;
  /** The bodies that the model was sent, without their headers. */
  readonly bodies: readonly string[];
  /** What the step wrote into the runner's files for variables, PATH and state. */
  readonly commandFiles: string;
}

const OWN_FILES = {
  GITHUB_OUTPUT: 'set_output_2',
  GITHUB_STEP_SUMMARY: 'step_summary_2',
  GITHUB_ENV: 'set_env_2',
  GITHUB_PATH: 'add_path_2',
  GITHUB_STATE: 'save_state_2',
};

/** Runs the step to its end. */
export async function runAttackStep(step: AttackStep): Promise<AttackResult> {
  const { world } = step;
  const ownFile = (name: string) => path.join(world.commands, name);
  for (const name of Object.values(OWN_FILES)) writeFileSync(ownFile(name), '');
  const event = path.join(world.temp, 'event.json');
  writeFileSync(event, JSON.stringify(step.event ?? {}));
  const { runner } = world;
  if (runner !== undefined)
    for (const file of [event, ...Object.values(OWN_FILES).map(ownFile)])
      chownSync(file, runner.id, runner.id);
  const model = await startModel(step.script);
  try {
    const environment = {
      LANG: 'C.UTF-8',
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'example/cart',
      GITHUB_SHA: '0123456789012345678901234567890123456789',
      GITHUB_EVENT_NAME: 'push',
      GITHUB_EVENT_PATH: event,
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_RUN_ID: '1',
      RUNNER_OS: 'Linux',
      ...Object.fromEntries(Object.entries(OWN_FILES).map(([name, file]) => [name, ownFile(file)])),
      ...world.variables,
      ...step.variables,
      ...inputsOf({ 'base-url': `${model.url}/v1`, ...step.inputs }),
    };
    const { exitCode, stdout, stderr } = await startStep(world, step.wall, environment);
    const outputText = readFileSync(ownFile(OWN_FILES.GITHUB_OUTPUT), 'utf8');
    const outputs = parseOutputFile(outputText);
    return {
      exitCode,
      stdout,
      stderr,
      outputText,
      outputs,
      summary: readFileSync(ownFile(OWN_FILES.GITHUB_STEP_SUMMARY), 'utf8'),
      transcript: readOr(outputs.get('run-transcript-file')),
      envelope: readOr(outputs.get('run-result-file')),
      bodies: model.requests.map(({ raw }) => raw),
      commandFiles: [OWN_FILES.GITHUB_ENV, OWN_FILES.GITHUB_PATH, OWN_FILES.GITHUB_STATE]
        .map((name) => readFileSync(ownFile(name), 'utf8'))
        .join(''),
    };
  } finally {
    await model.close();
  }
}

function inputsOf(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const inputs = {
    prompt: 'Judge.',
    provider: 'openai-compatible',
    model: 'scripted-1',
    'api-key': ATTACK_KEY,
    sandbox: 'required',
    'max-turns': '-1',
    'log-level': 'full',
    ...given,
  };
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
  );
}

function readOr(file: string | undefined): string {
  return file !== undefined && existsSync(file) ? readFileSync(file, 'utf8') : '';
}
