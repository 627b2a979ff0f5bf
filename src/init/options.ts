/** What `structured-agent init` is asked for. */
import { readFlags } from '../config/subcommand-flags.ts';
import { InputError } from '../errors.ts';
import { nearest } from '../nearest.ts';

/** What a value may be, and what it is where nobody says. */
export interface Choice<C extends string> {
  readonly values: readonly C[];
  readonly standard: C;
}

/** The events that can start the workflow. */
export const TRIGGERS = ['pull_request', 'push', 'merge_group'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** What was given; null for what was not. */
export interface InitOptions {
  readonly help: boolean;
  readonly preset: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly trigger: string | null;
  /** Whether to comment on pull requests; null where nothing was said. */
  readonly comment: boolean | null;
  readonly dir: string;
  readonly force: boolean;
  /** Take the standard for everything that is not given, and ask nothing. */
  readonly yes: boolean;
}

/** @throws InputError that names the flag and the fix. */
export function readOptions(argv: readonly string[]): InitOptions {
  const flags = readFlags('init', argv, {
    preset: 'value',
    provider: 'value',
    model: 'value',
    trigger: 'value',
    comment: 'switch',
    'no-comment': 'switch',
    dir: 'value',
    force: 'switch',
    yes: 'switch',
    help: 'switch',
  });
  const [stray] = flags.positionals;
  if (stray !== undefined) {
    throw new InputError(
      null,
      `structured-agent init takes no ${JSON.stringify(stray.slice(0, 100))}. Name the folder with --dir.`,
    );
  }
  if (flags.has('comment') && flags.has('no-comment')) {
    throw new InputError('comment', 'Both --comment and --no-comment are given. Keep one of them.');
  }
  return {
    help: flags.has('help'),
    preset: flags.value('preset'),
    provider: flags.value('provider'),
    model: flags.value('model'),
    trigger: flags.value('trigger'),
    comment: flags.has('comment') ? true : flags.has('no-comment') ? false : null,
    dir: flags.value('dir') ?? '.',
    force: flags.has('force'),
    yes: flags.has('yes'),
  };
}

/** @throws InputError where a value is none of those that can be meant. */
export function requireOneOf<C extends string>(name: string, given: string, values: readonly C[]): C {
  const found = values.find((each) => each === given);
  if (found !== undefined) return found;
  const near = nearest(given, values);
  const fix = near.length === 0 ? `Use ${values.join(', ')}.` : `Did you mean ${near.join(' or ')}?`;
  throw new InputError(name, `--${name} is ${JSON.stringify(given.slice(0, 100))}, which is none. ${fix}`);
}

/** The text of `structured-agent init --help`. */
export const INIT_HELP = `Usage: structured-agent init [flags]

Writes .github/workflows/structured-agent.yml and .github/verdict.schema.json from a preset.
On a terminal it asks for what the flags do not say.

  --preset PRESET      verdict (default), code-review, security-review or test-report.
  --provider PROVIDER  anthropic, openai, gemini, azure-openai or openai-compatible.
                       Default: told by the model's name, else anthropic.
  --model MODEL        The model to ask. Default: one of the provider's.
  --trigger EVENT      pull_request (default), push or merge_group (pull requests and their queue).
  --comment            Comment on the pull request. --no-comment: do not (default).
  --dir FOLDER         The repository. Default: the current folder.
  --force              Replace files that are there already.
  --yes                Ask nothing: the default for whatever is not given.
  -h, --help           This text.

Exit code: 0 where both files were written, else 52.
`;
