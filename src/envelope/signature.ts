/** Signs envelopes and verifies their signatures. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../types.ts';

/** Separates envelope signatures from anything else signed with the same key. */
const CONTEXT = 'structured-agent envelope v1\n';
const FORM = /^hmac-sha256:([0-9a-f]{64})$/;

/**
 * Returns the `signature` of an envelope: HMAC-SHA256 with the key's UTF-8 bytes over a context line and the envelope's
 * canonical JSON (RFC 8785), without any existing signature.
 * @throws Error for an envelope that strict JSON cannot represent, such as one with a lone surrogate.
 */
export function signEnvelope(envelope: JsonObject, key: string): string {
  return `hmac-sha256:${macOf(envelope, key).toString('hex')}`;
}

/** Whether a strictly parsed envelope has a valid signature for the key; false if it has none. */
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
