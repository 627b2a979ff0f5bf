/** The event that started the job, and the commit that is judged. */
import { readBounded } from '../files/read-bounded.ts';
import { parseOrUndefined } from '../text/json.ts';
import { isPrivilegedTrigger } from '../text/triggers.ts';
import type { Subject } from '../types.ts';

/** Bytes of the event file; GitHub limits event payloads to 25 MB. */
const MAX_EVENT = 32 * 1024 ** 2;

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether the event runs with the repository's rights on untrusted input; `sandbox: off` is refused there. */
export function isPrivileged(environment: Environment): boolean {
  const name = environment['GITHUB_EVENT_NAME'] ?? '';
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
  const sha = (isPrivileged(environment) ? checkedOut : null) ?? event.sha;
  if (repository === '' || sha === '') return null;
  const attempt = Number(environment['GITHUB_RUN_ATTEMPT'] ?? '1');
  return {
    repository,
    sha,
    ref,
    event: name,
    pull_request: pullRequestNumber(event),
    run_id: environment['GITHUB_RUN_ID'] ?? '',
    run_attempt: Number.isSafeInteger(attempt) && attempt > 0 ? attempt : 1,
    checked_out: checkedOut,
  };
}

/** The event that started the job, from the runner's variables and the event file. */
export interface EventFacts {
  /** `owner/name`; empty outside GitHub. */
  readonly repository: string;
  readonly name: string;
  /** GITHUB_SHA: on a pull request the test merge commit, on `workflow_run` the default branch's commit. */
  readonly sha: string;
  /** GITHUB_REF. */
  readonly ref: string;
  readonly payload: unknown;
}

/** Reads the event; its payload is null if the file is missing or invalid. */
export function readEvent(environment: Environment): EventFacts {
  return {
    repository: environment['GITHUB_REPOSITORY'] ?? '',
    name: environment['GITHUB_EVENT_NAME'] ?? '',
    sha: environment['GITHUB_SHA'] ?? '',
    ref: environment['GITHUB_REF'] ?? '',
    payload: readPayload(environment['GITHUB_EVENT_PATH']),
  };
}

/**
 * Returns the number of the event's pull request, from its payload or from the branch name of the merge queue. Anyone
 * who may push can create a branch with such a name, so it is trusted only on `merge_group`.
 */
export function pullRequestNumber({ name, ref, payload }: EventFacts): number | null {
  const queued = /^refs\/heads\/gh-readonly-queue\/.+\/pr-(\d{1,15})-/u.exec(ref)?.[1];
  if (name === 'merge_group' && queued !== undefined) return Number(queued);
  const issue = member(payload, 'issue');
  const number =
    member(member(payload, 'pull_request'), 'number') ??
    (member(issue, 'pull_request') === undefined ? undefined : member(issue, 'number'));
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null;
}

/**
 * Reads the event's payload. If the file is missing, invalid or not a regular file, the pull request is unknown and the
 * run continues.
 */
function readPayload(eventPath: string | undefined): unknown {
  if (eventPath === undefined || eventPath === '') return null;
  // A later process of the job may have replaced the file: reading a pipe without a writer would block until the job is
  // killed.
  const read = readBounded(eventPath, { maxBytes: MAX_EVENT, links: 'follow' });
  return read.ok ? (parseOrUndefined(read.bytes.toString('utf8')) ?? null) : null;
}

/** Whether the event is about a pull request from a fork. Such runs get no secrets. */
export function isFromFork({ name, repository, payload }: EventFacts): boolean {
  const head = textAt(payload, 'pull_request', 'head', 'repo', 'full_name');
  return (
    name.startsWith('pull_request') && name !== 'pull_request_target' && head !== '' && head !== repository
  );
}

/** Returns the commit that the event names as its head; empty if it names none. */
export function headOfEvent({ payload }: EventFacts): string {
  return (
    textAt(payload, 'pull_request', 'head', 'sha') ||
    textAt(payload, 'merge_group', 'head_sha') ||
    textAt(payload, 'workflow_run', 'head_sha')
  );
}

/** Returns an own property of a value; undefined if the value is not an object. */
export function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

/** Returns the string at a path of own properties; empty if there is none. */
export function textAt(value: unknown, ...keys: readonly string[]): string {
  const found = keys.reduce(member, value);
  return typeof found === 'string' ? found : '';
}
