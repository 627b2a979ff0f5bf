/** Reads and validates envelopes, which are data from other jobs and trusted only as far as their signature. */
import path from 'node:path';
import type { Compiled } from '../contract/contract.ts';
import { LISTED } from '../text/limits.ts';
import { type ListedFile, listFiles } from './list.ts';
import { readObjectFile } from './read.ts';
import { readingSchema } from './schema.ts';
import { verifyEnvelope } from './signature.ts';
import { contradictionOf, type Envelope, viewOf } from './view.ts';

export type { Envelope } from './view.ts';

/** One file of the folder: an envelope, or the reason why it is not accepted. */
export type EnvelopeFile =
  | { readonly ok: true; readonly envelope: Envelope }
  /** `why` begins with `it` and contains nothing from the file; the name of the file is hostile. */
  | { readonly ok: false; readonly file: string; readonly why: string };

/** Maximum length of a name in characters; no model, ref or version is longer. */
const MAX_NAME = 4_096;

/**
 * Reads every `*.json` file of the folder `verdicts`, as laid out by actions/download-artifact, at any depth and in path
 * order. Files are read one at a time, so that only what the caller keeps stays in memory.
 * @param signingKey key that every envelope must be signed with; null to accept unsigned ones.
 * @throws InputError when the first file is requested, if the folder does not exist, cannot be listed, or is too large.
 */
export async function* readEnvelopes(
  folder: string,
  signingKey: string | null,
): AsyncGenerator<EnvelopeFile, void, undefined> {
  const candidates = listFiles(folder);
  if (candidates.length === 0) return;
  const schema = await readingSchema();
  for (const candidate of candidates) yield readEnvelope(folder, candidate, signingKey, schema);
}

function readEnvelope(
  folder: string,
  { file, regular }: ListedFile,
  signingKey: string | null,
  schema: Compiled,
): EnvelopeFile {
  const refuse = (why: string): EnvelopeFile => ({ ok: false, file, why });
  // Opening a device can have side effects.
  if (!regular) return refuse('it is not a regular file');
  const read = readObjectFile(path.join(folder, file));
  if (!read.ok) return refuse(read.why);
  if (signingKey !== null) {
    if (!Object.hasOwn(read.value, 'signature'))
      return refuse('it is not signed: the step that writes it needs the same signing-key');
    if (!verifyEnvelope(read.value, signingKey))
      return refuse('its signature does not fit: made with another key, or changed after it was signed');
  }
  const validation = schema.validate(read.value);
  if (!validation.ok) {
    // For example a manifest or a report: the folder contains more than the download, or is the wrong one.
    if (read.value['type'] !== 'result')
      return refuse('it is no envelope of this action: its type is not result');
    const places = validation.issues.map(({ path: where, keyword }) => `${where || 'the root'} (${keyword})`);
    return refuse(
      `it is no envelope of this action: see ${[...new Set(places)].slice(0, LISTED.few).join(', ')}`,
    );
  }
  const envelope = viewOf(file, read.value);
  if (envelope === null) return refuse('it is no envelope of this action: its words are not known');
  const contradiction = contradictionOf(read.value, envelope);
  if (contradiction !== null)
    return refuse(`it contradicts itself in ${contradiction}: it was changed after the run`);
  return namesOf(envelope).some((name) => name.length > MAX_NAME)
    ? refuse(`it is no envelope of this action: a name in it has more than ${MAX_NAME} characters`)
    : { ok: true, envelope };
}

/** The strings kept of every envelope until all are read: hundreds of long ones would not fit into memory. */
function namesOf({ model, policy, subject }: Envelope): readonly string[] {
  const { repository = '', sha = '', ref = '', event = '', run_id = '' } = subject ?? {};
  return [model, policy.version, repository, sha, ref, event, run_id];
}
