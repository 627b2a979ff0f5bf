/** `structured-agent init`: writes a workflow that names a preset, or a schema of one's own to start from. */
import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { presets } from '../../contract/presets.ts';
import { errorCode, InputError } from '../../errors.ts';
import { providerByName, registry } from '../../providers/registry.ts';
import { DISPLAY } from '../../text/limits.ts';
import { joinWithOr, quote, suggest } from '../../text/messages.ts';
import { inertLine } from '../../text/sanitize.ts';
import { readFlags } from '../flags.ts';

interface InitIo {
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

/** Runs `structured-agent init` with the arguments after `init`. Returns 0, or 52 if nothing was written. */
export async function runInit(argv: readonly string[], io: InitIo): Promise<number> {
  try {
    const plan = readPlan(argv);
    if (plan === null) {
      io.stdout.write(INIT_HELP);
      return 0;
    }
    const files = new Map([[WORKFLOW_FILE, workflowText(plan)]]);
    if (plan.preset === null) files.set(SCHEMA_FILE, `${JSON.stringify(OWN_SCHEMA, null, 2)}\n`);
    await writeAll(io.cwd, files, plan.force);
    io.stdout.write(nextSteps(plan, [...files.keys()]));
    return 0;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    io.stderr.write(`structured-agent init: ${inertLine(error.message, DISPLAY.line)}\n`);
    return 52;
  }
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

interface Plan {
  /** null for a schema of one's own. */
  readonly preset: string | null;
  readonly model: string;
  readonly action: string;
  readonly force: boolean;
}

/** @returns null if only the help was asked for. @throws InputError that names the flag and the fix */
function readPlan(argv: readonly string[]): Plan | null {
  const flags = readFlags('init', argv, {
    preset: 'text',
    model: 'text',
    action: 'text',
    schema: 'switch',
    force: 'switch',
    help: 'switch',
  });
  if (flags.has('help')) return null;
  const [stray] = flags.positionals;
  if (stray !== undefined)
    throw new InputError(null, `structured-agent init takes no ${quote(stray, DISPLAY.name)}. Take it out.`);
  const preset = flags.value('preset');
  if (preset !== null && flags.has('schema'))
    throw new InputError('schema', '--preset and --schema are both given. Keep one of them.');
  const names = [...presets.keys()];
  if (preset !== null && !names.includes(preset)) {
    const near = suggest(preset, names);
    const fix = near.length === 0 ? `Use ${joinWithOr(names)}.` : `Did you mean ${joinWithOr(near)}?`;
    throw new InputError(
      'preset',
      `--preset is ${quote(preset, DISPLAY.name)}, which is not a preset. ${fix}`,
    );
  }
  const action = flags.value('action') ?? PLACEHOLDER;
  if (!/^(?:\.{1,2}\/[\w./-]*|[\w-]+(?:\/[\w.-]+)+@[\w./-]+)$/u.test(action))
    throw new InputError(
      'action',
      `--action is ${quote(action, DISPLAY.name)}. Write OWNER/REPOSITORY@COMMIT, or ./FOLDER for one in the checkout.`,
    );
  return {
    preset: flags.has('schema') ? null : (preset ?? 'verdict'),
    model: flags.value('model') ?? registry.anthropic.exampleModel,
    action,
    force: flags.has('force'),
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
async function writeAll(folder: string, files: ReadonlyMap<string, string>, force: boolean): Promise<void> {
  const before = new Map<string, Buffer>();
  const tried: string[] = [];
  try {
    for (const name of force ? files.keys() : []) {
      const there = await readFile(path.join(folder, name)).catch((error) => {
        if (errorCode(error) !== 'ENOENT') throw error;
        return null;
      });
      if (there !== null) before.set(name, there);
    }
    for (const [name, text] of files) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      tried.push(name);
      await writeFile(path.join(folder, name), text, { flag: before.has(name) ? 'w' : 'wx' });
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    const last = tried.at(-1) ?? [...files.keys()].join(', ');
    if (code === 'EEXIST') tried.pop();
    for (const name of tried) {
      const old = before.get(name);
      const file = path.join(folder, name);
      // What could not be written has not been changed either.
      await (old === undefined ? rm(file, { force: true }) : writeFile(file, old)).catch(() => undefined);
    }
    if (code === 'EEXIST')
      throw new InputError(
        'force',
        `${last} is there already, and nothing was written. Add --force to replace it.`,
      );
    throw new InputError(null, `${last} cannot be written (${code}), so nothing was. Check the permissions.`);
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

const INIT_HELP = `Usage: structured-agent init [flags]

Writes .github/workflows/structured-agent.yml, which judges pull requests by a preset.

  --preset PRESET  verdict (default), code-review, security-review or test-report.
  --schema         Write .github/verdict.schema.json, yours to change, and use it in place of a preset.
  --model MODEL    The model to ask. Default: ${registry.anthropic.exampleModel}. One of an unknown name is
                   looked for at the URL in the variable MODEL_BASE_URL of the repository.
  --action ACTION  What the step uses, as OWNER/REPOSITORY@COMMIT or ./FOLDER.
  --force          Replace files that are there already.
  -h, --help       This text.

Exit code: 0 if all files were written; 52 if none was.
`;
