/** Decides what `structured-agent init` writes, from the flags and from questions on a terminal. */
import { createInterface } from 'node:readline/promises';
import type { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import { presets } from '../../contract/presets.ts';
import { InputError } from '../../errors.ts';
import { PROVIDERS, type ProviderName, providerByName, registry } from '../../providers/registry.ts';
import { DISPLAY } from '../../text/limits.ts';
import { quote, suggest } from '../../text/messages.ts';
import { readFlags } from '../flags.ts';

const TRIGGERS = ['pull_request', 'push', 'merge_group'] as const;

export interface Plan {
  readonly preset: string;
  readonly provider: ProviderName;
  /** As in the workflow: a name or an expression. */
  readonly model: string;
  readonly trigger: (typeof TRIGGERS)[number];
  readonly comment: boolean;
  /** The value of `uses:`. */
  readonly action: string;
}

/** The given choices; null for a choice that was not given. */
export interface InitOptions {
  readonly choices: { readonly [Name in keyof Plan]: Plan[Name] | null };
  readonly help: boolean;
  readonly dir: string;
  readonly force: boolean;
  /** Whether to use the default for everything that was not given, without asking. */
  readonly yes: boolean;
}

/** @throws InputError that names the flag and the fix */
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
  const oneOf = <C extends string>(name: string, values: readonly C[]) => {
    const given = flags.value(name);
    return given === null ? null : requireOneOf(name, given, values);
  };
  const [stray] = flags.positionals;
  if (stray !== undefined) {
    throw new InputError(
      null,
      `structured-agent init takes no ${quote(stray, DISPLAY.name)}. Name the folder with --dir.`,
    );
  }
  if (flags.has('comment') && flags.has('no-comment')) {
    throw new InputError('comment', '--comment and --no-comment are both given. Keep one of them.');
  }
  const [help, yes] = [flags.has('help'), flags.has('yes')];
  const provider = oneOf('provider', PROVIDERS);
  const model = flags.value('model');
  if (!help && yes && provider === null && model !== null && providerByName(model) === null) {
    throw new InputError(
      'provider',
      `No provider is known for the model ${quote(model, DISPLAY.name)}. Add --provider with one of ${PROVIDERS.join(', ')}.`,
    );
  }
  return {
    choices: {
      preset: oneOf('preset', [...presets.keys()]),
      provider,
      model,
      trigger: oneOf('trigger', TRIGGERS),
      action: readAction(flags.value('action')),
      comment: flags.has('comment') ? true : flags.has('no-comment') ? false : null,
    },
    help,
    dir: flags.value('dir') ?? '.',
    force: flags.has('force'),
    yes,
  };
}

/** A reference to an action in another repository, or in a folder of the checkout. */
const ACTION = /^(?:\.{1,2}\/[\w./-]*|[\w-]+\/[\w.-]+(?:\/[\w.-]+)*@[\w./-]+)$/u;

function readAction(given: string | null): string | null {
  if (given === null || ACTION.test(given)) return given;
  const fix = ACTION.test(`${given}@v1`)
    ? `which has no version. Write ${given}@COMMIT.`
    : 'which is no action. Write OWNER/REPOSITORY@COMMIT, or ./FOLDER for one in the checkout.';
  throw new InputError('action', `--action is ${quote(given, DISPLAY.name)}, ${fix}`);
}

/** @throws InputError for a value that is not in the list, with the closest one that is */
function requireOneOf<C extends string>(name: string, given: string, values: readonly C[]): C {
  const found = values.find((each) => each === given);
  if (found !== undefined) return found;
  const fix = didYouMean(given, values) ?? `Use ${values.join(', ')}.`;
  throw new InputError(
    name,
    `--${name} is ${quote(given, DISPLAY.name)}, which is not one of its values. ${fix}`,
  );
}

function didYouMean(given: string, values: readonly string[]): string | null {
  const near = suggest(given, values);
  return near.length === 0 ? null : `Did you mean ${near.join(' or ')}?`;
}

/** A placeholder for the action: nobody owns that name before the first release. */
export const PLACEHOLDER_ACTION = 'org/structured-agent@v1';

/** A choice that the flags left open. */
export interface Question {
  /** The flags that would answer it. */
  readonly flags: string;
  readonly text: string;
  /** Empty when any text is an answer. */
  readonly values: readonly string[];
  /** The meaning of an empty answer; null when an answer is required. */
  readonly standard: string | null;
}

/** Asks one question; resolves to one of its values. */
export type Ask = (question: Question) => Promise<string>;

/** Makes every choice; flags take precedence. */
export async function makePlan({ choices }: InitOptions, ask: Ask): Promise<Plan> {
  const choose = async <C extends string>(
    name: string,
    text: string,
    values: readonly C[],
    standard: C | null,
  ) => requireOneOf(name, await ask({ flags: `--${name}`, text, values, standard }), values);
  const names = [...presets.keys()];
  const preset = choices.preset ?? (await choose('preset', 'What shall be judged?', names, 'verdict'));
  const known = choices.model === null ? null : providerByName(choices.model);
  // The provider cannot be derived from an unknown model name.
  const standard = choices.model === null ? 'anthropic' : null;
  const provider =
    choices.provider ?? known ?? (await choose('provider', 'Whose model?', PROVIDERS, standard));
  const { exampleModel } = registry[provider];
  const model =
    choices.model ??
    (await ask({ flags: '--model', text: 'Which model?', values: [], standard: exampleModel }));
  const trigger = choices.trigger ?? (await choose('trigger', 'When?', TRIGGERS, 'pull_request'));
  const comment = choices.comment ?? (trigger !== 'push' && (await ask(WANTS_COMMENT)) === 'yes');
  return { preset, provider, model, trigger, comment, action: choices.action ?? PLACEHOLDER_ACTION };
}

const WANTS_COMMENT: Question = {
  flags: '--comment or --no-comment',
  text: 'Comment on the pull request?',
  values: ['yes', 'no'],
  standard: 'no',
};

const SHORT_ANSWERS: ReadonlyMap<string, string> = new Map([
  ['y', 'yes'],
  ['n', 'no'],
]);

/** Asks on a terminal, line by line; repeats the question until the answer is one of the values. */
export function askOn(
  stdin: Readable,
  stderr: { write(text: string): unknown },
): { readonly ask: Ask; close(): void } {
  const output = new Writable({
    write(chunk: unknown, _encoding, done) {
      stderr.write(String(chunk));
      done();
    },
  });
  const lines = createInterface({ input: stdin, output, terminal: false });
  const answers = lines[Symbol.asyncIterator]();
  return {
    async ask({ text, values, standard }) {
      const choices = values.length === 0 ? '' : ` (${values.join(', ')})`;
      for (;;) {
        stderr.write(`${text}${choices} ${standard === null ? '' : `[${standard}] `}`);
        const { value, done } = await answers.next();
        if (done === true) {
          stderr.write('\n');
          throw new InputError(
            null,
            'No answer came, and nothing was written. Give flags, or --yes for the defaults.',
          );
        }
        const answer = String(value).trim();
        if (answer === '' && standard !== null) return standard;
        if (answer !== '' && values.length === 0) return answer;
        const word = SHORT_ANSWERS.get(answer.toLowerCase()) ?? answer.toLowerCase();
        if (values.includes(word)) return word;
        stderr.write(`${didYouMean(answer, values) ?? `Answer ${values.join(', ')}.`}\n`);
      }
    },
    close: () => lines.close(),
  };
}

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
