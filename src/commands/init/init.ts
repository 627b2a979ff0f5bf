/** `structured-agent init`: writes a workflow that names a preset, or a schema of one's own to start from. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { EXAMPLE_MODEL } from '../../config/inputs.ts';
import { defaultPreset, presets } from '../../contract/presets.ts';
import { errorCode, InputError, messageOf } from '../../errors.ts';
import { providerByName, registry } from '../../providers/registry.ts';
import { DISPLAY } from '../../text/limits.ts';
import { joinWithOr, quote } from '../../text/messages.ts';
import { type Command, type CommandIo, didYouMean, type Flags, runCommand } from '../flags.ts';

/** Runs `structured-agent init` with the arguments after `init`. Returns 0, or 52 if nothing was written. */
export function runInit(argv: readonly string[], io: CommandIo): Promise<number> {
  return runCommand(COMMAND, argv, io, async (flags) => {
    const plan = readPlan(flags);
    const files = new Map([[WORKFLOW_FILE, workflowText(plan)]]);
    if (plan.preset === null) files.set(SCHEMA_FILE, `${JSON.stringify(OWN_SCHEMA, null, 2)}\n`);
    writeAll(io.cwd, files, flags.has('force'));
    io.stdout.write(nextSteps(plan, [...files.keys()]));
    return 0;
  });
}

export const WORKFLOW_FILE = '.github/workflows/structured-agent.yml';
export const SCHEMA_FILE = '.github/verdict.schema.json';

/** What an own schema begins with: the gate of the workflow needs `passed`, its last step `summary`. */
const OWN_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  required: ['passed', 'summary'],
  additionalProperties: false,
  properties: {
    passed: { type: 'boolean', description: 'Whether the change is safe to merge.' },
    summary: { type: 'string', description: 'The verdict in a few sentences.' },
  },
};

/** A placeholder for the action: nobody owns that name before the first release. */
const PLACEHOLDER = 'org/structured-agent@v1';

type Plan = ReturnType<typeof readPlan>;

/** @throws InputError that names the flag and the fix */
function readPlan(flags: Flags) {
  const [stray] = flags.positionals;
  if (stray !== undefined)
    throw new InputError(null, `structured-agent init takes no ${quote(stray, DISPLAY.name)}. Take it out.`);
  const preset = flags.value('preset');
  if (preset !== null && flags.has('schema'))
    throw new InputError('schema', '--preset is given too. Keep one of them.');
  const names = [...presets.keys()];
  if (preset !== null && !names.includes(preset)) {
    const fix = didYouMean(preset, names, `Use ${joinWithOr(names)}.`);
    throw new InputError('preset', `${quote(preset, DISPLAY.name)} is not a preset. ${fix}`);
  }
  const action = flags.value('action') ?? PLACEHOLDER;
  if (!/^(?:\.{1,2}\/[\w./-]*|[\w-]+(?:\/[\w.-]+)+@[\w./-]+)$/u.test(action))
    throw new InputError(
      'action',
      `${quote(action, DISPLAY.name)} does not name an action. Write OWNER/REPOSITORY@COMMIT, or ./FOLDER for one in the checkout.`,
    );
  return {
    /** null for a schema of one's own. */
    preset: flags.has('schema') ? null : (preset ?? defaultPreset),
    model: flags.value('model') ?? EXAMPLE_MODEL,
    action,
  };
}

const PROMPTS: Readonly<Record<string, string>> = {
  verdict: 'Run the test suite and review this change. Is it safe to merge?',
  'code-review': `Review this change. Read the whole diff, and of the code around it what you need to judge it.
Look for defects that the change brings, and run the tests that touch it. Leave out matters of taste.`,
  'security-review': `Look for vulnerabilities in what this change brings: follow what an outsider controls to where it is used.
Report what an attacker can use, not what merely looks unusual.`,
  'test-report': `Run the test suite of this repository as its documents say. For each test that fails, read the test and the
code that it tests, and say what the likely cause is. Do not fix anything.`,
};

function workflowText({ preset, model, action }: Plan): string {
  const provider = providerByName(model);
  const key = provider === null ? 'MODEL_API_KEY' : registry[provider].keyVariable;
  const isPinned = action.startsWith('.') || /@[0-9a-f]{40}$/u.test(action);
  const parts: Readonly<Record<string, readonly string[]>> = {
    action: [`${action}${isPinned ? '' : ' # name it by its commit'}`],
    prompt: (PROMPTS[preset ?? 'verdict'] ?? '').split('\n'),
    schema: preset === null ? [`schema: ./${SCHEMA_FILE}`, 'gate: passed'] : [`schema: ${preset}`],
    model: [
      `model: ${/^[a-z][\w.-]+$/iu.test(model) ? model : JSON.stringify(model)}`,
      ...(provider === null ? ['base-url: ${{ vars.MODEL_BASE_URL }}'] : []),
      `api-key: \${{ secrets.${key} }}`,
    ],
  };
  const template = readFileSync(new URL('./workflow.yml', import.meta.url), 'utf8');
  return template.replace(/^(.*?)<(action|prompt|schema|model)>$/gmu, (_, before: string, name: string) =>
    (parts[name] ?? []).map((line) => `${before}${line}`).join('\n'),
  );
}

/**
 * Writes all files, or none.
 * @throws InputError if a file exists and `force` is not set, or if one cannot be written
 */
function writeAll(folder: string, files: ReadonlyMap<string, string>, force: boolean): void {
  const names = [...files.keys()];
  const taken = names.find((name) => existsSync(path.join(folder, name)));
  if (taken !== undefined && !force)
    throw new InputError(
      null,
      `${taken} is there already, and nothing was written. Add --force to replace it.`,
    );
  const draftOf = (name: string) => path.join(folder, `${name}.${process.pid}`);
  let current = '';
  try {
    for (current of names) {
      mkdirSync(path.join(folder, path.dirname(current)), { recursive: true });
      writeFileSync(draftOf(current), files.get(current) ?? '', { flag: 'wx' });
    }
    for (current of names.toReversed()) renameSync(draftOf(current), path.join(folder, current));
  } catch (error) {
    for (const draft of names.map(draftOf).filter(existsSync)) rmSync(draft);
    if (errorCode(error) === null) throw error;
    throw new InputError(null, `${current} cannot be written: ${messageOf(error)}.`);
  }
}

function nextSteps({ model, action }: Plan, files: readonly string[]): string {
  const provider = providerByName(model);
  const [name = ''] = action.split('@');
  const isKnown = action.startsWith('.') || /\/structured-agent$/iu.test(name);
  const steps = [
    ...(action === PLACEHOLDER ? [`Replace ${action}: org/ is a placeholder until the first release.`] : []),
    provider === null
      ? 'Set the URL of your server: gh variable set MODEL_BASE_URL (and a key: gh secret set MODEL_API_KEY)'
      : `Store the provider's key as a secret: gh secret set ${registry[provider].keyVariable}`,
    'Add to the workflow what your tests need before the agent.',
    `Run: structured-agent check${isKnown ? '' : ` --action ${name}`}`,
    'Commit, and make the check "verdict" a required one, so that it decides what may be merged.',
  ];
  const numbered = steps.map((step, at) => `  ${at + 1}. ${step}\n`).join('');
  return `Written: ${files.join(', ')}\n\nNext:\n${numbered}`;
}

const COMMAND: Command = {
  name: 'init',
  flags: { preset: 'text', model: 'text', action: 'text', schema: 'boolean', force: 'boolean' },
  help: `Usage: structured-agent init [flags]

Writes .github/workflows/structured-agent.yml, which judges pull requests by a preset.

  --preset PRESET  verdict (default), code-review, security-review or test-report.
  --schema         Write .github/verdict.schema.json, yours to change, and use it in place of a preset.
  --model MODEL    The model to ask. Default: ${EXAMPLE_MODEL}. One of an unknown name is
                   looked for at the URL in the variable MODEL_BASE_URL of the repository.
  --action ACTION  What the step uses, as OWNER/REPOSITORY@COMMIT or ./FOLDER.
  --force          Replace files that are there already.
  -h, --help       This text.

Exit code: 0 if all files were written; 52 if none was.
`,
};
