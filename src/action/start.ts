/** How a step of the action starts and exits: secrets are masked before the first line, the exit code is set last. */
import { randomUUID } from 'node:crypto';
import { InputError, messageOf } from '../errors.ts';
import { proxySecrets } from '../network/network.ts';
import { createLog, type Log, maskCommands } from '../reporters/log.ts';
import { once, trapSignals } from '../run/signals.ts';
import type { EndWorld } from '../run/world.ts';
import { createSecrets, findSecrets, type Secrets } from '../text/secrets.ts';

export interface Step {
  readonly environment: NodeJS.ProcessEnv;
  readonly secrets: Secrets;
  /** Loads the toolkit, which a request to the model does not wait for. */
  readonly openLog: () => Promise<Log>;
  /** Logs a warning as soon as the log is open. */
  readonly warn: (text: string) => void;
  readonly listen: EndWorld['listen'];
}

/** Runs a step in this process and exits with the exit code it returns. */
export function startStep(name: string, work: (step: Step) => Promise<number>): void {
  // A process that has nothing left to wait for ends at once, and must not look green.
  process.exitCode = 1;
  void run(name, work, process.env).then(leave);
}

async function run(
  name: string,
  work: (step: Step) => Promise<number>,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const listen = trapSignals();
  const secrets = createSecrets();
  for (const value of [...findSecrets(environment), ...proxySecrets(environment)]) {
    secrets.add(value);
    process.stdout.write(maskCommands(value));
  }
  const openLog = once(async () =>
    createLog({ core: await import('@actions/core'), secrets, token: randomUUID }),
  );
  const warn = (text: string) =>
    void openLog().then((log) => log.warning(text, { title: 'structured-agent' }));
  try {
    return await work({ environment, secrets, openLog, warn, listen });
  } catch (error) {
    const log = await openLog();
    log.error(`${name} could not start: ${messageOf(error)}`);
    return error instanceof InputError ? 52 : 1;
  }
}

/** Exits once stdout has been flushed: a pipe may be read late. */
function leave(exitCode: number): void {
  process.exitCode = exitCode;
  process.stdout.write('', () => process.exit(exitCode));
}
