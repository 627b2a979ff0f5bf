/**
 * A loopback HTTP server that sends the exact bytes of a test: for responses that an emulator cannot send (broken
 * streams, duplicate keys, web pages, silence).
 */
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { serve } from '../local.ts';
import type { Identity } from './certificates.ts';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
}

export type RawServer = Awaited<ReturnType<typeof startRawServer>>;

/** Starts a server on a free loopback port, with TLS if it has an identity; `answer` gets each request and its index. */
export async function startRawServer(
  answer: (response: ServerResponse, request: RawRequest, index: number) => void,
  identity?: Identity,
) {
  const requests: RawRequest[] = [];
  const listener: RequestListener = (incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const receive = (raw: string) => {
      const request = { method, path: url, headers, raw };
      answer(response, request, requests.push(request) - 1);
    };
    // A client may leave before it has sent everything.
    void text(incoming).then(receive, () => undefined);
  };
  const server = identity === undefined ? createServer(listener) : https.createServer(identity, listener);
  const { port, close } = await serve(server);
  return {
    /** With `http`, also of a TLS server: a proxy forwards what is inside a tunnel. */
    url: `http://127.0.0.1:${port}`,
    port,
    requests: requests as readonly RawRequest[],
    close,
  };
}

/** Responds with raw JSON text. */
export function sendJson(response: ServerResponse, text: string, status = 200, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text);
}

/** Responds with server-sent events; an object with a `type` gets it as the event name, as in Anthropic's API. */
export function sendEvents(response: ServerResponse, events: readonly unknown[], end?: 'open'): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  const text = events.map((event) => {
    if (typeof event === 'string') return `data: ${event}\n\n`;
    const { type } = Object(event);
    return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`;
  });
  response.write(text.join(''));
  if (end !== 'open') response.end();
}
