/** Whether the files that a step of the action reads can be there: without a checkout the workspace is empty. */
import path from 'node:path';
import { pathHere } from '../../contract/source.ts';
import { type Fault, wrong } from './finding.ts';
import type { StepInputs } from './step-inputs.ts';
import type { Job, Step } from './workflow.ts';
import { textAt, valueAt } from './yaml-file.ts';

/** Actions that bring no file into the workspace. What any other does is not known. */
const BRINGS_NO_FILE = /^actions\/(?:setup-[\w-]+|create-github-app-token|labeler|upload-artifact)@/iu;

/** Commands that can bring files from elsewhere, or that run what did. */
const BRINGS_FILES =
  /\b(?:git|gh|hub|curl|wget|tar|unzip|cp|mv|rsync|scp|aws|az|gcloud|gsutil|docker|podman|svn|hg|invoke-webrequest)\b/iu;

/** The input of a step that names a file of a checkout which no step makes, with the fault; null where nothing is certain. */
export function missingCheckout(
  job: Job,
  step: Step,
  inputs: StepInputs,
): readonly [input: string, Fault] | null {
  // The base is read by the API. On a runner of one's own an earlier job may have left the files.
  if (inputs.get('trusted-files') !== null && inputs.get('trusted-files') !== 'workspace') return null;
  if (!isHosted(job)) return null;
  const named = (['schema', 'gate', 'prompt-file', 'replay', 'working-directory'] as const).flatMap(
    (input) => {
      const value = inputs.get(input);
      if (typeof value !== 'string') return [];
      const file = input === 'schema' || input === 'gate' ? pathHere(value) : value;
      return file === null || path.posix.resolve('/', file) === '/' ? [] : [{ input, file }];
    },
  );
  const [first] = named;
  if (first === undefined) return null;
  const before = job.steps.filter(({ index }) => index < step.index);
  if (!before.every((each) => bringsNothing(each, path.posix.basename(first.file)))) return null;
  const message = `${first.input} names a file of the repository, and no step before this one checks it out: the run ends with exit code 52.`;
  const fix = 'Add the step - uses: actions/checkout@v5 before it, with persist-credentials: false.';
  return [first.input, wrong('no-checkout', message, fix)];
}

/** Whether the job surely begins in an empty workspace: on a label of a runner that GitHub hosts, outside a container. */
function isHosted({ node }: Job): boolean {
  const label = textAt(node, 'runs-on');
  return (
    label !== null && /^(?:ubuntu|windows|macos)-[\w.-]+$/u.test(label) && valueAt(node, 'container') === null
  );
}

function bringsNothing({ node }: Step, file: string): boolean {
  const uses = textAt(node, 'uses');
  if (uses !== null) return BRINGS_NO_FILE.test(uses);
  const script = textAt(node, 'run') ?? '';
  return !script.includes(file) && !BRINGS_FILES.test(script);
}
