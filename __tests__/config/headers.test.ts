import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseModel } from '../../src/config/model.ts';
import { createReader } from '../../src/config/values.ts';

/** Reads headers as a run does. */
function read(headers: string, more: Readonly<Record<string, string>> = {}) {
  const reader = createReader(new Map(Object.entries({ model: 'gpt-5', headers, ...more })));
  const model = parseModel(reader, { environment: { OPENAI_API_KEY: 'sk-o' } });
  return { ...model, problems: reader.problems.map(({ input, message }) => `${input}: ${message}`) };
}

describe('headers', () => {
  it('are one per line, with names in lower case', () => {
    const text = 'X-Team: blue\r\n\n  CF-Access-Client-Id :\tid:1  \nCookie: a=b; c=d\n__proto__: x';
    expect(Object.entries(read(text).headers)).toEqual([
      ['x-team', 'blue'],
      ['cf-access-client-id', 'id:1'],
      ['cookie', 'a=b; c=d'],
      ['__proto__', 'x'],
    ]);
    expect(read('')).toMatchObject({ headers: {}, problems: [] });
  });

  it.each([
    ['X-A: 1\n\ns3cret-value', /^headers: Line 3 is not/u],
    ['X A: s3cret-value', /Line 1 is not a name, a colon and a value in printable ASCII/u],
    [': s3cret-value', /Line 1 is not/u],
    ['X-É: s3cret-value', /Line 1 is not/u],
    ['X-A: s3cret-value\u0000', /Line 1 is not/u],
    ['X-A: s3cret-välue', /Line 1 is not/u],
    ['X-A: s3cret\rX-B: value', /Line 1 is not/u],
    ['X-A:', /Line 1 is not.*check that it is set/u],
    ['X-A: one\nx-a: s3cret-value', /Line 2 gives x-a a second time/u],
  ])('%j is refused with its line number and without its value', (text, says) => {
    const { problems, apiKey } = read(text);
    // It may have held the key: no other is taken.
    expect([problems, apiKey]).toEqual([[expect.stringMatching(says)], null]);
    expect(problems[0]).not.toMatch(/s3cret/u);
  });

  it.each(['Authorization', 'X-Api-Key', 'api-key'])('%s replaces the key of the variable', (name) => {
    const given = { keySource: 'headers', headers: { [name.toLowerCase()]: 'Bearer s3cret' }, apiKey: null };
    expect(read(`${name}: Bearer s3cret`)).toMatchObject(given);
    expect(read(`${name}: Bearer s3cret`, { 'api-key': 'sk-other' }).problems).toEqual([
      `headers: The header ${name.toLowerCase()} and api-key both give a key. Keep one of them.`,
    ]);
    expect(read('X-A: 1').apiKey).toBe('sk-o');
  });

  it('are such as a request can carry, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (text) => {
        const { headers } = read(`x-a: 1\n${text}`);
        expect([...new Headers(Object.entries(headers)).keys()]).toEqual(Object.keys(headers).sort());
      }),
    );
  });
});
