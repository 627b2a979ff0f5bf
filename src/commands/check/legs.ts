/** The legs that a merge waits for: whether their verdicts reach it. */
import { evaluate } from './evaluate.ts';
import { pathOf } from './expression.ts';
import { doubtful, type Fault, type Findings, wrong } from './finding.ts';
import {
  expectedLegs,
  expectedVotes,
  missingLegs,
  type NamedLeg,
  strangerFault,
  valuesIn,
  votesFault,
  votesIn,
} from './leg-names.ts';
import { countFault, type PlacedLeg, twins, votePrompt } from './leg-sets.ts';
import { keysNotIn } from './matrix.ts';
import { conditionOf, isUse } from './merge-job.ts';
import type { MergeStepInputs } from './merge-step.ts';
import { type Job, judgeSteps, mentions, placeOf, type Step, type Workflow, withOf } from './workflow.ts';
import { textAt, valueAt } from './yaml-file.ts';

/** Looks at the jobs that a merge needs, as far as they judge. */
export function checkLegs(
  workflow: Workflow,
  merge: Job,
  mergeStep: Step,
  inputs: MergeStepInputs,
  findings: Findings,
): void {
  const named: PlacedLeg[] = [];
  const needed = workflow.jobs.filter(({ id }) => merge.needs.includes(id));
  for (const job of needed) {
    const at = (owner: Job | Step, ...keys: readonly string[]) =>
      placeOf(workflow.file, owner.node, owner.start, ...keys);
    let legs = 0;
    for (const step of judgeSteps(job)) {
      const uploads = uploadsOf(job, step);
      // A job before the legs may ask the agent something that is not merged.
      if (uploads.length === 0 && withOf(step, 'leg') === null) continue;
      legs += 1;
      named.push({ ...nameOf(job, step), job, step });
      for (const { key, fault } of legFaults(job, step, inputs)) findings.add(at(step, 'with', key), fault);
      if (uploads.length === 0 && !hasUpload(job, step)) findings.add(at(step, 'with', 'leg'), notUploaded);
      for (const upload of uploads) {
        for (const { keys, fault } of uploadFaults(job, upload)) findings.add(at(upload, ...keys), fault);
      }
    }
    if (legs > 0 && job.hasMatrix && failsFast(job)) findings.add(at(job, 'strategy'), cancelsOthers);
  }
  for (const { leg, fault } of twins(named))
    findings.add(placeOf(workflow.file, leg.step.node, leg.step.start, 'with', 'leg'), fault);
  // The legs of a called workflow stand elsewhere.
  if (needed.some(({ node }) => valueAt(node, 'uses') !== null)) return;
  const place = placeOf(workflow.file, mergeStep.node, mergeStep.start, 'with', 'expect');
  const [missing] = missingLegs(named, expectedLegs(inputs));
  const count = countFault(named, inputs);
  if (missing !== undefined) findings.add(place, nobodyIs(missing));
  if (count !== null) findings.add(place, count);
}

function nameOf(job: Job, step: Step): NamedLeg {
  const [leg, vote] = [withOf(step, 'leg'), withOf(step, 'vote')];
  return {
    names: leg === null ? null : valuesIn(job, leg),
    votes: vote === null ? null : votesIn(job, vote),
  };
}

/** The steps that upload the envelope of a step. */
function uploadsOf(job: Job, step: Step): readonly Step[] {
  const file = withOf(step, 'result-file');
  const name = `steps.${step.id ?? ''}.outputs.run-result-file`;
  return job.steps.filter((each) => {
    if (each.index <= step.index || !isUse(each, 'actions/upload-artifact')) return false;
    const path = withOf(each, 'path') ?? '';
    return (step.id !== null && path.toLowerCase().includes(name)) || (file !== null && path.includes(file));
  });
}

/** Whether anything after a step may upload its envelope: by a path that cannot be followed, or by other means. */
function hasUpload(job: Job, step: Step): boolean {
  return job.steps.some((each) => each.index > step.index && !isOther(each, step) && mayUpload(each));
}

/** Whether a step uploads another file of the same run: the transcript or the patch is no envelope. */
function isOther(upload: Step, { id }: Step): boolean {
  const root = isUse(upload, 'actions/upload-artifact') ? conditionOf(withOf(upload, 'path') ?? '') : null;
  const [context, of, , name] = (root === null ? null : pathOf(root)) ?? [];
  return context === 'steps' && of === id && name !== 'run-result-file';
}

function mayUpload({ node }: Step): boolean {
  return (
    textAt(node, 'run') !== null ||
    (textAt(node, 'uses') ?? '').includes('upload') ||
    mentions(node, 'run-result-file')
  );
}

function legFaults(
  job: Job,
  step: Step,
  inputs: MergeStepInputs,
): readonly { readonly key: string; readonly fault: Fault }[] {
  const faults: { key: string; fault: Fault }[] = [];
  const leg = withOf(step, 'leg');
  const vote = withOf(step, 'vote');
  const own = nameOf(job, step);
  const [stranger, count] = [
    strangerFault(own, expectedLegs(inputs)),
    votesFault(own, expectedVotes(inputs)),
  ];
  if (stranger !== null) faults.push({ key: 'leg', fault: stranger });
  if (count !== null) faults.push({ key: 'vote', fault: count });
  if (leg === null) faults.push({ key: 'leg', fault: nameless });
  const votes = inputs.get('votes');
  if (votes === null && isFixed(leg) && isFixed(vote) && leg !== null && job.hasMatrix)
    faults.push({ key: 'leg', fault: twice });
  if (votes !== null && isFixed(vote) && job.hasMatrix)
    faults.push({ key: vote === null ? 'leg' : 'vote', fault: sameVote });
  const apart = votes === null ? null : votePrompt(step);
  if (apart !== null) faults.push(apart);
  if (withOf(step, 'gate') !== 'none') faults.push({ key: 'gate', fault: redForItsVerdict });
  const [signs, checks] = [withOf(step, 'signing-key') !== null, inputs.get('signing-key') !== null];
  if (checks && !signs) faults.push({ key: 'leg', fault: unsigned });
  if (signs && !checks) faults.push({ key: 'signing-key', fault: unchecked });
  return faults;
}

function uploadFaults(
  job: Job,
  upload: Step,
): readonly { readonly keys: readonly string[]; readonly fault: Fault }[] {
  const faults: { keys: readonly string[]; fault: Fault }[] = [];
  const condition = textAt(upload.node, 'if');
  const root = condition === null ? null : conditionOf(condition);
  if (condition === null || (root !== null && evaluate(root, () => undefined) !== true))
    faults.push({ keys: condition === null ? ['uses'] : ['if'], fault: withoutRed });
  // A file that is no archive bears its own name.
  if (withOf(upload, 'archive') === 'false') return faults;
  const name = withOf(upload, 'name');
  const [shared] = job.hasMatrix && name !== null ? keysNotIn(job, name) : [];
  if (job.hasMatrix && isFixed(name)) faults.push({ keys: ['with', 'name'], fault: oneName });
  else if (shared !== undefined) faults.push({ keys: ['with', 'name'], fault: nameOfSome(shared) });
  else if (!(name ?? '').includes('run_attempt'))
    faults.push({ keys: ['with', 'name'], fault: oneForAttempts });
  return faults;
}

/** Whether a value is the same in every leg of a matrix. */
function isFixed(text: string | null): boolean {
  return text === null || !text.includes('${{');
}

function failsFast({ node }: Job): boolean {
  const text = textAt(valueAt(node, 'strategy'), 'fail-fast');
  return text === null || text === 'true';
}

function nobodyIs(name: string): Fault {
  const message = `No leg that this job needs is named ${JSON.stringify(name.slice(0, 100))}, so it is always missing.`;
  return doubtful('leg-missing', message, 'Correct the name, or add the job to needs.');
}

const nameless = wrong(
  'leg-nameless',
  'This verdict is uploaded for a merge and names no leg: the merge refuses it (52).',
  'Set leg, in a matrix to ${{ matrix.NAME }}.',
);

const twice = doubtful(
  'leg-twice',
  'Every leg of the matrix has this one name, and two verdicts of one leg and vote are refused (52).',
  'Set leg or vote to a value of the matrix.',
);

const sameVote = doubtful(
  'leg-twice',
  'The merge counts several votes a leg, and here every vote has one name.',
  'Set vote to a value of the matrix.',
);

const redForItsVerdict = doubtful(
  'leg-gate',
  'With a gate of its own this leg is red for a verdict too, and is asked again with "Re-run failed jobs".',
  'Set gate: none; the merge gates.',
);

const unsigned = wrong(
  'leg-unsigned',
  'The merge counts signed verdicts only, and this leg signs none.',
  'Set signing-key to the same secret.',
);

const unchecked = doubtful(
  'leg-unchecked',
  'This leg signs its verdict, and the merge does not ask for it: what another job uploads under its name counts.',
  'Set signing-key on the merge, too.',
);

const notUploaded = doubtful(
  'leg-not-uploaded',
  'No later step uploads the verdict of this leg, so that the merge counts it as missing.',
  'Upload steps.ID.outputs.run-result-file with actions/upload-artifact, with if: ${{ always() }}.',
);

const withoutRed = doubtful(
  'leg-not-uploaded',
  'After a red leg nothing is uploaded, and the merge cannot tell why the leg gave no verdict.',
  'Set if: ${{ always() }} on the upload.',
);

const oneName = wrong(
  'artifact-name',
  'Every leg of the matrix uploads under this one name, of which there can be one artifact only.',
  'Put the values of the matrix into the name.',
);

function nameOfSome(key: string): Fault {
  const message = `The legs that differ in matrix.${key} alone upload under one name, of which there can be one artifact only.`;
  return wrong('artifact-name', message, `Put \${{ matrix.${key} }} into the name, too.`);
}

const oneForAttempts = doubtful(
  'leg-upload-once',
  'When the job is run again its artifact has the name of the earlier one: the upload may fail, and of two with one name the earlier may be downloaded.',
  'Put ${{ github.run_attempt }} into the name; the merge takes the later attempt.',
);

const cancelsOthers = doubtful(
  'leg-fail-fast',
  'The first red leg cancels the others, and their verdicts are missing.',
  'Set fail-fast: false.',
);
