/** The event that started the job: which commit is judged. */
import { readBounded } from '../files/read-bounded.ts';
import { isPrivilegedTrigger } from '../text/triggers.ts';
import type { Subject } from '../types.ts';

/** GitHub sends no event of more than 25 MB. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024;

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether the event gives a stranger's text the rights of the repository: there `sandbox: off` is refused. */
export function isPrivileged(environment: Environment): boolean {
  const name = environment['GITHUB_EVENT_NAME'] ?? '';
  return name !== '' && isPrivilegedTrigger(name);
}

/**
 * What the runner's variables and the event file say was judged; null outside GitHub.
 * @param checkedOut the commit in the judged folder; null where that is not known, left out where nobody looked. It is the
 * subject's own commit where GITHUB_SHA is the base's, whatever was checked out to be judged.
 */
export function readSubject(environment: Environment, checkedOut?: string | null): Subject | null {
  const repository = environment['GITHUB_REPOSITORY'];
  const sha = (isPrivileged(environment) ? checkedOut : null) ?? environment['GITHUB_SHA'];
  if (repository === undefined || repository === '' || sha === undefined || sha === '') return null;
  const ref = environment['GITHUB_REF'] ?? '';
  const attempt = Number(environment['GITHUB_RUN_ATTEMPT'] ?? '1');
  return {
    repository,
    sha,
    ref,
    event: environment['GITHUB_EVENT_NAME'] ?? '',
    pull_request: pullRequestNumber(readEvent(environment)),
    run_id: environment['GITHUB_RUN_ID'] ?? '',
    run_attempt: Number.isSafeInteger(attempt) && attempt > 0 ? attempt : 1,
    ...(checkedOut === undefined ? {} : { checked_out: checkedOut }),
  };
}

/** What started the job, as far as the runner's variables and the event file say. */
export interface EventFacts {
  /** `owner/name`; empty outside GitHub. */
  readonly repository: string;
  readonly name: string;
  /** GITHUB_SHA: on a pull request the commit that merges it, on `workflow_run` the default branch's. */
  readonly sha: string;
  /** GITHUB_REF. */
  readonly ref: string;
  readonly payload: unknown;
}

/** Reads the event; its payload is null where the file is missing or broken. */
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
 * The number of the event's pull request: of its payload, or of the merge queue's branch name. Anybody who may push can
 * give a branch such a name; only on `merge_group` is it the queue's own.
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

/** The event's payload. A file that is missing, broken or not regular means an unknown pull request, not a failed run. */
function readPayload(eventPath: string | undefined): unknown {
  if (eventPath === undefined || eventPath === '') return null;
  // A later process of the job may have replaced it: a pipe without a writer would be waited for until the job is killed.
  const read = readBounded(eventPath, { maxBytes: MAX_EVENT_BYTES, links: 'follow' });
  if (!read.ok) return null;
  try {
    return JSON.parse(read.bytes.toString('utf8'));
  } catch {
    return null;
  }
}

/** An own property of what may be no object at all. */
export function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, key)?.value;
}

/** The text at a path of own properties; empty where there is none. */
export function textAt(value: unknown, ...keys: readonly string[]): string {
  const found = keys.reduce(member, value);
  return typeof found === 'string' ? found : '';
}
