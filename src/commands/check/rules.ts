/** The rules for workflows: id, severity, message and fix of each. */
import { DISPLAY } from '../../text/limits.ts';
import { quote } from '../../text/messages.ts';
import { didYouMean, error, type Fault, warning } from './finding.ts';

const name = (text: string) => quote(text, DISPLAY.name);

/** Rules for a step of the action and its job. */
export const STEP = {
  checkout: (input: string) =>
    error(
      'no-checkout',
      `${input} names a file of the repository, and no step before this one checks it out: the run ends with exit code 52.`,
      'Add the step - uses: actions/checkout@v5 before it, with persist-credentials: false.',
    ),
  credentials: warning(
    'persisted-credentials',
    "The checkout keeps the job's token in .git, where commands can read it.",
    'Set persist-credentials: false.',
  ),
  coverageShallow: (event: string) =>
    warning(
      'coverage-unknown',
      `On ${event} git compares the commits, and this checkout has only the last one: what changed is not known, and a run that would be green ends as unsupported.`,
      'Set fetch-depth: 0.',
    ),
  coverageUnknown: (event: string) =>
    warning(
      'coverage-unknown',
      `On ${event} it is not known what changed, and with a share in min-coverage a run that would be green ends as unsupported.`,
      'Set min-coverage: auto, or run this step only for pull requests, merge groups and pushes.',
    ),
  coverageWithoutContext: warning(
    'coverage-unknown',
    'With context: none it is not known what changed, and with a share in min-coverage a run that would be green ends as unsupported.',
    'Take context: none out, or set min-coverage: auto.',
  ),
  emptyPrompt: error('input-prompt-file', 'prompt-file is empty.', 'Write the task into it.'),
  neverRun: warning(
    'never-judged',
    'on-missing-key: skip is set and no api-key: unless the runner has one, nothing is ever judged, and the step is green.',
    'Set api-key to a secret.',
  ),
  noPermissions: (rights: string) =>
    warning(
      'no-permissions',
      "No permissions are named, so the repository's settings decide what the token of this job may do.",
      `Set permissions: ${rights}.`,
    ),
  noVerdict: error(
    'no-verdict',
    'exclude-tools takes structured_output away, the only tool that delivers a verdict, so no run can end with one.',
    'Take structured_output out of exclude-tools.',
  ),
  permission: (input: string, right: string) =>
    error(
      'missing-permission',
      `${input} is set, and the job's token has no right to do it.`,
      `Add ${right} to permissions.`,
    ),
  policyInChange: (input: string) =>
    warning(
      'judge-in-change',
      `${input} is read from the checkout, so the change that is judged brings the rules that it is judged by.`,
      'Set trusted-files: base.',
    ),
  readContents: warning(
    'missing-permission',
    'In a private repository neither a checkout nor a file of the base can be read.',
    'Add contents: read.',
  ),
  readPullRequest: warning(
    'missing-permission',
    'In a private repository the agent is not given title, files and diff of the pull request.',
    'Add pull-requests: read, or set context: none.',
  ),
  secret: (input: string) =>
    error(
      'secret-in-file',
      `${input} is written out, and everybody who can read the repository can read it.`,
      `Revoke it, and write \${{ ${input === 'github-token' ? 'github.token' : 'secrets.NAME'} }}.`,
    ),
  sparePermissions: (who: string, rights: readonly string[]) =>
    warning(
      'spare-permission',
      `The ${who}'s job holds rights that it has no use for: ${rights.join(', ')}.`,
      'Move what needs them into a job of its own.',
    ),
  strangersCode: (event: string) =>
    warning(
      'strangers-code',
      `On ${event} this runs with the repository's secrets after a stranger's code was checked out, without a sandbox.`,
      'Run nothing of the checkout; leave it to the agent, whose shell is sandboxed.',
    ),
  timeout: (limit: number, own: number) =>
    warning(
      'timeout',
      `The runner ends this after ${limit} minutes, and the action has ${own}: it cannot say how it ended.`,
      'Give the runner a few minutes more than the action.',
    ),
  unknownInput: (input: string, near: readonly string[]) =>
    error(
      'unknown-input',
      `There is no input ${name(input)}.`,
      near.length === 0 ? 'Remove it.' : `Did you mean ${near.join(' or ')}?`,
    ),
  unsandboxed: (event: string, takesChange: boolean) =>
    error(
      'open-sandbox',
      `On ${event} the agent works with the repository's secrets on what a stranger wrote, ${takesChange ? "and runs the change's code without a sandbox" : 'without a sandbox'}: the run is refused (52).`,
      'Use sandbox: required.',
    ),
} as const;

/** Rules for the job and the step that merge verdicts. */
export const MERGE = {
  besidesAlways: warning(
    'merge-skipped',
    'What became of the legs can skip this job, and a required check that is skipped counts as passed.',
    'Leave always() alone: a merge counts what is missing by itself.',
  ),
  early: (job: string) =>
    warning(
      'merge-too-early',
      `This job does not wait for ${name(job)}, whose legs it merges.`,
      `Add needs: ${job}.`,
    ),
  folder: warning(
    'merge-folder',
    'No step before this one downloads into this folder, so that the merge finds nothing (52).',
    'Give actions/download-artifact the same path.',
  ),
  noDownload: warning(
    'merge-folder',
    'No step before this one downloads anything, so that the merge finds no verdict (52).',
    'Download the artifacts of the legs with actions/download-artifact before it.',
  ),
  oneFolder: warning(
    'merge-multiple',
    'The result files of all legs have one name, and in one folder each replaces the one before.',
    'Take merge-multiple out: each artifact gets a folder then.',
  ),
  skippedJob: error(
    'merge-skipped',
    'After a red leg this job is skipped, and a required check that is skipped counts as passed.',
    'Set if: ${{ always() }} on the job.',
  ),
  skippedStep: warning(
    'merge-skipped',
    'Where this condition does not hold nothing is merged, and the job is green.',
    'Take it out, and let the job decide.',
  ),
  skippedWhenCancelled: warning(
    'merge-skipped',
    'Where the run is cancelled this job is skipped, and a required check that is skipped counts as passed.',
    'Use always() instead.',
  ),
  ungated: warning(
    'merge-ungated',
    'Every leg with a payload passes here, whatever "passed" says: the gate of the merge is none.',
    'Take it out: then "passed" is asked for. none belongs to the legs.',
  ),
  unknownArtifact: warning(
    'merge-pattern',
    'No artifact of the jobs that this one needs has this name, so that nothing is downloaded.',
    'Give a pattern that the names of the uploads begin with.',
  ),
  unmatchedPattern: warning(
    'merge-pattern',
    'No artifact of the jobs that this one needs begins like this pattern, so that nothing is downloaded.',
    'Correct the pattern, or the name of the upload.',
  ),
} as const;

/** Rules for the legs that a merge waits for. */
export const LEG = {
  /** The text differs for a schema that allows undeclared properties. */
  ungated: (isClosed: boolean) =>
    (isClosed ? error : warning)(
      'leg-ungated',
      'Nothing says whether this leg passes: it has no gate, its schema no property "passed", and the gate of the merge is auto (52).',
      GATE_FIX,
    ),
  undeclaredGate: (isClosed: boolean, gate: string, names: readonly string[]) =>
    (isClosed ? error : warning)(
      'leg-ungated',
      `The gate of the merge wants "${gate}" to be true, which the schema of this leg does not declare: it never passes.`,
      didYouMean(gate, names, GATE_FIX),
    ),
  count: (found: number, expected: number) =>
    (found > expected ? error : warning)(
      'expect-count',
      `The legs leave ${found} envelopes in all, one for each vote, and ${expected} are expected: ${found > expected ? 'what is too many is refused (52)' : 'what is missing abstains'}.`,
      `Write expect: ${found}, or the names of the legs.`,
    ),
  duplicate: (leg: string) =>
    error(
      'leg-twice',
      `Another step has this leg ${name(leg)} and vote too, and two verdicts of one leg and vote are refused (52).`,
      'Give it another leg, or another vote.',
    ),
  failFast: warning(
    'leg-fail-fast',
    'The first red leg cancels the others, and their verdicts are missing.',
    'Set fail-fast: false.',
  ),
  gate: warning(
    'leg-gate',
    'With a gate of its own this leg is red for a verdict too, and is asked again with "Re-run failed jobs".',
    'Set gate: none; the merge gates.',
  ),
  missing: (leg: string) =>
    warning(
      'leg-missing',
      `No leg that this job needs is named ${name(leg)}, so it is always missing.`,
      'Correct the name, or add the job to needs.',
    ),
  nameless: error(
    'leg-nameless',
    'This verdict is uploaded for a merge and names no leg: the merge refuses it (52).',
    'Set leg, in a matrix to ${{ matrix.NAME }}.',
  ),
  notUploaded: warning(
    'leg-not-uploaded',
    'No later step uploads the verdict of this leg, so that the merge counts it as missing.',
    'Upload steps.ID.outputs.run-result-file with actions/upload-artifact, with if: ${{ always() }}.',
  ),
  oneArtifact: error(
    'artifact-name',
    'Every leg of the matrix uploads under this one name, of which there can be one artifact only.',
    'Put the values of the matrix into the name.',
  ),
  oneLeg: warning(
    'leg-twice',
    'Every leg of the matrix has this one name, and two verdicts of one leg and vote are refused (52).',
    'Set leg or vote to a value of the matrix.',
  ),
  oneVote: warning(
    'leg-twice',
    'The merge counts several votes a leg, and here every vote has one name.',
    'Set vote to a value of the matrix.',
  ),
  prompt: error(
    'vote-prompt',
    'Every vote is asked something else here, and votes that were asked different questions are refused (52).',
    'Keep the vote out of it; what should differ is a leg.',
  ),
  sharedArtifact: (key: string) =>
    error(
      'artifact-name',
      `The legs that differ in matrix.${key} alone upload under one name, of which there can be one artifact only.`,
      `Put \${{ matrix.${key} }} into the name, too.`,
    ),
  unchecked: warning(
    'leg-unchecked',
    'This leg signs its verdict, and the merge does not ask for it: what another job uploads under its name counts.',
    'Set signing-key on the merge, too.',
  ),
  unexpected: (leg: string, expected: readonly string[]) =>
    error(
      'leg-unexpected',
      `The merge expects no leg ${name(leg)}, and refuses it (52).`,
      didYouMean(leg, expected, 'Add it to expect.'),
    ),
  unknownKey: (key: string, keys: readonly string[]) =>
    keys.length === 0
      ? error(
          'unknown-matrix-key',
          'This job has no matrix, so what is read of it is always empty.',
          'Give the job a strategy with a matrix, or write a value.',
        )
      : error(
          'unknown-matrix-key',
          `The matrix of this job has no ${name(key)}, so it is always empty.`,
          didYouMean(key, keys, `Its keys are ${keys.join(', ')}.`),
        ),
  unsigned: error(
    'leg-unsigned',
    'The merge counts signed verdicts only, and this leg signs none.',
    'Set signing-key to the same secret.',
  ),
  uploadOnce: warning(
    'leg-upload-once',
    'When the job is run again its artifact has the name of the earlier one: the upload may fail, and of two with one name the earlier may be downloaded.',
    'Put ${{ github.run_attempt }} into the name; the merge takes the later attempt.',
  ),
  uploadSkipped: warning(
    'leg-not-uploaded',
    'After a red leg nothing is uploaded, and the merge cannot tell why the leg gave no verdict.',
    'Set if: ${{ always() }} on the upload.',
  ),
  votes: (found: number, expected: number) =>
    (found > expected ? error : warning)(
      'leg-votes',
      `Here a leg has ${found} votes, and the merge expects ${expected}: ${found > expected ? 'it refuses what is too many (52)' : 'what is missing abstains'}.`,
      'Let votes of the merge say how many there are.',
    ),
} as const;

const GATE_FIX = 'Set gate on the merge to what must hold, for example a boolean property of the schema.';

/** Rules for the use of outputs. */
export const OUTPUT = {
  beforeItRan: (output: string) =>
    error(
      'read-too-early',
      `${output} is read before that step has run, and is empty then.`,
      'Read it in a later step.',
    ),
  conclusionForgiven: (step: string) =>
    error(
      'conclusion-forgiven',
      `steps.${step}.conclusion is always success where continue-on-error is set.`,
      `Read steps.${step}.outcome.`,
    ),
  constant: error(
    'outputs-do-not-count',
    'This condition holds whatever the verdict is.',
    'Join it with && instead of ||, or take the outputs out.',
  ),
  expression: error(
    'expression',
    'This is no expression that GitHub would take, or one too long to be followed.',
    'Look for a quote or a parenthesis that is not closed; texts stand in single quotes. Split a long one.',
  ),
  forgiven: (isRead: boolean) =>
    isRead
      ? warning(
          'continue-on-error',
          'With continue-on-error the job is green whatever the verdict is, unless a later step sees to it.',
          'Take it out, or let a later step fail where steps.ID.outcome is not success.',
        )
      : error(
          'continue-on-error',
          'With continue-on-error the job is green whatever the verdict is, and nothing reads it.',
          'Take it out.',
        ),
  neverRuns: warning(
    'never-runs',
    'This never runs: where it holds, the step of the agent is red, and nothing follows a red step by itself.',
    'Begin the condition with !cancelled() &&.',
  ),
  ofMatrix: (output: string, job: string) =>
    error(
      'output-of-matrix',
      `${output} comes from a job with a matrix, of which the runner keeps what the leg wrote that ended last.`,
      `Ask needs.${job}.result == 'success' instead.`,
    ),
  runsRegardless: (job: string) =>
    warning(
      'runs-regardless',
      `This job runs whatever became of ${JSON.stringify(job)}: red, skipped or without a verdict.`,
      `Add to the condition: && needs.${job}.result == 'success'.`,
    ),
  script: (what: string, variable: string) =>
    error(
      'text-in-script',
      `${what} is text of a model, and \${{ }} makes it a part of the script, which runs it.`,
      `Hand it over in env: (${variable}: \${{ … }}) and read "$${variable}".`,
    ),
  textCondition: error(
    'always-true',
    'There is text beside ${{ }}, so the condition is a text and always true.',
    'Put the whole condition into one ${{ }}.',
  ),
  unknown: (giver: string, output: string, known: readonly string[], otherwise: string) =>
    error(
      'unknown-output',
      `${giver} ${name(output)}, so it is always empty.`,
      didYouMean(output, known, otherwise),
    ),
  unknownJob: (job: string, jobs: readonly string[]) =>
    error(
      'not-needed',
      `There is no job ${name(job)}, so what is read of it is always empty.`,
      didYouMean(job, jobs, 'Name a job that is among the needs of this one.'),
    ),
  unknownStep: (step: string, steps: readonly string[]) =>
    error(
      'unknown-step',
      `No step of this job has the id ${name(step)}, so what is read of it is always empty.`,
      didYouMean(step, steps, 'Give the step of the action that id.'),
    ),
  unknownWorkflow: (text: string, output: string, workflow: string, { fix }: Fault) =>
    warning(
      'unknown-workflow',
      `${text} is true where ${output} is empty. Whether ${workflow} takes it from the action is not known here: workflows of other repositories are not read.`,
      fix,
    ),
  unneeded: (job: string, fix: string) =>
    error(
      'not-needed',
      `The job ${name(job)} is not among this job's needs, so what is read of it is always empty.`,
      fix,
    ),
} as const;

/** Rules for the part of a condition that depends on one output. */
export const CONDITION = {
  alwaysTrue: (text: string, output: string) =>
    error(
      'always-true',
      `${text} is true whatever ${output} is, without a verdict too.`,
      'Compare with == and one value.',
    ),
  alsoEmpty: (text: string, output: string, bad: string | undefined) =>
    warning(
      'true-without-verdict',
      `${text} is true as well where there is no verdict: ${output} is empty then.`,
      bad === undefined ? 'Compare with ==.' : `Write ${output} == '${bad}' where a verdict is meant.`,
    ),
  bare: (text: string, output: string, example: string, good: string) =>
    error(
      'text-as-condition',
      `${text} asks whether ${output} is empty: '${example}' is a text, and counts as true.`,
      `Compare it: ${output} == '${good}'.`,
    ),
  default: (output: string, good: string) =>
    error(
      'default-passes',
      `Without a verdict ${output} is empty, and '${good}' takes its place here.`,
      'Take the default out.',
    ),
  failsOpen: (text: string, output: string, isNumber: boolean, good: string | null) =>
    error(
      'fails-open',
      `${text} is true where there is no verdict: ${isNumber ? 'an empty text counts as 0' : `${output} is empty then`}.`,
      isNumber
        ? "Ask for the verdict as well: steps.ID.outputs.run-conclusion == 'success' && …"
        : `Compare with ==${good === null ? '' : `: ${output} == '${good}'`}.`,
    ),
  neverTrue: (text: string, output: string, values: readonly string[], isTrueWhenEmpty: boolean) =>
    error(
      'never-true',
      `${text} is ${isTrueWhenEmpty ? 'true only where there is no verdict' : 'never true'}: ${output} is one of the texts ${values.map((value) => `'${value}'`).join(', ')}.`,
      'Compare it with one of those texts.',
    ),
} as const;
