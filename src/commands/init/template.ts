/** Creates the texts of the workflow and its schema. */
import { readFileSync } from 'node:fs';
import { presets } from '../../contract/presets.ts';
import { providerByName, registry } from '../../providers/registry.ts';
import { PLACEHOLDER_ACTION, type Plan } from './plan.ts';

/** The paths of the files, relative to the repository's root. */
export const WORKFLOW_FILE = '.github/workflows/structured-agent.yml';
export const SCHEMA_FILE = '.github/verdict.schema.json';

/** The workflow, in which a line `<name>` is replaced by the plan's lines for that name. */
const TEMPLATE = readFileSync(new URL('./workflow.yml', import.meta.url), 'utf8');

const TASKS: Readonly<Record<string, string>> = {
  verdict: 'Run the test suite and review this change. Is it safe to merge?',
  'code-review': `Review this change. Read the whole diff, and of the code around it what you need to judge it.
Look for defects that the change brings, and run the tests that touch it. Leave out matters of taste.`,
  'security-review': `Look for vulnerabilities in what this change brings: follow what an outsider controls to where it is used.
Report what an attacker can use, not what merely looks unusual.`,
  'test-report': `Run the test suite of this repository as its documents say. For each test that fails, read the test and the
code that it tests, and say what the likely cause is. Do not fix anything.`,
};

/** Returns the text of the schema: the preset, which the user can then change. */
export function schemaText({ preset }: Plan): string {
  return `${JSON.stringify(presets.get(preset)?.schema ?? {}, null, 2)}\n`;
}

export function workflowText(plan: Plan): string {
  const lines = linesOf(plan);
  return TEMPLATE.replace(/^( *)<(\w+)>\n/gmu, (_, indent: string, name: string) =>
    (lines[name] ?? []).map((line) => `${indent}${line}\n`).join(''),
  );
}

function linesOf(plan: Plan): Readonly<Record<string, readonly string[]>> {
  const { preset, provider, model, trigger, comment } = plan;
  const isPull = trigger !== 'push';
  const secret = registry[provider].keyVariable;
  const right = comment
    ? 'pull-requests: write # for the comment, and to read title, files and diff'
    : 'pull-requests: read # for title, files and diff, where the repository is private';
  const subject = trigger === 'pull_request' ? 'github.event.pull_request.number' : 'github.ref';
  const forks =
    '# A pull request from a fork gets no secrets and ends red (config, 52). Do not skip the job: skipped counts as passed.';
  return {
    forks: isPull ? [forks] : [],
    events: trigger === 'merge_group' ? ['pull_request:', 'merge_group:'] : [`${trigger}:`],
    permissions: isPull || comment ? [right] : [],
    group: [`group: structured-agent-\${{ ${subject} }}`],
    uses: [`uses: ${usesText(plan)}`],
    task: (TASKS[preset] ?? '').split('\n'),
    gate: gateLines(preset),
    model: [
      ...(providerByName(model) === provider ? [] : [`provider: ${provider}`]),
      `model: ${yamlText(model)}`,
      ...(secret === null ? [] : [`api-key: \${{ secrets.${secret} }}`]),
      ...(needsUrl(provider) ? ['base-url: ${{ vars.MODEL_BASE_URL }}'] : []),
    ],
    comment: comment ? ['comment: always'] : [],
  };
}

/** Whether only the user knows the URL of the provider's endpoint. */
export function needsUrl(provider: Plan['provider']): boolean {
  return provider === 'azure-openai' || provider === 'openai-compatible';
}

/**
 * Whether an action cannot change without a change in the repository: it is pinned to a commit, or part of the
 * checkout.
 */
export function isPinned(action: string): boolean {
  return action.startsWith('.') || /@[0-9a-f]{40}$/u.test(action);
}

function usesText({ action }: Plan): string {
  if (action === PLACEHOLDER_ACTION)
    return `${action} # org/ is a placeholder until the first release: name your copy, by commit`;
  return isPinned(action) ? action : `${action} # pin it to a commit`;
}

/** The preset's own gate, written out, because a custom schema has no default gate. */
function gateLines(preset: string): readonly string[] {
  const gate = presets.get(preset)?.gate;
  if (gate?.kind === 'property') return [`gate: ${gate.name}`];
  if (gate?.kind !== 'schema') return [];
  return ['gate: |', ...JSON.stringify(gate.schema, null, 2).replaceAll(/^/gmu, '  ').split('\n')];
}

/** Formats a YAML scalar: plain if that is safe, otherwise in double quotes, like JSON. */
function yamlText(text: string): string {
  const isPlain = /^[a-z][\w.:/-]*[\w]$/iu.test(text) && !/^(?:true|false|null|yes|no|on|off)$/iu.test(text);
  return isPlain || /^\$\{\{ [\w.]+ \}\}$/u.test(text) ? text : JSON.stringify(text);
}
