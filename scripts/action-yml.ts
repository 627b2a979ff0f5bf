/**
 * Writes action.yml and merge/action.yml from the input tables: `node scripts/action-yml.ts`. With `--check` it only
 * compares, and exits 1 when a file is not what its table says.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { INPUTS, type Input } from '../src/config/inputs.ts';
import { MERGE_INPUTS } from '../src/merge/inputs.ts';
import { RUN_OUTPUTS } from '../src/reporters/output-table.ts';

/** Where action.yml lies. */
export const ACTION_YML = fileURLToPath(new URL('../action.yml', import.meta.url));

/** Where the merge action's lies. */
export const MERGE_YML = fileURLToPath(new URL('../merge/action.yml', import.meta.url));

/** Every output that the action declares, with one sentence each; a schema's own properties come on top. */
export const OUTPUTS: Readonly<Record<string, string>> = {
  structured_output: 'The accepted payload as one line of JSON; absent unless a payload was accepted.',
  passed:
    'Of every preset: true or false. Absent unless a payload was accepted, so compare with == and never with !=.',
  summary: 'Of every preset: the verdict in a few sentences.',
  findings: 'Of the presets verdict, code-review and security-review: what was found, as a JSON array.',
  ...described('ofRun'),
};

/** Every output of the merge action. Its `run-*` are those of a run, as far as they apply, and mean the same. */
export const MERGE_OUTPUTS: Readonly<Record<string, string>> = {
  structured_output: 'The merged payload as one line of JSON; absent where the merge is undecided or failed.',
  passed:
    'true or false: what the rule makes of the legs. Absent where the merge is undecided or failed, so compare with == and never with !=.',
  ...described('ofMerge'),
};

/** What every ending has, as it is written. */
function described(kind: 'ofRun' | 'ofMerge'): Readonly<Record<string, string>> {
  return Object.fromEntries(
    RUN_OUTPUTS.flatMap(({ name, [kind]: text }) => (text === null ? [] : [[name, text] as const])),
  );
}

/** The text of action.yml. */
export function actionYml(): string {
  return manifest(INPUTS, OUTPUTS, {
    name: 'structured-agent',
    description:
      'Runs an agent on the checkout that can only answer in your JSON Schema, and gates the job on its verdict.',
    icon: 'check-circle',
    source: 'src/config/inputs.ts',
    main: 'dist/index.js',
  });
}

/** The text of merge/action.yml. */
export function mergeYml(): string {
  return manifest(MERGE_INPUTS, MERGE_OUTPUTS, {
    name: 'structured-agent merge',
    description:
      'Merges the verdicts of many legs into one that fails closed: what is missing never turns it green.',
    icon: 'git-merge',
    source: 'src/merge/inputs.ts',
    main: '../dist/merge.js',
  });
}

interface About {
  readonly name: string;
  readonly description: string;
  readonly icon: string;
  readonly source: string;
  readonly main: string;
}

function manifest(inputs: readonly Input[], outputs: Readonly<Record<string, string>>, about: About): string {
  const action = {
    name: about.name,
    author: 'the structured-agent authors',
    description: about.description,
    branding: { icon: about.icon, color: 'green' },
    inputs: Object.fromEntries(inputs.map((input) => [input.name, inputEntry(input)])),
    outputs: Object.fromEntries(
      Object.entries(outputs).map(([name, description]) => [name, { description }]),
    ),
    runs: { using: 'node24', main: about.main },
  };
  const header = `# Written by \`node scripts/action-yml.ts\` from ${about.source}: change that, not this.\n`;
  return header + stringify(action, { lineWidth: 0 });
}

/** None is required always: a replay needs no model. The merge action says what it lacks itself, with the fix. */
function inputEntry(input: Input) {
  const { description } = input;
  const required = false;
  return input.default === '' ? { description, required } : { description, required, default: input.default };
}

if (import.meta.main) {
  const isCheck = process.argv.includes('--check');
  for (const [file, wanted] of [
    [ACTION_YML, actionYml()],
    [MERGE_YML, mergeYml()],
  ] as const) {
    mkdirSync(path.dirname(file), { recursive: true });
    if (!isCheck) writeFileSync(file, wanted);
    else if (readFileSync(file, 'utf8') !== wanted) {
      console.error(`${file} is not what its table says. Run: node scripts/action-yml.ts`);
      process.exitCode = 1;
    }
  }
}
