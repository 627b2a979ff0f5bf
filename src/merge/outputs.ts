/** The outputs of the merge action: merge/action.yml declares them from this table, and merges write them by it. */
import { RUN_OUTPUTS } from '../reporters/outputs.ts';
import type { RunOutput } from '../reporters/report-types.ts';
import type { Merged } from './types.ts';

/** Outputs that a merge has in common with a run, which has more of them: a merge asks no model and touches no file. */
const SHARED: Readonly<Record<string, string>> = {
  'run-conclusion': 'How the merge ended: success, failure or inconclusive.',
  'run-reason': 'Why it ended so: accepted, gate_not_met, undecided, config, cancelled and the like.',
  'run-exit-code': 'The exit code of the step.',
  'run-gate': 'met or not_met; empty where no verdict was reached.',
  'run-turns': 'How many model calls gave an answer, in all legs together.',
  'run-rejections': 'How many calls of structured_output did not satisfy the schema, in all legs together.',
  'run-input-tokens': 'The tokens read by the models, cached ones included.',
  'run-output-tokens': 'The tokens written by the models.',
  'run-cost-usd': 'The cost of all legs in US dollars; empty when one of them is not known.',
  'run-duration-seconds': 'The wall clock of the merge itself in seconds.',
  'run-model': 'The models that were asked, separated by commas.',
  'run-result-file': "The path of the merge's own result envelope, a JSON file.",
  'run-comment-url': 'The address of the comment on the pull request; empty where there is none.',
};
const TALLY =
  'How many legs pass, fail and abstain, and how many were expected, as JSON; empty where the merge failed before it could count.';
const PLAIN_MODEL = /^[\w.:/@+-]{1,200}$/;

/** The outputs of a merge, in the order in which they are declared and written; null where it failed before it could count. */
export function mergeOutputs(merged: Merged | null): readonly RunOutput[] {
  const tally = { name: 'run-tally', description: TALLY, value: () => tallyJson(merged) };
  const shared = RUN_OUTPUTS.flatMap(({ name, value }) => {
    const description = SHARED[name];
    const own = name === 'run-model' ? () => plainModels(merged) : value;
    return description === undefined ? [] : [{ name, description, value: own }];
  });
  return [tally, ...shared];
}

/** Files of other jobs name these models, and workflows put outputs into scripts: only names that mean nothing there. */
function plainModels(merged: Merged | null): string {
  return (merged?.models ?? []).filter((model) => PLAIN_MODEL.test(model)).join(', ');
}

function tallyJson(merged: Merged | null): string {
  if (merged === null) return '';
  const { pass, fail, abstain, expected } = merged.tally;
  return JSON.stringify({ pass, fail, abstain, expected });
}
