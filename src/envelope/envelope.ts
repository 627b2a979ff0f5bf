/** Envelopes as data from other jobs: read, validated, and never trusted further than their signature. */
import path from 'node:path';
import type { Compiled } from '../contract/contract.ts';
import { type Candidate, listCandidates, refusal } from './list.ts';
import { readObject } from './read.ts';
import { readingSchema } from './schema.ts';
import { verifyEnvelope } from './signature.ts';
import { type Claim, claimOf, type Envelope, viewOf } from './view.ts';

export type { Claim, Envelope } from './view.ts';

/** One file of the folder: an envelope, or why it counts as none. */
export type EnvelopeFile =
  | { readonly ok: true; readonly envelope: Envelope }
  /** `why` begins with `it` and holds nothing of the file; the name of the file is hostile. */
  | {
      readonly ok: false;
      readonly file: string;
      readonly why: string;
      /** null where it cannot be read so far. */
      readonly claim: Claim | null;
      /** Whether nothing speaks against its being a leg's own: no signature is asked for, or it fits. */
      readonly genuine: boolean;
    };

/** How a folder of envelopes is read. */
export interface ReadEnvelopesOptions {
  /** The input that names the folder, for messages. */
  readonly input: string;
  /** What every envelope must be signed with; null takes unsigned ones too. */
  readonly signingKey: string | null;
  /** Whether a folder that is not there is a mistake, or holds nothing. */
  readonly whenMissing: 'refuse' | 'empty';
}

/** How many places of a file are named that are not as the schema wants them. */
const MAX_PLACES = 3;
/** Of characters; no model, ref or version has so many. */
const MAX_NAME = 4_096;

/**
 * Reads every `*.json` of a folder as actions/download-artifact lays them out, at any depth, in the order of their paths;
 * one at a time, so that nothing but what the caller keeps is held.
 * @throws InputError with the first file asked for: the folder is not there, cannot be listed, or is too large.
 */
export async function* readEnvelopes(
  folder: string,
  { input, signingKey, whenMissing }: ReadEnvelopesOptions,
): AsyncGenerator<EnvelopeFile, void, undefined> {
  const candidates = listCandidates(folder, input);
  if (candidates === null && whenMissing === 'refuse') throw refusal(input, folder, 'does not exist');
  if (candidates === null || candidates.length === 0) return;
  const schema = await readingSchema();
  for (const candidate of candidates) yield readEnvelope(folder, candidate, signingKey, schema);
}

function readEnvelope(
  folder: string,
  { file, regular }: Candidate,
  signingKey: string | null,
  schema: Compiled,
): EnvelopeFile {
  let claim: Claim | null = null;
  let genuine = signingKey === null;
  const refuse = (why: string): EnvelopeFile => ({ ok: false, file, why, claim, genuine });
  // Opening a device can do things of its own.
  if (!regular) return refuse('it is not a regular file');
  const read = readObject(path.join(folder, file));
  if (!read.ok) return refuse(read.why);
  claim = claimOf(read.value);
  if (signingKey !== null) {
    if (!Object.hasOwn(read.value, 'signature'))
      return refuse('it is not signed: the step that writes it needs the same signing-key');
    if (!verifyEnvelope(read.value, signingKey))
      return refuse('its signature does not fit: made with another key, or changed after it was signed');
    genuine = true;
  }
  const validation = schema.validate(read.value);
  if (!validation.ok) {
    // A manifest, a report: the folder holds more than was downloaded, or is another one.
    if (read.value['type'] !== 'result')
      return refuse('it is no envelope of this action: its type is not result');
    const places = validation.issues.map(({ path: where, keyword }) => `${where || 'the root'} (${keyword})`);
    return refuse(
      `it is no envelope of this action: see ${[...new Set(places)].slice(0, MAX_PLACES).join(', ')}`,
    );
  }
  const envelope = viewOf(file, read.value);
  if (envelope === null) return refuse('it is no envelope of this action: its words are not known');
  return namesOf(envelope).some((name) => name.length > MAX_NAME)
    ? refuse(`it is no envelope of this action: a name in it has more than ${MAX_NAME} characters`)
    : { ok: true, envelope };
}

/** What is kept of every envelope until all are read: hundreds of long ones would not fit into memory. */
function namesOf({ model, policy, subject }: Envelope): readonly string[] {
  const { repository = '', sha = '', ref = '', event = '', run_id = '' } = subject ?? {};
  return [model, policy.version, repository, sha, ref, event, run_id];
}
