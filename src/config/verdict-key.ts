/** What tells one verdict from the others on the same commit. */
import type { Config } from './config.ts';

/**
 * The key of the comment and the category of the SARIF file: the input, which by default holds workflow, job, matrix and
 * step; nothing of the event or the run, so that the next run finds it again. Leg and vote are added to that default:
 * a key that the user typed stays as it is.
 * @param config null where the inputs could not be read.
 */
export function verdictKey(
  environment: Readonly<Record<string, string | undefined>>,
  config: Pick<Config, 'commentKey' | 'leg' | 'vote'> | null,
): string {
  const [workflow, job, action] = ['GITHUB_WORKFLOW', 'GITHUB_JOB', 'GITHUB_ACTION'].map((name) =>
    (environment[name] ?? '').trim().replace(/\s+/gu, ' '),
  );
  const { commentKey = null, leg = null, vote = null } = config ?? {};
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

/** Whether a key is what the runner made of the default in action.yml: between job and step stands the matrix as JSON. */
function isEvaluated(key: string, start: string, end: string): boolean {
  if (!key.startsWith(start) || !key.endsWith(end) || key.length < start.length + end.length) return false;
  try {
    const matrix: unknown = JSON.parse(key.slice(start.length, key.length - end.length));
    return typeof matrix === 'object';
  } catch {
    return false;
  }
}
