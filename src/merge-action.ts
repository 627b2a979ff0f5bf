/** The merge action's entry: inputs → envelopes → verdict → exit code. Asks no model, and needs no key. */
import path from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { openGitHub } from './action-github.ts';
import { createReporters } from './action-reporters.ts';
import { type Folders, findFolders, placeFiles } from './action-setup.ts';
import { type Step, startStep } from './action-start.ts';
import { readMergeInputs } from './config/action-inputs.ts';
import { type MergeConfig, parseMergeConfig } from './config/merge-config.ts';
import { resolveVerdicts } from './config/paths.ts';
import { signer } from './envelope/signature.ts';
import { checkedOutCommit } from './github/checked-out.ts';
import { isPrivileged, readSubject } from './github/event.ts';
import { findRunnerFiles, keepFiles, type RunnerFiles, requireOutputFile } from './github/runner.ts';
import { createFetch } from './network/network.ts';
import { stepOutputs, writeOutputs } from './reporters/outputs.ts';
import { writeResultFile } from './reporters/result-file.ts';
import { runPage } from './reporters/run-link.ts';
import { type MergeWorld, runMerge } from './run-merge.ts';

async function judge({ environment, secrets, log, listen }: Step): Promise<number> {
  const files = findRunnerFiles(environment);
  const folders = await findFolders(environment);
  const { workspace, temp, results } = folders;
  const setup = await readMergeSetup(environment, files, folders);
  const { known, config, resultFile } = setup;
  const subject = readSubject(environment, checkedOutCommit(workspace));
  const warn = (text: string) => log.warning(text, { title: 'structured-agent' });
  const hub = openGitHub({
    environment,
    config: { trustedFiles: 'workspace', githubToken: known?.githubToken ?? null },
    workspace,
    fetch: setup.fetch,
    version: manifest.version,
    warn,
  });
  const serverUrl = environment['GITHUB_SERVER_URL'] || null;
  const world: MergeWorld = {
    environment,
    version: manifest.version,
    secrets,
    subject,
    workspace,
    resultFile,
    transcriptFile: null,
    writePatch: () => null,
    restoreRunnerFiles: keepFiles(files.all),
    files: hub.files,
    findJudgeChanges: hub.findJudgeChanges,
    resolveVerdicts: (folder) => resolveVerdicts(folder, [workspace, temp]),
    anyCommit: isPrivileged(environment),
    page: (of) => runPage(of, serverUrl),
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
        isMerge: true,
        summaryFile: files.summary,
        version: manifest.version,
        log,
        secrets,
      }),
    ],
    spareResultFile: path.join(results, 'result.json'),
    writeEnvelope: (report) => writeResultFile(report, secrets, signer(known?.signingKey ?? null)),
    writeOutputs(report) {
      const { outputs, warnings } = stepOutputs(report);
      for (const text of warnings) log.warning(text);
      if (files.output !== null) writeOutputs(files.output, outputs);
    },
    warn,
  };
  const { verdict } = await runMerge(config, world);
  return verdict.exitCode;
}

/** Parses the inputs and finds where files go; a wrong input is kept, so that the merge can report it like any ending. */
async function readMergeSetup(environment: NodeJS.ProcessEnv, files: RunnerFiles, folders: Folders) {
  const resultFile = path.join(folders.results, 'result.json');
  const nowhere = { transcriptFile: null, reportFile: null };
  try {
    if (folders.problem !== null) throw folders.problem;
    const config = parseMergeConfig(readMergeInputs(environment), environment);
    requireOutputFile(files);
    const named = { 'result-file': config.resultFile ?? resultFile, 'sarif-file': config.sarifFile };
    const places = await placeFiles(named, folders, files);
    return {
      ...nowhere,
      config: (): MergeConfig => config,
      known: { ...config, workingDirectory: '.', leg: null, vote: null },
      fetch: createFetch(environment),
      resultFile: places['result-file'] ?? resultFile,
      sarifFile: places['sarif-file'],
      summary: config.summary,
      level: config.logLevel,
    };
  } catch (error) {
    const config = (): MergeConfig => {
      throw error;
    };
    const level = 'summary' as const;
    return { ...nowhere, config, known: null, fetch, resultFile, sarifFile: null, summary: true, level };
  }
}

startStep('structured-agent/merge', judge);
