/** The Action's entry: inputs → run → exit code. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFolders, readSetup } from './action/setup.ts';
import { type Step, startStep } from './action/start.ts';
import { createActionWorld } from './action/world.ts';
import { isPrivileged } from './github/event.ts';
import { findRunnerFiles } from './github/runner.ts';
import { RESULT_FILES } from './reporters/outputs.ts';
import { run } from './run/run.ts';
import type { World } from './run/world.ts';

async function runAction(step: Step): Promise<number> {
  const { environment } = step;
  const files = findRunnerFiles(environment);
  const folders = findFolders(environment);
  const { temp, results } = folders;
  const setup = readSetup(environment, files);
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
    runFolder: mkdtempSync(path.join(temp, 'structured-agent-run-')),
    writePatch(patch) {
      const patchFile = path.join(results, RESULT_FILES.patch);
      writeFileSync(patchFile, patch, { mode: 0o600, flag: 'wx' });
      return patchFile;
    },
    guarded: [path.dirname(fileURLToPath(import.meta.url)), ...files.all],
    privileged: isPrivileged(environment),
    fetch: setup.fetch,
    // Loaded by those who ask for them: every run pays for what is loaded at the start.
    features: {
      replay: async (...given) => (await import('./replay/replay.ts')).openReplay(...given),
      record: async (...given) => (await import('./replay/recorder.ts')).recordRun(...given),
    },
  };
  const { verdict } = await run(setup, world);
  return verdict.exitCode;
}

startStep('structured-agent', runAction);
