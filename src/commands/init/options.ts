/** What `structured-agent init` is asked for. */

import { presets } from '../../contract/presets.ts';
import { InputError } from '../../errors.ts';
import { PROVIDERS, type ProviderName, providerByName } from '../../providers/registry.ts';
import { suggest } from '../../text/messages.ts';
import { type Flags, readFlags } from '../flags.ts';

/** The events that can start the workflow. */
export const TRIGGERS = ['pull_request', 'push', 'merge_group'] as const;
export type Trigger = (typeof TRIGGERS)[number];

/** What was given; null for what was not. */
export interface InitOptions {
  readonly help: boolean;
  readonly preset: string | null;
  readonly provider: ProviderName | null;
  readonly model: string | null;
  readonly trigger: Trigger | null;
  /** What `uses:` says. */
  readonly action: string | null;
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
    preset: 'text',
    provider: 'text',
    model: 'text',
    trigger: 'text',
    action: 'text',
    comment: 'switch',
    'no-comment': 'switch',
    dir: 'text',
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
    throw new InputError('comment', '--comment and --no-comment are both given. Keep one of them.');
  }
  const help = flags.has('help');
  const yes = flags.has('yes');
  const provider = oneOf(flags, 'provider', PROVIDERS);
  const model = flags.value('model');
  if (!help && yes && provider === null && model !== null && providerByName(model) === null) {
    throw new InputError(
      'provider',
      `No provider is known for the model ${JSON.stringify(model.slice(0, 100))}. Add --provider with one of ${PROVIDERS.join(', ')}.`,
    );
  }
  return {
    help,
    preset: oneOf(flags, 'preset', [...presets.keys()]),
    provider,
    model,
    trigger: oneOf(flags, 'trigger', TRIGGERS),
    action: readAction(flags.value('action')),
    comment: flags.has('comment') ? true : flags.has('no-comment') ? false : null,
    dir: flags.value('dir') ?? '.',
    force: flags.has('force'),
    yes,
  };
}

function oneOf<C extends string>(flags: Flags, name: string, values: readonly C[]): C | null {
  const given = flags.value(name);
  return given === null ? null : requireOneOf(name, given, values);
}

/** An action of another repository by its reference, or one in a folder of the checkout. */
const ACTION = /^(?:\.{1,2}\/[\w./-]*|[\w-]+\/[\w.-]+(?:\/[\w.-]+)*@[\w./-]+)$/u;

function readAction(given: string | null): string | null {
  if (given === null || ACTION.test(given)) return given;
  const fix = ACTION.test(`${given}@v1`)
    ? `which has no version. Write ${given.slice(0, 100)}@COMMIT.`
    : 'which is no action. Write OWNER/REPOSITORY@COMMIT, or ./FOLDER for one in the checkout.';
  throw new InputError('action', `--action is ${JSON.stringify(given.slice(0, 100))}, ${fix}`);
}

/** @throws InputError for a value that is not one of these, with the nearest of them. */
export function requireOneOf<C extends string>(name: string, given: string, values: readonly C[]): C {
  const found = values.find((each) => each === given);
  if (found !== undefined) return found;
  const near = suggest(given, values);
  const fix = near.length === 0 ? `Use ${values.join(', ')}.` : `Did you mean ${near.join(' or ')}?`;
  throw new InputError(
    name,
    `--${name} is ${JSON.stringify(given.slice(0, 100))}, which is not one of its values. ${fix}`,
  );
}

/** The text of `structured-agent init --help`. */
export const INIT_HELP = `Usage: structured-agent init [flags]

Writes .github/workflows/structured-agent.yml and .github/verdict.schema.json from a preset.
On a terminal it asks for what the flags leave open.

  --preset PRESET      verdict (default), code-review, security-review or test-report.
  --provider PROVIDER  anthropic, openai, gemini, azure-openai or openai-compatible.
                       Default: by the name of --model; required where that names none;
                       anthropic without --model.
  --model MODEL        The model to ask. Default: one of the provider's.
  --trigger EVENT      pull_request (default), push or merge_group (pull requests and their queue).
  --action ACTION      What the step uses, as OWNER/REPOSITORY@COMMIT or ./FOLDER.
                       Default: org/structured-agent@v1, where org/ is a placeholder until
                       the first release.
  --comment            Comment on the pull request. --no-comment: do not (default).
  --dir FOLDER         The repository. Default: the current folder.
  --force              Replace files that are there already.
  --yes                Ask nothing: the default for every flag that is not given.
  -h, --help           This text.

Exit code: 0 where both files were written, else 52.
`;
