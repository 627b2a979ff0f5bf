/** The Action's entry: inputs → run → exit code. */
import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFolders, readSetup } from './action/setup.ts';
import { type Step, startStep } from './action/start.ts';
import { createActionWorld } from './action/world.ts';
import { requireReadableFolders } from './config/paths.ts';
import { isPrivileged } from './github/event.ts';
import { findRunnerFiles } from './github/runner.ts';
import { run } from './run/run.ts';
import type { World } from './run/world.ts';
import { removeFolder } from './sandbox/run-folder.ts';

async function runAction(step: Step): Promise<number> {
  const { environment } = step;
  const files = findRunnerFiles(environment);
  const folders = await findFolders(environment);
  const { temp, results } = folders;
  const setup = await readSetup(environment, files, folders);
  const patchFile = path.join(results, 'changes.patch');
  const world: World = {
    ...createActionWorld({
      step,
      files,
      folders,
      setup,
      isResolved: false,
      signingKey: setup.config.signingKey,
    }),
    home: environment['HOME'] ?? os.homedir(),
    temp,
    runFolder: await mkdtemp(path.join(temp, 'structured-agent-run-')),
    writePatch(patch) {
      writeFileSync(patchFile, patch, { mode: 0o600, flag: 'wx' });
      return patchFile;
    },
    guarded: [path.dirname(fileURLToPath(import.meta.url)), ...files.all],
    privileged: isPrivileged(environment),
    fetch: setup.fetch,
    requireReadable: requireReadableFolders,
  };
  const { verdict } = await run(setup, world);
  // A run that never opened its sandbox has left its folder to nobody else; a leftover changes no verdict.
  await removeFolder(world.runFolder, verdict.exitCode === 130 ? 1_000 : 5_000);
  return verdict.exitCode;
}

startStep('structured-agent', runAction);
