/** What an adapter costs: one conversation through it, and the same bodies sent by a bare `fetch`, to one server. */
import { createServer } from 'node:http';
import type { ProviderName } from '../src/providers/registry.ts';
import { createProvider } from '../src/providers/registry.ts';
import type { Message, ToolSpec } from '../src/types.ts';
import { callBody } from './server.ts';

/** The turns that are looked at, each the middle of a few. */
export const TURNS = [1, 50, 200] as const;

/** One look at a conversation. */
export interface Look {
  readonly turn: number;
  /** Median time of a completion around that turn, in milliseconds. */
  readonly adapterMs: number;
  /** The same bodies by `fetch`, written and read as JSON. */
  readonly bareMs: number;
  /** The body of that turn's request. */
  readonly bytes: number;
}

/** What was seen of one adapter. */
export interface AdapterFigures {
  readonly looks: readonly Look[];
  /** The most bytes at the end of a request that the next one does not begin with; cache marks aside. */
  readonly unsharedBytes: number;
}

const TOOLS: readonly ToolSpec[] = [
  {
    name: 'read_file',
    description: 'Reads a file.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
  {
    name: 'structured_output',
    description: 'Delivers.',
    parameters: { type: 'object', properties: { ok: { type: 'boolean' }, note: { type: 'string' } } },
  },
];

const RESULT = 'x'.repeat(1_000);

/** Holds a conversation of 200 turns, each a read of 1 KB, through the adapter of a provider; three times over. */
export async function measureAdapter(provider: ProviderName): Promise<AdapterFigures> {
  const server = await startEcho();
  try {
    const times: number[][] = [];
    const bare: number[][] = [];
    let bodies: readonly string[] = [];
    for (let run = 0; run < 3; run++) {
      const conversation = await converse(provider, server);
      times.push(conversation);
      bodies = server.take();
      bare.push(await resend(server, bodies));
      server.take();
    }
    const around = (turn: number, runs: readonly number[][]) =>
      median(runs.flatMap((each) => each.slice(Math.max(0, turn - 10), turn + 9)));
    const looks = TURNS.map((turn) => ({
      turn,
      adapterMs: around(turn, times),
      bareMs: around(turn, bare),
      bytes: Buffer.byteLength(bodies[turn - 1] ?? ''),
    }));
    return { looks, unsharedBytes: unshared(bodies) };
  } finally {
    server.close();
  }
}

/** The time of each turn, in milliseconds. */
async function converse(name: ProviderName, server: Echo): Promise<number[]> {
  const provider = await createProvider({
    provider: name,
    model: 'bench',
    apiKey: 'none',
    keySource: 'the bench',
    baseUrl: server.url,
    maxOutputTokens: null,
    stream: 'off',
    headers: {},
    authScheme: 'provider',
    reasoningEffort: null,
    idleTimeoutMs: 60_000,
    retryPauseMs: 1,
    userAgent: 'bench',
    fetch,
  });
  const messages: Message[] = [{ role: 'user', text: 'Read the files, then deliver.' }];
  const times: number[] = [];
  const { signal } = new AbortController();
  const last = TURNS[TURNS.length - 1] ?? 0;
  while (times.length < last) {
    const start = performance.now();
    const { message } = await provider.complete({
      system: 'Be exact.',
      tools: TOOLS,
      messages: [...messages],
      toolChoice: 'auto',
      signal,
      notify: () => undefined,
    });
    times.push(performance.now() - start);
    const results = message.toolCalls.map(({ id }) => ({ callId: id, content: RESULT, isError: false }));
    messages.push(message, { role: 'tool', results });
  }
  return times;
}

async function resend(server: Echo, bodies: readonly string[]): Promise<number[]> {
  const times: number[] = [];
  for (const text of bodies) {
    const body: unknown = JSON.parse(text);
    const start = performance.now();
    const response = await fetch(server.url + server.path(), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await response.json();
    times.push(performance.now() - start);
  }
  return times;
}

function unshared(bodies: readonly string[]): number {
  const texts = bodies.map((body) => body.replaceAll(',"cache_control":{"type":"ephemeral"}', ''));
  const rests = texts.slice(1).map((text, index) => {
    const before = texts[index] ?? '';
    let at = 0;
    while (at < before.length && before[at] === text[at]) at += 1;
    return before.length - at;
  });
  return Math.max(...rests);
}

interface Echo {
  readonly url: string;
  /** Where the last request went. */
  path(): string;
  /** The bodies since the last call. */
  take(): readonly string[];
  close(): void;
}

async function startEcho(): Promise<Echo> {
  let bodies: string[] = [];
  let path = '';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      path = request.url ?? '';
      bodies.push(Buffer.concat(chunks).toString());
      const format = path.split('?')[0] ?? '';
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(callBody(format, 'read_file', { path: 'package.json' }, bodies.length)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    path: () => path,
    take: () => {
      const taken = bodies;
      bodies = [];
      return taken;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
