/** The inputs that control where a verdict appears, shared by runs and merges. */
import { parseOrUndefined } from '../text/json.ts';
import type { InputReader } from './values.ts';

export interface Reporting {
  readonly summary: boolean;
  readonly comment: 'never' | 'always' | 'on-failure';
  /** Distinguishes comments of several steps; null for the entry's default. */
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

export function readReporting(
  reader: InputReader<ReportingName>,
  environment: Readonly<Record<string, string | undefined>>,
): Reporting {
  const usual = environment['RUNNER_DEBUG'] === '1' ? 'full' : 'summary';
  return {
    summary: reader.boolean('summary', true),
    comment: reader.choice('comment', ['never', 'always', 'on-failure'], 'never'),
    commentKey: reader.line('comment-key', 10_000),
    annotations: reader.choice('annotations', ['findings', 'none'], 'findings'),
    sarifFile: reader.text('sarif-file'),
    commitStatus: reader.line('commit-status', 255),
    githubToken: reader.text('github-token'),
    resultFile: reader.text('result-file'),
    logLevel: reader.choice('log-level', ['summary', 'full'], usual),
  };
}

export interface VerdictKeyInputs extends Pick<Reporting, 'commentKey'> {
  readonly leg: string | null;
  readonly vote: string | null;
}

/**
 * Returns the key of the comment and the category of the SARIF file. By default the input contains workflow, job,
 * matrix and step, but nothing about the event or run, so that the next run finds the same comment. Leg and vote are
 * added to that default; a key set by the user is used unchanged.
 */
export function verdictKey(
  environment: Readonly<Record<string, string | undefined>>,
  { commentKey, leg, vote }: VerdictKeyInputs,
): string {
  const [workflow, job, action] = ['GITHUB_WORKFLOW', 'GITHUB_JOB', 'GITHUB_ACTION'].map((name) =>
    (environment[name] ?? '').trim().replace(/\s+/gu, ' '),
  );
  const usual = `${workflow} / ${job} / ${action}`;
  const isDefault = commentKey === null || isEvaluated(commentKey, `${workflow} / ${job} / `, ` / ${action}`);
  const key = commentKey ?? usual;
  if (!isDefault) return key;
  // Quoted, so that no name can look like another name followed by a vote.
  const parts = [
    ['leg', leg],
    ['vote', vote],
  ].flatMap(([word, name]) => (name === null ? [] : [`${word} ${JSON.stringify(name)}`]));
  return [key, ...parts].join(' / ');
}

/** Whether a key is the evaluated default of action.yml, which contains the matrix as JSON between job and step. */
function isEvaluated(key: string, start: string, end: string): boolean {
  if (!key.startsWith(start) || !key.endsWith(end) || key.length < start.length + end.length) return false;
  return typeof parseOrUndefined(key.slice(start.length, key.length - end.length)) === 'object';
}
