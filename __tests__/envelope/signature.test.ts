import { expect, it } from 'vitest';
import { signEnvelope, verifyEnvelope } from '../../src/envelope/signature.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import { isArray, isObject } from '../../src/text/json.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import { sampleReport } from '../reporters/sample-report.ts';

const KEY = 'k'.repeat(32);
const sample = envelope(sampleReport({ leg: 'api', vote: '1' }), (text) => text);
const signed = { ...sample, signature: signEnvelope(sample, KEY) };

/** The same value with one change, for each scalar and each container. */
function* alterations(value: Json): Generator<Json> {
  if (isArray(value)) {
    yield [...value, null];
    for (const [at, each] of value.entries())
      for (const other of alterations(each)) yield value.with(at, other);
  } else if (isObject(value)) {
    yield { ...value, more: null };
    for (const name of Object.keys(value)) {
      const { [name]: member = null, ...rest } = value;
      yield rest;
      for (const other of alterations(member)) yield { ...value, [name]: other };
    }
  } else if (typeof value === 'boolean') yield !value;
  else if (typeof value === 'number') yield value + 1;
  else yield value === null ? '' : `${value} `;
}

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

it('a signature does not fit after any single change', () => {
  const { signature, ...rest } = signed;
  let count = 0;
  for (const other of alterations(JSON.parse(JSON.stringify(rest)))) {
    count += 1;
    const changed: JsonObject = { ...Object(other), signature };
    expect(verifyEnvelope(changed, KEY), JSON.stringify(other)).toBe(false);
  }
  expect(count).toBeGreaterThan(50);
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
