/** The action's access to GitHub, built once from the event, the token and the configuration. */
import type { Config } from '../config/parse-config.ts';
import { readTrustedFile } from '../config/workspace-file.ts';
import { createGitHub } from '../github/client.ts';
import type { EventFacts } from '../github/event.ts';
import { findChangeContext } from '../github/find-context.ts';
import { createPolicyFiles, findPolicyChanges } from '../github/policy-files.ts';
import { createHub, type Hub } from '../github/pull-request.ts';
import type { World } from '../run/world.ts';
import { READ } from '../text/limits.ts';

export interface ActionGitHubOptions {
  readonly event: EventFacts;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly config: Pick<Config, 'trustedFiles' | 'githubToken'>;
  readonly workspace: string;
  /** The commit in the reviewed folder, read before the agent runs; null when unknown. */
  readonly checkedOut: string | null;
  readonly fetch: typeof fetch;
  readonly version: string;
  readonly warn: (text: string) => void;
}

/** GitHub as used by a run and its reporters. Sends no request until one is needed. */
export interface ActionGitHub extends Pick<World, 'files' | 'findContext' | 'findPolicyChanges'> {
  readonly hub: Hub;
  readonly hasToken: boolean;
  /** The files that the pull request changes; empty until GitHub has listed them, or when it does not. */
  readonly changedPaths: ReadonlySet<string>;
}

export function openGitHub(options: ActionGitHubOptions): ActionGitHub {
  const { event, environment, config, workspace, checkedOut } = options;
  const github = createGitHub({
    token: config.githubToken,
    apiUrl: environment['GITHUB_API_URL'] || 'https://api.github.com',
    fetch: options.fetch,
    userAgent: `structured-agent/${options.version}`,
  });
  const hasToken = config.githubToken !== null;
  const changedPaths = new Set<string>();
  const asked = createHub(event, hasToken ? github : null, checkedOut);
  const hub: Hub = {
    ...asked,
    async listChangedFiles() {
      const listed = await asked.listChangedFiles();
      for (const { path } of listed?.files ?? []) changedPaths.add(path);
      return listed;
    },
  };
  const policy = {
    hub,
    trusted: config.trustedFiles,
    workspace,
    readLocal: (file: string) =>
      readTrustedFile(file, { root: workspace, outside: 'refused', maxBytes: READ.policy }),
    elsewhere: github,
    workflowRef: environment['GITHUB_WORKFLOW_REF'] ?? '',
  };
  return {
    hub,
    hasToken,
    changedPaths,
    files: createPolicyFiles(policy),
    findContext: () => findChangeContext(hub, options.warn),
    findPolicyChanges: (files, read) => findPolicyChanges(files, policy, read),
  };
}
