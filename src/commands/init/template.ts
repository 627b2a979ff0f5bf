/** The text of the workflow and of the schema beside it. */
import { presets } from '../../contract/presets.ts';
import { providerByName, registry } from '../../providers/registry.ts';
import { PLACEHOLDER_ACTION, type Plan } from './plan.ts';

/** Where the files go, relative to the repository's root. */
export const WORKFLOW_FILE = '.github/workflows/structured-agent.yml';
export const SCHEMA_FILE = '.github/verdict.schema.json';

/** A checkout by commit, as the examples have it. */
const CHECKOUT = 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1';

const TASKS: ReadonlyMap<string, readonly string[]> = new Map([
  ['verdict', ['Run the test suite and review this change. Is it safe to merge?']],
  [
    'code-review',
    [
      'Review this change. Read the whole diff, and of the code around it what you need to judge it.',
      'Look for defects that the change brings, and run the tests that touch it. Leave out matters of taste.',
    ],
  ],
  [
    'security-review',
    [
      'Look for vulnerabilities in what this change brings: follow what an outsider controls to where it is used.',
      'Report what an attacker can use, not what merely looks unusual.',
    ],
  ],
  [
    'test-report',
    [
      'Run the test suite of this repository as its documents say. For each test that fails, read the test and the',
      'code that it tests, and say what the likely cause is. Do not fix anything.',
    ],
  ],
]);

/** The schema's text: the preset, from now on yours to change. */
export function schemaText({ preset }: Plan): string {
  return `${JSON.stringify(presets.get(preset)?.schema ?? {}, null, 2)}\n`;
}

/** The workflow's text. */
export function workflowText(plan: Plan): string {
  const { preset, trigger, comment } = plan;
  const isPull = trigger !== 'push';
  const right = comment
    ? '  pull-requests: write # for the comment, and to read title, files and diff'
    : '  pull-requests: read # for title, files and diff, where the repository is private';
  const ref = {
    pull_request: 'github.event.pull_request.number',
    push: 'github.ref',
    merge_group: 'github.ref',
  };
  return `${[
    '# A verdict by an agent that can only answer in the schema .github/verdict.schema.json; the step is red unless the gate',
    '# is met. Written by structured-agent init, yours to change: `structured-agent check` says whether it still holds.',
    ...(isPull
      ? [
          '# A pull request from a fork gets no secrets and ends red (config, 52). Do not skip the job: skipped counts as passed.',
        ]
      : []),
    'name: Structured agent',
    'on:',
    ...(trigger === 'merge_group' ? ['  pull_request:', '  merge_group:'] : [`  ${trigger}:`]),
    'permissions:',
    '  contents: read',
    ...(isPull || comment ? [right] : []),
    'concurrency:',
    `  group: structured-agent-\${{ ${ref[trigger]} }}`,
    '  cancel-in-progress: true',
    'jobs:',
    '  verdict:',
    '    runs-on: ubuntu-latest',
    '    timeout-minutes: 15',
    '    steps:',
    `      - uses: ${CHECKOUT}`,
    '        with:',
    '          persist-credentials: false',
    '      # Before the agent comes what the tests need, for example `run: npm ci`: its shell has no network.',
    '      - id: verdict',
    `        uses: ${usesText(plan)}`,
    '        with:',
    '          prompt: |',
    ...(TASKS.get(preset) ?? []).map((line) => `            ${line}`),
    '          schema: "@.github/verdict.schema.json"',
    ...gateLines(preset),
    ...modelLines(plan),
    ...(comment ? ['          comment: always'] : []),
    '          timeout-minutes: 10',
    '          max-total-tokens: 1000000',
    '      - name: Say what is in the way',
    '        # Without !cancelled() it would not run after a red step. Compare with ==: without a verdict the output is empty.',
    "        if: ${{ !cancelled() && steps.verdict.outputs.passed == 'false' }}",
    '        # Text of a model goes into a script through env, never through an expression.',
    '        env:',
    '          SUMMARY: ${{ steps.verdict.outputs.summary }}',
    '        run: printf \'%s\\n\' "$SUMMARY"',
  ].join('\n')}\n`;
}

/** Whether an action cannot change behind the workflow's back: by a commit, or as a part of the checkout. */
export function isPinned(action: string): boolean {
  return action.startsWith('.') || /@[0-9a-f]{40}$/u.test(action);
}

function usesText({ action }: Plan): string {
  if (action === PLACEHOLDER_ACTION)
    return `${action} # org/ is a placeholder until the first release: name your copy, by commit`;
  return isPinned(action) ? action : `${action} # pin it to a commit`;
}

/** The preset's own gate, written out: a schema of one's own has none by itself. */
function gateLines(preset: string): readonly string[] {
  const gate = presets.get(preset)?.gate;
  if (gate?.kind === 'property') return [`          gate: ${gate.name}`];
  if (gate?.kind !== 'schema') return [];
  const text = JSON.stringify(gate.schema, null, 2).split('\n');
  return ['          gate: |', ...text.map((line) => `            ${line}`)];
}

function modelLines({ provider, model }: Plan): readonly string[] {
  const secret = registry[provider].keyVariable;
  const needsUrl = provider === 'azure-openai' || provider === 'openai-compatible';
  return [
    ...(providerByName(model) === provider ? [] : [`          provider: ${provider}`]),
    `          model: ${yamlText(model)}`,
    ...(secret === null ? [] : [`          api-key: \${{ secrets.${secret} }}`]),
    ...(needsUrl ? ['          base-url: ${{ vars.MODEL_BASE_URL }}'] : []),
  ];
}

/** Plain where that is safe, else in double quotes, which JSON's are. */
function yamlText(text: string): string {
  const isPlain = /^[a-z][\w.:/-]*[\w]$/iu.test(text) && !/^(?:true|false|null|yes|no|on|off)$/iu.test(text);
  return isPlain || /^\$\{\{ [\w.]+ \}\}$/u.test(text) ? text : JSON.stringify(text);
}
