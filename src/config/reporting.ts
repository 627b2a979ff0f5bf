/** The inputs that runs and merges share: where a verdict appears, and the key that signs it. */
import { InputError } from '../errors.ts';
import type { InputReader } from './values.ts';

/** Characters of a signing key: 32 hexadecimal digits are 128 bits. */
const MIN_SIGNING_KEY = 32;

export interface Reporting {
  /** The secret that signs envelopes, never printed; null for none. */
  readonly signingKey: string | null;
  readonly summary: boolean;
  readonly comment: 'off' | 'always' | 'on-failure';
  /** Distinguishes comments of several steps; null for the entry's default. */
  readonly commentKey: string | null;
  /** The name of the commit status; null for none. */
  readonly commitStatus: string | null;
  readonly githubToken: string | null;
}

type ReportingName = 'summary' | 'comment' | 'comment-key' | 'commit-status' | 'github-token' | 'signing-key';

export function readReporting(reader: InputReader<ReportingName>): Reporting {
  return {
    signingKey: readSigningKey(reader),
    summary: reader.boolean('summary', true),
    comment: reader.choice('comment', ['off', 'always', 'on-failure'], 'off'),
    commentKey: reader.line('comment-key', 10_000),
    commitStatus: reader.line('commit-status', 255),
    githubToken: reader.text('github-token'),
  };
}

function readSigningKey(reader: InputReader<'signing-key'>): string | null {
  const key = reader.text('signing-key');
  if (key === null || key.length >= MIN_SIGNING_KEY) return key;
  const advice = 'so it could be guessed. Make one with: openssl rand -hex 32';
  reader.add(new InputError('signing-key', `It has fewer than ${MIN_SIGNING_KEY} characters, ${advice}`));
  return null;
}

/**
 * Returns the key of the comment. The input's default contains workflow, job, matrix and step, but nothing about the event
 * or run, so that the next run finds the same comment.
 */
export function verdictKey(
  environment: Readonly<Record<string, string | undefined>>,
  { commentKey }: Pick<Reporting, 'commentKey'>,
): string {
  const names = ['GITHUB_WORKFLOW', 'GITHUB_JOB', 'GITHUB_ACTION'];
  return (
    commentKey ?? names.map((name) => (environment[name] ?? '').trim().replace(/\s+/gu, ' ')).join(' / ')
  );
}
