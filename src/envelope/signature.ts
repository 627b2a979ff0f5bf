/** Signs envelopes, and verifies that one was signed with the same key. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../types.ts';

/** Keeps a signature of an envelope from being one of anything else that is ever signed with the same key. */
const CONTEXT = 'structured-agent envelope v1\n';
const FORM = /^hmac-sha256:([0-9a-f]{64})$/;

/**
 * The `signature` of an envelope: HMAC-SHA256 with the key's UTF-8 bytes over a line of context and the envelope's
 * canonical JSON (RFC 8785), a signature in it left out.
 * @throws Error for an envelope that strict JSON cannot hold, such as one with half of a surrogate pair.
 */
export function signEnvelope(envelope: JsonObject, key: string): string {
  return `hmac-sha256:${macOf(envelope, key).toString('hex')}`;
}

/** What signs the envelopes of a run; null where there is no key. */
export function signer(key: string | null): ((envelope: JsonObject) => string) | null {
  return key === null ? null : (envelope) => signEnvelope(envelope, key);
}

/** Whether an envelope, read strictly, carries the signature that the key gives it; false for one that carries none. */
export function verifyEnvelope(envelope: JsonObject, key: string): boolean {
  const signature = Object.hasOwn(envelope, 'signature') ? envelope['signature'] : null;
  const given = typeof signature === 'string' ? FORM.exec(signature)?.[1] : undefined;
  if (given === undefined) return false;
  return timingSafeEqual(Buffer.from(given, 'hex'), macOf(envelope, key));
}

function macOf(envelope: JsonObject, key: string): Buffer {
  const { signature: _, ...unsigned } = envelope;
  const text = canonicalize(unsigned);
  if (text === undefined) throw new Error('An envelope is not JSON.');
  return createHmac('sha256', key).update(CONTEXT).update(text, 'utf8').digest();
}
