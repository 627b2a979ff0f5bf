/** Policy files (schema, gate, prompt): reads them, and finds those that the pull request changes. */
import { existsSync, realpathSync } from 'node:fs';
import nodePath from 'node:path';
import { GitHubError, InputError } from '../errors.ts';
import { decodeUtf8 } from '../files/read-bounded.ts';
import { READ } from '../text/limits.ts';
import { quote } from '../text/messages.ts';
import type { Elsewhere, PolicyChange, PolicyFile, Reading } from '../types.ts';

import type { GitHub } from './client.ts';
import { pullRequestNumber, repositoryOf } from './event.ts';
import type { Hub } from './pull-request.ts';

export interface PolicyOptions {
  readonly hub: Hub;
  readonly trusted: 'workspace' | 'base';
  readonly workspace: string;
  readonly readLocal: (file: string) => Promise<Reading>;
  /** Reads public files of other repositories without a token, too. */
  readonly elsewhere: GitHub;
  /** GITHUB_WORKFLOW_REF: `owner/name/path@ref`; empty if not set by the runner. */
  readonly workflowRef: string;
}

/** Events that always belong to a pull request, like a `workflow_run` after one of them. */
const OF_PULL_REQUEST = new Set([
  'pull_request',
  'pull_request_target',
  'pull_request_review',
  'pull_request_review_comment',
  'merge_group',
]);

/** Returns functions that read policy files. They reject with an InputError if the base cannot be requested. */
export function createPolicyFiles({ hub, trusted, workspace, readLocal, elsewhere }: PolicyOptions) {
  let base: Promise<string> | null = null;
  return {
    async readFile(file: string): Promise<Reading> {
      if (trusted === 'workspace') return readLocal(file);
      base ??= findBase(hub);
      const ref = await base;
      const path = repositoryPath(file, workspace);
      if (path !== null) return readPolicy({ ...repositoryOf(hub.event), path, ref }, hub.github);
      return refusal(`${quote(file)} leaves the repository; only files inside it are read.`);
    },
    readElsewhere: (place: Elsewhere) => readPolicy(place, elsewhere),
  };
}

/**
 * Returns the commit whose policy applies: the tip of the base branch, not the commit that the pull request started from,
 * whose older policy may be more lenient. Without a pull request it is the event's own commit (GITHUB_SHA), from which the
 * workflow comes too: the checkout may be of any origin, such as the head of a pull request in a `check_suite`.
 */
async function findBase({ event, github, findPullRequest }: Hub): Promise<string> {
  const { workflow_run, merge_group } = event.payload;
  const started = event.name === 'workflow_run' ? workflow_run?.event : event.name;
  const isCertain = pullRequestNumber(event) !== null || OF_PULL_REQUEST.has(started ?? '');
  if (!isCertain && event.name !== 'push' && event.name !== 'workflow_run') return event.sha;
  const refuse = (why: string, cause?: unknown) =>
    new InputError('trusted-files', `The value is base, but the pull request's base ${why}`, { cause });
  try {
    const pull = await findPullRequest();
    if (pull === null && isCertain)
      throw refuse(
        'could not be found. Give the job `permissions: pull-requests: read`, or set it to workspace.',
      );
    if (pull === null) return event.sha;
    if (merge_group !== undefined) return pull.base.sha;
    const branch = { ...repositoryOf(event), ref: `heads/${pull.base.ref}` };
    return (await github('contents: read', ({ rest }) => rest.repos.getCommit(branch))).data.sha;
  } catch (cause) {
    throw cause instanceof GitHubError ? refuse(`could not be read: ${cause.message}`, cause) : cause;
  }
}

async function readPolicy(place: Elsewhere, github: GitHub): Promise<Reading> {
  const name = `${quote(place.path)} in ${place.owner}/${place.repo} at ${place.ref}`;
  try {
    const bytes = await readAt(place, github);
    if (bytes.length > READ.policy) return refusal(`${name} is larger than ${READ.policy / 1024 ** 2} MiB.`);
    const text = decodeUtf8(bytes);
    return text === null ? refusal(`${name} is not valid UTF-8 text. Save it as UTF-8.`) : { ok: true, text };
  } catch (error) {
    if (!(error instanceof GitHubError)) throw error;
    return refusal(`could not read ${name}: ${error.message}`);
  }
}

/** Returns the content of a file in a repository. @throws GitHubError */
export function readAt(place: Elsewhere, github: GitHub): Promise<Buffer> {
  return github('contents: read', async ({ rest }) => {
    // As a stream: the client would decode text, and replace bytes that are not UTF-8.
    const request = { parseSuccessResponseBody: false };
    const { data } = await rest.repos.getContent({ ...place, mediaType: { format: 'raw' }, request });
    return Buffer.from(await new Response(data as unknown as ReadableStream).arrayBuffer());
  });
}

/** The change as it was read for the run: from git, if GitHub does not list all of it. */
export interface ReadChange {
  readonly files: readonly { readonly path: string; readonly previous: string | null }[];
}

/** Returns the policy files among the changed files that GitHub or git knows; empty if neither does. Never rejects. */
export async function findPolicyChanges(
  files: readonly PolicyFile[],
  { hub, trusted, workspace, workflowRef }: PolicyOptions,
  read: ReadChange | null,
): Promise<readonly PolicyChange[]> {
  const changed = await findChangedPaths(hub, read);
  const { repository, name } = hub.event;
  // These run the workflow of the change, and other events that of the base.
  const isOwn = OF_PULL_REQUEST.has(name) && name !== 'pull_request_target';
  const workflow = workflowRef.startsWith(`${repository}/`) ? workflowRef.replace(/@[^@]*$/u, '') : '';
  const own: PolicyFile = { what: 'workflow', path: workflow.slice(repository.length + 1) };
  const used = isOwn && workflow !== '' ? [...files, own] : files;
  return used.flatMap(({ what, path: typed }) => {
    const applied = what === 'workflow' || trusted === 'workspace';
    const paths = pathsOf(typed, workspace).filter((each) => changed.has(each));
    return paths.map((path) => ({ what, applied, path }));
  });
}

async function findChangedPaths({ event, listChangedFiles }: Hub, read: ReadChange | null) {
  const listed = await listChangedFiles().catch(() => undefined);
  const paths = new Set(listed?.files.flatMap(({ path, previous }) => [path, previous]));
  // The change of a push is a part of what its pull request changes, if there is one.
  if (listed === null || listed?.more === null || event.name === 'push') return paths;
  for (const { path, previous } of read?.files ?? []) paths.add(path).add(previous ?? path);
  return paths;
}

/**
 * Returns the paths of a file as it is typed and where symbolic links lead, and of each folder on the way: a changed link
 * changes the policy, also in the middle of the path. GitHub lists a folder only if it is a link or a submodule.
 */
function pathsOf(file: string, workspace: string): readonly string[] {
  const typed = nodePath.resolve(workspace, file);
  const paths = new Set<string>();
  // Without a file either the base's policy applies, or the run has failed because of it.
  for (const end of existsSync(typed) ? [typed, realpathSync(typed)] : [typed])
    for (let at = end; at.length > workspace.length; at = nodePath.dirname(at)) paths.add(at);
  return [...paths].flatMap((each) => repositoryPath(each, workspace) ?? []);
}

/**
 * Returns a workspace path relative to its repository, which is the folder that contains `.git` if the checkout is in a
 * subfolder of the workspace. The outermost such folder is used: nested repositories, including submodules, are
 * controlled by the author of the change and must not redirect to another file. Returns null for a path outside.
 */
function repositoryPath(file: string, workspace: string): string | null {
  const segments = nodePath.relative(workspace, nodePath.resolve(workspace, file)).split(nodePath.sep);
  if (segments[0] === '' || segments[0] === '..') return null;
  const isRoot = (depth: number) => existsSync(nodePath.join(workspace, ...segments.slice(0, depth), '.git'));
  const root = segments.findIndex((_, depth) => isRoot(depth));
  return segments.slice(Math.max(root, 0)).join('/');
}

function refusal(problem: string) {
  return { ok: false, problem } as const;
}
