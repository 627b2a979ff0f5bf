/** How a step of the action starts and exits: secrets are masked before the first line, the exit code is set last. */
import { randomUUID } from 'node:crypto';
import { accessSync, constants, mkdtempSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { meantInputs } from '../config/inputs.ts';
import { InputError, messageOf } from '../errors.ts';
import { readEvent } from '../github/event.ts';
import { findRunnerFiles } from '../github/runner.ts';
import { proxySecrets } from '../network/network.ts';
import { createLog, type Log, maskCommands } from '../reporters/log.ts';
import { trapSignals } from '../run/signals.ts';
import type { World } from '../run/world.ts';
import { createSecrets, findSecrets, type Secrets } from '../text/secrets.ts';
import { once } from '../text/wait.ts';

export interface Step extends ReturnType<typeof readRunner> {
  readonly environment: NodeJS.ProcessEnv;
  readonly secrets: Secrets;
  /** Loads the toolkit, which a request to the model does not wait for. */
  readonly openLog: () => Promise<Log>;
  /** Logs a warning as soon as the log is open. */
  readonly warn: (text: string) => void;
  readonly listen: World['listen'];
}

/** Runs a step in this process and exits with the exit code it returns. */
export async function startStep(name: string, work: (step: Step) => Promise<number>): Promise<void> {
  // A process that has nothing left to wait for ends at once, and must not look green.
  process.exitCode = 1;
  const listen = trapSignals();
  const environment = process.env;
  const secrets = createSecrets();
  for (const value of [...findSecrets(environment), ...proxySecrets(environment)]) {
    secrets.add(value);
    process.stdout.write(maskCommands(value));
  }
  const openLog = once(async () => createLog(await import('@actions/core'), secrets, randomUUID));
  const warn = (text: string) =>
    void openLog().then((log) => log.warning(text, { title: 'structured-agent' }));
  try {
    const runner = readRunner(environment);
    process.exitCode = await work({ ...runner, environment, secrets, openLog, warn, listen });
  } catch (error) {
    const log = await openLog();
    log.error(`${name} could not start: ${messageOf(error)}`);
    process.exitCode = error instanceof InputError ? 52 : 1;
  }
  // Once stdout has been flushed: a pipe may be read late.
  process.stdout.write('', () => process.exit());
}

/**
 * Reads what the runner gives to a step, and makes a private folder for the files that the run writes.
 * @throws InputError for a runner without the two folders: nothing can be reported there
 */
export function readRunner(environment: NodeJS.ProcessEnv) {
  const workspace = findFolder('GITHUB_WORKSPACE', environment);
  const temp = findFolder('RUNNER_TEMP', environment);
  const results = mkdtempSync(path.join(temp, 'structured-agent-'));
  return { event: readEvent(environment), files: findRunnerFiles(environment), workspace, temp, results };
}

function findFolder(variable: string, environment: NodeJS.ProcessEnv): string {
  try {
    const folder = realpathSync.native(environment[variable] ?? '');
    accessSync(folder, constants.W_OK);
    return folder;
  } catch (cause) {
    const why = `${variable} must name a folder that can be written to. Check how the runner is set up.`;
    throw new InputError(null, why, { cause });
  }
}

/**
 * Reads the inputs of a step, and the problems with how they were given. The runner passes an empty string for an input
 * that is not given.
 */
export function readInputs<N extends string>(names: readonly N[], environment: NodeJS.ProcessEnv) {
  const raw = new Map<N, string>();
  const problems: InputError[] = [];
  for (const [variable, value = ''] of Object.entries(environment)) {
    // A name in another case would be missed, and the missed input may be a limit.
    if (value === '' || !variable.toUpperCase().startsWith('INPUT_')) continue;
    const known = names.find((name) => variable === `INPUT_${name.toUpperCase()}`);
    const text = value.trim();
    if (known === undefined) {
      const name = variable.slice('INPUT_'.length).toLowerCase();
      const near = meantInputs(name, names);
      const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
      problems.push(new InputError(name, `There is no such input.${hint} Correct its name, or remove it.`));
    } else if (text !== '') raw.set(known, text);
    else problems.push(new InputError(known, 'It holds nothing but blanks. Give a value, or leave it out.'));
  }
  return { raw, problems };
}
