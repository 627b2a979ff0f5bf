/** The event that started the job, and the commit that is judged. */
import { readFileSync } from 'node:fs';
import { isPrivilegedTrigger } from '../text/privileged-triggers.ts';
import type { Subject } from '../types.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A pull request, in events and in answers. Title, body, author and branch names are hostile text. */
export interface PullRequest {
  readonly number: number;
  readonly title: string;
  readonly body: string | null;
  readonly user: { readonly login: string } | null;
  readonly base: { readonly ref: string; readonly sha: string };
  /** `repo` is null if the fork was deleted. */
  readonly head: {
    readonly ref: string;
    readonly sha: string;
    readonly repo?: { readonly full_name: string } | null;
  };
}

/** What is read of the payload of an event. An emulator of the runner may leave out any part. */
interface EventPayload {
  readonly pull_request?: Partial<PullRequest>;
  readonly issue?: { readonly number?: number; readonly pull_request?: object };
  readonly merge_group?: { readonly head_sha?: string; readonly base_sha?: string };
  readonly workflow_run?: {
    /** The event that started that workflow. */
    readonly event?: string;
    readonly head_sha?: string;
    readonly head_branch?: string | null;
    readonly head_repository?: { readonly owner?: { readonly login?: string } } | null;
  };
  /** The other fields are those of a push. */
  readonly ref?: string;
  readonly before?: string;
  readonly after?: string;
}

/** The event that started the job. */
export interface EventFacts {
  /** `owner/name`; empty outside GitHub. */
  readonly repository: string;
  readonly name: string;
  /** GITHUB_SHA: on a pull request the test merge commit, on `workflow_run` the default branch's commit. */
  readonly sha: string;
  /** GITHUB_REF. */
  readonly ref: string;
  readonly payload: EventPayload;
}

/** Reads the event; its payload is empty if the file is missing or invalid. */
export function readEvent(environment: Environment): EventFacts {
  return {
    repository: environment['GITHUB_REPOSITORY'] ?? '',
    name: environment['GITHUB_EVENT_NAME'] ?? '',
    sha: environment['GITHUB_SHA'] ?? '',
    ref: environment['GITHUB_REF'] ?? '',
    payload: readPayload(environment['GITHUB_EVENT_PATH'] ?? ''),
  };
}

function readPayload(file: string): EventPayload {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) ?? {};
  } catch {
    return {};
  }
}

/** Whether the event runs with the repository's rights on untrusted input; `sandbox: off` is refused there. */
export function isPrivileged({ name }: EventFacts): boolean {
  return name !== '' && isPrivilegedTrigger(name);
}

/**
 * Returns the judged subject; null outside GitHub.
 * @param checkedOut the commit checked out in the judged folder; null if unknown. It becomes the subject's commit if
 * GITHUB_SHA is the base's commit, whatever was checked out to be judged.
 */
export function readSubject(
  event: EventFacts,
  environment: Environment,
  checkedOut: string | null,
): Subject | null {
  const { repository, name, ref } = event;
  const sha = (isPrivileged(event) ? checkedOut : null) ?? event.sha;
  if (repository === '' || sha === '') return null;
  return {
    repository,
    sha,
    ref,
    event: name,
    pull_request: pullRequestNumber(event),
    run_id: environment['GITHUB_RUN_ID'] ?? '',
    run_attempt: Number(environment['GITHUB_RUN_ATTEMPT'] || '1'),
    actor: environment['GITHUB_ACTOR'] ?? '',
    checked_out: checkedOut,
  };
}

/**
 * Returns the number of the event's pull request, from its payload or from the branch name of the merge queue, which is
 * trusted only on `merge_group`: anyone who may push can create such a branch.
 */
export function pullRequestNumber({ name, ref, payload }: EventFacts): number | null {
  const queued = /^refs\/heads\/gh-readonly-queue\/.+\/pr-(\d{1,15})-/u.exec(ref)?.[1];
  if (name === 'merge_group' && queued !== undefined) return Number(queued);
  const { pull_request, issue } = payload;
  return pull_request?.number ?? (issue?.pull_request === undefined ? null : (issue.number ?? null));
}

/** Whether the event is about a pull request from a fork. Such runs get no secrets. */
export function isFromFork({ name, repository, payload }: EventFacts): boolean {
  const head = payload.pull_request?.head?.repo?.full_name ?? repository;
  return name.startsWith('pull_request') && name !== 'pull_request_target' && head !== repository;
}

/** Returns the commit that the event names as its head; empty if it names none. */
export function headOfEvent({ payload }: EventFacts): string {
  const { pull_request, merge_group, workflow_run } = payload;
  return pull_request?.head?.sha ?? merge_group?.head_sha ?? workflow_run?.head_sha ?? '';
}

/** Returns the repository of the event as parameters of a request. */
export function repositoryOf({ repository }: EventFacts): { readonly owner: string; readonly repo: string } {
  const [owner = '', repo = ''] = repository.split('/');
  return { owner, repo };
}
