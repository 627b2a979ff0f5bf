import { expect, it } from 'vitest';
import { signEnvelope, verifyEnvelope } from '../../src/envelope/signature.ts';
import type { JsonObject } from '../../src/types.ts';

const KEY = 'k'.repeat(32);
const sample: JsonObject = {
  type: 'result',
  leg: 'api',
  exit_code: 0,
  gate: { status: 'met', issues: [{ path: '/a' }] },
};
const signed = { ...sample, signature: signEnvelope(sample, KEY) };

it('a signature is HMAC-SHA256 over a context line and the canonical JSON, reproducible with openssl', () => {
  // printf 'structured-agent envelope v1\n{"a":[1e+21,0,"é\\n"],"b":true}' | openssl dgst -sha256 -hmac "$KEY"
  expect(signEnvelope({ b: true, a: [1e21, -0, 'é\n'] }, KEY)).toBe(
    'hmac-sha256:b724a12d39fa52474464c1a4d8eadd86d466e31e799229782d5a508c705f3e45',
  );
  expect(() => signEnvelope({ text: '\ud83d' }, KEY)).toThrow();
});

it('a signature fits any order of fields and any whitespace', () => {
  const turned = Object.fromEntries(Object.entries(signed).toReversed());
  expect(verifyEnvelope(JSON.parse(JSON.stringify(turned, null, 4)), KEY)).toBe(true);
});

it.each<[string, JsonObject]>([
  ['another value', { leg: 'web' }],
  ['another number', { exit_code: 1 }],
  ['one more field', { more: null }],
  ['another value inside', { gate: { status: 'met', issues: [{ path: '/b' }] } }],
  ['one item less', { gate: { status: 'met', issues: [] } }],
])('a signature does not fit %s', (_, change) => {
  expect(verifyEnvelope({ ...signed, ...change }, KEY)).toBe(false);
});

it('no other key and no malformed signature fits', () => {
  const { signature } = signed;
  for (const key of [`${KEY}k`, KEY.toUpperCase()]) expect(verifyEnvelope(signed, key)).toBe(false);
  const texts = [signature.toUpperCase(), signature.slice(0, -1), `${signature}0`, `${signature}\n`, ''];
  const unnamed = ['', 'none:'].map((name) => signature.replace('hmac-sha256:', name));
  for (const other of [...texts, ...unnamed, null, [signature]])
    expect(verifyEnvelope({ ...signed, signature: other }, KEY)).toBe(false);
  expect(verifyEnvelope(sample, KEY)).toBe(false);
});
