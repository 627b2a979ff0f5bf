/** One request to GitHub and its whole answer, bounded in size and time. */
import { GitHubError } from '../errors.ts';

/** What came back, read to its end. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** The bounds of an exchange. */
export interface Bounds {
  readonly fetch: typeof fetch;
  /** Ends it early. */
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** A renamed repository answers with its new address, and that one with none. */
const MAX_REDIRECTS = 2;

/**
 * Sends a request and reads its answer. A GET is sent on to where the same server says, as it does for a renamed
 * repository; to no other server, since the token travels with it. Rejects as fetch does, with a TimeoutError when the
 * time is over, and with a GitHubError where the answer is too large.
 */
export async function exchange(url: string, init: RequestInit, bounds: Bounds): Promise<Answer> {
  const stop = new AbortController();
  const onAbort = () => stop.abort(bounds.signal?.reason);
  const onTimeout = () => stop.abort(new DOMException('GitHub did not answer in time.', 'TimeoutError'));
  const timer = setTimeout(onTimeout, bounds.timeoutMs);
  if (bounds.signal?.aborted) onAbort();
  else bounds.signal?.addEventListener('abort', onAbort, { once: true });
  try {
    let address = url;
    for (let hops = 0; ; hops++) {
      const response = await bounds.fetch(address, {
        ...init,
        redirect: 'manual',
        signal: stop.signal,
      });
      const next = init.method === 'GET' && hops < MAX_REDIRECTS ? redirectOf(response, address) : null;
      if (next === null) return await read(response, bounds.maxBytes);
      await response.body?.cancel();
      address = next;
    }
  } finally {
    clearTimeout(timer);
    bounds.signal?.removeEventListener('abort', onAbort);
  }
}

function redirectOf(response: Response, from: string): string | null {
  if (![301, 302, 307, 308].includes(response.status)) return null;
  const location = response.headers.get('location') ?? '';
  if (!URL.canParse(location, from)) return null;
  const to = new URL(location, from);
  return to.origin === new URL(from).origin ? to.href : null;
}

async function read(response: Response, maxBytes: number): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    // Leaving the loop cancels the rest.
    if (size > maxBytes) {
      const message = `GitHub's answer is larger than the ${Math.floor(maxBytes / 1024)} KiB that are read of it.`;
      throw new GitHubError('too_large', message, { status: response.status });
    }
    chunks.push(chunk);
  }
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.concat(chunks),
  };
}
