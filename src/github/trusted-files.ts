/** Reads policy files (schema, gate, prompt) from the workspace, the pull request's base, or another repository. */

import { existsSync } from 'node:fs';
import path from 'node:path';
import { GitHubError, InputError } from '../errors.ts';
import { quote } from '../text/messages.ts';
import type { Elsewhere, Reading } from '../types.ts';
import type { GitHub } from './api.ts';
import { readCheckedOut } from './checked-out.ts';
import { type EventFacts, textAt } from './event.ts';
import type { PullRequestFinder } from './pull-request.ts';

/**
 * Reads policy files.
 * @throws InputError if the base of the pull request cannot be requested at all.
 */
export interface PolicyFiles {
  readFile(file: string): Promise<Reading>;
  readElsewhere(place: Elsewhere): Promise<Reading>;
}

export interface PolicyFilesOptions {
  readonly trusted: 'workspace' | 'base';
  readonly event: EventFacts;
  readonly finder: PullRequestFinder;
  /** null if there is no token. */
  readonly github: GitHub | null;
  /** Unauthenticated client, for public repositories. */
  readonly anonymous: GitHub;
  readonly workspace: string;
  readonly readLocal: (file: string) => Promise<Reading>;
  readonly maxBytes: number;
}

const RAW = 'application/vnd.github.raw+json';
const CONTENTS = '/repos/{owner}/{repo}/contents/{path}';
/**
 * Events that always belong to a pull request; also checked for the event that triggered a `workflow_run`, which itself
 * names no pull request.
 */
const OF_PULL_REQUEST = new Set([
  'pull_request',
  'pull_request_target',
  'pull_request_review',
  'pull_request_review_comment',
  'merge_group',
]);
/** Events whose commit may belong to a pull request. */
const OF_COMMIT = new Set(['push', 'workflow_run']);

export function createPolicyFiles(options: PolicyFilesOptions): PolicyFiles {
  let base: Promise<string | null> | null = null;
  return {
    async readFile(file) {
      if (options.trusted === 'workspace') return options.readLocal(file);
      base ??= findBase(options);
      const commit = await base;
      const place = findInRepository(file, options.workspace);
      if (place === null)
        return refusal(`${quote(file)} leaves the repository; only files inside it are read.`);
      const { repository, sha } = options.event;
      if (commit === null && readCheckedOut(place.root) === sha) return options.readLocal(file);
      const [owner = '', repo = ''] = repository.split('/');
      const ref = commit ?? sha;
      const where = `at ${commit === null ? 'the commit of the event' : "the pull request's base"} (${ref.slice(0, 12)})`;
      return fetchFile(requireGitHub(options), { owner, repo, path: place.path, ref }, where, options);
    },
    readElsewhere: (place) =>
      fetchFile(
        options.github ?? options.anonymous,
        place,
        `in ${place.owner}/${place.repo} at ${place.ref}`,
        options,
      ),
  };
}

/**
 * Returns the base commit whose policy applies; null if the run has no pull request. In that case the policy of the
 * event's own commit (GITHUB_SHA) applies, from which the workflow comes too: the checkout may be of any origin, such
 * as the head of a pull request in a `workflow_run` after a push, or in a `check_suite`. The base commit is the tip of
 * the base branch, not the commit that the pull request started from, whose older policy may be more lenient.
 */
async function findBase(options: PolicyFilesOptions): Promise<string | null> {
  const { event, finder } = options;
  const started = event.name === 'workflow_run' ? textAt(event.payload, 'workflow_run', 'event') : event.name;
  const isCertain = finder.number !== null || OF_PULL_REQUEST.has(started);
  if (!isCertain && !OF_COMMIT.has(event.name)) return null;
  const github = requireGitHub(options);
  const pull = await finder.find().catch((error: unknown) => {
    throw baseError(error);
  });
  if (pull === null) {
    if (!isCertain) return null;
    throw new InputError(
      'trusted-files',
      'The value is base, but the pull request of this run could not be found. Give the job `permissions: pull-requests: read`, or set it to workspace.',
    );
  }
  if (textAt(event.payload, 'merge_group', 'base_sha') !== '' || pull.base.ref === '') return pull.base.sha;
  const [owner = '', repo = ''] = event.repository.split('/');
  const parameters = { owner, repo, ref: `heads/${pull.base.ref}` };
  try {
    const { data } = await github.request('GET', '/repos/{owner}/{repo}/commits/{ref}', parameters);
    return textAt(data, 'sha') || pull.base.sha;
  } catch (error) {
    throw baseError(error);
  }
}

function baseError(error: unknown): unknown {
  if (!(error instanceof GitHubError)) return error;
  return new InputError(
    'trusted-files',
    `The value is base, but the pull request's base could not be read: ${error.message}`,
    { cause: error },
  );
}

function requireGitHub({ github }: PolicyFilesOptions): GitHub {
  if (github !== null) return github;
  throw new InputError(
    'github-token',
    "It is empty, and trusted-files: base needs it. Leave the input out, so that the job's own token is used.",
  );
}

async function fetchFile(
  github: GitHub,
  place: Elsewhere,
  where: string,
  { maxBytes }: PolicyFilesOptions,
): Promise<Reading> {
  const name = quote(place.path);
  try {
    const bytes = await github.bytes(CONTENTS, { ...place }, RAW, { maxBytes, needs: 'contents: read' });
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof TypeError) return refusal(`${name} is not valid UTF-8 text. Save it as UTF-8.`);
    if (!(error instanceof GitHubError)) throw error;
    if (error.kind === 'too_large')
      return refusal(`${name} is larger than ${maxBytes / 1024 / 1024} MiB; only smaller files are read.`);
    if (error.kind === 'not_found')
      return {
        ...refusal(
          `could not read ${name} ${where}: there is no such file, or the token may not read that repository.`,
        ),
        isMissing: true,
      };
    return refusal(`could not read ${name} ${where}: ${error.message}`);
  }
}

/** Returns a workspace path relative to its repository; null if it is outside the workspace. */
export function repositoryPath(file: string, workspace: string): string | null {
  return findInRepository(file, workspace)?.path ?? null;
}

/**
 * Returns the repository of a workspace file and its path there, relative to the folder that contains `.git` if the
 * checkout is in a subfolder of the workspace. The outermost such folder is used: nested repositories, including
 * submodules, are controlled by the author of the change and must not redirect to another file. Returns null for a path
 * outside the workspace.
 */
function findInRepository(file: string, workspace: string): { root: string; path: string } | null {
  const absolute = path.resolve(workspace, file);
  const inside = path.relative(workspace, absolute);
  if (inside === '' || inside === '..' || inside.startsWith(`..${path.sep}`)) return null;
  const segments = inside.split(path.sep);
  const isRoot = (depth: number) => existsSync(path.join(workspace, ...segments.slice(0, depth), '.git'));
  const depth = segments.findIndex((_, at) => isRoot(at));
  const at = Math.max(depth, 0);
  return {
    root: path.join(workspace, ...segments.slice(0, at)),
    path: segments.slice(at).join('/'),
  };
}

function refusal(problem: string) {
  return { ok: false, problem } as const;
}
