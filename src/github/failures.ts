/** Interprets failed requests to GitHub: which may be retried, and what the user can do about the others. */
import { GitHubError, type GitHubFailure, NetworkError } from '../errors.ts';
import { DISPLAY, LISTED } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import { member, textAt } from './event.ts';

/** The request, as named in an error message. */
export interface Operation {
  readonly method: string;
  /** The route with unfilled placeholders; trusted text. */
  readonly route: string;
  /** The required workflow permission; null if it depends on the request. */
  readonly needs: string | null;
  /** Whether a token was sent. */
  readonly signedIn: boolean;
}

interface Refusal {
  readonly status: number;
  /** Header names in lower case. */
  readonly headers: unknown;
  readonly data: unknown;
}

/** Returns the error of an interrupted request, with our own message whatever the signal's reason is. */
export function interruption(signal: AbortSignal): GitHubError {
  return new GitHubError('unavailable', 'GitHub was not asked to the end: the run was interrupted.', {
    cause: signal.reason,
  });
}

export function unreadable(
  { method, route }: Pick<Operation, 'method' | 'route'>,
  wanted: string,
): GitHubError {
  const message = `GitHub's answer to ${method} ${route} is not ${wanted}. A proxy may have answered in its place.`;
  return new GitHubError('unavailable', message, { status: 200 });
}

/**
 * Whether the same request may succeed if sent again soon. Excludes rate limits, which state how long they last, and
 * timeouts.
 * @param repeatable whether the request may safely be sent twice: GitHub may have processed it without responding.
 */
export function isTransient(error: unknown, repeatable: boolean): boolean {
  const cause = causeOf(error);
  if (cause instanceof GitHubError || isLate(cause)) return false;
  if (cause instanceof NetworkError) return cause.passing;
  const refusal = refusalOf(error);
  return repeatable && (refusal === null || kindOf(refusal) === 'unavailable');
}

/**
 * Converts any failure to one sentence of our own. Messages of other errors are not repeated, because they may quote a
 * header.
 */
export function toGitHubError(error: unknown, operation: Operation): GitHubError {
  const cause = causeOf(error);
  if (cause instanceof GitHubError) return cause;
  if (cause instanceof NetworkError)
    return new GitHubError(cause.passing ? 'unavailable' : 'invalid', cause.message, { cause });
  if (cause instanceof SyntaxError) return unreadable(operation, 'JSON');
  const errors = member(error, 'errors') ?? member(member(error, 'data'), 'errors');
  if (Array.isArray(errors)) return graphqlRefusal(errors, operation);
  const refusal = refusalOf(error);
  if (refusal !== null) return toRefusal(refusal, operation);
  const why = isLate(cause) ? 'gave no answer in time' : `could not be reached${systemCode(cause)}`;
  return new GitHubError(
    'unavailable',
    `GitHub's API ${why} for ${nameOf(operation)}.`,
    isLate(cause) ? { cause } : {},
  );
}

/** Returns the error that fetch rejected with, which the client wraps. */
function causeOf(error: unknown): unknown {
  return member(error, 'request') === undefined ? error : (member(error, 'cause') ?? error);
}

function isLate(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** Returns the response from which the client made an error; null if there was none. */
function refusalOf(error: unknown): Refusal | null {
  const response = member(error, 'response');
  const status = member(response, 'status');
  if (typeof status !== 'number') return null;
  return { status, headers: member(response, 'headers'), data: member(response, 'data') };
}

export function toRefusal(refusal: Refusal, operation: Operation): GitHubError {
  const { status } = refusal;
  const kind = kindOf(refusal);
  const quoted = messageOf(refusal.data);
  const what = `GitHub answered ${status}${quoted === '' ? '' : ` (${quoted})`} to ${nameOf(operation)}.`;
  return new GitHubError(kind, `${what} ${fixFor(kind, refusal, operation)}`.trim(), { status });
}

/** Converts a GraphQL response with status 200 and errors to a GitHubError. */
function graphqlRefusal(errors: readonly unknown[], operation: Operation): GitHubError {
  const [first] = errors;
  const type = textAt(first, 'type');
  const kind = Object.hasOwn(GRAPHQL_KINDS, type) ? (GRAPHQL_KINDS[type] ?? 'invalid') : 'invalid';
  const quoted = toShortLine(textAt(first, 'message'));
  const what = `GitHub refused ${nameOf(operation)}${quoted === '' ? '' : ` (${quoted})`}.`;
  const nothing = { status: 200, headers: {}, data: null };
  return new GitHubError(kind, `${what} ${fixFor(kind, nothing, operation)}`.trim(), { status: 200 });
}

const GRAPHQL_KINDS: Readonly<Record<string, GitHubFailure>> = {
  NOT_FOUND: 'not_found',
  FORBIDDEN: 'forbidden',
  INSUFFICIENT_SCOPES: 'forbidden',
  RATE_LIMITED: 'rate_limited',
  SERVICE_UNAVAILABLE: 'unavailable',
  INTERNAL: 'unavailable',
};

function kindOf(refusal: Refusal): GitHubFailure {
  const { status, headers } = refusal;
  if (status === 429) return 'rate_limited';
  if (status === 403) return rateLimitWait(refusal) === null ? 'forbidden' : 'rate_limited';
  if (status === 401) return 'unauthorized';
  if (status === 404 || status === 410) return 'not_found';
  // GitHub returns 406 for a diff that is too large.
  if (status === 406 || status === 413) return 'too_large';
  if (status >= 500 || (status === 408 && member(headers, 'location') === undefined)) return 'unavailable';
  return status >= 300 && status < 400 ? 'not_found' : 'invalid';
}

/** Returns the remaining time of a rate limit in milliseconds; null if the response does not indicate one. */
function rateLimitWait({ status, headers }: Refusal): number | null {
  if (status !== 403 && status !== 429) return null;
  const seconds = Number(member(headers, 'retry-after') ?? Number.NaN);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
  if (member(headers, 'x-ratelimit-remaining') !== '0') return null;
  // Uses GitHub's clock, which may differ from the local one.
  const wait = Number(member(headers, 'x-ratelimit-reset')) * 1_000 - Date.parse(textAt(headers, 'date'));
  return Number.isFinite(wait) ? Math.max(1_000, wait) : Number.POSITIVE_INFINITY;
}

function fixFor(kind: GitHubFailure, refusal: Refusal, operation: Operation): string {
  switch (kind) {
    case 'unauthorized':
      return operation.signedIn
        ? 'The token is wrong or no longer valid: see the input github-token.'
        : 'No token was given: see the input github-token.';
    case 'forbidden': {
      const needs = operation.needs ?? permissionOf(textAt(refusal.headers, 'x-accepted-github-permissions'));
      const give = needs === null ? 'the permission for this' : `\`permissions: ${needs}\``;
      return `Give the job ${give}; the token of a pull request from a fork can only read, whatever the workflow gives.`;
    }
    case 'not_found':
      return operation.needs === null
        ? 'It is not there, or the token may not see it.'
        : `It is not there, or the token may not see it: the job needs \`permissions: ${operation.needs}\`.`;
    case 'rate_limited': {
      const wait = rateLimitWait(refusal) ?? Number.POSITIVE_INFINITY;
      return Number.isFinite(wait)
        ? `The token's rate limit ends in ${Math.ceil(wait / 1_000)} s.`
        : "The token's rate limit is used up for now.";
    }
    case 'unavailable':
      return 'See https://www.githubstatus.com, and run the job again.';
    case 'too_large':
    case 'invalid':
      return '';
  }
}

/**
 * Parses a list of permissions: `issues=write; pull_requests=write` are alternatives, `contents=read, statuses=write`
 * are required together.
 */
function permissionOf(header: string): string | null {
  const alternatives = header.split(';').map((each) => each.trim());
  const chosen = alternatives.find((each) => each.startsWith('pull_requests=')) ?? alternatives[0] ?? '';
  const permissions = chosen.split(',').map((each) => /^([a-z_]{1,40})=(read|write)$/u.exec(each.trim()));
  const words = permissions.map((match) => match && `${match[1]?.replaceAll('_', '-')}: ${match[2]}`);
  return words.includes(null) ? null : words.join(', ');
}

function messageOf(data: unknown): string {
  const errors = member(data, 'errors');
  const details = (Array.isArray(errors) ? errors : []).slice(0, LISTED.few).map(detailOf);
  return toShortLine([textAt(data, 'message'), ...details].filter((each) => each !== '').join(': '));
}

function detailOf(error: unknown): string {
  if (typeof error === 'string') return error;
  return textAt(error, 'message') || `${textAt(error, 'field')} ${textAt(error, 'code')}`.trim();
}

/** Formats GitHub's own message as one short line. */
function toShortLine(text: string): string {
  const line = text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/u, '');
  return truncate(line, DISPLAY.sentence);
}

function systemCode(error: unknown): string {
  const code = member(error, 'code') ?? member(member(error, 'cause'), 'code');
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/u.test(code) ? ` (${code})` : '';
}

function nameOf({ method, route }: Operation): string {
  return `${method} ${route}`;
}
