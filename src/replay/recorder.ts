/** Records a model's responses in a run, so that the run can be replayed without it. */
import { messageOf, ProviderError } from '../errors.ts';
import type { Completion, CompletionRequest, Provider } from '../providers/provider.ts';
import { usageJson } from '../reporters/envelope.ts';
import type { RunState, World } from '../run/world.ts';
import { READ, WIRE } from '../text/limits.ts';
import type { PolicyDigest, ToolCall } from '../types.ts';
import { type RequestDigest, recordingFormat } from './recording.ts';
import { digestRequest } from './request-digest.ts';

/** What a recorder needs to know of its run. */
export interface RecorderOptions {
  /** Appends one line, given without its line break. An exception ends the recording, but not the run. */
  readonly append: (line: string) => void;
  readonly mask: (text: string) => string;
  /** Called when the first line is written. */
  readonly policy: () => PolicyDigest;
  readonly workingDirectory: () => string;
  /** The current time, in ISO 8601. */
  readonly time: () => string;
  /** Called once with each reason why the recording cannot be replayed. */
  readonly warn: (text: string) => void;
}

/** Records the provider of a run. */
export async function recordRun(
  provider: Provider,
  append: RecorderOptions['append'],
  state: RunState,
  world: World,
): Promise<Provider> {
  return recorded(provider, {
    append,
    mask: world.secrets.mask,
    policy: () => state.policy,
    workingDirectory: () => state.sandbox?.workingDirectory ?? '',
    time: () => new Date().toISOString(),
    warn: (text) => world.warn(`record: ${text}`),
  });
}

/**
 * Wraps a provider so that all of its responses and failures are recorded, including arguments of `structured_output`,
 * which are stored nowhere else. Secrets are masked, and calls that contained one are marked, since they cannot be
 * replayed.
 */
export function recorded(provider: Provider, options: RecorderOptions): Provider {
  const { mask } = options;
  const write = createWriter(options);
  let number = 0;

  const line = (request: CompletionRequest, rest: Readonly<Record<string, unknown>>) => {
    if (number === 0) write(header(provider, request, options));
    number += 1;
    write({ type: rest['type'], number, asked: digestLine(digestRequest(request, mask)), ...rest });
  };

  return {
    ...provider,
    async complete(request) {
      try {
        const completion = await provider.complete(request);
        if (hasMasked(completion, mask)) options.warn(MASKED);
        line(request, answerLine(completion, mask));
        return completion;
      } catch (error) {
        if (request.signal.aborted) line(request, { type: 'stopped' });
        else if (error instanceof ProviderError) line(request, failureLine(error, mask));
        throw error;
      }
    },
  };
}

const MASKED =
  'A tool call held a secret, which the recording masks: replays end there with replay_mismatch. Record a run without it.';

function createWriter({ append, warn }: RecorderOptions): (entry: object) => void {
  let size = 0;
  let dead = false;
  return (entry) => {
    if (dead) return;
    const text = JSON.stringify(entry);
    const before = size;
    size += Buffer.byteLength(text) + 1;
    if (before <= READ.recording && size > READ.recording)
      warn(`The recording is larger than ${READ.recording / 1024 ** 2} MiB, and too large to be replayed.`);
    try {
      append(text);
    } catch (error) {
      // Stop recording: a gap would be replayed as if the recording were complete.
      dead = true;
      warn(`The recording is not whole: ${messageOf(error)}`);
    }
  };
}

function header(
  provider: Provider,
  request: CompletionRequest,
  { mask, policy, workingDirectory, time }: RecorderOptions,
): object {
  const { schema_sha256, gate_sha256, prompt_sha256, version } = policy();
  return {
    type: 'recording',
    format: recordingFormat,
    model: oneLine(mask(provider.model)),
    provider: provider.name,
    schema_sha256,
    gate_sha256,
    prompt_sha256,
    tools: request.tools.map((tool) => tool.name),
    working_directory: mask(workingDirectory()),
    created: time(),
    version,
  };
}

function digestLine({ toolChoice, after, results }: RequestDigest): object {
  return {
    tool_choice: toolChoice,
    after,
    results: results.map(({ name, isError, sha256 }) => ({ name, is_error: isError, sha256 })),
  };
}

function answerLine({ message, stopReason, usage, model }: Completion, mask: (text: string) => string) {
  return {
    type: 'answer',
    text: mask(message.text),
    tool_calls: message.toolCalls.map((call) => callLine(call, mask)),
    stop_reason: stopReason,
    usage: usage === null ? null : usageJson(usage),
    model: oneLine(mask(model)),
  };
}

function callLine(call: ToolCall, mask: (text: string) => string): object {
  const id = mask(call.id);
  const name = mask(call.name);
  const text = mask(call.rawArguments);
  const masked = name !== call.name || text !== call.rawArguments;
  return { id, name, arguments: text, status: call.status, ...(masked ? { masked } : {}) };
}

function hasMasked({ message }: Completion, mask: (text: string) => string): boolean {
  return message.toolCalls.some(
    ({ name, rawArguments }) => mask(name) !== name || mask(rawArguments) !== rawArguments,
  );
}

function failureLine({ failure, status, message }: ProviderError, mask: (text: string) => string) {
  return { type: 'failure', failure, status, message: mask(message) };
}

/** Returns a name in the form that the reader accepts. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, WIRE.recordedName);
  return line.trim() === '' ? 'unknown' : line.toWellFormed();
}
