/** `structured-agent init`: writes a workflow and a schema from a preset. */
import { lstat, mkdir, realpath, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { isInside } from '../../config/paths.ts';
import { errorCode, InputError } from '../../errors.ts';
import { foldName } from '../../files/protected-names.ts';
import { registry } from '../../providers/registry.ts';
import { DISPLAY } from '../../text/limits.ts';
import { inertLine } from '../../text/sanitize.ts';
import {
  askOn,
  INIT_HELP,
  type InitOptions,
  makePlan,
  PLACEHOLDER_ACTION,
  type Plan,
  readOptions,
} from './plan.ts';
import { isPinned, needsUrl, SCHEMA_FILE, schemaText, WORKFLOW_FILE, workflowText } from './template.ts';

interface InitIo {
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly stdin: Readable;
  /** Whether questions can be asked: stdin and stderr are terminals. */
  readonly isTerminal: boolean;
}

const FINE = 0;
/** The exit code for invalid input. */
const REFUSED = 52;

/** Runs `structured-agent init` with the arguments after `init`. Returns 0, or 52 when nothing was written. */
export async function runInit(argv: readonly string[], io: InitIo): Promise<number> {
  try {
    const options = readOptions(argv);
    if (options.help) {
      io.stdout.write(INIT_HELP);
      return FINE;
    }
    const { dir, force } = options;
    const root = await findRoot(path.resolve(io.cwd, dir), [WORKFLOW_FILE, SCHEMA_FILE], force);
    const plan = await planOf(options, io);
    const files = [
      { name: WORKFLOW_FILE, text: workflowText(plan) },
      { name: SCHEMA_FILE, text: schemaText(plan) },
    ];
    await placeFiles(root, files, force);
    io.stdout.write(nextSteps(plan));
    return FINE;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    io.stderr.write(`structured-agent init: ${inertLine(error.message, DISPLAY.line)}\n`);
    return REFUSED;
  }
}

async function planOf(options: InitOptions, io: InitIo): Promise<Plan> {
  const open: string[] = [];
  const byDefault = await makePlan(options, async ({ flags, standard, values }) => {
    open.push(flags);
    return standard ?? values[0] ?? '';
  });
  if (options.yes || open.length === 0) return byDefault;
  if (!io.isTerminal) {
    throw new InputError(
      null,
      `Stdin or stderr is no terminal, so nothing can be asked. Give ${open.join(', ')}, or --yes for the defaults.`,
    );
  }
  const questions = askOn(io.stdin, io.stderr);
  try {
    return await makePlan(options, questions.ask);
  } finally {
    questions.close();
  }
}

function nextSteps(plan: Plan): string {
  const { provider, model, trigger, action } = plan;
  const secret = registry[provider].keyVariable;
  const variables = [
    ...(model.includes('vars.MODEL_NAME') ? ['MODEL_NAME'] : []),
    ...(needsUrl(provider) ? ['MODEL_BASE_URL'] : []),
  ];
  const steps = [
    ...(secret === null ? [] : [`Store the provider's key as a secret: gh secret set ${secret}`]),
    ...variables.map((name) => `Set a variable of the repository: gh variable set ${name}`),
    ...(action === PLACEHOLDER_ACTION
      ? [
          `Replace ${action} in ${WORKFLOW_FILE}: org/ is a placeholder until the first release. (--action OWNER/REPOSITORY@COMMIT writes yours.)`,
        ]
      : isPinned(action)
        ? []
        : [`Pin ${action} in ${WORKFLOW_FILE} to a commit.`]),
    `Add to ${WORKFLOW_FILE} what your tests need before the agent.`,
    `Change ${SCHEMA_FILE} to what you want to know, then run: structured-agent check${checkFlags(action)}`,
    'Commit both files.',
    ...(trigger === 'push'
      ? []
      : ['Make the check "verdict" a required one, so that it decides what may be merged.']),
  ];
  return [
    `Written: ${WORKFLOW_FILE}, ${SCHEMA_FILE}`,
    '',
    'Next:',
    ...steps.map((step, at) => `  ${at + 1}. ${step}`),
    '',
  ].join('\n');
}

/** `check` recognizes the action by the end of its name; another name is passed with --action. */
function checkFlags(action: string): string {
  const [name = ''] = action.split('@');
  return action.startsWith('.') || /\/structured-agent$/iu.test(name) ? '' : ` --action ${name}`;
}

/** A file to write; its path is relative to the repository. */
interface NewFile {
  readonly name: string;
  readonly text: string;
}

/**
 * Returns the real path of the repository after checking that the files can be written.
 * @throws InputError when a file exists and `force` is not set, or when a file cannot be created
 */
async function findRoot(folder: string, names: readonly string[], force: boolean): Promise<string> {
  const root = await realpath(folder).catch(() => null);
  if (root === null || !(await lstat(root)).isDirectory()) {
    throw new InputError(
      'dir',
      `--dir is ${JSON.stringify(folder)}, which is no folder. Name the repository's folder.`,
    );
  }
  const there: string[] = [];
  for (const name of names) {
    const found = await lstat(path.join(root, name)).catch(() => null);
    if (found === null) continue;
    if (!found.isFile()) throw new InputError(null, `${name} is no regular file. Move it away.`);
    there.push(name);
  }
  if (there.length > 0 && !force) {
    const verb = there.length === 1 ? 'is' : 'are';
    throw new InputError(
      'force',
      `${there.join(' and ')} ${verb} there already, and nothing was written. Rename what you want to keep, or use --force to replace what is there.`,
    );
  }
  return root;
}

/**
 * Writes all files, or none if one of them cannot be written.
 * @throws InputError when one cannot be written
 */
async function placeFiles(root: string, files: readonly NewFile[], force: boolean): Promise<void> {
  try {
    for (const { name } of files) await makeFolder(root, name);
    // Without `force` nothing is replaced, not even a file created in the meantime.
    for (const { name, text } of files) {
      await writeFile(path.join(root, name), text, { flag: force ? 'w' : 'wx' });
    }
  } catch (error) {
    const code = errorCode(error);
    if (code === null) throw error;
    throw new InputError('dir', `The files cannot be written (${code}). Check the folder's permissions.`, {
      cause: error,
    });
  }
}

/** Creates the folder of a file. A link in its path must lead neither out of the repository nor into `.git`. */
async function makeFolder(root: string, name: string): Promise<void> {
  let folder = root;
  for (const part of path.dirname(name).split('/')) {
    folder = path.join(folder, part);
    await mkdir(folder, { recursive: true });
    const real = await realpath(folder);
    const intoGit = path
      .relative(root, real)
      .split(path.sep)
      .some((each) => foldName(each) === '.git');
    if (isInside(real, root) && !intoGit) continue;
    const where = intoGit ? 'into .git' : 'out of the repository';
    throw new InputError('dir', `${path.dirname(name)} leads ${where}. Make it a folder of its own.`);
  }
}
