import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { NetworkError, ProviderError } from '../../src/errors.ts';
import type { Completion, CompletionRequest } from '../../src/providers/provider.ts';
import type { ProviderSettings } from '../../src/providers/registry.ts';
import { verdictOf } from '../../src/run/endings.ts';
import { startModel } from '../support/fakes/model/server.ts';
import {
  asking,
  beginningOf,
  bytesOf,
  providerAt,
  testKey,
  type Wire,
  wireOf,
  wires,
} from '../support/fakes/model/wires.ts';
import { type RawRequest, startRawServer } from '../support/fakes/raw-server.ts';

type Handler = (response: ServerResponse, request: RawRequest, index: number) => void;

/** The outcome of one request, including its retries. */
interface Told {
  readonly completion: Completion | null;
  readonly error: ProviderError | null;
  readonly tries: number;
  /** The notices, without the host, whose port changes. */
  readonly notices: readonly string[];
}

async function ask(
  wire: Wire,
  handler: Handler,
  settings: Partial<ProviderSettings> = {},
  request: Partial<CompletionRequest> = {},
): Promise<Told> {
  const server = await startRawServer(handler);
  try {
    const outcome = await askAt(wire, server.url, settings, request);
    return { ...outcome, tries: server.requests.length };
  } finally {
    await server.close();
  }
}

async function askAt(
  wire: Wire,
  url: string,
  settings: Partial<ProviderSettings> = {},
  request: Partial<CompletionRequest> = {},
): Promise<Told> {
  const notices: string[] = [];
  const provider = await providerAt(wire, url, settings);
  const notify = (text: string) => void notices.push(text.replaceAll(new URL(url).host, 'HOST'));
  const end = await provider.complete(asking({ notify, ...request })).then(
    (completion) => ({ completion, error: null }),
    (error: unknown) => {
      if (!(error instanceof ProviderError)) throw error;
      return { completion: null, error };
    },
  );
  expect(`${notices.join()}${end.error?.message ?? ''}`).not.toContain(testKey);
  return { ...end, tries: 0, notices };
}

/** The reason and exit code of a run with this outcome. */
function ending({ error }: Told): readonly [string, number] {
  const limits = { turns: '', time: '', tokens: '', cost: '' };
  const verdict = verdictOf({ kind: 'failed', error }, { turns: 0, gate: null, limits, entry: 'action' });
  return [verdict.reason, verdict.exitCode];
}

/** Sends the first part of a response and then ends, breaks the connection or stays silent. */
function send(response: ServerResponse, type: string, text: string, then: 'end' | 'cut' | 'open'): void {
  response.writeHead(200, { 'content-type': type });
  response.write(text, () => {
    if (then === 'end') response.end();
    if (then === 'cut') response.destroy();
  });
}

const follows = (what: string, tries: number): string[] =>
  Array.from({ length: tries - 1 }, (_, n) => `${what}: try ${n + 2} of ${tries} follows`);

const call = { id: 'x', name: 'shell', arguments: '{"command":"make test"}' };
const atOnce = { 'retry-after': '0.001' };
const streamed = wires.filter((wire) => wire.stream);
const whole = wires.filter((wire) => !wire.stream);

describe.each(wires)('$name', (wire) => {
  describe('an error response', () => {
    it.each([
      [400, 'provider_error', 1],
      [401, 'provider_auth', 1],
      [402, 'provider_error', 1],
      [403, 'provider_auth', 1],
      [404, 'provider_error', 1],
      [408, 'provider_error', 4],
      [409, 'provider_error', 4],
      [410, 'provider_error', 1],
      [413, 'context_overflow', 1],
      [429, 'provider_rate_limit', 4],
      [500, 'provider_error', 4],
      [502, 'provider_error', 4],
      [503, 'provider_overloaded', 4],
      [504, 'provider_error', 4],
      [529, 'provider_overloaded', 4],
    ])('E16 E17 %i ends as %s after %i tries and reports each try', async (status, reason, tries) => {
      const outcome = await ask(wire, (response) => wire.error(response, status, { message: 'no' }, atOnce));
      expect(ending(outcome)).toEqual([reason, 1]);
      expect(outcome.tries).toBe(tries);
      expect(outcome.notices).toEqual(
        follows(`HOST answered ${status} and asked to wait less than 1 s`, tries),
      );
    });

    it('is discarded when a later try succeeds', async () => {
      const outcome = await ask(wire, (response, _, index) =>
        index < 3 ? wire.error(response, 529, {}, atOnce) : wire.answer(response, { text: 'late' }),
      );
      expect(outcome.completion?.message.text).toBe('late');
      expect(outcome.notices).toHaveLength(3);
    });

    it('is retried as x-should-retry says', async () => {
      const says = (word: string) => ({ ...atOnce, 'x-should-retry': word });
      const never = await ask(wire, (response) => wire.error(response, 429, {}, says('false')));
      expect([never.tries, never.notices]).toEqual([1, []]);
      const always = await ask(wire, (response) => wire.error(response, 400, {}, says('true')));
      expect([always.tries, always.notices.length]).toEqual([4, 3]);
    });

    it('is classified by its status when the body never arrives', async () => {
      const outcome = await ask(
        wire,
        (response) => response.writeHead(401, { 'content-type': 'application/json' }).flushHeaders(),
        { idleTimeoutMs: 60 },
      );
      expect([...ending(outcome), outcome.tries]).toEqual(['provider_auth', 1, 1]);
    });

    it('that is HTML is named in the message and retried by its status alone', async () => {
      for (const [status, tries] of [
        [200, 1],
        [400, 1],
        [502, 4],
      ] as const) {
        const outcome = await ask(wire, (response) =>
          response.writeHead(status, { 'content-type': 'text/html', ...atOnce }).end('<html>Sign in</html>'),
        );
        expect([...ending(outcome), outcome.tries]).toEqual(['provider_error', 1, tries]);
        expect(outcome.error?.message).toContain('HTML instead of JSON');
        expect(outcome.error?.message).not.toContain('Sign in');
      }
    });

    it('for a prompt that is too long ends as context_overflow without a retry', async () => {
      const outcome = await ask(wire, (response) =>
        wire.error(response, 400, { code: 'context_length_exceeded', message: 'too long' }, atOnce),
      );
      expect([...ending(outcome), outcome.tries]).toEqual(['context_overflow', 1, 1]);
    });

    it.each([
      [400, 'registry.ollama.ai/library/gemma:latest does not support tools'],
      [500, 'tools param requires --jinja flag'],
      [500, 'Unsupported param: tools'],
      [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
      [404, 'No endpoints found that support tool use. Try disabling "shell".'],
      [400, '`tools` is not supported with this model'],
      [400, 'Function calling is not enabled for this model'],
    ])('for a server without tool calls is explained: %i %s', async (status, message) => {
      const outcome = await ask(wire, (response) => wire.error(response, status, { message }, atOnce));
      expect(ending(outcome)).toEqual(['provider_error', 1]);
      expect(outcome.error?.message).toContain('It offers no tool calls for this model');
    });

    it('with another message about tools is not explained as missing tool calls', async () => {
      for (const message of [
        'Invalid schema for function "shell": tools[0] is not valid',
        'tool_use ids must be unique',
      ]) {
        const outcome = await ask(wire, (response) => wire.error(response, 400, { message }));
        expect(outcome.error?.message).not.toContain('no tool calls');
      }
    });
  });

  describe('a response that is cut off', () => {
    const almost = () => beginningOf(wire, { text: 'Prose.', calls: [call] });

    it.each(['cut', 'end'] as const)(
      'after a named call is requested three times in total: %s',
      async (then) => {
        const { type, text } = await almost();
        expect(text).toContain('shell');
        const outcome = await ask(wire, (response) => send(response, type, text, then));
        expect([...ending(outcome), outcome.tries]).toEqual(['provider_error', 1, 3]);
        expect(outcome.error?.message).toContain('broke off in every try');
        expect(outcome.notices).toEqual(follows('HOST broke off its answer', 3));
      },
    );

    it('contributes no calls to the complete response', async () => {
      const { type, text } = await almost();
      const outcome = await ask(wire, (response, _, index) =>
        index < 2 ? send(response, type, text, 'cut') : wire.answer(response, { calls: [call] }),
      );
      expect(outcome.completion?.message.toolCalls).toEqual([
        { id: 'x', name: 'shell', rawArguments: call.arguments, status: 'complete' },
      ]);
    });

    it('gives no completion or the complete one, wherever it is cut', async () => {
      const { type, text } = await bytesOf(wire, { text: 'Prose.', calls: [call] });
      const bytes = Buffer.from(text);
      let at = 1;
      const server = await startRawServer((response, _, index) =>
        index % 2 === 0
          ? send(response, type, bytes.subarray(0, at).toString('latin1'), 'end')
          : wire.answer(response, { text: 'again' }),
      );
      const asker = await providerAt(wire, server.url);
      for (; at < bytes.length; at += Math.ceil(bytes.length / 60)) {
        const { message } = await asker.complete(asking());
        if (message.text === 'again') continue;
        // Only optional bytes after the end were missing.
        expect(message.toolCalls).toMatchObject([{ rawArguments: call.arguments, status: 'complete' }]);
        await asker.complete(asking());
      }
      await server.close();
    });
  });
});

describe.each(streamed)('$name: a silent stream', (wire) => {
  it.each([
    ['before the headers', () => undefined],
    [
      'before the first event',
      (response: ServerResponse) => send(response, 'text/event-stream', ': hello\n\n', 'open'),
    ],
    ['in the middle', (response: ServerResponse) => wire.begin(response, 'open')],
  ])('%s is cut off, retried, and reported with the length of the silence', async (_, handler) => {
    const closed: Promise<void>[] = [];
    const outcome = await ask(
      wire,
      (response) => {
        closed.push(new Promise((resolve) => response.once('close', resolve)));
        handler(response);
      },
      { idleTimeoutMs: 200 },
    );
    expect([...ending(outcome), outcome.tries]).toEqual(['provider_error', 1, 3]);
    expect(outcome.error?.message).toContain('went silent: nothing came for 0.2 s, in every try');
    expect(outcome.notices).toEqual(follows('HOST was silent for 0.2 s', 3));
    await Promise.all(closed);
  });

  it('is not cut off while comments and pings arrive', async () => {
    const { type, text } = await bytesOf(wire, { text: 'slow' });
    const outcome = await ask(
      wire,
      (response) => {
        response.writeHead(200, { 'content-type': type });
        let signs = 0;
        const timer = setInterval(() => {
          signs += 1;
          response.write(signs % 2 === 0 ? ': still here\n\n' : 'event: ping\ndata: {"type":"ping"}\n\n');
          if (signs < 12) return;
          clearInterval(timer);
          response.end(text);
        }, 150);
      },
      // Longer than one pause, even on a busy machine, and shorter than all pauses together.
      { idleTimeoutMs: 1_500 },
    );
    expect(outcome).toMatchObject({ completion: { message: { text: 'slow' } }, tries: 1, notices: [] });
  });

  it('returns the response without waiting when the server keeps the connection open', async () => {
    const { type, text } = await bytesOf(wire, { calls: [call] });
    const timers: NodeJS.Timeout[] = [];
    for (const then of ['open', 'pings']) {
      const outcome = await ask(wire, (response) => {
        send(response, type, text, 'open');
        if (then === 'pings') timers.push(setInterval(() => response.write(': ping\n\n'), 5));
      });
      expect(outcome.completion?.message.toolCalls).toMatchObject([{ name: 'shell', status: 'complete' }]);
    }
    for (const timer of timers) clearInterval(timer);
  });

  it('is read to its end, so that its connection is reused', async () => {
    const sockets = new Set<unknown>();
    const server = await startRawServer((response) => {
      sockets.add(response.socket);
      wire.answer(response, { text: 'x' });
    });
    const provider = await providerAt(wire, server.url);
    for (let n = 0; n < 10; n += 1) await provider.complete(asking());
    await server.close();
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  it('E10 ends at once when the signal aborts, although pings keep arriving', async () => {
    const controller = new AbortController();
    const reason = { stop: 'timeout' };
    let closed = 0;
    const handler: Handler = (response) => {
      wire.begin(response, 'open');
      const timer = setInterval(() => response.write(': ping\n\n'), 5);
      response.once('close', () => {
        clearInterval(timer);
        closed += 1;
      });
      setTimeout(() => controller.abort(reason), 100);
    };
    await expect(ask(wire, handler, { idleTimeoutMs: 80 }, { signal: controller.signal })).rejects.toBe(
      reason,
    );
    await expect.poll(() => closed).toBe(1);
  });

  it('reads half a million pings and the response after them', async () => {
    const { type, text } = await bytesOf(wire, { text: 'at last' });
    const pings = 'event: ping\ndata: {"type":"ping"}\n\ndata: {}\n\n'.repeat(250_001);
    const outcome = await ask(wire, (response) => send(response, type, pings + text, 'end'));
    expect(outcome.completion?.message.text).toBe('at last');
  });
});

describe.each(whole)('$name: a silent server', (wire) => {
  it('that responds in one piece has no idle timeout', async () => {
    const outcome = await ask(
      wire,
      (response) => setTimeout(() => wire.answer(response, { text: 'thought' }), 250),
      { idleTimeoutMs: 50 },
    );
    expect(outcome).toMatchObject({ completion: { message: { text: 'thought' } }, tries: 1 });
  });
});

describe('an error inside a response', () => {
  const inside =
    (wire: Wire, error: Record<string, string>): Handler =>
    (response) => {
      if (!wire.stream) wire.error(response, 200, error);
      else
        send(
          response,
          'text/event-stream',
          `event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`,
          'end',
        );
    };

  it.each(wires.filter((wire) => wire.provider !== 'openai'))(
    '$name: retries a transient error but not a permanent one',
    async (wire) => {
      const passing = await ask(wire, inside(wire, { type: 'server_error', message: 'oops' }));
      expect([...ending(passing), passing.tries]).toEqual(['provider_error', 1, 3]);
      expect(passing.notices).toEqual(follows('HOST ended its answer with an error', 3));
      const lasting = await ask(wire, inside(wire, { type: 'invalid_request_error', message: 'oops' }));
      expect([...ending(lasting), lasting.tries, lasting.notices]).toEqual(['provider_error', 1, 1, []]);
    },
  );
});

describe('a stream with too many events', () => {
  it('is rejected without a retry', async () => {
    const events = 'data: {"choices":[]}\n\n'.repeat(600_000);
    const outcome = await ask(wireOf('openai-compatible', 'streamed'), (response) =>
      send(response, 'text/event-stream', events, 'open'),
    );
    expect([...ending(outcome), outcome.tries]).toEqual(['provider_error', 1, 1]);
    expect(outcome.error?.message).toContain('more than 500000 events');
  });
});

describe('a response that takes longer than the timeouts of Node', () => {
  const late = (code: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });

  it.each(whole)('$name: is reported with a hint and not retried', async (wire) => {
    let tries = 0;
    const ways: readonly (typeof fetch)[] = [
      async () => {
        throw late('UND_ERR_HEADERS_TIMEOUT');
      },
      async () => {
        const body = new ReadableStream({ start: (to) => to.error(late('UND_ERR_BODY_TIMEOUT')) });
        return new Response(body, { headers: { 'content-type': 'application/json' } });
      },
    ];
    for (const [n, way] of ways.entries()) {
      const outcome = await askAt(wire, 'http://127.0.0.1:9', {
        fetch: (...asked) => {
          tries += 1;
          return way(...asked);
        },
      });
      expect([...ending(outcome), outcome.notices, tries]).toEqual(['provider_error', 1, [], n + 1]);
      expect(outcome.error?.message).toContain('within the time limit of one request. Set `stream: on`');
    }
  });
});

describe.concurrent('default retries of the SDKs', () => {
  it('E17 retry three times for every status and every provider', async () => {
    const all = [429, 500, 529].flatMap((status) => wires.map((wire) => ({ wire, status })));
    const ends = await Promise.all(
      all.map(async ({ wire, status }) => {
        const outcome = await ask(wire, (response) => wire.error(response, status, {}));
        return { name: wire.name, status, tries: outcome.tries, notices: outcome.notices };
      }),
    );
    expect(ends).toEqual(
      all.map(({ wire, status }) => ({
        name: wire.name,
        status,
        tries: 4,
        notices: follows(`HOST answered ${status}`, 4),
      })),
    );
  });

  it('retry a refused connection', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => listener.once('listening', resolve));
    const address = listener.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    await new Promise((resolve) => listener.close(resolve));
    await Promise.all(
      wires.map(async (wire) => {
        const refused = await askAt(wire, url);
        expect([wire.name, ...ending(refused)]).toEqual([wire.name, 'provider_error', 1]);
        expect(refused.notices).toEqual(follows('no answer from HOST (ECONNREFUSED)', 4));
        expect(refused.error?.message).toMatch(/^No connection to 127\.0\.0\.1:\d+ \(ECONNREFUSED\)\./);
      }),
    );
  });

  it('retry a connection that is reset before a response', async () => {
    await Promise.all(
      wires.map(async (wire) => {
        const reset = await ask(wire, (response) => void response.socket?.resetAndDestroy());
        expect([wire.name, ...ending(reset), reset.tries]).toEqual([wire.name, 'provider_error', 1, 4]);
        expect(reset.notices).toEqual(follows('no answer from HOST (ECONNRESET)', 4));
      }),
    );
  });

  it('retry a network error only when it is transient', async () => {
    await Promise.all(
      wires.flatMap((wire) =>
        [true, false].map(async (passing) => {
          const way: typeof fetch = async () => {
            throw new NetworkError('The proxy of HTTPS_PROXY refused.', { code: 'ECONNREFUSED', passing });
          };
          const outcome = await askAt(wire, 'http://127.0.0.1:9', { fetch: way });
          expect([wire.name, ...ending(outcome)]).toEqual([wire.name, 'provider_error', 1]);
          expect(outcome.error?.message).toBe(
            'No connection to 127.0.0.1:9. The proxy of HTTPS_PROXY refused.',
          );
          expect(outcome.notices).toEqual(passing ? follows('no answer from HOST (ECONNREFUSED)', 4) : []);
        }),
      ),
    );
  });

  it('handle every chaos mode of the emulator', async () => {
    const model = await startModel(() => ({ text: 'x' }));
    const chaos = async (wire: Wire, kind: string) => {
      const outcome = await askAt(wire, model.url, { headers: { [`x-aimock-chaos-${kind}`]: '1' } });
      return [wire.name, kind, ...ending(outcome), outcome.notices];
    };
    const kinds: readonly (readonly [string, string, readonly string[]])[] = [
      ['drop', 'provider_error', follows('HOST answered 500', 4)],
      ['ratelimit', 'provider_rate_limit', follows('HOST answered 429 and asked to wait 1 s', 4)],
      ['disconnect', 'provider_error', follows('no answer from HOST (UND_ERR_SOCKET)', 4)],
      ['malformed', 'provider_error', follows('HOST broke off its answer', 3)],
    ];
    const all = wires.flatMap((wire) =>
      kinds.map(([kind, reason, notices]) => ({ wire, kind, reason, notices })),
    );
    const ends = await Promise.all(all.map(({ wire, kind }) => chaos(wire, kind)));
    await model.close();
    expect(ends).toEqual(all.map(({ wire, kind, reason, notices }) => [wire.name, kind, reason, 1, notices]));
  });
});

describe('error messages of servers', () => {
  const say = async (
    status: number,
    error: Record<string, string>,
    settings: Partial<ProviderSettings> = {},
  ) => {
    const wire = wireOf(settings.provider ?? 'openai-compatible', 'whole');
    return ask(wire, (response) => wire.error(response, status, error, atOnce), settings);
  };

  it.each([
    'prompt is too long: 213462 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 16000 > 200000',
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    'the request exceeds the available context size (4096 tokens), try increasing it',
    'Requested tokens (2300) exceed context window of 2048',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    'Input is too long for requested model.',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
    "The input (210000 tokens) is longer than the model's context length (200000 tokens).",
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'prompt too long; exceeded max context length by 12 tokens',
    'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)',
    'invalid params, context window exceeds limit',
    'Range of input length should be [1, 131072]',
  ])('are recognized as a context overflow: %s', async (message) => {
    expect(ending(await say(400, { message }))).toEqual(['context_overflow', 1]);
  });

  it('are not needed when the error type reports a context overflow', async () => {
    const outcome = await say(400, { type: 'exceed_context_size_error', message: 'x' });
    expect(ending(outcome)).toEqual(['context_overflow', 1]);
  });

  it.each([
    [400, 'max_tokens must be at most 8192'],
    [400, 'messages: roles must alternate'],
    [429, 'too many tokens per minute: your prompt is too long for this tier'],
    [500, 'context canceled'],
  ])('are not taken for a context overflow: %i %s', async (status, message) => {
    expect(ending(await say(status, { message }))[0]).not.toBe('context_overflow');
  });

  it('name the key when the quota is spent, by code or by type', async () => {
    for (const word of [{ code: 'insufficient_quota' }, { type: 'insufficient_quota' }]) {
      const outcome = await say(429, word);
      expect(ending(outcome)[0]).toBe('provider_rate_limit');
      expect(outcome.error?.message).toContain('The quota of the key from the input api-key is spent');
    }
  });

  it('name the source of a key that was sent in a user header', async () => {
    const settings = { apiKey: null, keySource: 'the input headers', headers: { Authorization: 'Custom 1' } };
    const outcome = await say(401, {}, settings);
    expect(outcome.error?.message).toContain('refused the key from the input headers');
    const without = await say(401, {}, { ...settings, headers: { 'x-team': 'ci' } });
    expect(without.error?.message).toContain('no key was given');
  });

  it('suggest another provider when the gateway lacks the Responses API', async () => {
    const hint = 'needs `provider: openai-compatible`';
    expect((await say(404, {}, { provider: 'openai' })).error?.message).toContain(hint);
    expect((await say(404, {})).error?.message).not.toContain(hint);
  });

  it('report any rejected request with a forced tool choice as tool_choice', async () => {
    const wire = wireOf('openai-compatible', 'whole');
    for (const status of [400, 422]) {
      const outcome = await ask(
        wire,
        (response) => wire.error(response, status, { message: 'tool_choice: Input should be auto' }),
        {},
        { toolChoice: { tool: 'structured_output' } },
      );
      expect(outcome.error?.failure).toBe('tool_choice');
    }
  });

  it.each([
    [302, 'Redirects are not followed'],
    [402, 'plan and billing'],
  ])('for %i contain: %s', async (status, advice) => {
    const outcome = await say(status, {});
    expect([...ending(outcome), outcome.tries]).toEqual(['provider_error', 1, 1]);
    expect(outcome.error?.message).toContain(advice);
  });

  it('are read from a compressed response', async () => {
    const wire = wireOf('openai-compatible', 'whole');
    const outcome = await ask(wire, (response) => {
      const body = gzipSync(JSON.stringify({ error: { message: 'the reason' } }));
      response.writeHead(400, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(body);
    });
    expect(outcome.error?.message).toContain('It said: "the reason".');
  });

  it.each([
    ['a key', `${'x'.repeat(280)} ${testKey} is wrong`, `${'x'.repeat(280)}…`],
    ['a key after non-Latin text', `${'的'.repeat(290)}${testKey}`, `${'的'.repeat(290)}…`],
    ['words', `${'word '.repeat(80)}`, `${'word '.repeat(60).trimEnd()}…`],
    ['one long word', 'x'.repeat(400), '…'],
  ])('are cut so that %s is kept complete or left out', async (_, message, quoted) => {
    const { error } = await ask(wireOf('openai-compatible', 'whole'), (response) => {
      response
        .writeHead(401, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message } }));
    });
    expect(error?.message).toContain(`It said: "${quoted}".`);
  });
});
