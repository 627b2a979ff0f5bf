/** Records a model's responses in a run, so that the run can be replayed without it. */
import { messageOf, ProviderError } from '../errors.ts';
import { openPrivateLog } from '../files/private-file.ts';
import type { CompletionRequest, Provider } from '../providers/provider.ts';
import { snakeKeys } from '../reporters/envelope.ts';
import type { Secrets } from '../text/secrets.ts';
import type { ToolCall } from '../types.ts';
import { type RecordedCall, recordingFormat, type Task } from './recording.ts';

const MASKED =
  'record: A tool call held a secret, which the recording masks: replays end there with replay_mismatch. Record a run without it.';

/**
 * Wraps the provider of a run so that all of its responses and failures are recorded, including arguments of
 * `structured_output`, which are stored nowhere else. Secrets are masked.
 * @param file absolute path, whose folder is a real path. It is replaced with the first response, not earlier: a run that
 * never called a model leaves an older recording alone. If it cannot be written, the recording ends, but not the run.
 */
export function recordRun(
  provider: Provider,
  file: string,
  { policy, workingDirectory }: Task,
  { secrets, warn }: { readonly secrets: Secrets; readonly warn: (text: string) => void },
): Provider {
  const { mask } = secrets;
  const header = {
    type: 'recording',
    format: recordingFormat,
    model: mask(provider.model),
    provider: provider.name,
    schema_sha256: policy.schema_sha256,
    prompt_sha256: policy.prompt_sha256,
    working_directory: mask(workingDirectory),
    created: new Date().toISOString(),
    version: policy.version,
  };
  let append: ReturnType<typeof openPrivateLog> | null = null;
  let isBroken = false;
  const write = ({ tools }: CompletionRequest, entry: object) => {
    if (isBroken) return;
    try {
      if (append === null) {
        append = openPrivateLog(file);
        append(JSON.stringify({ ...header, tools: tools.map(({ name }) => name) }));
      }
      append(JSON.stringify(entry));
    } catch (error) {
      // A gap would be replayed as if the recording were complete.
      isBroken = true;
      warn(`record: The recording is not whole: ${messageOf(error)}`);
    }
  };
  return {
    ...provider,
    async complete(request) {
      try {
        const completion = await provider.complete(request);
        const calls = completion.message.toolCalls.map((call) => recordCall(call, secrets));
        if (calls.some(({ masked }) => masked)) warn(MASKED);
        write(request, {
          type: 'answer',
          text: mask(completion.message.text),
          tool_calls: calls,
          stop_reason: completion.stopReason,
          usage: completion.usage && snakeKeys(completion.usage),
          model: mask(completion.model),
        });
        return completion;
      } catch (error) {
        if (request.signal.aborted) write(request, { type: 'stopped' });
        else if (error instanceof ProviderError) {
          const { failure, status, message } = error;
          write(request, { type: 'failure', failure, status, message: mask(message) });
        }
        throw error;
      }
    },
  };
}

function recordCall(call: ToolCall, { mask }: Secrets): RecordedCall {
  const name = mask(call.name);
  const text = mask(call.rawArguments);
  const masked = name !== call.name || text !== call.rawArguments;
  return { id: mask(call.id), name, arguments: text, status: call.status, ...(masked ? { masked } : {}) };
}
