/** Whether the verdicts of the legs come to where a merge looks for them. */
import { doubtful, type Findings } from './finding.ts';
import { isUse } from './merge-job.ts';
import type { MergeStepInputs } from './merge-step.ts';
import { type Job, placeOf, type Step, type Workflow, withOf } from './workflow.ts';
import { textAt } from './yaml-file.ts';

/** The one folder beside the checkout that every runner has. */
const TEMP = '${{runner.temp}}';

/** Holds folder and artifacts of the downloads in a merge's job against what the merge reads and the legs upload. */
export function checkDownload(
  workflow: Workflow,
  merge: Job,
  step: Step,
  inputs: MergeStepInputs,
  findings: Findings,
): void {
  const downloads = merge.steps.filter(
    (each) => each.index < step.index && isUse(each, 'actions/download-artifact'),
  );
  const [first] = downloads;
  // By other means it may come to anywhere.
  if (merge.steps.some(({ node }) => textAt(node, 'run') !== null)) return;
  if (first === undefined) {
    const before = merge.steps.filter(({ index }) => index < step.index);
    if (before.every(bringsNothing))
      findings.add(placeOf(workflow.file, step.node, step.start, 'with', 'verdicts'), nowhere);
    return;
  }
  const at = (owner: Step, key: string) => placeOf(workflow.file, owner.node, owner.start, 'with', key);
  const verdicts = withOf(step, 'verdicts');
  const folders = downloads.map((each) => withOf(each, 'path'));
  if (inputs.get('verdicts') !== null && verdicts !== null && !folders.some((each) => meets(each, verdicts)))
    findings.add(at(step, 'verdicts'), elsewhere);
  const uploads = workflow.jobs
    .filter(({ id }) => merge.needs.includes(id))
    .flatMap(({ steps }) => steps.filter((each) => isUse(each, 'actions/upload-artifact')));
  const names = uploads.map((each) => withOf(each, 'name'));
  // What is no archive bears the name of its file.
  const bare = uploads.some((each) => withOf(each, 'archive') === 'false');
  const one = withOf(first, 'name');
  const isFound = one === null || one.includes('${{') || names.some((each) => isNamed(each, one));
  if (downloads.length === 1 && names.length > 0 && !bare && !isFound)
    findings.add(at(first, 'name'), unnamed);
  for (const download of downloads) {
    const pattern = withOf(download, 'pattern');
    if (pattern === null || bare || names.length === 0 || names.some((name) => fits(name, pattern))) continue;
    findings.add(at(download, 'pattern'), unmatched);
  }
}

/** Whether a step is known to bring no artifacts. */
function bringsNothing(step: Step): boolean {
  return isUse(step, 'actions/checkout') || (textAt(step.node, 'uses') ?? '').startsWith('actions/setup-');
}

/** Whether one folder is the other or lies in it, or nobody can say; the root of the checkout holds all. */
function meets(download: string | null, verdicts: string): boolean {
  const [one, other] = [plain(download ?? ''), plain(verdicts)];
  if ([one, other].some((each) => each.replace(TEMP, '').includes('${{'))) return true;
  return one === '' || one === other || other.startsWith(`${one}/`) || one.startsWith(`${other}/`);
}

function plain(folder: string): string {
  return folder
    .replace(
      /\$\{\{((?:(?!\$\{\{|\}\}).)*)\}\}/gu,
      (_, inner: string) => `\${{${inner.trim().toLowerCase()}}}`,
    )
    .replace(/^\$\{\{github\.workspace\}\}\/?/u, '')
    .replace(/^(?:\.\/+)+|(?<!\/)\/+$/gu, '')
    .replace(/^\.$/u, '');
}

/** Whether a name and a pattern may begin alike: before the first expression, and the first wildcard. */
function fits(name: string | null, pattern: string): boolean {
  const [one = ''] = (name ?? 'artifact').split('${{');
  const [other = ''] = pattern.split(/[*?[{!(]|\$\{\{/u);
  return one.startsWith(other) || other.startsWith(one);
}

/** Whether a name may come to be this one. */
function isNamed(name: string | null, wanted: string): boolean {
  const [start = '', ...others] = (name ?? 'artifact').split('${{');
  return others.length === 0 ? start === wanted : wanted.startsWith(start);
}

const elsewhere = doubtful(
  'merge-folder',
  'No step before this one downloads into this folder, so that the merge finds nothing (52).',
  'Give actions/download-artifact the same path.',
);

const nowhere = doubtful(
  'merge-folder',
  'No step before this one downloads anything, so that the merge finds no verdict (52).',
  'Download the artifacts of the legs with actions/download-artifact before it.',
);

const unnamed = doubtful(
  'merge-pattern',
  'No artifact of the jobs that this one needs has this name, so that nothing is downloaded.',
  'Give a pattern that the names of the uploads begin with.',
);

const unmatched = doubtful(
  'merge-pattern',
  'No artifact of the jobs that this one needs begins like this pattern, so that nothing is downloaded.',
  'Correct the pattern, or the name of the upload.',
);
