/** The inputs that control where a verdict appears, shared by runs and merges. */
import type { InputReader } from './values.ts';

export interface Reporting {
  readonly summary: boolean;
  readonly comment: 'off' | 'always' | 'on-failure';
  /** Distinguishes comments of several steps; null for the entry's default. */
  readonly commentKey: string | null;
  /** The name of the commit status; null for none. */
  readonly commitStatus: string | null;
  readonly githubToken: string | null;
}

type ReportingName = 'summary' | 'comment' | 'comment-key' | 'commit-status' | 'github-token';

export function readReporting(reader: InputReader<ReportingName>): Reporting {
  return {
    summary: reader.boolean('summary', true),
    comment: reader.choice('comment', ['off', 'always', 'on-failure'], 'off'),
    commentKey: reader.line('comment-key', 10_000),
    commitStatus: reader.line('commit-status', 255),
    githubToken: reader.text('github-token'),
  };
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
