/** Where a verdict is told, as the user wants it: the same inputs for a run and for a merge. */
import { readBoolean, readChoice, readName } from './values.ts';

/** The inputs about summary, comment, annotations, files, status and log. */
export interface Reporting {
  readonly summary: boolean;
  readonly comment: 'never' | 'always' | 'on-failure';
  /** What tells one comment from another; null for the entry's own choice. */
  readonly commentKey: string | null;
  readonly annotations: 'findings' | 'none';
  readonly sarifFile: string | null;
  /** The name of the commit status; null for none. */
  readonly commitStatus: string | null;
  readonly githubToken: string | null;
  readonly resultFile: string | null;
  readonly logLevel: 'summary' | 'full';
}

type ReportingName =
  | 'summary'
  | 'comment'
  | 'comment-key'
  | 'annotations'
  | 'sarif-file'
  | 'commit-status'
  | 'github-token'
  | 'result-file'
  | 'log-level';

/** Reads them. @throws InputError that names the input and the fix. */
export function readReporting<N extends string>(
  raw: ReadonlyMap<N | ReportingName, string>,
  environment: Readonly<Record<string, string | undefined>>,
): Reporting {
  const usual = environment['RUNNER_DEBUG'] === '1' ? 'full' : 'summary';
  return {
    summary: readBoolean<N | ReportingName>(raw, 'summary', true),
    comment: readChoice(raw, 'comment', ['never', 'always', 'on-failure']) ?? 'never',
    commentKey: readName<N | ReportingName>(raw, 'comment-key', 10_000),
    annotations: readChoice(raw, 'annotations', ['findings', 'none']) ?? 'findings',
    sarifFile: raw.get('sarif-file') ?? null,
    commitStatus: readName<N | ReportingName>(raw, 'commit-status', 255),
    githubToken: raw.get('github-token') ?? null,
    resultFile: raw.get('result-file') ?? null,
    logLevel: readChoice(raw, 'log-level', ['summary', 'full']) ?? usual,
  };
}
