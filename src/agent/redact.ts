/**
 * The one place where arguments are taken out of what events, logs and transcripts carry: those of `structured_output`,
 * and those of tools that were not offered, because models deliver under names of their own (`StructuredOutput`). An
 * accepted payload belongs in the outputs, the summary and the envelope; a rejected one belongs nowhere.
 */
import { STRUCTURED_OUTPUT_NAME } from '../tools/toolbox.ts';
import type { AssistantMessage, RedactedIssue } from '../types.ts';

/** What every log, transcript and event carries instead of the arguments; itself a JSON object. */
export const REDACTED_ARGUMENTS = '{"redacted":"these arguments are not recorded"}';

/**
 * The message without the arguments of `structured_output`, however the model garbled its name
 * (`functions.structured_output`), without those of tools that were not offered, and without its native form, which
 * holds them too.
 */
export function redactMessage(
  message: AssistantMessage,
  isOffered: (name: string) => boolean,
): AssistantMessage {
  const toolCalls = message.toolCalls.map((call) =>
    call.name.includes(STRUCTURED_OUTPUT_NAME) || !isOffered(call.name)
      ? { ...call, rawArguments: REDACTED_ARGUMENTS }
      : call,
  );
  return { role: 'assistant', text: message.text, toolCalls, native: null };
}

/** What a record may keep of a rejection: redacted instance paths and keywords, no values. */
export function redactIssues(issues: readonly RedactedIssue[]): string {
  const parts = issues.map((issue) => `${issue.path === '' ? 'the root' : issue.path} (${issue.keyword})`);
  return `Rejected: ${parts.join(', ')}`;
}
