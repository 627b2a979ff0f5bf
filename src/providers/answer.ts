/** Reading an answer to its end, in whatever way it comes, and telling a whole one from the rest. */

import { NetworkError, ProviderError } from '../errors.ts';
import { isDeeperThan, rawSlice } from '../text/json.ts';
import type { Wording } from '../text/naming.ts';
import type { JsonObject } from '../types.ts';
import type { Attempt } from './attempt.ts';
import { isTooLate } from './causes.ts';
import { type ApiFailure, providerError } from './failures.ts';
import { objectOf, textOf } from './reading.ts';
import { type Api, apiFailure, requestIdOf } from './sdk.ts';
import { eventData } from './server-sent-events.ts';
import { maxAnswerBytes } from './transport.ts';

/** How many events a stream may have; the longest answers of models have a third of it. */
const maxEvents = 500_000;

/** How many levels of lists and objects an answer may have: writing more of them out again would overflow the stack. */
const maxLevels = 2_000;

/** How long a stream that has said all may take to end, in milliseconds; a connection read to its end is used again. */
const endingMs = 250;

/** Events behind which nothing comes: Anthropic's, and those of OpenAI's responses. */
const lastEvents = new Set(['message_stop', 'response.completed', 'response.incomplete', 'response.failed']);

/**
 * A whole answer: the events of a stream, or a body. `raw` is the text at a path, as the model wrote it, where equal
 * keys still show; null where there is nothing.
 */
export type Answer =
  | {
      readonly kind: 'events';
      readonly events: readonly JsonObject[];
      readonly raw: (event: JsonObject, path: readonly (string | number)[]) => string | null;
    }
  | {
      readonly kind: 'body';
      readonly body: JsonObject;
      readonly raw: (path: readonly (string | number)[]) => string | null;
    };

/** A request whose answer is being read. */
export interface Reading {
  readonly api: Api;
  /** The longest silence in it, in milliseconds. */
  readonly idleMs: number;
  /** What a read fails with after too long a silence. */
  readonly silence: ProviderError;
}

/** Reads an answer; `isStreamed` is what was asked for, and a server that does not stream answers all the same. */
export async function readAnswer(
  reading: Reading,
  response: Response,
  isStreamed: boolean,
): Promise<Attempt<Answer>> {
  const type = response.headers.get('content-type') ?? '';
  const { body } = response;
  return isStreamed && body !== null && !/json|html/.test(type)
    ? readEvents(reading, response, body)
    : readBody(reading, response);
}

async function readBody(reading: Reading, response: Response): Promise<Attempt<Answer>> {
  const { api } = reading;
  let text: string;
  try {
    text = await response.text();
  } catch (error) {
    return broken(reading, response, error);
  }
  const body = listed(parsed(text));
  if (isDeeperThan(body, maxLevels)) return excessive(api, response, `${maxLevels} levels`);
  if (api.isAnswer(body)) return { ok: true, value: { kind: 'body', body, raw: slices(text) } };
  const headers = response.headers;
  const isJson = Object.keys(body).length > 0;
  const error = body['error'] === undefined ? undefined : body;
  // An answer that broke off in the middle: it may hold what must not be told, and another try may be whole.
  if (!isJson && text.trimStart().startsWith('{')) return broken(reading, response, null);
  const isMarkup = text.trimStart().startsWith('<');
  const message = isMarkup ? text : '';
  const failure = apiFailure({ status: undefined, headers, error, message }, null);
  const told = { ...failure, status: failure.status ?? response.status };
  const why = `${api.context.host} ended its answer with an error`;
  return { ok: false, again: isPassing(failure), why, error: providerError(told, api.context) };
}

async function readEvents(
  reading: Reading,
  response: Response,
  body: ReadableStream<Uint8Array>,
): Promise<Attempt<Answer>> {
  const { api } = reading;
  const events: JsonObject[] = [];
  const texts = new Map<JsonObject, string>();
  const source = eventData(body);
  let error: unknown = null;
  try {
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      const data = next.value;
      const event = data.startsWith('[DONE]') ? null : listed(JSON.parse(data));
      if (event?.['error']) return refusedInside(reading, response, event, events);
      if (event !== null && isKept(event)) {
        if (isDeeperThan(event, maxLevels)) return excessive(api, response, `${maxLevels} levels`);
        if (events.push(event) > maxEvents) return excessive(api, response, `${maxEvents} events`);
        texts.set(event, data);
      }
      if (event === null || lastEvents.has(textOf(event['type']))) {
        await readOut(source);
        break;
      }
    }
  } catch (thrown) {
    error = thrown;
  } finally {
    source.return().catch(() => undefined);
  }
  const raw = (event: JsonObject, path: readonly (string | number)[]) =>
    rawSlice(texts.get(event) ?? '', path);
  // Nor is an answer undone by a usage chunk that never came.
  if (api.isWhole(events)) return { ok: true, value: { kind: 'events', events, raw } };
  return broken(reading, response, error);
}

/**
 * The texts at paths of a body. Each is found by walking over the whole body: once that adds up to the longest answer
 * there is, nothing more is found, and a body of nothing but calls cannot keep this thread for hours.
 */
function slices(text: string): (path: readonly (string | number)[]) => string | null {
  let walked = 0;
  return (path) => {
    walked += text.length;
    return walked > maxAnswerBytes ? null : rawSlice(text, path);
  };
}

/** Whether an event says anything; signs of life come for as long as a model thinks. */
function isKept(event: JsonObject): boolean {
  const { type } = event;
  return type !== 'ping' && type !== 'keepalive' && Object.keys(event).length > 0;
}

/** Reads a stream that has said all to its end, for a moment. */
async function readOut(source: AsyncGenerator<string, void, void>): Promise<void> {
  const end = (async () => {
    while ((await source.next()).done !== true);
  })();
  const moment = Promise.withResolvers<void>();
  const timer = setTimeout(moment.resolve, endingMs);
  // What breaks behind the end does not matter.
  await Promise.race([end.catch(() => undefined), moment.promise]);
  clearTimeout(timer);
}

/** A failure that was reported inside an answer, where no SDK tries again; behind its end it says that the answer is not whole. */
function refusedInside(
  reading: Reading,
  response: Response,
  error: JsonObject,
  events: readonly JsonObject[],
): Attempt<never> {
  const { api } = reading;
  const { headers } = response;
  if (api.isWhole(events)) return broken(reading, response, null);
  const failure = apiFailure({ status: undefined, headers, error, message: '' }, null);
  const why = `${api.context.host} ended its answer with an error`;
  return { ok: false, again: isPassing(failure), why, error: providerError(failure, api.context) };
}

/** An answer that ended before it was whole. Where the transport would not read on, another try would be the same. */
function broken({ api, silence, idleMs }: Reading, response: Response, error: unknown): Attempt<never> {
  const { host } = api.context;
  if (error === silence)
    return { ok: false, again: true, why: `${host} was silent for ${idleMs / 1000} s`, error: silence };
  if (error instanceof ProviderError) return { ok: false, again: false, error };
  const requestId = requestIdOf(response.headers);
  const isRefused = (error instanceof NetworkError && !error.passing) || isTooLate(error);
  const type = error instanceof NetworkError || isTooLate(error) ? 'connection' : 'cut';
  const failure = { status: null, type, code: null, param: null, message: '', requestId, cause: error };
  return {
    ok: false,
    again: !isRefused,
    why: `${host} broke off its answer`,
    error: providerError(failure, api.context),
  };
}

function excessive({ context }: Api, { status }: Response, limit: string): Attempt<never> {
  const sentence: Wording = ({ name }) =>
    `${context.host} answered ${status} with more than ${limit}: that is no completion. Check \`${name('base-url')}\`, and what stands between this machine and the API.`;
  return { ok: false, again: false, error: new ProviderError('error', sentence, { status }) };
}

/** Failures inside an answer that an SDK no longer retries, and that another try may not meet. */
function isPassing(failure: ApiFailure): boolean {
  // Gateways tell a limit of whoever is behind them so, with a status of 200.
  if (failure.status !== null)
    return failure.status >= 500 || failure.status === 429 || failure.status === 408;
  const words = ['overloaded_error', 'api_error', 'server_error', 'timeout_error'];
  return words.includes(failure.type ?? '') || words.includes(failure.code ?? '');
}

/** Google puts errors into a list. */
function listed(value: unknown): JsonObject {
  return objectOf(Array.isArray(value) ? value[0] : value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
