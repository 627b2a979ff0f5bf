/** The one way a request leaves for a model's API: exact headers, no redirects, waits that end. */
import { isObject } from '../json.ts';

/** The longest wait, in seconds, that a server's `Retry-After` may ask of one retry. */
export const maxRetryAfterSeconds = 60;

/**
 * A `fetch` for an SDK client. What the SDK would send of its own accord is replaced whole: both SDKs add headers from
 * variables such as `OPENAI_CUSTOM_HEADERS`, facts about the machine, and the key they hold, which is a placeholder.
 * Redirects are answers, not followed: `x-api-key` would travel to whatever host they name.
 */
export function createTransport(headers: Readonly<Record<string, string>>): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, {
      ...init,
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      redirect: 'manual',
    });
    return response.ok ? response : await mended(response);
  };
}

/** A failed answer with a capped wait and with its error where both SDKs look for it. */
async function mended(response: Response): Promise<Response> {
  const headers = new Headers(response.headers);
  const wait = retryAfterSeconds(response.headers);
  headers.delete('retry-after-ms');
  headers.delete('retry-after');
  if (wait !== null) headers.set('retry-after', String(Math.min(wait, maxRetryAfterSeconds)));
  // The body is decoded here: what described its encoding is no longer true.
  headers.delete('content-encoding');
  headers.delete('content-length');
  const text = await response.text();
  return new Response(nested(text), { status: response.status, headers });
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
