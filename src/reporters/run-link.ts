/** The pages of a run and of what it judged. */
import type { Subject } from '../types.ts';

/** The page of the run's attempt, which shows its job summaries; null where the subject is none of GitHub's. */
export function runPage(subject: Subject | null, serverUrl: string | null): string | null {
  const home = repositoryPage(subject, serverUrl);
  if (home === null || subject === null || !/^\d{1,30}$/.test(subject.run_id)) return null;
  return `${home}/actions/runs/${subject.run_id}/attempts/${subject.run_attempt}`;
}

/** The page of the judged commit; null where the subject is none of GitHub's. */
export function commitPage(subject: Subject | null, serverUrl: string | null): string | null {
  const home = repositoryPage(subject, serverUrl);
  if (home === null || subject === null || !/^[0-9a-f]{7,64}$/.test(subject.sha)) return null;
  return `${home}/commit/${subject.sha}`;
}

function repositoryPage(subject: Subject | null, serverUrl: string | null): string | null {
  if (subject === null || serverUrl === null || !/^[\w.-]+\/[\w.-]+$/.test(subject.repository)) return null;
  return `${serverUrl.replace(/(?<!\/)\/+$/, '')}/${subject.repository}`;
}
