/** The one way a request leaves for a model's API: exact headers, no redirects, waits that end. */
import { ProviderError } from '../errors.ts';
import { isObject } from '../json.ts';

/** The longest wait, in seconds, that a server's `Retry-After` may ask of one retry. */
export const maxRetryAfterSeconds = 60;

/** The longest answer that is read, stream or body, in decoded bytes. No model's is a hundredth of it. */
export const maxAnswerBytes = 64 * 1024 * 1024;

/** The longest body of a failed answer that is read, in decoded bytes. */
export const maxErrorBytes = 256 * 1024;

/**
 * A `fetch` for an SDK client. What the SDK would send of its own accord is replaced whole: both SDKs add headers from
 * variables such as `OPENAI_CUSTOM_HEADERS`, facts about the machine, and the key they hold, which is a placeholder.
 * Redirects are answers, not followed: `x-api-key` would travel to whatever host they name.
 * Reading an answer that is too long rejects with a ProviderError, whatever its status was.
 */
export function createTransport(send: typeof fetch, headers: Readonly<Record<string, string>>): typeof fetch {
  return async (input, init) => {
    const response = await send(input, {
      ...init,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      redirect: 'manual',
    });
    const { host } = new URL(input instanceof Request ? input.url : input);
    return response.ok ? capped(response, host) : await mended(response, host);
  };
}

/** The answer, whose body fails once more than `maxAnswerBytes` of it were read; the connection is closed then. */
function capped(response: Response, host: string): Response {
  const { body, status, statusText, headers } = response;
  if (body === null) return response;
  return new Response(upTo(maxAnswerBytes, body, tooLong(host, status, '64 MiB')), {
    status,
    statusText,
    headers,
  });
}

function upTo(
  maxBytes: number,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  error: ProviderError,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let seen = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        seen += chunk.byteLength;
        if (seen > maxBytes) throw error;
        controller.enqueue(chunk);
      },
    }),
  );
}

function tooLong(host: string, status: number, limit: string): ProviderError {
  const sentence = `${host} answered ${status} with more than ${limit}: that is no completion. Check \`base-url\`, and what stands between this machine and the API.`;
  return new ProviderError('error', sentence, { status });
}

/** An answer that can only be failed to read: an SDK would take a rejected `fetch` for a lost connection, and retry. */
function unreadable(error: unknown): Response {
  const body = new ReadableStream({ start: (controller) => controller.error(error) });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

/** A failed answer with a capped wait and with its error where both SDKs look for it. */
async function mended(response: Response, host: string): Promise<Response> {
  const headers = new Headers(response.headers);
  const wait = retryAfterSeconds(response.headers);
  headers.delete('retry-after-ms');
  headers.delete('retry-after');
  if (wait !== null) headers.set('retry-after', String(Math.min(wait, maxRetryAfterSeconds)));
  // The body is decoded here: what described its encoding is no longer true.
  headers.delete('content-encoding');
  headers.delete('content-length');
  const { body, status } = response;
  try {
    const error = tooLong(host, status, '256 KiB');
    const text = body === null ? '' : await new Response(upTo(maxErrorBytes, body, error)).text();
    return new Response(nested(text), { status, headers });
  } catch (error) {
    if (error instanceof ProviderError) return unreadable(error);
    throw error;
  }
}

/** Seconds to wait, from either header; dates count from the answer's own `Date`. null when there is nothing usable. */
function retryAfterSeconds(headers: Headers): number | null {
  const value = headers.get('retry-after');
  const date = Date.parse(value ?? '') - Date.parse(headers.get('date') ?? '');
  const candidates = [
    Number.parseFloat(headers.get('retry-after-ms') ?? '') / 1000,
    Number(value ?? Number.NaN),
    date / 1000,
  ];
  return candidates.find((seconds) => Number.isFinite(seconds) && seconds > 0) ?? null;
}

/** Some servers send the error itself as the body; the SDKs read `body.error`. */
function nested(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (!isObject(body)) return text;
    if (typeof body['error'] === 'string')
      return JSON.stringify({ ...body, error: { message: body['error'] } });
    return 'error' in body ? text : JSON.stringify({ error: body });
  } catch {
    return text;
  }
}
