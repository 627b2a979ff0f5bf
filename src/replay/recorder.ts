/** Records a model's responses in a run, so that the run can be replayed without it. */
import { messageOf, ProviderError } from '../errors.ts';
import type { CompletionRequest, Provider } from '../providers/provider.ts';
import { usageJson } from '../reporters/envelope.ts';
import type { Secrets } from '../text/secrets.ts';
import type { PolicyDigest, ToolCall } from '../types.ts';
import { type RecordedCall, recordingFormat } from './recording.ts';

const MASKED =
  'record: A tool call held a secret, which the recording masks: replays end there with replay_mismatch. Record a run without it.';

/** What the header says of the run. */
interface RecordedTask {
  readonly policy: PolicyDigest;
  readonly workingDirectory: string;
}

/**
 * Wraps the provider of a run so that all of its responses and failures are recorded, including arguments of
 * `structured_output`, which are stored nowhere else. Secrets are masked.
 * @param append appends one line; an exception ends the recording, but not the run.
 */
export async function recordRun(
  provider: Provider,
  append: (line: string) => void,
  task: RecordedTask,
  { secrets: { mask }, warn }: { readonly secrets: Secrets; readonly warn: (text: string) => void },
): Promise<Provider> {
  let isOpen = false;
  let isBroken = false;
  const write = ({ tools }: CompletionRequest, entry: object) => {
    if (isBroken) return;
    try {
      if (!isOpen) append(JSON.stringify(header(provider, tools, task, mask)));
      isOpen = true;
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
        const calls = completion.message.toolCalls.map((call) => recordCall(call, mask));
        if (calls.some(({ masked }) => masked)) warn(MASKED);
        write(request, {
          type: 'answer',
          text: mask(completion.message.text),
          tool_calls: calls,
          stop_reason: completion.stopReason,
          usage: completion.usage && usageJson(completion.usage),
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

type Mask = (text: string) => string;

function header(
  { name, model }: Provider,
  tools: CompletionRequest['tools'],
  { policy, workingDirectory }: RecordedTask,
  mask: Mask,
): object {
  return {
    type: 'recording',
    format: recordingFormat,
    model: mask(model),
    provider: name,
    schema_sha256: policy.schema_sha256,
    prompt_sha256: policy.prompt_sha256,
    tools: tools.map((tool) => tool.name),
    working_directory: mask(workingDirectory),
    created: new Date().toISOString(),
    version: policy.version,
  };
}

function recordCall(call: ToolCall, mask: Mask): RecordedCall {
  const name = mask(call.name);
  const text = mask(call.rawArguments);
  const masked = name !== call.name || text !== call.rawArguments;
  return { id: mask(call.id), name, arguments: text, status: call.status, ...(masked ? { masked } : {}) };
}
