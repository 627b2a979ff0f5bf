import { describe, expect, it } from 'vitest';
import { signEnvelope, verifyEnvelope } from '../../src/envelope/signature.ts';
import { envelope } from '../../src/reporters/envelope.ts';
import { isArray, isObject, parseStrictJson } from '../../src/text/json.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import { sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { sampleReport, unpublished } from '../reporters/sample-report.ts';

const KEY = 'k'.repeat(32);
const same = (text: string) => text;
const samples: readonly JsonObject[] = [
  envelope(sampleReport({ leg: 'api', vote: '1' }), same),
  envelope(sampleReport(unpublished('No.')), same),
  envelope(sampleMergedReport(sampleMerged()), same),
];

/** The envelope as a reader gets it: written as JSON and parsed strictly. */
function written(value: JsonObject): JsonObject {
  const parsed = parseStrictJson(JSON.stringify(value));
  if (!parsed.ok || !isObject(parsed.value)) throw new Error('not an object');
  return parsed.value;
}

function signed(value: JsonObject, key = KEY): JsonObject {
  return written({ ...value, signature: signEnvelope(value, key) });
}

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

describe('signEnvelope', () => {
  it('is HMAC-SHA256 over a context line and the canonical JSON, reproducible with openssl', () => {
    // printf 'structured-agent envelope v1\n{"a":[1e+21,0,"é\\n"],"b":true}' | openssl dgst -sha256 -hmac "$KEY"
    const value = { b: true, a: [1e21, -0, 'é\n'] };
    expect(signEnvelope(value, KEY)).toBe(
      'hmac-sha256:b724a12d39fa52474464c1a4d8eadd86d466e31e799229782d5a508c705f3e45',
    );
  });

  it('throws for a value that could not be read again', () => {
    expect(() => signEnvelope({ text: '\ud83d' }, KEY)).toThrow();
  });
});

describe('verifyEnvelope', () => {
  it.each(samples)('accepts a signed envelope with any order of fields and any whitespace', (sample) => {
    const whole = signed(sample);
    expect(verifyEnvelope(whole, KEY)).toBe(true);
    const turned = Object.fromEntries(Object.entries(whole).toReversed());
    const parsed = parseStrictJson(JSON.stringify(turned, null, 4));
    expect(parsed.ok && isObject(parsed.value) && verifyEnvelope(parsed.value, KEY)).toBe(true);
  });

  it.each(samples)('refuses an envelope with any single change', (sample) => {
    const { signature = null, ...rest } = signed(sample);
    let count = 0;
    for (const other of alterations(rest)) {
      count += 1;
      if (isObject(other))
        expect(verifyEnvelope({ ...other, signature }, KEY), JSON.stringify(other)).toBe(false);
    }
    expect(count).toBeGreaterThan(50);
  });

  it('refuses any other key and any malformed signature', () => {
    const whole = signed(samples[0] ?? {});
    const signature = String(whole['signature']);
    for (const key of [`${KEY}k`, KEY.toUpperCase()]) expect(verifyEnvelope(whole, key)).toBe(false);
    const texts = [signature.toUpperCase(), signature.slice(0, -1), `${signature}0`, `${signature}\n`, ''];
    const unnamed = ['', 'none:'].map((name) => signature.replace('hmac-sha256:', name));
    for (const other of [...texts, ...unnamed, null, [signature]])
      expect(verifyEnvelope({ ...whole, signature: other }, KEY)).toBe(false);
    const { signature: _, ...unsigned } = whole;
    expect(verifyEnvelope(unsigned, KEY)).toBe(false);
  });

  it('holds for deep JSON', () => {
    let deep: Json = [];
    for (let level = 0; level < 490; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
    expect(verifyEnvelope(signed({ deep }), KEY)).toBe(true);
  });
});
