/** Where a verdict appears, as the user wants it: the same inputs for a run and for a merge. */
import type { InputReader } from './values.ts';

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

/** Reads them. */
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

/** What the key of a verdict is made from. */
export interface VerdictKeyInputs extends Pick<Reporting, 'commentKey'> {
  readonly leg: string | null;
  readonly vote: string | null;
}

/**
 * The key of the comment and the category of the SARIF file: the input, which by default holds workflow, job, matrix and
 * step; nothing of the event or the run, so that the next run finds it again. Leg and vote are added to that default:
 * a key that the user typed stays as it is.
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
  // Quoted, so that no name can look like another name and a vote.
  const parts = [
    ['leg', leg],
    ['vote', vote],
  ].flatMap(([word, name]) => (name === null ? [] : [`${word} ${JSON.stringify(name)}`]));
  return [key, ...parts].join(' / ');
}

/** Whether a key is what the runner made of the default in action.yml: between job and step is the matrix as JSON. */
function isEvaluated(key: string, start: string, end: string): boolean {
  if (!key.startsWith(start) || !key.endsWith(end) || key.length < start.length + end.length) return false;
  try {
    const matrix: unknown = JSON.parse(key.slice(start.length, key.length - end.length));
    return typeof matrix === 'object';
  } catch {
    return false;
  }
}
