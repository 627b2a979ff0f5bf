/**
 * The model's side of the benchmark: a server that answers at once and looks into no request, so that what is measured
 * is the client. The path tells the format: Anthropic's `/messages`, OpenAI's `/responses`, else chat completions; all
 * unstreamed.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** What the next run is told: so many reads of one file, then the verdict. */
export interface Exchange {
  readonly reads: number;
  readonly file: string;
  /** Other calls in their place, the verdict included. */
  readonly calls?: readonly Call[];
  /** How long the model takes for each answer, in milliseconds; at once by default. */
  readonly delayMs?: number;
}

/** A call of a tool. */
interface Call {
  readonly name: string;
  readonly input: unknown;
}

/** A request as it was seen. */
export interface Seen {
  /** When its body was complete, on the clock of `performance.now()`. */
  readonly at: number;
  readonly bytes: number;
}

/** What was seen of one run. */
export interface Observation {
  readonly requests: readonly Seen[];
  /** Peak resident memory of the client at its last request, in bytes; null where /proc does not tell. */
  readonly peakBytes: number | null;
}

/** A running server. */
export interface BenchServer {
  readonly url: string;
  /** Forgets what was seen and expects a run of the process whose id is given once it is known. */
  begin(exchange: Exchange): { readonly watch: (pid: number) => void; readonly end: () => Observation };
  close(): void;
}

/** Starts the server on a free loopback port. */
export async function startBenchServer(): Promise<BenchServer> {
  let exchange: Exchange = { reads: 0, file: '' };
  let requests: Seen[] = [];
  let pid: number | null = null;
  let peakBytes: number | null = null;
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on('end', () => {
      requests.push({ at: performance.now(), bytes });
      const last = requests.length > exchange.reads;
      if (last && pid !== null) peakBytes = peakOf(pid);
      const { name, input } = exchange.calls?.[requests.length - 1] ?? {
        name: last ? 'structured_output' : 'read_file',
        input: last ? { ok: true, note: 'read' } : { path: exchange.file },
      };
      const body = JSON.stringify(callBody(request.url ?? '', name, input, requests.length));
      const reply = () => response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      if (exchange.delayMs === undefined) reply();
      else setTimeout(reply, exchange.delayMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    begin: (next) => {
      exchange = next;
      requests = [];
      pid = null;
      peakBytes = null;
      return {
        watch: (id) => {
          pid = id;
        },
        end: () => ({ requests, peakBytes }),
      };
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** An answer that calls one tool, in the format of the path. */
export function callBody(url: string, name: string, input: unknown, count: number): object {
  const id = `call_${count}`;
  if (url.endsWith('/messages')) {
    return {
      id: `msg_${count}`,
      type: 'message',
      role: 'assistant',
      model: 'bench',
      content: [{ type: 'tool_use', id, name, input }],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  }
  if (url.endsWith('/responses')) {
    const call = { type: 'function_call', id: `fc_${count}`, call_id: id, name, status: 'completed' };
    return {
      id: `resp_${count}`,
      object: 'response',
      created_at: 0,
      status: 'completed',
      model: 'bench',
      output: [{ ...call, arguments: JSON.stringify(input) }],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    };
  }
  const call = { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
  return {
    id: `chatcmpl-${count}`,
    object: 'chat.completion',
    created: 0,
    model: 'bench',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: { role: 'assistant', content: null, tool_calls: [call] },
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}

/** The high-water mark of a process's resident memory. */
export function peakOf(pid: number): number | null {
  try {
    const kib = /^VmHWM:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  } catch {
    return null;
  }
}
