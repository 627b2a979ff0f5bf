/** Replays the model's side of a run from a recording: no key, no network, no tokens. */

import type { Config } from '../config/parse-config.ts';
import { ProviderError, ReplayError } from '../errors.ts';
import type { Completion, CompletionRequest, Provider } from '../providers/provider.ts';
import { replayName } from '../run/model.ts';
import type { RunState, World } from '../run/world.ts';
import { quote } from '../text/messages.ts';
import { STRUCTURED_OUTPUT_NAME } from '../tools/toolbox.ts';
import type { AssistantMessage, ToolCall } from '../types.ts';
import { type RecordedResponse, type Recording, type RequestDigest, readRecording } from './recording.ts';
import {
  changedResults,
  describeRequestDifference,
  describeTaskDifference,
  digestRequest,
  type Task,
} from './request-digest.ts';

/** What a replay needs to know of its run. */
export interface ReplayOptions {
  readonly mask: (text: string) => string;
  /** The request that this run makes, read on the first turn. */
  readonly task: () => Task;
}

/**
 * Parses a recording and creates the provider that replays it.
 * @throws InputError if the text is not a recording.
 */
export async function openReplay(
  text: string,
  { model: { model } }: Config,
  state: RunState,
  world: World,
): Promise<Provider> {
  const recording = readRecording(text);
  state.replay = recording.header;
  return createReplay(recording, {
    mask: world.secrets.mask,
    task: () => ({
      policy: state.policy,
      model: model === '' ? null : model,
      workingDirectory: state.sandbox?.workingDirectory ?? '',
    }),
  });
}

/**
 * Creates a provider that returns the recorded responses in order, including failures, as long as the requests match
 * the recorded ones. `complete` throws a ReplayError that states the difference.
 */
export function createReplay(recording: Recording, options: ReplayOptions): Provider {
  const { mask } = options;
  const { header, exchanges } = recording;
  let at = 0;
  let turn = 1;

  const complete = async (request: CompletionRequest): Promise<Completion> => {
    request.signal.throwIfAborted();
    const task = options.task();
    if (at === 0) begin(recording, task, request);
    const exchange = exchanges[at];
    if (exchange === undefined) throw mismatch(turn, noMore(recording));
    compare(exchange, digestRequest(request, mask), turn, request.notify);
    at += 1;
    if (exchange.kind === 'stopped') throw mismatch(turn, STOPPED);
    if (exchange.kind === 'failure')
      throw new ProviderError(exchange.failure, exchange.message, { status: exchange.status });
    const completion = answer(exchange, turn, move(header.workingDirectory, task.workingDirectory));
    turn += 1;
    return completion;
  };

  return {
    name: header.provider,
    model: replayName(header.model),
    complete,
    accepted() {
      if (at === exchanges.length) return;
      throw mismatch(
        turn,
        'the recorded run goes on there, and this one accepted the payload of the turn before',
      );
    },
  };
}

const STOPPED =
  'the recorded run was stopped (by its limit on time or by a signal) while it waited for this answer';

/** Compares what is the same for all turns. */
function begin({ header }: Recording, task: Task, { tools, notify }: CompletionRequest): void {
  const offered = tools.map((tool) => tool.name);
  const difference = describeTaskDifference(header, task, offered);
  if (difference !== null) throw new ReplayError(`The recording does not fit: ${difference}. ${FIX}`);
  if (header.policy.gate_sha256 !== task.policy.gate_sha256)
    notify('the recording was made with another gate, which the model never sees: this run uses its own');
}

function compare(
  exchange: RecordedResponse,
  asked: RequestDigest,
  turn: number,
  notify: (text: string) => void,
): void {
  const difference = describeRequestDifference(exchange.asked, asked);
  if (difference !== null) throw mismatch(turn, difference);
  const changed = changedResults(exchange.asked, asked);
  if (changed.length > 0)
    notify(`turn ${turn - 1} gave other results than when it was recorded: ${changed.join(', ')}`);
}

function answer(
  exchange: Extract<RecordedResponse, { kind: 'answer' }>,
  turn: number,
  moved: (call: ToolCall) => ToolCall,
): Completion {
  const masked = exchange.masked[0];
  if (masked !== undefined) {
    const which = `call ${masked + 1} (${quote(exchange.toolCalls[masked]?.name ?? '')})`;
    throw mismatch(turn, `${which} held a secret, which the recording masks, so that it cannot be replayed`);
  }
  const message: AssistantMessage = {
    role: 'assistant',
    text: exchange.text,
    toolCalls: exchange.toolCalls.map(moved),
    native: null,
  };
  return { message, stopReason: exchange.stopReason, usage: exchange.usage, model: exchange.model };
}

/** Maps paths below the recorded working directory to the current one; a payload is left unchanged. */
function move(from: string, to: string): (call: ToolCall) => ToolCall {
  if (from === to || !/^\/[^/]/u.test(from)) return (call) => call;
  // In JSON text the `n` of an escaped newline precedes a path and would look like part of its name.
  const escaped = JSON.stringify(from)
    .slice(1, -1)
    .replace(/[\\^$.*+?()[\]{}|]/gu, '\\$&');
  const pattern = new RegExp(`(?<!(?<!\\\\)[\\w.~/-])${escaped}(?![\\w.-])`, 'gu');
  const target = JSON.stringify(to).slice(1, -1);
  return (call) =>
    call.name === STRUCTURED_OUTPUT_NAME
      ? call
      : { ...call, rawArguments: call.rawArguments.replace(pattern, () => target) };
}

function noMore({ torn, exchanges }: Recording): string {
  const count = exchanges.filter(({ kind }) => kind === 'answer').length;
  const holds = `the recording has no more answers than ${count}`;
  return torn ? `${holds}: its last line is cut off, as by a crash` : holds;
}

const FIX = 'Record it again with --record.';

function mismatch(turn: number, what: string): ReplayError {
  return new ReplayError(`Turn ${turn} does not fit the recording: ${what}. ${FIX}`);
}
