/** The parts of a request that a replay compares with the recorded run; docs/replay.md explains each of them. */

import { createHash } from 'node:crypto';
import type { CompletionRequest } from '../providers/provider.ts';
import { LISTED } from '../text/limits.ts';
import { quote } from '../text/messages.ts';
import type { AssistantMessage, Message, PolicyDigest } from '../types.ts';
import type { RecordedResult, RecordingHeader, RequestDigest } from './recording.ts';

/** The task of a run, before any turn. */
export interface Task {
  readonly policy: PolicyDigest;
  /** The requested model; null to use the recording's. */
  readonly model: string | null;
  readonly workingDirectory: string;
}

/** Returns the part of a request that is compared. `mask` is applied to results before they are hashed. */
export function digestRequest(
  { messages, toolChoice }: Pick<CompletionRequest, 'messages' | 'toolChoice'>,
  mask: (text: string) => string,
): RequestDigest {
  const last = messages.at(-1);
  const choice = toolChoice === 'auto' ? 'auto' : toolChoice.tool;
  if (last?.role !== 'tool')
    return { toolChoice: choice, after: messages.length <= 1 ? 'task' : 'reminder', results: [] };
  const calls = lastCalls(messages);
  const results = last.results.map(({ content, isError }, at) => ({
    name: calls[at]?.name ?? '',
    isError,
    sha256: createHash('sha256').update(mask(content)).digest('hex'),
  }));
  return { toolChoice: choice, after: 'results', results };
}

function lastCalls(messages: readonly Message[]): AssistantMessage['toolCalls'] {
  const assistant = messages.findLast((message) => message.role === 'assistant');
  return assistant?.role === 'assistant' ? assistant.toolCalls : [];
}

/**
 * Returns a clause that describes how this run's task differs from the recorded one; null if it does not differ in any
 * relevant part.
 */
export function describeTaskDifference(
  { policy, model, tools }: RecordingHeader,
  task: Task,
  offered: readonly string[],
): string | null {
  if (policy.schema_sha256 !== task.policy.schema_sha256)
    return `it was recorded for the schema ${short(policy.schema_sha256)}, and this run has ${short(task.policy.schema_sha256)}`;
  if (policy.prompt_sha256 !== task.policy.prompt_sha256)
    return `it was recorded for the task ${short(policy.prompt_sha256)} (prompt and system-prompt together), and this run has ${short(task.policy.prompt_sha256)}`;
  if (task.model !== null && task.model !== model)
    return `it was recorded from the model ${JSON.stringify(model)}, and this run asks for ${JSON.stringify(task.model)}`;
  const lost = tools.filter((tool) => !offered.includes(tool));
  const added = offered.filter((tool) => !tools.includes(tool));
  if (lost.length === 0 && added.length === 0) return null;
  const parts = [
    ...(lost.length === 0 ? [] : [`it was recorded with ${lost.join(', ')}, which this run does not offer`]),
    ...(added.length === 0 ? [] : [`this run offers ${added.join(', ')}, which it was recorded without`]),
  ];
  return parts.join('; ');
}

/**
 * Returns a clause that describes how a request differs from the recorded one; null if it does not differ in any
 * relevant part.
 */
export function describeRequestDifference(recorded: RequestDigest, asked: RequestDigest): string | null {
  if (recorded.after !== asked.after)
    return `the model was asked ${WORDS[recorded.after]} when it was recorded, and is asked ${WORDS[asked.after]} now`;
  if (recorded.results.length !== asked.results.length)
    return `${recorded.results.length} tool results were recorded, and there are ${asked.results.length} now`;
  for (const [at, was] of recorded.results.entries()) {
    const is = asked.results[at];
    if (is === undefined) continue;
    if (is.name !== was.name)
      return `call ${at + 1} of the turn before was ${quote(was.name)} when it was recorded, and is ${quote(is.name)} now`;
    if (is.isError !== was.isError)
      return `call ${at + 1} of the turn before (${quote(was.name)}) ${was.isError ? 'failed' : 'worked'} when it was recorded, and ${was.isError ? 'worked' : 'failed'} now`;
  }
  if (recorded.toolChoice === asked.toolChoice) return null;
  return `the tool choice was ${JSON.stringify(recorded.toolChoice)} when it was recorded, and is ${JSON.stringify(asked.toolChoice)} now`;
}

/**
 * Returns the results whose text differs from the recorded one, as `"shell" (call 2)`; a difference is reported but is
 * not a mismatch.
 */
export function changedResults(recorded: RequestDigest, asked: RequestDigest): readonly string[] {
  const changed = recorded.results.flatMap((was: RecordedResult, at) =>
    asked.results[at]?.sha256 === was.sha256 ? [] : [`${quote(was.name)} (call ${at + 1})`],
  );
  const more = changed.length - LISTED.some;
  return more > 0 ? [...changed.slice(0, LISTED.some), `and ${more} more`] : changed;
}

const WORDS: Readonly<Record<RequestDigest['after'], string>> = {
  task: 'with nothing but the task',
  results: 'after the results of its calls',
  reminder: 'once more, after a turn of plain text',
};

function short(hash: string | null): string {
  return hash === null ? 'none' : `${hash.slice(0, 12)}…`;
}
