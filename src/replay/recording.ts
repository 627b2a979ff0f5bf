/** A recording of the model's side of a run: its format, and a reader that validates everything in it. */
import { InputError, type ProviderFailure } from '../errors.ts';
import { PROVIDERS, type ProviderName } from '../providers/registry.ts';
import { isArray, isObject, parseOrUndefined, parseStrictJson } from '../text/json.ts';
import { READ } from '../text/limits.ts';
import type {
  ArgumentStatus,
  Json,
  JsonObject,
  PolicyDigest,
  StopReason,
  ToolCall,
  Usage,
} from '../types.ts';

/** Version of the format; the reader accepts no other. */
export const recordingFormat = 1;

/** The recorded run, as described by the first line. */
export interface RecordingHeader {
  readonly model: string;
  readonly provider: ProviderName;
  /** The schema, gate and task; `version` is that of structured-agent. */
  readonly policy: PolicyDigest;
  /** Names of the tools offered to the model, in order. */
  readonly tools: readonly string[];
  readonly workingDirectory: string;
  /** ISO 8601. */
  readonly created: string;
}

/** The result of a tool call in the next request. */
export interface RecordedResult {
  readonly name: string;
  readonly isError: boolean;
  /** Hex SHA-256 of its text, with secrets masked. */
  readonly sha256: string;
}

/** The part of a request that a replay compares. */
export interface RequestDigest {
  /** `auto`, or the name of the one tool that must be called. */
  readonly toolChoice: string;
  /**
   * The last message of the request: the task, the results of the last turn, or a reminder after a turn of plain text.
   */
  readonly after: 'task' | 'results' | 'reminder';
  /** The results of the last turn, in call order; empty after any other message. */
  readonly results: readonly RecordedResult[];
}

/** A request and its response; `stopped` if the run was stopped before the response arrived. */
export type RecordedResponse =
  | {
      readonly kind: 'answer';
      readonly asked: RequestDigest;
      readonly text: string;
      readonly toolCalls: readonly ToolCall[];
      /** Indexes of the calls whose arguments are masked, from 0. */
      readonly masked: readonly number[];
      readonly stopReason: StopReason;
      readonly usage: Usage | null;
      /** The model's name as returned by the server. */
      readonly model: string;
    }
  | {
      readonly kind: 'failure';
      readonly asked: RequestDigest;
      readonly failure: ProviderFailure;
      readonly status: number | null;
      readonly message: string;
    }
  | { readonly kind: 'stopped'; readonly asked: RequestDigest };

/** Maximum number of lines. A model call takes seconds, so no real recording has as many. */
const MAX_LINES = 20_000;

/** A complete recording, or the part that a crash left. */
export interface Recording {
  readonly header: RecordingHeader;
  readonly exchanges: readonly RecordedResponse[];
  /** Whether the last line was truncated during writing. */
  readonly torn: boolean;
}

const STOP_REASONS = ['end', 'tool_calls', 'length', 'refusal', 'pause'] as const satisfies StopReason[];
const STATUSES = ['complete', 'truncated', 'malformed', 'too_long'] as const satisfies ArgumentStatus[];
const FAILURES = [
  'auth',
  'rate_limit',
  'overloaded',
  'context_overflow',
  'tool_choice',
  'error',
] as const satisfies ProviderFailure[];

/** Maximum number of calls, results or tools on one line. */
const MAX_LIST = 1_000;
const HASH = /^[0-9a-f]{64}$/u;
/** A name for display: no invisible characters or line breaks. */
const ONE_LINE = /^[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u;

/**
 * Parses a recording: one JSON object per line, starting with the header. A last line that is incomplete, as after a
 * crash, is ignored.
 * @throws InputError that names the line and the problem, without quoting the content.
 */
export function readRecording(text: string): Recording {
  if (text.length > READ.recording)
    throw refuse(`a file of more than ${READ.recording / 1024 ** 2} MiB, which is too large to be replayed.`);
  const lines = text.split('\n', MAX_LINES + 1);
  if (lines.length > MAX_LINES)
    throw refuse(`a file of more than ${MAX_LINES} lines, which is no recording.`);
  const whole: Line[] = [];
  let torn = false;
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const value = parseObject(line);
    torn = value === undefined && at === lines.length - 1;
    if (!torn) whole.push(createLine(value, at + 1, 'is no JSON object'));
  }
  const [first, ...rest] = whole;
  if (first?.object['type'] !== 'recording')
    throw refuse('a file that does not begin as a recording. Make one with --record.');
  const header = readHeader(first);
  return { header, exchanges: rest.map((line, at) => readResponse(line, at + 1)), torn };
}

function refuse(what: string): InputError {
  return new InputError('replay', `replay names ${what}`);
}

function readHeader(line: Line): RecordingHeader {
  if (line.object['format'] !== recordingFormat) {
    throw refuse(
      `a recording of another format than ${recordingFormat}, which this version reads. Record it again with --record.`,
    );
  }
  return {
    model: line.name('model'),
    provider: line.choice('provider', PROVIDERS),
    policy: {
      schema_sha256: line.hash('schema_sha256'),
      gate_sha256: line.object['gate_sha256'] === null ? null : line.hash('gate_sha256'),
      prompt_sha256: line.hash('prompt_sha256'),
      version: line.match('version', /^[\w.+-]{1,50}$/u, 'that is none'),
    },
    tools: line.list('tools').map((tool) => {
      if (typeof tool === 'string' && ONE_LINE.test(tool)) return tool;
      throw line.fault('has "tools" without a name');
    }),
    workingDirectory: line.match('working_directory', /^.{0,4096}$/su, 'that is too long'),
    created: line.match('created', /^\d{4}-\d\d-\d\dT[\d:.]{5,12}Z$/u, 'that is no time'),
  };
}

function readResponse(line: Line, expected: number): RecordedResponse {
  if (line.object['number'] !== expected)
    throw line.fault(`does not have the "number" ${expected}: lines are missing or in another order`);
  const asked = readDigest(line.part('asked'));
  const kind = line.choice('type', ['answer', 'failure', 'stopped']);
  if (kind === 'stopped') return { kind, asked };
  if (kind === 'failure') {
    const status = line.object['status'] === null ? null : line.count('status');
    return { kind, asked, failure: line.choice('failure', FAILURES), status, message: line.text('message') };
  }
  const calls = line.parts('tool_calls');
  return {
    kind,
    asked,
    text: line.text('text'),
    toolCalls: calls.map((call) => ({
      id: call.text('id'),
      name: call.text('name'),
      rawArguments: call.text('arguments'),
      status: call.choice('status', STATUSES),
    })),
    masked: calls.flatMap((call, at) => (call.object['masked'] === true ? [at] : [])),
    stopReason: line.choice('stop_reason', STOP_REASONS),
    usage: line.object['usage'] === null ? null : readUsage(line.part('usage')),
    model: line.name('model'),
  };
}

function readUsage(line: Line): Usage {
  return {
    inputTokens: line.count('input_tokens'),
    outputTokens: line.count('output_tokens'),
    cachedInputTokens: line.count('cached_input_tokens'),
    cacheWriteTokens: line.count('cache_write_tokens'),
  };
}

function readDigest(line: Line): RequestDigest {
  return {
    toolChoice: line.name('tool_choice'),
    after: line.choice('after', ['task', 'results', 'reminder']),
    results: line.parts('results').map((result) => {
      const isError = result.object['is_error'];
      if (typeof isError !== 'boolean') throw line.fault('has a result without a boolean "is_error"');
      return { name: result.text('name'), isError, sha256: result.hash('sha256') };
    }),
  };
}

/** The object on a line, whose fields are validated when they are read; errors do not quote their content. */
interface Line {
  readonly object: JsonObject;
  text(key: string): string;
  /** Returns a string that matches `form`; throws an error with the field name and `fault` otherwise. */
  match(key: string, form: RegExp, fault: string): string;
  name(key: string): string;
  hash(key: string): string;
  /** Returns an integer from 0. */
  count(key: string): number;
  choice<const C extends string>(key: string, choices: readonly C[]): C;
  /** Returns a list of bounded length. */
  list(key: string): readonly Json[];
  part(key: string): Line;
  parts(key: string): readonly Line[];
  fault(what: string): InputError;
}

/** Parses the object on a line; undefined if there is none. A model can produce a lone surrogate. */
function parseObject(text: string): JsonObject | undefined {
  const parsed = parseStrictJson(text);
  const value = parsed.ok ? parsed.value : parsed.fault === 'surrogate' ? parseOrUndefined(text) : undefined;
  return isObject(value) ? value : undefined;
}

function createLine(object: Json | undefined, number: number, otherwise: string): Line {
  const fault = (what: string) =>
    new InputError('replay', `Line ${number} of the recording ${what}. Record it again with --record.`);
  if (object === undefined || !isObject(object)) throw fault(otherwise);
  const noObject = (key: string) => `has something else than an object in "${key}"`;
  const line: Line = {
    object,
    fault,
    text(key) {
      const found = object[key];
      if (typeof found !== 'string') throw fault(`has no text "${key}"`);
      return found;
    },
    match(key, form, what) {
      const found = line.text(key);
      if (!form.test(found)) throw fault(`has a "${key}" ${what}`);
      return found;
    },
    name: (key) => line.match(key, ONE_LINE, 'that is no name'),
    hash: (key) => line.match(key, HASH, 'that is no SHA-256'),
    count(key) {
      const found = object[key];
      if (typeof found === 'number' && Number.isSafeInteger(found) && found >= 0) return found;
      throw fault(`has no whole number "${key}"`);
    },
    choice(key, choices) {
      const given = line.text(key);
      const found = choices.find((each) => each === given);
      if (found === undefined) throw fault(`has a "${key}" other than ${choices.join(', ')}`);
      return found;
    },
    list(key) {
      const found = object[key];
      if (found === undefined || !isArray(found)) throw fault(`has no list "${key}"`);
      if (found.length > MAX_LIST) throw fault(`has more than ${MAX_LIST} entries in "${key}"`);
      return found;
    },
    part: (key) => createLine(object[key], number, noObject(key)),
    parts: (key) => line.list(key).map((each) => createLine(each, number, noObject(key))),
  };
  return line;
}
