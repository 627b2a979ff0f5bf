/** Checks that the job which merges the verdicts of a matrix always runs: a required check that is skipped passes. */
import { messageOf } from '../../errors.ts';
import { MERGE_NAMES, parseMergeConfig } from '../../merge/config.ts';
import { MERGED } from './outputs.ts';
import { MERGE, refused } from './rules.ts';
import { readInputs } from './step.ts';
import { type Place, RUNS_ANYHOW, type Step, textAt } from './workflow.ts';

export function checkMerge(place: Place): void {
  const { workflow, job, step } = place;
  const { report } = workflow;
  step.outputs = MERGED;
  const { given, unknown } = readInputs(place, MERGE_NAMES);
  for (const error of parseMergeConfig(given, { unknown }).problems)
    report(step.node, ['with', error.input ?? ''], refused('input', messageOf(error)));
  if (workflow.isComposite) return;
  const condition = textAt(job.node, 'if') ?? '';
  const isAlways = (text: string) => /^(?:\$\{\{)?always\(\)(?:\}\})?$/iu.test(text.replaceAll(/\s/gu, ''));
  if (job.needs.length > 0 && !isAlways(condition))
    report(job.node, ['if'], MERGE.skipped(RUNS_ANYHOW.test(condition)));
  if (!isAlways(textAt(step.node, 'if') ?? 'always()')) report(step.node, ['if'], MERGE.skipped(true));
  const isLeg = ({ part, node }: Step) => part === 'run' && textAt(node, 'with', 'leg') !== null;
  const legs = workflow.jobs.find(({ steps }) => steps.some(isLeg));
  if (job.needs.length === 0 && legs !== undefined) report(job.node, ['needs'], MERGE.early(legs.id));
}
