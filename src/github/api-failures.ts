/** What GitHub's refusals mean: which may pass, after how long, and the sentence that says what to do about the others. */

import { GitHubError, type GitHubFailure, NetworkError } from '../errors.ts';
import { truncate } from '../text/messages.ts';
import type { Answer } from './api-exchange.ts';
import { member, textAt } from './event.ts';

/** What was asked, as a refusal speaks of it. */
export interface Asked {
  readonly method: string;
  /** The route with its placeholders unfilled, in words of ours. */
  readonly route: string;
  /** The permission that a workflow has to give; null where that depends. */
  readonly needs: string | null;
  /** Whether a token was sent. */
  readonly signedIn: boolean;
}

/** How long to wait before the n-th repetition, where GitHub does not say, in milliseconds. */
const WAITS = [1_000, 3_000];
const MAX_MESSAGE = 200;

/** Milliseconds to wait before asking again; null where that would not help. `tries` counts the requests so far. */
export function waitFor(failure: GitHubError, answer: Answer | null, tries: number): number | null {
  if (failure.kind === 'rate_limited' && answer !== null) return rateLimitWait(answer) ?? null;
  // Who was silent for so long has had its patience.
  return failure.kind === 'unavailable' && !isLate(failure.cause) ? (WAITS[tries - 1] ?? null) : null;
}

function isLate(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** Whether GitHub may have done what was asked, although it did not say so. */
export function isAmbiguous({ kind, status, cause }: GitHubError): boolean {
  return kind === 'unavailable' && !(status === null && cause instanceof NetworkError);
}

/** The failure of a request that got no answer. */
export function failureOf(error: unknown, asked: Asked): GitHubError {
  if (error instanceof GitHubError) return error;
  if (error instanceof NetworkError)
    return new GitHubError(error.passing ? 'unavailable' : 'invalid', error.message, { cause: error });
  // The words of other errors are not repeated: they may quote a header.
  const why = isLate(error) ? 'gave no answer in time' : `could not be reached${systemCode(error)}`;
  const cause = isLate(error) ? { cause: error } : {};
  return new GitHubError('unavailable', `GitHub's API ${why} for ${name(asked)}.`, cause);
}

/** The failure that an answer is; null where it is none. */
export function refusalOf(answer: Answer, asked: Asked): GitHubError | null {
  const { status } = answer;
  if (status >= 200 && status < 300) return null;
  const kind = kindOf(answer);
  const said = messageOf(answer.body);
  const what = `GitHub answered ${status}${said === '' ? '' : ` (${said})`} to ${name(asked)}.`;
  return new GitHubError(kind, `${what} ${fixFor(kind, answer, asked)}`.trim(), { status });
}

/** The failure that a GraphQL answer of status 200 tells of. */
export function graphqlRefusal(errors: readonly unknown[], asked: Asked): GitHubError {
  const [first] = errors;
  const type = textAt(first, 'type');
  const kind = GRAPHQL_KINDS[type] ?? 'invalid';
  const said = short(textAt(first, 'message'));
  const what = `GitHub refused ${name(asked)}${said === '' ? '' : ` (${said})`}.`;
  const nothing = { status: 200, headers: {}, body: new Uint8Array() };
  return new GitHubError(kind, `${what} ${fixFor(kind, nothing, asked)}`.trim(), { status: 200 });
}

const GRAPHQL_KINDS: Readonly<Record<string, GitHubFailure>> = {
  NOT_FOUND: 'not_found',
  FORBIDDEN: 'forbidden',
  INSUFFICIENT_SCOPES: 'forbidden',
  RATE_LIMITED: 'rate_limited',
  SERVICE_UNAVAILABLE: 'unavailable',
  INTERNAL: 'unavailable',
};

function kindOf(answer: Answer): GitHubFailure {
  const { status, headers } = answer;
  if (status === 429) return 'rate_limited';
  if (status === 403) return rateLimitWait(answer) === null ? 'forbidden' : 'rate_limited';
  if (status === 401) return 'unauthorized';
  if (status === 404 || status === 410) return 'not_found';
  // 406 is GitHub's answer for a diff that it finds too large.
  if (status === 406 || status === 413) return 'too_large';
  if (status >= 500 || (status === 408 && headers['location'] === undefined)) return 'unavailable';
  return status >= 300 && status < 400 ? 'not_found' : 'invalid';
}

/** Milliseconds that a rate limit lasts; null where the answer speaks of none. */
function rateLimitWait({ status, headers }: Answer): number | null {
  if (status !== 403 && status !== 429) return null;
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
  if (headers['x-ratelimit-remaining'] !== '0') return null;
  // By GitHub's own clock, which the one of this machine need not agree with.
  const wait = Number(headers['x-ratelimit-reset']) * 1_000 - Date.parse(headers['date'] ?? '');
  return Number.isFinite(wait) ? Math.max(1_000, wait) : Number.POSITIVE_INFINITY;
}

function fixFor(kind: GitHubFailure, answer: Answer, asked: Asked): string {
  switch (kind) {
    case 'unauthorized':
      return asked.signedIn
        ? 'The token is wrong or no longer valid: see the input github-token.'
        : 'No token was given: see the input github-token.';
    case 'forbidden': {
      const needs = asked.needs ?? permissionOf(answer.headers['x-accepted-github-permissions'] ?? '');
      const give = needs === null ? 'the permission for this' : `\`permissions: ${needs}\``;
      return `Give the job ${give}; the token of a pull request from a fork can only read, whatever the workflow gives.`;
    }
    case 'not_found':
      return asked.needs === null
        ? 'It is not there, or the token may not see it.'
        : `It is not there, or the token may not see it: the job needs \`permissions: ${asked.needs}\`.`;
    case 'rate_limited': {
      const wait = rateLimitWait(answer) ?? Number.POSITIVE_INFINITY;
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

/** `issues=write; pull_requests=write` are alternatives, `contents=read, statuses=write` are needed together. */
function permissionOf(header: string): string | null {
  const alternatives = header.split(';').map((each) => each.trim());
  const chosen = alternatives.find((each) => each.startsWith('pull_requests=')) ?? alternatives[0] ?? '';
  const permissions = chosen.split(',').map((each) => /^([a-z_]{1,40})=(read|write)$/u.exec(each.trim()));
  const words = permissions.map((match) => match && `${match[1]?.replaceAll('_', '-')}: ${match[2]}`);
  return words.includes(null) ? null : words.join(', ');
}

function messageOf(body: Uint8Array): string {
  try {
    const data: unknown = JSON.parse(new TextDecoder().decode(body));
    const errors = member(data, 'errors');
    const details = (Array.isArray(errors) ? errors : []).slice(0, 3).map(detailOf);
    return short([textAt(data, 'message'), ...details].filter((each) => each !== '').join(': '));
  } catch {
    return '';
  }
}

function detailOf(error: unknown): string {
  if (typeof error === 'string') return error;
  return textAt(error, 'message') || `${textAt(error, 'field')} ${textAt(error, 'code')}`.trim();
}

/** GitHub's own words on one short line. */
function short(said: string): string {
  const line = said
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/u, '');
  return truncate(line, MAX_MESSAGE);
}

function systemCode(error: unknown): string {
  const code = member(error, 'code') ?? member(member(error, 'cause'), 'code');
  return typeof code === 'string' && /^[A-Z0-9_]{1,40}$/u.test(code) ? ` (${code})` : '';
}

function name({ method, route }: Asked): string {
  return `${method} ${route}`;
}
