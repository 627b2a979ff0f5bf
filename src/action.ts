/** The Action's entry: inputs → run → exit code. Builds the Action's world and its reporters. */
import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { openGitHub } from './action-github.ts';
import { createReporters } from './action-reporters.ts';
import { findFolders, readSetup } from './action-setup.ts';
import { type Step, startStep } from './action-start.ts';
import { readIdentity } from './config/config.ts';
import { requireReadableFolders, resolveWorkingDirectory } from './config/paths.ts';
import { signer } from './envelope/signature.ts';
import { checkedOutCommit } from './github/checked-out.ts';
import { isPrivileged, readSubject } from './github/event.ts';
import { findRunnerFiles, keepFiles } from './github/runner.ts';
import { stepOutputs, writeOutputs } from './reporters/outputs.ts';
import { writeResultFile } from './reporters/result-file.ts';
import { run } from './run.ts';
import type { World } from './run-state.ts';
import { removeFolder } from './sandbox/run-folder.ts';

async function judge({ environment, secrets, log, listen }: Step): Promise<number> {
  const files = findRunnerFiles(environment);
  const folders = await findFolders(environment);
  const { workspace, temp, results } = folders;
  const setup = await readSetup(environment, files, folders);
  const { config, resultFile, transcriptFile, fetch: send } = setup;
  // Of a run whose inputs are wrong, too: it is a leg that gave no verdict, and no stranger's file.
  const identity = readIdentity(environment);
  const patchFile = path.join(results, 'changes.patch');
  const subject = readSubject(environment, checkedOutCommit(workspace));
  const hub = openGitHub({
    environment,
    config: setup.known ?? { trustedFiles: 'workspace', githubToken: null },
    workspace,
    fetch: send,
    version: manifest.version,
    warn: (text) => log.warning(text, { title: 'structured-agent' }),
  });
  const world: World = {
    environment,
    version: manifest.version,
    secrets,
    subject,
    leg: identity.leg,
    vote: identity.vote,
    workspace,
    home: environment['HOME'] ?? os.homedir(),
    temp,
    runFolder: await mkdtemp(path.join(temp, 'structured-agent-run-')),
    resultFile,
    transcriptFile,
    writePatch(patch) {
      writeFileSync(patchFile, patch, { mode: 0o600, flag: 'wx' });
      return patchFile;
    },
    restoreRunnerFiles: keepFiles(files.all),
    guarded: [path.dirname(fileURLToPath(import.meta.url)), ...files.all],
    privileged: isPrivileged(environment),
    files: hub.files,
    findContext: hub.findContext,
    findJudgeChanges: hub.findJudgeChanges,
    fetch: send,
    resolveFolder: (folder) => resolveWorkingDirectory(folder, workspace),
    requireReadable: requireReadableFolders,
    now: () => performance.now(),
    listen,
    reporters: [
      { name: 'reserved space', report: folders.makeRoom },
      ...createReporters({
        environment,
        setup,
        hub,
        subject,
        workspace,
        isMerge: false,
        summaryFile: files.summary,
        version: manifest.version,
        log,
        secrets,
      }),
    ],
    spareResultFile: path.join(results, 'result.json'),
    writeEnvelope: (report) => writeResultFile(report, secrets, signer(identity.signingKey)),
    writeOutputs(report) {
      const { outputs, warnings } = stepOutputs(report);
      for (const text of warnings) log.warning(text);
      if (files.output !== null) writeOutputs(files.output, outputs);
    },
    warn: (text) => log.warning(text, { title: 'structured-agent' }),
  };
  const { verdict } = await run(config, world);
  // A run that never opened its sandbox has left its folder to nobody else; a leftover changes no verdict.
  await removeFolder(world.runFolder, verdict.exitCode === 130 ? 1_000 : 5_000);
  return verdict.exitCode;
}

startStep('structured-agent', judge);
