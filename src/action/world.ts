/** The parts of a world that every action step has: GitHub, the reporters, and the files written at the end. */
import path from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import type { Config } from '../config/parse-config.ts';
import { readTrustedFile } from '../config/paths.ts';
import type { Reporting } from '../config/reporting.ts';
import { readCheckedOut } from '../github/checked-out.ts';
import { createGitHub } from '../github/client.ts';
import { readSubject } from '../github/event.ts';
import { findChangeContext } from '../github/find-context.ts';
import { createPolicyFiles, findPolicyChanges } from '../github/policy-files.ts';
import { createHub, type Hub } from '../github/pull-request.ts';
import { keepFiles } from '../github/runner.ts';
import { createFetch } from '../network/network.ts';
import { createLocator, findCheckout } from '../reporters/places.ts';
import type { World } from '../run/world.ts';
import { once } from '../text/wait.ts';
import type { Step } from './start.ts';

/** The settings that every step has; a merge has neither a working directory nor trusted files, and is not a leg. */
type StepConfig = Reporting & Partial<Pick<Config, 'workingDirectory' | 'trustedFiles' | 'leg'>>;

/** Creates the common part of a world; each entry adds the rest. Sends no request to GitHub and writes nothing yet. */
export function createActionWorld(step: Step, config: StepConfig, isMerge: boolean) {
  const { environment, event, workspace, secrets, results, openLog, warn, listen } = step;
  const { workingDirectory = '.', trustedFiles = 'workspace', githubToken } = config;
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
  const policy: Parameters<typeof createPolicyFiles>[0] = {
    hub,
    trusted: trustedFiles,
    workspace,
    readLocal: (file) => readTrustedFile(file, { root: workspace, outside: 'refused' }),
    elsewhere: github,
    workflowRef: environment['GITHUB_WORKFLOW_REF'] ?? '',
  };
  const locate = createLocator(workspace, workingDirectory, changed);
  // The legs of a merge have found the places: its job may run without a checkout.
  const hasPlaces = !isMerge || checkout !== null;
  const openReporting = once(async () => {
    const { createReporting } = await import('./reporters.ts');
    const world = { subject, locate, version };
    return createReporting({ step, config, hub, world, isMerge, hasPlaces }, await openLog());
  });
  return {
    entry: 'action',
    environment,
    version,
    secrets,
    subject,
    workspace,
    results,
    locate,
    restoreRunnerFiles: keepFiles(step.files.all),
    files: createPolicyFiles(policy),
    findContext: () => findChangeContext(hub, warn),
    findPolicyChanges: (files, read) => findPolicyChanges(files, policy, read),
    fetch,
    listen,
    openReporters: async () => (await openReporting()).reporters,
    writeEnvelope: async (report) => (await openReporting()).writeEnvelope(report),
    writeOutputs: async (report) => (await openReporting()).writeOutputs(report),
    warn,
  } satisfies Partial<World>;
}
