/** Checks that the job which merges the verdicts of a matrix always runs: a required check that is skipped passes. */
import { messageOf } from '../../errors.ts';
import { MERGE_NAMES, parseMergeConfig } from '../../merge/config.ts';
import { MERGED } from './outputs.ts';
import { MERGE_JOB, refused } from './rules.ts';
import { readStepInputs } from './step.ts';
import { type Place, RUNS_ANYHOW, type StepNode, scalarAt } from './workflow.ts';

export function checkMerge(place: Place): void {
  const { workflow, job, step } = place;
  const { report } = workflow;
  step.outputs = MERGED;
  const { given, unknown } = readStepInputs(place, MERGE_NAMES);
  for (const error of parseMergeConfig(given, { unknown }).problems)
    report(step.node, ['with', error.input ?? ''], refused('input', messageOf(error)));
  if (workflow.isComposite) return;
  const condition = scalarAt(job.node, 'if') ?? '';
  const isAlways = (text: string) => /^(?:\$\{\{)?always\(\)(?:\}\})?$/iu.test(text.replaceAll(/\s/gu, ''));
  if (job.needs.length > 0 && !isAlways(condition))
    report(job.node, ['if'], MERGE_JOB.skipped(RUNS_ANYHOW.test(condition)));
  if (!isAlways(scalarAt(step.node, 'if') ?? 'always()')) report(step.node, ['if'], MERGE_JOB.skipped(true));
  const isLeg = ({ part, node }: StepNode) => part === 'run' && scalarAt(node, 'with', 'leg') !== null;
  const legs = workflow.jobs.find(({ steps }) => steps.some(isLeg));
  if (job.needs.length === 0 && legs !== undefined) report(job.node, ['needs'], MERGE_JOB.early(legs.id));
}
