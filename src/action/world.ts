/** The parts of a world that every action step has: GitHub, the reporters, and the files written at the end. */
import path from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { readCheckedOut } from '../github/checked-out.ts';
import { readEvent, readSubject } from '../github/event.ts';
import { keepFiles, type RunnerFiles } from '../github/runner.ts';
import { findCheckout } from '../reporters/checkouts.ts';
import { createLocator } from '../reporters/source-locations.ts';
import type { EndWorld } from '../run/world.ts';
import { type ActionGitHub, openGitHub } from './github.ts';
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
  const { environment, secrets, warn, listen } = step;
  const { workspace } = folders;
  const { version } = manifest;
  const event = readEvent(environment);
  const folder = path.resolve(workspace, setup.config.workingDirectory);
  const checkout = findCheckout(folder, workspace);
  const checkedOut = checkout === null ? null : readCheckedOut(checkout).commit;
  const subject = readSubject(event, environment, checkedOut);
  const github = openGitHub({
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
    changed: github.changedPaths,
  });
  const { results } = folders;
  const shared = {
    environment,
    setup,
    github,
    subject,
    workspace,
    results,
    locate,
    isResolved,
    version,
    secrets,
    warn,
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
    files: github.files,
    findContext: github.findContext,
    findPolicyChanges: github.findPolicyChanges,
    now: () => performance.now(),
    listen,
    async openReporters() {
      const { createReporters } = await import('./reporters.ts');
      return createReporters({ ...shared, log: await step.openLog(), summaryFile: files.summary });
    },
    async writeEnvelope(report) {
      const { writeSignedEnvelope } = await import('./reporters.ts');
      writeSignedEnvelope(report, secrets, signingKey);
    },
    async writeOutputs(report) {
      const { writeStepOutputs } = await import('./reporters.ts');
      writeStepOutputs(report, files.output, await step.openLog());
    },
    warn,
  };
}
