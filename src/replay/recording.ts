/** A recording of the model's side of a run: its format, and a reader that believes nothing of it. */
import { InputError, type ProviderFailure } from '../errors.ts';
import { PROVIDERS, type ProviderName } from '../providers/registry.ts';
import { parseStrictJson } from '../text/json.ts';
import type { ArgumentStatus, Judge, StopReason, ToolCall, Usage } from '../types.ts';
import {
  broken,
  choice,
  count,
  hash,
  type Line,
  list,
  member,
  name,
  ONE_LINE,
  parseLine,
  part,
  text,
} from './recording-fields.ts';

/** The version of the format; a reader takes no other. */
export const recordingFormat = 1;

/** The largest recording that is replayed, in bytes. */
export const maxRecordingBytes = 4 * 1024 * 1024;

/** What the recorded run was, on the first line. */
export interface RecordingHeader {
  readonly model: string;
  readonly provider: ProviderName;
  /** Which schema, gate and task; `version` is that of the product. */
  readonly judge: Judge;
  /** The names of the tools that the model was offered, in order. */
  readonly tools: readonly string[];
  /** Where the model was told that it works. */
  readonly workingDirectory: string;
  /** ISO 8601. */
  readonly created: string;
}

/** What a tool call had given when the model was asked next. */
export interface RecordedResult {
  readonly name: string;
  readonly isError: boolean;
  /** Of its text, secrets masked: hex SHA-256. */
  readonly sha256: string;
}

/** What the model was asked, as far as a replay compares it. */
export interface Asked {
  /** `auto`, or the name of the one tool that must be called. */
  readonly toolChoice: string;
  /** What was said last: the task, the results of the last turn, or a reminder after a turn of plain text. */
  readonly after: 'task' | 'results' | 'reminder';
  /** Of the last turn, in call order; empty after anything else. */
  readonly results: readonly RecordedResult[];
}

/** A request and what became of it; `stopped` is one whose run was stopped meanwhile. */
export type Exchange =
  | {
      readonly kind: 'answer';
      readonly asked: Asked;
      readonly text: string;
      readonly toolCalls: readonly ToolCall[];
      /** The calls whose arguments are masked, by index from 0. */
      readonly masked: readonly number[];
      readonly stopReason: StopReason;
      readonly usage: Usage | null;
      /** The model's name as the server gave it. */
      readonly model: string;
    }
  | {
      readonly kind: 'failure';
      readonly asked: Asked;
      readonly failure: ProviderFailure;
      readonly status: number | null;
      readonly message: string;
    }
  | { readonly kind: 'stopped'; readonly asked: Asked };

/** A model call takes seconds: nobody has a recording of so many. */
const MAX_LINES = 20_000;

/** A whole recording, or what a crash left of one. */
export interface Recording {
  readonly header: RecordingHeader;
  readonly exchanges: readonly Exchange[];
  /** Whether the last line was cut off while it was written. */
  readonly torn: boolean;
}

const STOP_REASONS = ['end', 'tool_calls', 'length', 'refusal', 'pause'] as const satisfies StopReason[];
const STATUSES = ['complete', 'truncated', 'malformed'] as const satisfies ArgumentStatus[];
const FAILURES = [
  'auth',
  'rate_limit',
  'overloaded',
  'context_overflow',
  'tool_choice',
  'error',
] as const satisfies ProviderFailure[];

/**
 * Reads a recording: one JSON object a line, the header first. A last line without its end is what a crash leaves, and
 * is left out.
 * @throws InputError that names the line and what is wrong with it, and quotes nothing.
 */
export function readRecording(text: string): Recording {
  const lines = text.split('\n', MAX_LINES + 1);
  if (lines.length > MAX_LINES)
    throw new InputError(
      'replay',
      `replay names a file of more than ${MAX_LINES} lines, which is no recording.`,
    );
  const unended = lines.pop() ?? '';
  const whole = lines.flatMap((line, at) => (line.trim() === '' ? [] : [parseLine(line, at + 1)]));
  const torn = unended.trim() !== '' && !parseStrictJson(unended).ok;
  if (!torn && unended.trim() !== '') whole.push(parseLine(unended, lines.length + 1));
  const [first, ...rest] = whole;
  if (first === undefined || first.object['type'] !== 'recording') {
    throw new InputError(
      'replay',
      'replay names a file that does not begin as a recording. Make one with --record.',
    );
  }
  const header = readHeader(first);
  const exchanges = rest.map((line, at) => readExchange(line, at + 1));
  return { header, exchanges, torn };
}

function readHeader(line: Line): RecordingHeader {
  const format = line.object['format'];
  if (format !== recordingFormat) {
    throw new InputError(
      'replay',
      `replay names a recording of another format than ${recordingFormat}, which this version reads. Record it again with --record.`,
    );
  }
  const version = text(line, 'version');
  const created = text(line, 'created');
  if (!/^[\w.+-]{1,50}$/u.test(version)) throw broken(line.number, 'has a "version" that is none');
  if (!/^\d{4}-\d\d-\d\dT[\d:.]{5,12}Z$/u.test(created))
    throw broken(line.number, 'has a "created" that is no time');
  return {
    model: name(line, 'model'),
    provider: choice(line, 'provider', PROVIDERS),
    judge: {
      schema_sha256: hash(line, 'schema_sha256'),
      gate_sha256: line.object['gate_sha256'] === null ? null : hash(line, 'gate_sha256'),
      prompt_sha256: hash(line, 'prompt_sha256'),
      version,
    },
    tools: list(line, 'tools').map((tool) => {
      if (typeof tool !== 'string' || !ONE_LINE.test(tool))
        throw broken(line.number, 'has "tools" without a name');
      return tool;
    }),
    workingDirectory: folder(line),
    created,
  };
}

function folder(line: Line): string {
  const value = text(line, 'working_directory');
  if (value.length > 4_096) throw broken(line.number, 'has a "working_directory" that is too long');
  return value;
}

function readExchange(line: Line, expected: number): Exchange {
  if (line.object['number'] !== expected)
    throw broken(
      line.number,
      `has not the "number" ${expected}: lines are missing, or stand in another order`,
    );
  const asked = readAsked(part(line, 'asked'));
  switch (choice(line, 'type', ['answer', 'failure', 'stopped'])) {
    case 'answer':
      return readAnswer(line, asked);
    case 'failure': {
      const status = line.object['status'] === null ? null : count(line, 'status');
      return {
        kind: 'failure',
        asked,
        failure: choice(line, 'failure', FAILURES),
        status,
        message: text(line, 'message'),
      };
    }
    case 'stopped':
      return { kind: 'stopped', asked };
  }
}

function readAnswer(line: Line, asked: Asked): Exchange {
  const calls = list(line, 'tool_calls').map((call) => member(line, call, 'tool_calls'));
  return {
    kind: 'answer',
    asked,
    text: text(line, 'text'),
    toolCalls: calls.map((call) => ({
      id: text(call, 'id'),
      name: text(call, 'name'),
      rawArguments: text(call, 'arguments'),
      status: choice(call, 'status', STATUSES),
    })),
    masked: calls.flatMap((call, at) => (call.object['masked'] === true ? [at] : [])),
    stopReason: choice(line, 'stop_reason', STOP_REASONS),
    usage: line.object['usage'] === null ? null : readUsage(part(line, 'usage')),
    model: name(line, 'model'),
  };
}

function readUsage(line: Line): Usage {
  return {
    inputTokens: count(line, 'input_tokens'),
    outputTokens: count(line, 'output_tokens'),
    cachedInputTokens: count(line, 'cached_input_tokens'),
    cacheWriteTokens: count(line, 'cache_write_tokens'),
  };
}

function readAsked(line: Line): Asked {
  return {
    toolChoice: name(line, 'tool_choice'),
    after: choice(line, 'after', ['task', 'results', 'reminder']),
    results: list(line, 'results').map((result) => {
      const inner = member(line, result, 'results');
      const isError = inner.object['is_error'];
      if (typeof isError !== 'boolean')
        throw broken(line.number, 'has a result without a boolean "is_error"');
      return { name: text(inner, 'name'), isError, sha256: hash(inner, 'sha256') };
    }),
  };
}
