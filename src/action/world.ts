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
import { createHub } from '../github/pull-request.ts';
import { keepFiles } from '../github/runner.ts';
import { createFetch } from '../network/network.ts';
import { createLocator, findCheckout } from '../reporters/places.ts';
import type { World } from '../run/world.ts';
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
  const hub = createHub(event, githubToken === null ? null : github, checkedOut);
  const policy: Parameters<typeof createPolicyFiles>[0] = {
    hub,
    trusted: trustedFiles,
    workspace,
    readLocal: (file) => readTrustedFile(file, { root: workspace, outside: 'refused' }),
    elsewhere: github,
    workflowRef: environment['GITHUB_WORKFLOW_REF'] ?? '',
  };
  const locate = createLocator(workspace, workingDirectory, hub.changed);
  // The legs of a merge have found the places: its job may run without a checkout.
  const hasPlaces = !isMerge || checkout !== null;
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
    async openReporters() {
      const { createReporters } = await import('./reporters.ts');
      const options = { step, config, hub, subject, locate, version, isMerge, hasPlaces };
      return createReporters(options, await openLog());
    },
    warn,
  } satisfies Partial<World>;
}
