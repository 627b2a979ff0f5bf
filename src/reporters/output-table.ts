/** The outputs that every ending has: action.yml and merge/action.yml declare them from this table, and runs write them by it. */
import type { Merged } from '../merge/types.ts';
import { isMerge } from './merge-words.ts';
import type { Report } from './report-types.ts';

/** One output about a run or a merge. */
export interface RunOutput {
  readonly name: string;
  /** What it says of a run, in one sentence; null where a run has none. */
  readonly ofRun: string | null;
  /** What it says of a merge, in one sentence; null where a merge has none: it asks no model and touches no file. */
  readonly ofMerge: string | null;
  /** Empty where it does not apply. */
  readonly value: (report: Report) => string;
}

const PLAIN_MODEL = /^[\w.:/@+-]{1,200}$/;

/** In the order in which they are declared and written. */
export const RUN_OUTPUTS: readonly RunOutput[] = [
  {
    name: 'run-tally',
    ofRun: null,
    ofMerge:
      'How many legs pass, fail and abstain, and how many were expected, as JSON; empty where the merge failed before it could count.',
    value: ({ merged }) => tallyJson(merged ?? null),
  },
  {
    name: 'run-conclusion',
    ofRun: 'How the run ended: success, failure, inconclusive or skipped (see on-missing-key).',
    ofMerge: 'How the merge ended: success, failure or inconclusive.',
    value: ({ verdict }) => verdict.conclusion,
  },
  {
    name: 'run-reason',
    ofRun: 'Why it ended so, for example accepted, gate_not_met, plain_text, max_turns or config.',
    ofMerge: 'Why it ended so: accepted, gate_not_met, undecided, config, cancelled and the like.',
    value: ({ verdict }) => verdict.reason,
  },
  {
    name: 'run-exit-code',
    ofRun: 'The exit code of the step.',
    ofMerge: 'The exit code of the step.',
    value: ({ verdict }) => String(verdict.exitCode),
  },
  {
    name: 'run-gate',
    ofRun: 'met, not_met or none; empty where no payload was accepted.',
    ofMerge: 'met or not_met; empty where no verdict was reached.',
    value: ({ gate }) => gate?.status ?? '',
  },
  {
    name: 'run-turns',
    ofRun: 'How many model calls gave an answer.',
    ofMerge: 'How many model calls gave an answer, in all legs together.',
    value: ({ turnCount }) => String(turnCount),
  },
  {
    name: 'run-rejections',
    ofRun: 'How many calls of structured_output did not satisfy the schema.',
    ofMerge: 'How many calls of structured_output did not satisfy the schema, in all legs together.',
    value: ({ rejections }) => String(rejections),
  },
  {
    name: 'run-input-tokens',
    ofRun: 'The tokens read by the model, cached ones included.',
    ofMerge: 'The tokens read by the models, cached ones included.',
    value: ({ usage }) => String(usage.inputTokens),
  },
  {
    name: 'run-output-tokens',
    ofRun: 'The tokens written by the model.',
    ofMerge: 'The tokens written by the models.',
    value: ({ usage }) => String(usage.outputTokens),
  },
  {
    name: 'run-cost-usd',
    ofRun: "The cost in US dollars; empty when the model's price is not known.",
    ofMerge: 'The cost of all legs in US dollars; empty when one of them is not known.',
    value: ({ costUsd }) => (costUsd === null ? '' : decimal(costUsd, 6)),
  },
  {
    name: 'run-duration-seconds',
    ofRun: 'The wall clock of the run in seconds.',
    ofMerge: 'The wall clock of the merge itself in seconds.',
    value: ({ durationMs }) => decimal(durationMs / 1000, 3),
  },
  {
    name: 'run-model',
    ofRun: 'The model that was asked.',
    ofMerge: 'The models that were asked, separated by commas.',
    value: (report) => (isMerge(report) ? plainModels(report.merged ?? null) : report.model),
  },
  {
    name: 'run-sandbox',
    ofRun: 'What stood between the shell and the machine: bwrap, sudo-bwrap, unshare, sudo-unshare or none.',
    ofMerge: null,
    value: ({ isolation }) => isolation,
  },
  {
    name: 'run-changed-files',
    ofRun: 'How many files the agent changed; empty when that is not known.',
    ofMerge: null,
    value: ({ changedFiles }) => (changedFiles === null ? '' : String(changedFiles)),
  },
  {
    name: 'run-patch-file',
    ofRun: "The path of a patch with the agent's changes; empty when none was kept.",
    ofMerge: null,
    value: ({ patchFile }) => patchFile ?? '',
  },
  {
    name: 'run-result-file',
    ofRun: 'The path of the result envelope, a JSON file.',
    ofMerge: "The path of the merge's own result envelope, a JSON file.",
    value: ({ resultFile }) => resultFile ?? '',
  },
  {
    name: 'run-transcript-file',
    ofRun: 'The path of the redacted transcript.',
    ofMerge: null,
    value: ({ transcriptFile }) => transcriptFile ?? '',
  },
  {
    name: 'run-comment-url',
    ofRun: 'The address of the comment on the pull request; empty where there is none.',
    ofMerge: 'The address of the comment on the pull request; empty where there is none.',
    value: ({ commentUrl }) => commentUrl ?? '',
  },
  {
    name: 'run-reused',
    ofRun:
      'true where an earlier verdict on the same files by the same judge and model stands for this run and no model was asked (see reuse-from), else false.',
    ofMerge: null,
    value: ({ reuse }) => String((reuse?.from ?? null) !== null),
  },
];

/** Files of other jobs name these models, and workflows put outputs into scripts: only names that mean nothing there. */
function plainModels(merged: Merged | null): string {
  return (merged?.models ?? []).filter((model) => PLAIN_MODEL.test(model)).join(', ');
}

/** Empty where a merge failed before it could count. */
function tallyJson(merged: Merged | null): string {
  if (merged === null) return '';
  const { pass, fail, abstain, expected } = merged.tally;
  return JSON.stringify({ pass, fail, abstain, expected });
}

/** A plain decimal number, never an exponent, without trailing zeros. */
function decimal(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.?0+$/, '');
}
