/** The Action's entry: inputs → run → exit code. */
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readInputs, type Step, startStep } from './action/start.ts';
import { createActionWorld } from './action/world.ts';
import { INPUTS } from './config/inputs.ts';
import { parseConfig } from './config/parse-config.ts';
import { isFromFork, isPrivileged } from './github/event.ts';
import { run } from './run/run.ts';
import type { World } from './run/world.ts';

async function runAction(step: Step): Promise<number> {
  const { environment, event, files, temp } = step;
  const names = INPUTS.map(({ name }) => name);
  const { raw, problems } = readInputs(names, environment);
  const inputs = parseConfig(raw, { environment, isFork: isFromFork(event), problems });
  const world: World = {
    ...createActionWorld(step, inputs.config, false),
    runFolder: mkdtempSync(path.join(temp, 'structured-agent-run-')),
    guarded: [path.dirname(fileURLToPath(import.meta.url)), ...files.all],
    privileged: isPrivileged(event),
  };
  const { verdict } = await run(inputs, world);
  return verdict.exitCode;
}

void startStep('structured-agent', runAction);
