/** Replays the model's side of a run from a recording: no key, no network, no tokens. */
import { ProviderError, ReplayError } from '../errors.ts';
import type { Completion, Provider } from '../providers/provider.ts';
import { readUsage } from '../text/figures.ts';
import { counted, quote } from '../text/messages.ts';
import { STRUCTURED_OUTPUT_NAME } from '../tools/toolbox.ts';
import type { ToolCall } from '../types.ts';
import {
  type RecordedAnswer,
  type RecordedCall,
  type RecordingHeader,
  readRecording,
  type Task,
} from './recording.ts';

/**
 * Parses a recording, and creates a provider that returns the recorded responses in order, including failures. Its
 * `complete` throws a ReplayError if the task or the tools are not those of the recorded run, and when the recording
 * ends before this run does.
 * @throws InputError if the text is not a recording.
 */
export async function openReplay(text: string, { policy, workingDirectory }: Task) {
  const { header, responses } = await readRecording(text);
  let at = 0;
  const provider: Provider = {
    name: header.provider,
    // A name that is not taken for a verdict of the model.
    model: `replay of ${header.model}`,
    async complete({ signal, tools }) {
      signal.throwIfAborted();
      if (at === 0) requireSameTask(header, policy, tools.map(({ name }) => name).join(', '));
      const response = responses[at];
      if (response === undefined)
        throw mismatch(`the run goes on, and the recording has ${counted(responses.length, 'answer')}`);
      at += 1;
      if (response.type === 'stopped')
        throw mismatch('the recorded run was stopped while it waited for this answer');
      if (response.type === 'failure')
        throw new ProviderError(response.failure, response.message, { status: response.status });
      return complete(response, header.working_directory, workingDirectory);
    },
    accepted() {
      if (at < responses.length)
        throw mismatch('the recorded run goes on after this payload, and this run accepted it');
    },
  };
  return { header, provider };
}

function requireSameTask(header: RecordingHeader, policy: Task['policy'], now: string): void {
  if (header.schema_sha256 !== policy.schema_sha256) throw mismatch('it was recorded for another schema');
  if (header.prompt_sha256 !== policy.prompt_sha256) throw mismatch('it was recorded for another prompt');
  const then = header.tools.join(', ');
  if (then !== now) throw mismatch(`it was recorded with the tools ${then}, and this run offers ${now}`);
}

function mismatch(what: string): ReplayError {
  return new ReplayError(`The recording does not fit: ${what}. Record it again with --record.`);
}

function complete(
  { text, tool_calls, stop_reason, model, usage }: RecordedAnswer,
  recordedFolder: string,
  folder: string,
): Completion {
  const masked = tool_calls.find((call) => call.masked === true);
  if (masked !== undefined)
    throw mismatch(`a call of ${quote(masked.name)} held a secret, which the recording masks`);
  return {
    message: {
      role: 'assistant',
      text,
      toolCalls: tool_calls.map((call) => moveCall(call, recordedFolder, folder)),
      native: null,
    },
    stopReason: stop_reason,
    usage: usage && readUsage(usage),
    model,
  };
}

/** Maps paths below the recorded working directory to the current one; a payload is left unchanged. */
function moveCall({ id, name, status, arguments: given }: RecordedCall, from: string, to: string): ToolCall {
  if (name === STRUCTURED_OUTPUT_NAME || !/^\/[^/]/u.test(from))
    return { id, name, status, rawArguments: given };
  const escaped = JSON.stringify(from)
    .slice(1, -1)
    .replace(/[\\^$.*+?()[\]{}|]/gu, '\\$&');
  // The name of another folder may begin with the same text.
  const pattern = new RegExp(`${escaped}(?![\\w.-])`, 'gu');
  return { id, name, status, rawArguments: given.replace(pattern, () => JSON.stringify(to).slice(1, -1)) };
}
