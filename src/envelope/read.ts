/** Reads envelopes, which are data from other jobs and trusted only as far as their signature. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import published from '../../schemas/envelope.schema.json' with { type: 'json' };
import { type Compiled, compile } from '../contract/contract.ts';
import { errorCode, InputError } from '../errors.ts';
import { decodeUtf8, type ReadFailure, readBounded } from '../files/read-bounded.ts';
import { isObject, parseStrictJson } from '../text/json.ts';
import { LISTED } from '../text/limits.ts';
import type { JsonObject } from '../types.ts';
import { type Envelope, typedEnvelope } from './envelope.ts';
import { verifyEnvelope } from './signature.ts';

/** The exact format that this version writes: an unknown field is an error. */
export const envelopeSchema: JsonObject = published;

/** Bytes of an envelope. */
const MAX_ENVELOPE = 16 * 1024 ** 2;

/** One file of the folder; its path, relative to the folder with `/` as separator, is hostile. */
export type EnvelopeFile = { readonly file: string } & (
  | { readonly ok: true; readonly envelope: Envelope }
  /** `why` begins with `it` and contains nothing from the file. */
  | { readonly ok: false; readonly why: string }
);

let reading: Promise<Compiled> | null = null;

/**
 * Returns the schema for envelopes of other jobs, which may run another minor version: unknown fields are allowed and
 * ignored, since no minor version may add a field that changes the meaning of others. Enumerations stay strict: an
 * envelope with an unknown conclusion, reason or exit code is not accepted as an envelope, and passes nothing.
 */
export function readingSchema(): Promise<Compiled> {
  reading ??= compile(
    JSON.parse(JSON.stringify(envelopeSchema), (name, value) =>
      name === 'additionalProperties' ? undefined : value,
    ),
    'schema',
  );
  return reading;
}

/**
 * Reads every `*.json` file of the folder `verdicts`, as laid out by actions/download-artifact, at any depth and in path
 * order. Files are read one at a time, so that only what the caller keeps stays in memory.
 * @param signingKey key that every envelope must be signed with; null to accept unsigned ones.
 * @throws InputError when the first file is requested, if the folder or one in it cannot be listed.
 */
export async function* readEnvelopes(
  folder: string,
  signingKey: string | null,
): AsyncGenerator<EnvelopeFile, void, undefined> {
  const schema = await readingSchema();
  for (const file of listEnvelopes(folder)) {
    const read = readEnvelope(path.join(folder, file), signingKey, schema);
    yield typeof read === 'string' ? { file, ok: false, why: read } : { file, ok: true, envelope: read };
  }
}

function listEnvelopes(folder: string): readonly string[] {
  try {
    return findFiles(folder).sort();
  } catch (cause) {
    const why = `The folder ${JSON.stringify(folder)} cannot be listed (${errorCode(cause)}).`;
    const fix = 'Name the folder into which actions/download-artifact put the envelopes.';
    throw new InputError('verdicts', `${why} ${fix}`, { cause });
  }
}

/** Lists the files of a folder and those in it. Node's own recursive list follows links to folders. */
function findFiles(folder: string, below = ''): string[] {
  return readdirSync(path.join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(below, entry.name);
    if (entry.isDirectory()) return findFiles(folder, file);
    return entry.name.endsWith('.json') ? [file] : [];
  });
}

/** Returns why a file is not accepted, or the envelope in it. */
function readEnvelope(file: string, signingKey: string | null, schema: Compiled): Envelope | string {
  const read = readBounded(file, { maxBytes: MAX_ENVELOPE, links: 'refuse' });
  if (!read.ok) return FAULTS[read.failure] ?? `it cannot be read (${read.code})`;
  const text = decodeUtf8(read.bytes);
  if (text === null) return 'it is not UTF-8 text';
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return `it ${parsed.fault}`;
  const { value } = parsed;
  if (!isObject(value) || value['type'] !== 'result') return `${FOREIGN}: its type is not result`;
  if (signingKey !== null && !Object.hasOwn(value, 'signature'))
    return 'it is not signed: the step that writes it needs the same signing-key';
  if (signingKey !== null && !verifyEnvelope(value, signingKey))
    return 'its signature does not fit: made with another key, or changed after it was signed';
  const validation = schema.validate(value);
  if (validation.ok) return typedEnvelope(value);
  const places = validation.issues.map((issue) => `${issue.path || 'the root'} (${issue.keyword})`);
  return `${FOREIGN}: see ${[...new Set(places)].slice(0, LISTED.few).join(', ')}`;
}

const FOREIGN = 'it is no envelope of this action';
const FAULTS: Partial<Record<ReadFailure, string>> = {
  not_regular: 'it is not a regular file',
  too_large: `it is larger than ${MAX_ENVELOPE / 1024 ** 2} MiB`,
};
