/**
 * The one place where arguments of `structured_output` are taken out of what is told. The payload belongs in the
 * outputs, the summary and the envelope; a rejected one belongs nowhere.
 */
import { STRUCTURED_OUTPUT_NAME } from '../tools/toolbox.ts';
import type { AssistantMessage, Issue } from '../types.ts';

/** What stands in every log, transcript and event instead of the arguments; itself a JSON object. */
export const REDACTED_ARGUMENTS = '{"redacted":"arguments of structured_output are not recorded"}';

/**
 * The message without arguments of `structured_output`, whether the tool was offered or not and however a model garbles
 * its name (`functions.structured_output`), and without its native form, which holds them too.
 */
export function redactMessage(message: AssistantMessage): AssistantMessage {
  const toolCalls = message.toolCalls.map((call) =>
    call.name.includes(STRUCTURED_OUTPUT_NAME) ? { ...call, rawArguments: REDACTED_ARGUMENTS } : call,
  );
  return { role: 'assistant', text: message.text, toolCalls, native: null };
}

/** What a record may keep of a rejection: instance paths and keywords, no values. */
export function redactIssues(issues: readonly Issue[]): string {
  const parts = issues.map((issue) => `${issue.path === '' ? 'the root' : issue.path} (${issue.keyword})`);
  return `Rejected: ${parts.join(', ')}`;
}
