/** The action's access to GitHub, built once from the event, the token and the configuration. */
import type { Config } from '../config/parse-config.ts';
import { readTrustedFile } from '../config/workspace-file.ts';
import type { GitHub } from '../github/api.ts';
import { createChangedFiles, findPolicyChanges, type ListChangedFiles } from '../github/changed-files.ts';
import { createGitHub } from '../github/client.ts';
import type { EventFacts } from '../github/event.ts';
import { createPullRequestFinder, type PullRequestFinder } from '../github/pull-request.ts';
import { createContextFinder } from '../github/pull-request-context.ts';
import { createPolicyFiles } from '../github/trusted-files.ts';
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
  readonly event: EventFacts;
  /** null without a token. */
  readonly github: GitHub | null;
  readonly finder: PullRequestFinder;
  /** The files that the pull request changes; empty until GitHub has listed them, or when it does not. */
  readonly changedPaths: ReadonlySet<string>;
}

export function openGitHub(options: ActionGitHubOptions): ActionGitHub {
  const { event, environment, config, workspace, checkedOut } = options;
  const client = (token: string | null) =>
    createGitHub({
      token,
      apiUrl: environment['GITHUB_API_URL'] || 'https://api.github.com',
      fetch: options.fetch,
      userAgent: `structured-agent/${options.version}`,
    });
  const github = config.githubToken === null ? null : client(config.githubToken);
  const finder = createPullRequestFinder(event, github, checkedOut);
  const changedPaths = new Set<string>();
  const listed = github === null ? null : createChangedFiles(event, finder, github, checkedOut);
  const changed = listed === null ? null : () => remember(listed(), changedPaths);
  const trusted = config.trustedFiles;
  const workflowRef = environment['GITHUB_WORKFLOW_REF'] ?? '';
  return {
    event,
    github,
    finder,
    changedPaths,
    files: createPolicyFiles({
      trusted,
      event,
      finder,
      github,
      anonymous: client(null),
      workspace,
      readLocal: (file) =>
        readTrustedFile(file, { root: workspace, outside: 'refused', maxBytes: READ.policy }),
      maxBytes: READ.policy,
    }),
    findContext: createContextFinder(event, finder, changed, options.warn, github),
    findPolicyChanges: (files, read) =>
      findPolicyChanges(files, { event, changed, workspace, trusted, workflowRef }, read),
  };
}

/** Adds the paths of the files to the set once they are listed. */
async function remember(
  listing: ReturnType<ListChangedFiles>,
  paths: Set<string>,
): ReturnType<ListChangedFiles> {
  const files = await listing;
  for (const { path } of files ?? []) paths.add(path);
  return files;
}
