/** What people are told where a verdict rests on less than it could: no diff, a part of it, or no tool call. */
import type { ContextStatus } from '../types.ts';
import type { Report } from './report-types.ts';

/** The part of the evidence that is put into words. */
export interface Looked {
  readonly context: ContextStatus;
  readonly toolCalls: number;
}

/** What can be weak about the evidence of a run. */
export type Weakness = 'no_diff' | 'part_of_diff' | 'no_tool_call';

const SENTENCES: Readonly<Record<Weakness, string>> = {
  no_diff:
    'The model was not given the diff of this pull request: neither GitHub nor git provided it. The log says why. A github-token with pull-requests: read, or a checkout with fetch-depth: 0, provides it.',
  part_of_diff:
    'The model was given only a part of the diff of this pull request: the rest is too large or binary, or GitHub did not give it. A checkout with fetch-depth: 0 provides it where it is not too large; else split the change, or ask in the prompt to read the changed files themselves.',
  no_tool_call:
    'The payload was accepted without a single tool call: the model opened no file and ran no command. Ask in the prompt for checks that need one.',
};

/** The weaknesses of what a run rests on. */
export function findWeaknesses({ context, toolCalls }: Looked, hasPayload: boolean): readonly Weakness[] {
  return [
    ...(context === 'missing' ? (['no_diff'] as const) : []),
    ...(context === 'truncated' ? (['part_of_diff'] as const) : []),
    ...(hasPayload && toolCalls === 0 ? (['no_tool_call'] as const) : []),
  ];
}

/** What makes a verdict weaker than it could be: one sentence each, in which names may be hostile. */
export function evidenceWarnings({
  evidence = null,
  payload,
  view,
}: Pick<Report, 'evidence' | 'payload' | 'view'>): readonly string[] {
  if (view?.warnings !== undefined) return view.warnings;
  return evidence === null ? [] : warningsAbout(evidence, payload !== null);
}

/** The same of what an envelope says. */
export function warningsAbout(looked: Looked, hasPayload: boolean): readonly string[] {
  return findWeaknesses(looked, hasPayload).map((weakness) => SENTENCES[weakness]);
}
