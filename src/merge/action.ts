/** Entry point of the merge action: inputs → envelopes → verdict → exit code. Calls no model and needs no API key. */
import { findFolders } from '../action/setup.ts';
import { type Step, startStep } from '../action/start.ts';
import { createActionWorld } from '../action/world.ts';
import { resolveVerdicts } from '../config/paths.ts';
import { isPrivileged } from '../github/event.ts';
import { findRunnerFiles } from '../github/runner.ts';
import { type MergeWorld, readMergeSetup, runMerge } from './run.ts';

async function runMergeAction(step: Step): Promise<number> {
  const { environment } = step;
  const files = findRunnerFiles(environment);
  const folders = findFolders(environment);
  const { workspace, temp } = folders;
  const setup = readMergeSetup(files);
  const signingKey = setup.config.signingKey;
  const world: MergeWorld = {
    ...createActionWorld({ step, files, folders, setup, isResolved: true, signingKey }),
    writePatch: () => null,
    runFolder: null,
    resolveVerdicts: (folder) => resolveVerdicts(folder, [workspace, temp]),
    anyCommit: isPrivileged(environment),
  };
  const { verdict } = await runMerge(setup, world);
  return verdict.exitCode;
}

startStep('structured-agent/merge', runMergeAction);
