/** A recording of the model's side of a run: the format of its lines as one JSON Schema, and its reader. */
import { compile } from '../contract/contract.ts';
import { InputError, type ProviderError, type ProviderFailure } from '../errors.ts';
import { PROVIDERS, type ProviderName } from '../providers/registry.ts';
import { isObject, parseOrUndefined } from '../text/json.ts';
import type { ArgumentStatus, JsonObject, PolicyDigest, StopReason } from '../types.ts';

/** Version of the format; the reader accepts no other. */
export const recordingFormat = 1;

/** What is recorded of a run's task, and what a recording must fit. */
export interface Task {
  readonly policy: Pick<PolicyDigest, 'schema_sha256' | 'prompt_sha256' | 'version'>;
  /** The agent's, which paths in calls begin with. */
  readonly workingDirectory: string;
}

/** The first line: the recorded run. */
export interface RecordingHeader {
  readonly model: string;
  readonly provider: ProviderName;
  readonly schema_sha256: string;
  readonly prompt_sha256: string;
  /** Names of the tools offered to the model, in order. */
  readonly tools: readonly string[];
  readonly working_directory: string;
  /** ISO 8601. */
  readonly created: string;
}

export interface RecordedCall {
  readonly id: string;
  readonly name: string;
  /** The text that the model sent. */
  readonly arguments: string;
  readonly status: ArgumentStatus;
  /** Whether a secret is masked in it, so that it cannot be replayed. */
  readonly masked?: boolean;
}

/** Each further line: a model's response, in order; `stopped` if the run was stopped before it arrived. */
export type RecordedResponse =
  | RecordedAnswer
  | ({ readonly type: 'failure' } & Pick<ProviderError, 'failure' | 'status' | 'message'>)
  | { readonly type: 'stopped' };

export interface RecordedAnswer {
  readonly type: 'answer';
  readonly text: string;
  readonly tool_calls: readonly RecordedCall[];
  readonly stop_reason: StopReason;
  /** As in the envelope. */
  readonly usage: JsonObject | null;
  /** As returned by the server. */
  readonly model: string;
}

interface Recording {
  readonly header: RecordingHeader;
  readonly responses: readonly RecordedResponse[];
}

const FAILURES: readonly ProviderFailure[] = [
  'auth',
  'rate_limit',
  'overloaded',
  'context_overflow',
  'tool_choice',
  'error',
];

const TEXT = { type: 'string' };
const HASH = { type: 'string', pattern: '^[0-9a-f]{64}$' };

/** An object that has these fields, and maybe others. */
function record(properties: JsonObject): JsonObject {
  return { type: 'object', required: Object.keys(properties), properties };
}

function when(type: RecordedResponse['type'], schema: JsonObject): JsonObject {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  return { if: { properties: { type: { const: type } } }, then: schema };
}

const ANSWER = record({
  text: TEXT,
  tool_calls: {
    type: 'array',
    items: record({
      id: TEXT,
      name: TEXT,
      arguments: TEXT,
      status: { enum: ['complete', 'truncated', 'too_long'] satisfies ArgumentStatus[] },
    }),
  },
  stop_reason: { enum: ['end', 'tool_calls', 'length', 'refusal', 'pause'] satisfies StopReason[] },
  usage: { type: ['object', 'null'] },
  model: TEXT,
});

const RECORDING = record({
  header: record({
    format: { const: recordingFormat },
    model: TEXT,
    provider: { enum: PROVIDERS },
    schema_sha256: HASH,
    prompt_sha256: HASH,
    tools: { type: 'array', items: TEXT },
    working_directory: TEXT,
    created: TEXT,
  }),
  responses: {
    type: 'array',
    items: {
      ...record({ type: { enum: ['answer', 'failure', 'stopped'] } }),
      allOf: [
        when('answer', ANSWER),
        when(
          'failure',
          record({ failure: { enum: FAILURES }, status: { type: ['integer', 'null'] }, message: TEXT }),
        ),
      ],
    },
  },
});

/**
 * Parses a recording: one JSON object per line, starting with the header.
 * @throws InputError that names the line and the field, without quoting the content.
 */
export async function readRecording(text: string): Promise<Recording> {
  const [header, ...responses] = text.trimEnd().split('\n').map(readLine);
  if (header?.['type'] !== 'recording')
    throw new InputError('replay', 'It names a file that is not a recording. Make one with --record.');
  const recording = { header, responses };
  const { validate } = await compile(RECORDING, 'schema');
  const validation = validate(recording);
  // The schema has checked exactly the fields of the type.
  if (validation.ok) return recording as unknown as Recording;
  const { path = '', keyword = '' } = validation.issues[0] ?? {};
  const [, part, ...rest] = path.split('/');
  const line = part === 'header' ? 1 : Number(rest.shift()) + 2;
  throw fault(line, `is not valid at /${rest.join('/')} (${keyword})`);
}

function readLine(line: string, at: number): JsonObject {
  const value = parseOrUndefined(line);
  if (isObject(value)) return value;
  throw fault(at + 1, 'is not a JSON object; if the run was cut off there, delete the line');
}

function fault(line: number, what: string): InputError {
  return new InputError('replay', `Line ${line} of the recording ${what}. Or record it again with --record.`);
}
