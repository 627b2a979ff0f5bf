/** The outputs that every ending has: action.yml declares them from this table, and runs write them by it. */
import type { RunOutput } from './report-types.ts';

/** In the order in which they are declared and written. */
export const RUN_OUTPUTS: readonly RunOutput[] = [
  {
    name: 'run-conclusion',
    description: 'How the run ended: success, failure, inconclusive or skipped (see on-missing-key).',
    value: ({ verdict }) => verdict.conclusion,
  },
  {
    name: 'run-reason',
    description: 'Why it ended so, for example accepted, gate_not_met, plain_text, max_turns or config.',
    value: ({ verdict }) => verdict.reason,
  },
  {
    name: 'run-exit-code',
    description: 'The exit code of the step.',
    value: ({ verdict }) => String(verdict.exitCode),
  },
  {
    name: 'run-gate',
    description: 'met, not_met or none; empty where no payload was accepted.',
    value: ({ gate }) => gate?.status ?? '',
  },
  {
    name: 'run-turns',
    description: 'How many model calls gave an answer.',
    value: ({ turnCount }) => String(turnCount),
  },
  {
    name: 'run-rejections',
    description: 'How many calls of structured_output did not satisfy the schema.',
    value: ({ rejections }) => String(rejections),
  },
  {
    name: 'run-input-tokens',
    description: 'The tokens read by the model, cached ones included.',
    value: ({ usage }) => String(usage.inputTokens),
  },
  {
    name: 'run-output-tokens',
    description: 'The tokens written by the model.',
    value: ({ usage }) => String(usage.outputTokens),
  },
  {
    name: 'run-cost-usd',
    description: "The cost in US dollars; empty when the model's price is not known.",
    value: ({ costUsd }) => (costUsd === null ? '' : decimal(costUsd, 6)),
  },
  {
    name: 'run-duration-seconds',
    description: 'The wall clock of the run in seconds.',
    value: ({ durationMs }) => decimal(durationMs / 1000, 3),
  },
  {
    name: 'run-model',
    description: 'The model that was asked.',
    value: ({ model }) => model,
  },
  {
    name: 'run-sandbox',
    description:
      'What stood between the shell and the machine: bwrap, sudo-bwrap, unshare, sudo-unshare or none.',
    value: ({ isolation }) => isolation,
  },
  {
    name: 'run-changed-files',
    description: 'How many files the agent changed; empty when that is not known.',
    value: ({ changedFiles }) => (changedFiles === null ? '' : String(changedFiles)),
  },
  {
    name: 'run-patch-file',
    description: "The path of a patch with the agent's changes; empty when none was kept.",
    value: ({ patchFile }) => patchFile ?? '',
  },
  {
    name: 'run-result-file',
    description: 'The path of the result envelope, a JSON file.',
    value: ({ resultFile }) => resultFile ?? '',
  },
  {
    name: 'run-transcript-file',
    description: 'The path of the redacted transcript.',
    value: ({ transcriptFile }) => transcriptFile ?? '',
  },
  {
    name: 'run-comment-url',
    description: 'The address of the comment on the pull request; empty where there is none.',
    value: ({ commentUrl }) => commentUrl ?? '',
  },
  {
    name: 'run-reused',
    description:
      'true where an earlier verdict on the same files by the same judge and model stands for this run and no model was asked (see reuse-from), else false.',
    value: ({ reuse }) => String((reuse?.from ?? null) !== null),
  },
];

/** A plain decimal number, never an exponent, without trailing zeros. */
function decimal(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.?0+$/, '');
}
