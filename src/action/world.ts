/** The parts of a world that every action step has: GitHub, the reporters, and the files written at the end. */
import path from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { readTrustedFile } from '../config/workspace-file.ts';
import { readCheckedOut } from '../github/checked-out.ts';
import { createGitHub } from '../github/client.ts';
import { readSubject } from '../github/event.ts';
import { findChangeContext } from '../github/find-context.ts';
import { createPolicyFiles, findPolicyChanges } from '../github/policy-files.ts';
import { createHub, type Hub } from '../github/pull-request.ts';
import { keepFiles } from '../github/runner.ts';
import { createFetch } from '../network/network.ts';
import { createLocator, findCheckout } from '../reporters/places.ts';
import type { EndWorld, World } from '../run/world.ts';
import { READ } from '../text/limits.ts';
import type { Step, StepConfig } from './start.ts';

export type ActionWorld = Omit<EndWorld, 'runFolder'> &
  Pick<World, 'workspace' | 'files' | 'findContext' | 'fetch'>;

/**
 * Creates the common part of a world; each entry adds the rest. Sends no request to GitHub and writes nothing yet.
 * @param isResolved whether the paths of findings were resolved in other jobs, so that this job may run without a
 * checkout.
 */
export function createActionWorld(step: Step, config: StepConfig, isResolved: boolean): ActionWorld {
  const { environment, event, workspace, secrets, openLog, warn } = step;
  const { workingDirectory = '.', trustedFiles = 'workspace', githubToken, signingKey } = config;
  const { version } = manifest;
  const fetch = createFetch();
  const checkout = findCheckout(path.resolve(workspace, workingDirectory), workspace);
  const checkedOut = checkout === null ? null : readCheckedOut(checkout).commit;
  const subject = readSubject(event, environment, checkedOut);
  const github = createGitHub({
    token: githubToken,
    apiUrl: environment['GITHUB_API_URL'] || 'https://api.github.com',
    fetch,
    userAgent: `structured-agent/${version}`,
  });
  /** Empty until GitHub has listed them. */
  const changed = new Set<string>();
  const asked = createHub(event, githubToken === null ? null : github, checkedOut);
  const hub: Hub = {
    ...asked,
    async listChangedFiles() {
      const listed = await asked.listChangedFiles();
      for (const file of listed?.files ?? []) changed.add(file.path);
      return listed;
    },
  };
  const policy = {
    hub,
    trusted: trustedFiles,
    workspace,
    readLocal: (file: string) =>
      readTrustedFile(file, { root: workspace, outside: 'refused', maxBytes: READ.policy }),
    elsewhere: github,
    workflowRef: environment['GITHUB_WORKFLOW_REF'] ?? '',
  };
  const world: ActionWorld = {
    entry: 'action',
    environment,
    version,
    secrets,
    subject,
    workspace,
    results: step.results,
    locate: createLocator({ workspace, workingDirectory, changed }),
    restoreRunnerFiles: keepFiles(step.files.all),
    files: createPolicyFiles(policy),
    findContext: () => findChangeContext(hub, warn),
    findPolicyChanges: (files, read) => findPolicyChanges(files, policy, Promise.resolve(read)),
    fetch,
    listen: step.listen,
    async openReporters() {
      const { createReporters } = await import('./reporters.ts');
      const log = await openLog();
      return createReporters({ step, config, hub, world, isResolved, log });
    },
    async writeEnvelope(report) {
      const { writeSignedEnvelope } = await import('./reporters.ts');
      writeSignedEnvelope(report, secrets, signingKey);
    },
    async writeOutputs(report) {
      const { writeStepOutputs } = await import('./reporters.ts');
      writeStepOutputs(report, step.files.output, await openLog());
    },
    warn,
  };
  return world;
}
