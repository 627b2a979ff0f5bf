/** The Action's entry: inputs → run → exit code. Builds the Action's world and its reporters. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { openGitHub } from './action-github.ts';
import { createReporters } from './action-reporters.ts';
import { findFolders, readSetup } from './action-setup.ts';
import { requireReadableFolders, resolveWorkingDirectory } from './config/paths.ts';
import { catchEnds } from './ends.ts';
import { checkedOutCommit } from './github/checked-out.ts';
import { isPrivileged, readSubject } from './github/event.ts';
import { findRunnerFiles, findSecrets, keepFiles } from './github/runner.ts';
import { proxySecrets } from './network/network.ts';
import { createLog, type Log } from './reporters/log.ts';
import { stepOutputs, writeOutputs } from './reporters/outputs.ts';
import { writeResultFile } from './reporters/result-file.ts';
import { run } from './run.ts';
import type { World } from './run-state.ts';
import { removeFolder } from './sandbox/run-folder.ts';
import { createSecrets, type Secrets } from './secrets.ts';

/** Runs the action and gives the exit code; never rejects. */
async function main(environment: NodeJS.ProcessEnv): Promise<number> {
  const listen = catchEnds();
  const secrets = createSecrets();
  const log = createLog({ write: (text) => process.stdout.write(text), secrets, token: randomUUID });
  for (const value of [...findSecrets(environment), ...proxySecrets(environment)]) {
    secrets.add(value);
    log.mask(value);
  }
  try {
    return await judge(environment, secrets, log, listen);
  } catch (error) {
    // Before the run could begin: no folder to work in, most likely.
    const text = error instanceof Error ? error.message : String(error);
    log.error(`structured-agent could not start: ${text}`);
    return 1;
  }
}

async function judge(
  environment: NodeJS.ProcessEnv,
  secrets: Secrets,
  log: Log,
  listen: World['listen'],
): Promise<number> {
  const files = findRunnerFiles(environment);
  const folders = await findFolders(environment);
  const { workspace, temp, results } = folders;
  const setup = await readSetup(environment, files, folders);
  const { config, resultFile, transcriptFile, fetch: send } = setup;
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
        summaryFile: files.summary,
        version: manifest.version,
        log,
        secrets,
      }),
    ],
    spareResultFile: path.join(results, 'result.json'),
    writeEnvelope: (report) => writeResultFile(report, secrets),
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

/** Leaves once everything written to stdout has been taken: a pipe may be read late. */
function leave(exitCode: number): void {
  process.exitCode = exitCode;
  process.stdout.write('', () => process.exit(exitCode));
}

void main(process.env).then(leave);
