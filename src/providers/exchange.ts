/** One request and its whole answer, streamed or not, through an SDK's client. */
import type { JsonObject } from '../types.ts';
import { type Answer, type Reading, readAnswer } from './answer.ts';
import type { Attempt } from './attempt.ts';
import { providerError, retrySentence, silenceError } from './failures.ts';
import type { CompletionRequest } from './provider.ts';
import { type Api, apiFailure } from './sdk.ts';
import type { AdapterSettings } from './settings.ts';
import type { FailedTry, Watch } from './transport.ts';

export type { Answer } from './answer.ts';
export type { Api, Lost, SdkClient, SdkError } from './sdk.ts';

/** Tries after the first, made by the SDK when no answer came or its status asks for it. */
export const maxRetries = 3;

/** The longest time a timer takes, in milliseconds: the SDKs' own limit of ten minutes would cut a slow answer. */
const noTimeout = 2 ** 31 - 1;

/**
 * Sends a request and reads its answer to the end. Each of the SDK's tries that follows another is told. What is thrown
 * besides is a bug.
 */
export async function exchange(
  api: Api,
  body: JsonObject,
  { stream, idleTimeoutMs }: Pick<AdapterSettings, 'stream' | 'idleTimeoutMs'>,
  { signal, notify }: Pick<CompletionRequest, 'signal' | 'notify'>,
): Promise<Attempt<Answer>> {
  const failed: FailedTry[] = [];
  const reading: Reading = { api, idleMs: idleTimeoutMs, silence: silenceError(api.context, idleTimeoutMs) };
  const watch: Watch = {
    idleMs: idleTimeoutMs,
    isStream: stream,
    silence: reading.silence,
    onFailedTry(each) {
      failed.push(each);
      if (failed.length > maxRetries || signal.aborted) return;
      notify(`${retrySentence(each, api.context)}: try ${failed.length + 1} of ${maxRetries + 1} follows`);
    },
  };
  try {
    const response = await api.client
      .post(api.path, { body, stream, signal, timeout: noTimeout, maxRetries, fetchOptions: { watch } })
      .asResponse();
    return await readAnswer(reading, response, stream);
  } catch (error) {
    const known = api.asSdkError(error);
    if (known === null) throw error;
    // The SDKs keep no cause of a connection that timed out.
    const cause = known.error.cause ?? failed.at(-1)?.cause;
    const failure = { ...apiFailure(known.error, known.lost), cause };
    return { ok: false, again: false, error: providerError(failure, api.context) };
  }
}
