/** Step outputs, which later steps of the workflow read. */
import { randomUUID } from 'node:crypto';
import { EOL } from 'node:os';
import path from 'node:path';
import { InputError, messageOf } from '../errors.ts';
import { appendWithoutWaiting } from '../files/private-file.ts';
import { coverageShare } from '../text/figures.ts';
import { DISPLAY } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import { shellSafeJson, singleLine } from '../text/sanitize.ts';
import type { Report, RunOutput } from './report-types.ts';

/** Bytes of a job output, and of one for a property: a shell cannot hold 128 KiB in one variable. */
const MAX_OUTPUT = 1024 ** 2;
const MAX_PROPERTY = 64 * 1024;

/** The files in the results folder of a run. */
export const RESULT_FILES = {
  result: 'result.json',
  transcript: 'transcript.jsonl',
  sarif: 'findings.sarif',
  patch: 'changes.patch',
  page: 'report.html',
} as const;

/** The outputs about a run, in the order in which they are declared and written. */
export const RUN_OUTPUTS: Readonly<Record<string, RunOutput>> = {
  'run-conclusion': {
    description: 'How the run ended: success, failure, inconclusive or skipped.',
    value: ({ verdict }) => verdict.conclusion,
  },
  'run-reason': {
    description: 'Why it ended so, for example accepted, gate_not_met, plain_text, max_turns or config.',
    value: ({ verdict }) => verdict.reason,
  },
  'run-exit-code': {
    description: 'The exit code of the step.',
    value: ({ verdict }) => String(verdict.exitCode),
  },
  'run-turns': {
    description: 'The number of model calls that gave an answer.',
    value: ({ turnCount }) => String(turnCount),
  },
  'run-input-tokens': {
    description: 'The tokens that the model read, cached ones included.',
    value: ({ usage }) => String(usage.inputTokens),
  },
  'run-output-tokens': {
    description: 'The tokens that the model wrote.',
    value: ({ usage }) => String(usage.outputTokens),
  },
  'run-cost-usd': {
    description: "The cost in US dollars; empty if the model's price is not known.",
    value: ({ costUsd }) => (costUsd === null ? '' : decimal(costUsd, 6)),
  },
  'run-sandbox': {
    description: 'The sandbox around the shell: bwrap, unshare or none.',
    value: ({ isolation }) => isolation,
  },
  'run-coverage': {
    description:
      'The share of the required changed files that the model was shown, from 0 to 1; empty if unknown.',
    value: ({ evidence }) => coverageOf(evidence),
  },
  'run-results': {
    description: 'The folder with all files that the run wrote.',
    value: ({ results }) => results ?? '',
  },
  'run-result-file': {
    description: 'The path of the result envelope, a JSON file.',
    value: (report) => resultFile(report, 'result'),
  },
  'run-sarif-file': {
    description: 'The path of the findings as SARIF; empty unless a payload is published.',
    value: (report) => (report.payload === null ? '' : resultFile(report, 'sarif')),
  },
  'run-patch-file': {
    description: "The path of a patch with the agent's changes; empty if there are none.",
    value: ({ patchFile }) => patchFile ?? '',
  },
};

/** Returns the path of a file in the results folder; empty if the run has none. */
function resultFile({ results }: Report, file: keyof typeof RESULT_FILES): string {
  return results === null ? '' : path.join(results, RESULT_FILES[file]);
}

/** Rounds the share down, so that it is 1 only if all was shown. */
function coverageOf(evidence: Report['evidence']): string {
  const share = evidence?.coverage ? coverageShare(evidence.coverage) : null;
  return share === null ? '' : decimal(Math.floor(share * 10_000 + 1e-6) / 10_000, 4);
}

/** Formats a plain decimal number, never with an exponent or trailing zeros. */
function decimal(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.?0+$/, '');
}

const OUTPUT_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/**
 * Returns the outputs of a report by name in writing order, and warnings about omitted ones. All outputs about the run
 * are set however it ends, empty if they do not apply. Those of the payload are set only if it is published:
 * `structured_output`, and one for each of the report's `outputNames` that the payload has.
 */
export function stepOutputs(report: Report) {
  const { payload, outputNames } = report;
  const outputs = new Map<string, string>();
  const warnings: string[] = [];
  const add = (name: string, value: string, limit: number) => {
    const bytes = Buffer.byteLength(value, 'utf8');
    if (bytes <= limit) outputs.set(name, value);
    else
      warnings.push(
        `The output ${singleLine(name, DISPLAY.value)} is left out: it has ${counted(bytes, 'byte')}, and ${counted(limit, 'byte')} are the most. Read it from the file that run-result-file names.`,
      );
  };
  if (payload !== null) {
    add('structured_output', shellSafeJson(payload), MAX_OUTPUT);
    for (const name of outputNames) {
      // The contract allows no other names, but a line break in one could inject outputs, so check again.
      if (!OUTPUT_NAME.test(name) || /^(?:run-|structured_output$)/i.test(name)) continue;
      const value = Object.hasOwn(payload, name) ? payload[name] : undefined;
      if (value !== undefined)
        add(name, typeof value === 'string' ? value : shellSafeJson(value), MAX_PROPERTY);
    }
  }
  for (const [name, { value }] of Object.entries(report.view?.outputs ?? RUN_OUTPUTS))
    outputs.set(name, value(report));
  return { outputs, warnings };
}

/**
 * Appends outputs to the file named by GITHUB_OUTPUT. `setOutput` of @actions/core is not used: it appends each output
 * separately, so that a kill in between leaves only some of a verdict's outputs, and it blocks forever if the file was
 * replaced with a pipe. The `summary` of @actions/core has the same problem.
 * @throws InputError if the file cannot be written.
 */
export function writeOutputs(file: string, outputs: ReadonlyMap<string, string>): void {
  try {
    appendWithoutWaiting(file, formatOutputs(outputs));
  } catch (cause) {
    const why = messageOf(cause);
    throw new InputError(null, `The outputs could not be written to GITHUB_OUTPUT: ${why}.`, { cause });
  }
}

/**
 * Formats outputs as the runner's heredocs. Their delimiter is made after the values, none of which can contain it. The
 * runner expects the platform's line endings: with others, a trailing `\r` of a value would be lost on Windows.
 */
export function formatOutputs(outputs: ReadonlyMap<string, string>, eol: string = EOL): string {
  const end = `end_${randomUUID()}`;
  return [...outputs].map(([name, value]) => [`${name}<<${end}`, value, end, ''].join(eol)).join('');
}
