/** The rules of `check`: id, severity, message and fix of each. Everything else about a rule is in the file that uses it. */
import { DISPLAY } from '../../text/limits.ts';
import { joinWithOr, quote } from '../../text/messages.ts';
import { didYouMean } from '../flags.ts';

export interface Fault {
  /** `error` for what certainly goes wrong, `warning` for everything else. */
  readonly severity: 'error' | 'warning';
  /** The kind of finding, in kebab-case; stable. */
  readonly rule: string;
  readonly message: string;
  readonly fix: string;
}

const error = faultOf('error');
export const warning = faultOf('warning');

function faultOf(severity: Fault['severity']) {
  return (rule: string, message: string, fix: string): Fault => ({ severity, rule, message, fix });
}

export function soften(fault: Fault): Fault {
  return { ...fault, severity: 'warning' };
}

/** Splits the message of an error thrown on purpose: its first sentence names the problem, the rest is the fix. */
export function refused(rule: string, text: string): Fault {
  const [, first = text, rest = 'Correct it, or take it out.'] =
    /^(.+?[.?!]) (?=\p{Lu})(.+)$/su.exec(text) ?? [];
  return error(rule, first, rest);
}

const name = (text: string) => quote(text, DISPLAY.name);

/** Rules for the inputs of a step, and for the files that they name. */
export const INPUT = {
  notText: (input: string) =>
    error('input', `${input} is a list or a mapping, and an input is a text.`, 'Write the lines below a |.'),
  unknown: (input: string, near: readonly string[]) =>
    error(
      'unknown-input',
      `There is no input ${name(input)}.`,
      near.length === 0 ? 'Remove it.' : `Did you mean ${joinWithOr(near)}?`,
    ),
  noCheckout: (input: string) =>
    error(
      'missing-file',
      `${input} names a file of the repository, and no step before this one checks it out.`,
      'Put actions/checkout before it, with persist-credentials: false.',
    ),
  secret: (input: string) =>
    error(
      'secret-in-file',
      `${input} is written out, and everybody who can read the repository can read it.`,
      `Revoke it, and write \${{ ${input === 'github-token' ? 'github.token' : 'secrets.NAME'} }}.`,
    ),
} as const;

/** Rules for the job and the triggers around a step. */
export const JOB = {
  permission: (input: string, right: string) =>
    error(
      'missing-permission',
      `${input} is set, and the permissions of this job do not include ${right}.`,
      `Add ${right} to permissions.`,
    ),
  refusedOnTrigger: (input: string, event: string) =>
    error(
      'privileged-trigger',
      `${event} runs with the repository's secrets on what strangers wrote, and a run refuses ${input} there.`,
      `Take ${input} out.`,
    ),
  policyInChange: (input: string, event: string) =>
    warning(
      'privileged-trigger',
      `On ${event} the checkout is the change that is judged, and it brings its own ${input}.`,
      'Set trusted-files: base.',
    ),
  noSandbox: (label: string) =>
    error(
      'never-green',
      `The sandbox exists on Linux only, so with sandbox: required this job on ${label} always ends with exit code 44.`,
      'Use runs-on: ubuntu-latest; or sandbox: auto, which takes the shell away.',
    ),
  noTurn: error(
    'never-green',
    'With max-turns: 0 the model is never asked, so the step is always red (53).',
    'Give it some turns, for example 30; -1 means no limit.',
  ),
  forgiven: (isRead: boolean) =>
    (isRead ? warning : error)(
      'continue-on-error',
      `With continue-on-error the job is green whatever the verdict is${isRead ? ', unless a later step sees to it' : ', and nothing reads it'}.`,
      'Take it out, or let a later step fail if steps.ID.outcome is not success.',
    ),
  runsRegardless: (job: string) =>
    warning(
      'runs-regardless',
      `This job runs whatever became of ${name(job)}: red, skipped or without a verdict.`,
      `Add to the condition: && needs.${job}.result == 'success'.`,
    ),
} as const;

/** Rules for the job that merges the verdicts of a matrix. It is the required check, so it must always run. */
export const MERGE_JOB = {
  skipped: (runsAfterRed: boolean) =>
    (runsAfterRed ? warning : error)(
      'merge-skipped',
      `${runsAfterRed ? 'This condition can skip the merge' : 'After a red leg this job is skipped'}, and a required check that is skipped counts as passed.`,
      'Set if: ${{ always() }} on the job, and nothing else: a merge counts what is missing by itself.',
    ),
  early: (job: string) =>
    warning(
      'merge-skipped',
      `This job does not wait for ${name(job)}, whose legs it merges.`,
      `Add needs: ${job}.`,
    ),
} as const;

/** Rules for what is done with the outputs of a step. */
export const OUTPUT = {
  unknown: (output: string, known: readonly string[]) =>
    error(
      'unknown-output',
      `This step has no output ${name(output)}, so it is always empty.`,
      didYouMean(output, known, 'Declare it in the schema.'),
    ),
  ofMatrix: (output: string, job: string) =>
    error(
      'output-of-matrix',
      `${output} comes from a job with a matrix, of which only the outputs of the leg that ended last are kept.`,
      `Ask needs.${job}.result == 'success' instead.`,
    ),
  script: (what: string) =>
    error(
      'text-in-script',
      `${what} is text of a model, and \${{ }} makes it a part of the script, which runs it.`,
      'Hand it over in env: (TEXT: ${{ … }}) and read "$TEXT".',
    ),
  bare: (text: string, output: string, values: readonly string[]) =>
    error(
      'text-as-condition',
      `${text} only asks whether there is a text: '${values.at(-1) ?? '0'}' is one, and counts as true.`,
      `Compare it: ${output} == '${values[0] ?? '0'}'.`,
    ),
  /** @param isLive whether the condition is evaluated although there is no verdict */
  failsOpen: (text: string, output: string, good: string | null, isLive: boolean) =>
    (isLive ? error : warning)(
      'fails-open',
      `${text} is also true without a verdict, because ${output} is empty then${isLive ? '' : '; only the red step before it keeps this from running'}.`,
      good === null ? 'Compare with == and a value.' : `Compare with == and a value: ${output} == '${good}'.`,
    ),
  neverTrue: (text: string, output: string, values: readonly string[]) =>
    error(
      'fails-open',
      `${text} is never true for a verdict: ${output} is a text, ${joinWithOr(values.map((value) => `'${value}'`))}.`,
      `Compare with == and one of its texts: ${output} == '${values[0]}'.`,
    ),
} as const;
