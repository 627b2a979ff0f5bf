/** Which of its own judge's files a pull request changes. */
import { realpathSync } from 'node:fs';
import nodePath from 'node:path';
import type { JudgeChange } from '../types.ts';
import type { ListChangedFiles } from './changed-files.ts';
import type { EventFacts } from './event.ts';
import { repositoryPath } from './judge-files.ts';

/** A file that judges, as it was typed. */
export interface JudgeFile {
  readonly what: Exclude<JudgeChange['what'], 'workflow'>;
  readonly path: string;
}

/** The world of the question. */
export interface JudgeChangesOptions {
  readonly event: EventFacts;
  /** null where there is no token. */
  readonly changed: ListChangedFiles | null;
  readonly workspace: string;
  readonly trusted: 'workspace' | 'base';
  /** GITHUB_WORKFLOW_REF: `owner/name/path@ref`; empty where the runner does not tell. */
  readonly workflowRef: string;
}

/** The judge's files among the changed ones; none where that cannot be known. Never rejects. */
export async function findJudgeChanges(
  files: readonly JudgeFile[],
  options: JudgeChangesOptions,
): Promise<readonly JudgeChange[]> {
  const changed = await options.changed?.().catch(() => null);
  if (changed === null || changed === undefined) return [];
  const paths = new Set(changed.flatMap(({ path, previous }) => [path, previous]));
  const applied = options.trusted === 'workspace';
  const judges: JudgeChange[] = [];
  for (const { what, path } of files) {
    for (const name of namesOf(path, options.workspace)) judges.push({ what, path: name, applied });
  }
  const workflow = workflowPath(options);
  if (workflow !== null) judges.push({ what: 'workflow', path: workflow, applied: true });
  return judges.filter(({ path }) => paths.has(path));
}

/** The file, and the one that a symbolic link leads to: whoever changes that one changes the judge. */
function namesOf(file: string, workspace: string): ReadonlySet<string> {
  const paths = [file];
  try {
    paths.push(realpathSync(nodePath.resolve(workspace, file)));
  } catch {
    // It is not there: the base's judges, or the run has ended over it.
  }
  return new Set(paths.flatMap((each) => repositoryPath(each, workspace) ?? []));
}

/** The workflow, where the pull request brings its own; other events run the base's. */
function workflowPath({ event, workflowRef }: JudgeChangesOptions): string | null {
  const prefix = `${event.repository}/`;
  if (event.name !== 'pull_request' && event.name !== 'merge_group') return null;
  if (event.repository === '' || !workflowRef.startsWith(prefix)) return null;
  return workflowRef.slice(prefix.length).replace(/@[^@]*$/u, '');
}
