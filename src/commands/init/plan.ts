/** What the workflow shall be: every choice made. */
import { presets } from '../../contract/presets.ts';
import { PROVIDERS, type ProviderName, providerByName, registry } from '../../providers/registry.ts';
import { type InitOptions, requireOneOf, TRIGGERS, type Trigger } from './options.ts';

/** Every choice. */
export interface Plan {
  readonly preset: string;
  readonly provider: ProviderName;
  /** As the workflow says it: a name, or an expression. */
  readonly model: string;
  readonly trigger: Trigger;
  readonly comment: boolean;
  /** What `uses:` says. */
  readonly action: string;
}

/** Asks one question; gives the answer, or the standard for an empty one. Without a standard an answer is needed. */
export type Ask = (question: string, standard: string | null, values: readonly string[]) => Promise<string>;

/** Gives every standard answer; `readOptions` refuses what has none. */
export const askNobody: Ask = async (_question, standard) => standard ?? '';

/** The action until somebody names another one: nobody owns that name before the first release. */
export const PLACEHOLDER_ACTION = 'org/structured-agent@v1';

/** What the flags leave open, for a message to somebody who cannot be asked. */
export function openQuestions(options: InitOptions): readonly string[] {
  const { preset, provider, model, trigger, comment } = options;
  return [
    ...(preset === null ? ['--preset'] : []),
    ...(provider === null && (model === null || providerByName(model) === null) ? ['--provider'] : []),
    ...(model === null ? ['--model'] : []),
    ...(trigger === null ? ['--trigger'] : []),
    ...(comment === null && trigger !== 'push' ? ['--comment or --no-comment'] : []),
  ];
}

/**
 * Makes every choice, by the flags first.
 * @throws InputError for an answer that is not one of the values.
 */
export async function makePlan(options: InitOptions, ask: Ask): Promise<Plan> {
  const names = [...presets.keys()];
  const choose = async <C extends string>(
    name: string,
    question: string,
    values: readonly C[],
    standard: C | null,
  ) => requireOneOf(name, await ask(question, standard, values), values);
  const preset = options.preset ?? (await choose('preset', 'What shall be judged?', names, 'verdict'));
  const told = options.model === null ? null : providerByName(options.model);
  // A model of an unknown name has no provider to guess.
  const standard = options.model === null ? 'anthropic' : null;
  const provider =
    options.provider ?? told ?? (await choose('provider', 'Whose model?', PROVIDERS, standard));
  const model = options.model ?? (await ask('Which model?', registry[provider].exampleModel, []));
  const trigger = options.trigger ?? (await choose('trigger', 'When?', TRIGGERS, 'pull_request'));
  const comment = options.comment ?? (trigger === 'push' ? false : await wantsComment(choose));
  const action = options.action ?? PLACEHOLDER_ACTION;
  return { preset, provider, model, trigger, comment, action };
}

async function wantsComment(
  choose: (name: string, question: string, values: readonly string[], standard: string) => Promise<string>,
): Promise<boolean> {
  return (await choose('comment', 'Comment on the pull request?', ['yes', 'no'], 'no')) === 'yes';
}
