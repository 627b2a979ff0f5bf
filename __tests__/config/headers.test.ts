import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InputName } from '../../src/config/inputs.ts';
import { parseModel, readHeaders } from '../../src/config/model.ts';
import { createReader } from '../../src/config/values.ts';
import { InputError } from '../../src/errors.ts';

const raw = (inputs: Partial<Record<InputName, string>>) => {
  const map = new Map<InputName, string>();
  const set = (name: InputName) => inputs[name] !== undefined && map.set(name, inputs[name]);
  for (const name of ['headers', 'api-key', 'model', 'base-url', 'provider'] as const) set(name);
  return createReader(map);
};

function refusal(headers: string, more: Partial<Record<InputName, string>> = {}): string {
  try {
    readHeaders(raw({ headers, ...more }));
  } catch (error) {
    if (error instanceof InputError && error.input === 'headers') return error.message;
    throw error;
  }
  throw new Error('accepted');
}

describe('headers', () => {
  it('are one per line, with names in lower case', () => {
    const headers = readHeaders(
      raw({ headers: 'X-Team: blue\r\n\n  CF-Access-Client-Id :\tid:1  \nCookie: a=b; c=d\n__proto__: x' }),
    );
    expect(Object.entries(headers)).toEqual([
      ['x-team', 'blue'],
      ['cf-access-client-id', 'id:1'],
      ['cookie', 'a=b; c=d'],
      ['__proto__', 'x'],
    ]);
    expect(readHeaders(raw({}))).toEqual({});
  });

  it.each([
    ['X-A: 1\n\ns3cret-value', /^Line 3 has no colon/],
    ['X A: s3cret-value', /^Line 1 does not begin with the name/],
    [': s3cret-value', /^Line 1 does not begin with the name/],
    ['X-É: s3cret-value', /^Line 1 does not begin with the name/],
    ['X-A: one\nx-a: s3cret-value', /^Line 2 gives x-a a second time/],
    ['X-A: s3cret-value\u0007', /^Line 1 gives x-a a value with a character/],
    ['X-A: s3cret-value\u0000', /^Line 1 .*character/],
    ['X-A: s3cret-välue', /^Line 1 .*character/],
    ['X-A: s3cret\rX-B: value', /^Line 1 .*character/],
    ['X-A:', /^Line 1 gives x-a no value/],
    ['Proxy-Authorization: Basic s3cret-value', /^Line 1 .*HTTPS_PROXY/],
    ['Content-Type: s3cret-value', /^Line 1 names content-type, which is not yours/],
    ['User-Agent: s3cret-value', /user-agent/],
    ['Host: s3cret-value', /host/],
    ['Transfer-Encoding: s3cret-value', /transfer-encoding/],
    ['Accept-Encoding: s3cret-value', /accept-encoding/],
    ['CONTENT-LENGTH: s3cret-value', /content-length/],
  ])('%j is refused with its line number and without its value', (headers, says) => {
    const message = refusal(headers);
    expect(message).toMatch(says);
    expect(message).not.toMatch(/s3cret|v[aä]lue-?$/);
  });

  it('accepts 64 KiB, and refuses one character more', () => {
    const value = 'x'.repeat(64 * 1024 - 'X-A: '.length);
    expect(readHeaders(raw({ headers: `X-A: ${value}` }))).toEqual({ 'x-a': value });
    expect(refusal(`X-A: ${value}x`)).toMatch(/^They are longer than 64 KiB/u);
  });

  it.each(['Authorization', 'X-Api-Key', 'api-key'])('refuses %s together with api-key', (name) => {
    const message = refusal(`X-A: 1\n${name}: s3cret-value`, { 'api-key': 'sk-other' });
    expect(message).toContain('api-key');
    expect(message).toContain(`header ${name.toLowerCase()} and api-key`);
    expect(message).not.toMatch(/s3cret|sk-other/);
  });

  it.each(['Authorization', 'X-Api-Key', 'api-key'])(
    '%s replaces the key from the provider’s variable',
    (name) => {
      const inputs = raw({
        headers: `${name}: Bearer x`,
        model: 'gpt-5',
        'base-url': 'https://gw.example/v1',
      });
      const environment = { OPENAI_API_KEY: 'sk-o' };
      expect(parseModel(inputs, { environment })).toMatchObject({
        apiKey: null,
        keySource: 'headers',
        headers: { [name.toLowerCase()]: 'Bearer x' },
      });
      expect(parseModel(raw({ headers: 'X-A: 1', model: 'gpt-5' }), { environment }).apiKey).toBe('sk-o');
    },
  );

  it('any text gives headers that a request can carry, or an InputError', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => {
        try {
          const headers = readHeaders(raw({ headers: `x-a: 1\n${text}` }));
          expect([...new Headers(Object.entries(headers)).keys()]).toEqual(Object.keys(headers).sort());
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }),
    );
  });
});
