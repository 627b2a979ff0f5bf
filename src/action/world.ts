/** The parts of a world that every action step has: GitHub, the reporters, and the files written at the end. */
import path from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { signer } from '../envelope/signature.ts';
import { readCheckedOut } from '../github/checked-out.ts';
import { readEvent, readSubject } from '../github/event.ts';
import { keepFiles, type RunnerFiles } from '../github/runner.ts';
import { findJudgedCheckout } from '../reporters/checkouts.ts';
import { writeResultFile } from '../reporters/envelope.ts';
import { stepOutputs, writeOutputs } from '../reporters/outputs.ts';
import { createLocator } from '../reporters/source-locations.ts';
import type { EndWorld } from '../run/world.ts';
import { type ActionGitHub, openGitHub } from './github.ts';
import { createReporters, repositoriesOf } from './reporters.ts';
import type { Folders, Setup, StepConfig } from './setup.ts';
import type { Step } from './start.ts';

export interface ActionWorldOptions {
  readonly step: Step;
  readonly files: RunnerFiles;
  readonly folders: Folders;
  readonly setup: Setup<StepConfig>;
  /** Whether the paths of findings were resolved in other jobs, so that this job may run without a checkout. */
  readonly isResolved: boolean;
  /** null when envelopes are not signed. */
  readonly signingKey: string | null;
}

/** The part of a world common to all steps; each entry adds the rest. */
export interface ActionWorld
  extends Omit<EndWorld, 'writePatch' | 'runFolder'>,
    Pick<ActionGitHub, 'files' | 'findContext' | 'findPolicyChanges'> {
  readonly workspace: string;
}

/** Creates the common part of a world. Sends no request to GitHub and writes nothing yet. */
export function createActionWorld(options: ActionWorldOptions): ActionWorld {
  const { step, files, folders, setup, isResolved, signingKey } = options;
  const { environment, secrets, log, listen } = step;
  const { workspace } = folders;
  const { version } = manifest;
  const warn = (text: string) => log.warning(text, { title: 'structured-agent' });
  const event = readEvent(environment);
  const folder = path.resolve(workspace, setup.config.workingDirectory);
  const checkout = findJudgedCheckout(folder, workspace, repositoriesOf({ event }));
  const checkedOut = checkout === null ? null : readCheckedOut(checkout);
  const subject = readSubject(event, environment, checkedOut);
  const hub = openGitHub({
    event,
    environment,
    config: setup.config,
    workspace,
    checkedOut,
    fetch: setup.fetch,
    version,
    warn,
  });
  const locate = createLocator({
    workspace,
    workingDirectory: setup.config.workingDirectory,
    repositories: repositoriesOf(hub),
    changed: hub.changedPaths,
  });
  const { results } = folders;
  const shared = {
    environment,
    setup,
    hub,
    subject,
    workspace,
    results,
    locate,
    isResolved,
    version,
    log,
    secrets,
  };
  return {
    entry: 'action',
    environment,
    version,
    secrets,
    subject,
    workspace,
    results,
    locate: isResolved ? null : locate,
    restoreRunnerFiles: keepFiles(files.all),
    files: hub.files,
    findContext: hub.findContext,
    findPolicyChanges: hub.findPolicyChanges,
    now: () => performance.now(),
    listen,
    reporters: createReporters({ ...shared, summaryFile: files.summary }),
    writeEnvelope: (report) => writeResultFile(report, secrets, signer(signingKey)),
    writeOutputs(report) {
      const { outputs, warnings } = stepOutputs(report);
      for (const text of warnings) log.warning(text);
      if (files.output !== null) writeOutputs(files.output, outputs);
    },
    warn,
  };
}
