/** Entry point of the merge action: inputs → envelopes → verdict → exit code. Calls no model and needs no API key. */
import { readInputs, type Step, startStep } from '../action/start.ts';
import { createActionWorld } from '../action/world.ts';
import { isPrivileged } from '../github/event.ts';
import { MERGE_NAMES, parseMergeConfig } from './config.ts';
import { type MergeWorld, runMerge } from './run.ts';

async function runMergeAction(step: Step): Promise<number> {
  const { environment } = step;
  const { raw, problems } = readInputs(MERGE_NAMES, environment);
  const inputs = parseMergeConfig(raw, { problems });
  const world: MergeWorld = {
    ...createActionWorld(step, inputs.config, true),
    runFolder: null,
    anyCommit: isPrivileged(step.event),
  };
  const { verdict } = await runMerge(inputs, world);
  return verdict.exitCode;
}

void startStep('structured-agent/merge', runMergeAction);
