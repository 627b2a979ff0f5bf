/**
 * Writes action.yml from the input table: `node scripts/action-yml.ts`. With `--check` it only compares, and exits 1
 * when the file is not what the table says.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { INPUTS, type Input } from '../src/config/inputs.ts';

/** Where action.yml lies. */
export const ACTION_YML = fileURLToPath(new URL('../action.yml', import.meta.url));

/** Every output that the action declares, with one sentence each; a schema's own properties come on top. */
export const OUTPUTS: Readonly<Record<string, string>> = {
  structured_output: 'The accepted payload as one line of JSON; absent unless a payload was accepted.',
  passed:
    'Of every preset: true or false. Absent unless a payload was accepted, so compare with == and never with !=.',
  summary: 'Of every preset: the verdict in a few sentences.',
  findings: 'Of the presets verdict, code-review and security-review: what was found, as a JSON array.',
  'run-conclusion': 'How the run ended: success, failure, inconclusive or skipped (see on-missing-key).',
  'run-reason': 'Why it ended so, for example accepted, gate_not_met, plain_text, max_turns or config.',
  'run-exit-code': 'The exit code of the step.',
  'run-gate': 'met, not_met or none; empty where no payload was accepted.',
  'run-turns': 'How many model calls gave an answer.',
  'run-rejections': 'How many calls of structured_output did not satisfy the schema.',
  'run-input-tokens': 'The tokens read by the model, cached ones included.',
  'run-output-tokens': 'The tokens written by the model.',
  'run-cost-usd': "The cost in US dollars; empty when the model's price is not known.",
  'run-duration-seconds': 'The wall clock of the run in seconds.',
  'run-model': 'The model that was asked.',
  'run-sandbox':
    'What stood between the shell and the machine: bwrap, sudo-bwrap, unshare, sudo-unshare, seatbelt (macOS) or none.',
  'run-changed-files': 'How many files the agent changed; empty when that is not known.',
  'run-patch-file': "The path of a patch with the agent's changes; empty when none was kept.",
  'run-result-file': 'The path of the result envelope, a JSON file.',
  'run-transcript-file': 'The path of the redacted transcript.',
  'run-comment-url': 'The address of the comment on the pull request; empty where there is none.',
};

/** The text of action.yml. */
export function actionYml(): string {
  const action = {
    name: 'structured-agent',
    author: 'the structured-agent authors',
    description:
      'Runs an agent on the checkout that can only answer in your JSON Schema, and gates the job on its verdict.',
    branding: { icon: 'check-circle', color: 'green' },
    inputs: Object.fromEntries(INPUTS.map((input) => [input.name, inputEntry(input)])),
    outputs: Object.fromEntries(
      Object.entries(OUTPUTS).map(([name, description]) => [name, { description }]),
    ),
    runs: { using: 'node24', main: 'dist/index.js' },
  };
  const header =
    '# Written by `node scripts/action-yml.ts` from src/config/inputs.ts: change that, not this.\n';
  return header + stringify(action, { lineWidth: 0 });
}

/** None is required always: a replay needs no model. */
function inputEntry(input: Input) {
  const { description } = input;
  const required = false;
  return input.default === '' ? { description, required } : { description, required, default: input.default };
}

if (import.meta.main) {
  const wanted = actionYml();
  if (!process.argv.includes('--check')) writeFileSync(ACTION_YML, wanted);
  else if (readFileSync(ACTION_YML, 'utf8') !== wanted) {
    console.error('action.yml is not what src/config/inputs.ts says. Run: node scripts/action-yml.ts');
    process.exitCode = 1;
  }
}
