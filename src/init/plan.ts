/** What the workflow shall be: every choice made. */
import { presets } from '../contract/presets.ts';
import { PROVIDERS, type ProviderName, providerByName } from '../providers/provider.ts';
import { type InitOptions, requireOneOf, TRIGGERS, type Trigger } from './options.ts';

/** Every choice. */
export interface Plan {
  readonly preset: string;
  readonly provider: ProviderName;
  /** As the workflow says it: a name, or an expression. */
  readonly model: string;
  readonly trigger: Trigger;
  readonly comment: boolean;
}

/** Asks one question; gives the answer, or the standard for an empty one. */
export type Ask = (question: string, standard: string, values: readonly string[]) => Promise<string>;

/** What is said instead of an answer where nobody is asked. */
export const askNobody: Ask = async (_question, standard) => standard;

/** A model of each provider to begin with; of what has no names that everybody shares, a variable. */
const MODELS: Readonly<Record<ProviderName, string>> = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5',
  gemini: 'gemini-2.5-pro',
  'azure-openai': '${{ vars.MODEL_NAME }}',
  'openai-compatible': '${{ vars.MODEL_NAME }}',
};

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
 * @throws InputError for a value that cannot be meant.
 */
export async function makePlan(options: InitOptions, ask: Ask): Promise<Plan> {
  const names = [...presets.keys()];
  // What was given is looked at before anybody is asked anything.
  const given = {
    preset: options.preset === null ? null : requireOneOf('preset', options.preset, names),
    provider: options.provider === null ? null : requireOneOf('provider', options.provider, PROVIDERS),
    trigger: options.trigger === null ? null : requireOneOf('trigger', options.trigger, TRIGGERS),
  };
  const choose = async <C extends string>(
    name: string,
    question: string,
    values: readonly C[],
    standard: C,
  ) => requireOneOf(name, await ask(question, standard, values), values);
  const preset = given.preset ?? (await choose('preset', 'What shall be judged?', names, 'verdict'));
  const told = options.model === null ? null : providerByName(options.model);
  const provider =
    given.provider ?? told ?? (await choose('provider', 'Whose model?', PROVIDERS, 'anthropic'));
  const model = options.model ?? (await ask('Which model?', MODELS[provider], []));
  const trigger = given.trigger ?? (await choose('trigger', 'When?', TRIGGERS, 'pull_request'));
  const comment = options.comment ?? (trigger === 'push' ? false : await wantsComment(choose));
  return { preset, provider, model, trigger, comment };
}

async function wantsComment(
  choose: (name: string, question: string, values: readonly string[], standard: string) => Promise<string>,
): Promise<boolean> {
  return (await choose('comment', 'Comment on the pull request?', ['yes', 'no'], 'no')) === 'yes';
}
