import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import type { Json, JsonObject } from '../../src/types.ts';

const complete = (rawArguments: string) => ({ rawArguments, status: 'complete' as const });
const accepted = (payload: JsonObject) => ({ ok: true, payload, repaired: null });
const passed: JsonObject = {
  type: 'object',
  title: 'Review',
  properties: {
    passed: { type: 'boolean' },
    summary: { type: 'string' },
    list: { type: 'array' },
    more: { type: 'object' },
  },
  required: ['passed', 'summary'],
  additionalProperties: false,
};
/** The outcome and the issues of a candidate. */
const checking = async (schema: JsonObject, raw: string) => {
  const check = (await createContract(schema)).check(complete(raw));
  return check.ok ? check : { ok: check.ok, issues: check.issues };
};

describe('createContract', () => {
  it('has the properties, output names and warnings of the schema, and keeps the schema itself: A2', async () => {
    const schema = { ...passed, properties: { 'a.b': {}, ok: { format: 'odd' } }, required: [] };
    const before = structuredClone(schema);
    const contract = await createContract(schema);
    expect(contract).toMatchObject({
      outputNames: ['ok'],
      warnings: [
        'The format "odd" in the schema is not known, so it is not checked.',
        'The property "a.b" gets no step output of its own: the name of an output is a letter or underscore, then letters, digits, underscores and hyphens. Read it from structured_output.',
      ],
    });
    expect(contract.schema).toBe(schema);
    expect(schema).toEqual(before);
  });

  it('lists at most 20 warnings', async () => {
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`a.${i}`, {}]));
    expect((await createContract({ properties })).warnings).toHaveLength(20);
  });
});

describe('check', () => {
  // Their messages are in the golden file of issues.
  it.each([
    ['S2 a missing property', '{"passed":true,"list":[]}', [' required']],
    ['S3 two errors at once', '{"passed":1}', [' required', '/passed type']],
    ['S4 a string for a boolean', '{"passed":"true","summary":"s"}', ['/passed type']],
    ['S4 null for a boolean', '{"passed":null,"summary":"s"}', ['/passed type']],
    [
      'S5 an extra property under additionalProperties: false',
      '{"passed":true,"summary":"s","conclusion":"success"}',
      [' additionalProperties'],
    ],
  ])('%s is rejected, and not coerced', async (_, raw, expected) => {
    const check = await checking(passed, raw);
    expect(check.ok ? [] : check.issues.map(({ path, keyword }) => `${path} ${keyword}`)).toEqual(expected);
  });

  it('S6 treats missing and empty arguments as an empty object', async () => {
    expect(await checking({}, '')).toEqual(accepted({}));
    expect(await checking({}, '{}')).toEqual(accepted({}));
    expect((await checking(passed, '')).ok).toBe(false);
  });

  it.each(['output', 'arguments', 'input', '$PARAMETER_NAME', 'Review'])(
    'S7 unwraps an object in %s',
    async (key) => {
      const inner = { passed: true, summary: 's' };
      expect(await checking(passed, JSON.stringify({ [key]: inner }))).toEqual({
        ok: true,
        payload: inner,
        repaired: { kind: 'unwrapped', key },
      });
    },
  );

  it('S7 keeps the outer object when it is valid', async () => {
    expect(await checking({}, '{"output":{"a":1}}')).toEqual(accepted({ output: { a: 1 } }));
  });

  it.each([
    ['an unknown wrapper', '{"result":{"passed":true,"summary":"s"}}'],
    ['a second key beside the wrapper', '{"output":{"passed":true,"summary":"s"},"x":1}'],
    ['an invalid inner object', '{"output":{"passed":true}}'],
    ['two nested wrappers', '{"output":{"input":{"passed":true,"summary":"s"}}}'],
    ['a wrapper around a string', '{"output":"{\\"passed\\":true,\\"summary\\":\\"s\\"}"}'],
    ['a string that contains a wrapper', JSON.stringify('{"output":{"passed":true,"summary":"s"}}')],
    ['an object in an array', '[{"passed":true,"summary":"s"}]'],
    ['a string inside a string', JSON.stringify(JSON.stringify('{"passed":true,"summary":"s"}'))],
    ['a string with a duplicate key', JSON.stringify('{"passed":false,"summary":"s","passed":true}')],
    [
      'a string inside a string that is the whole',
      JSON.stringify('{"passed":true,"summary":"s","list":"[]"}'),
    ],
    ['a string with an inexact number', '{"passed":true,"summary":"s","list":"[1e-400]"}'],
    ['an array where an object is required', '{"passed":true,"summary":"s","more":"[]"}'],
    [
      'a string that would nest too deeply',
      JSON.stringify({ passed: true, summary: 's', list: '['.repeat(100) + ']'.repeat(100) }),
    ],
    ['prose around the JSON', '{"passed":true,"summary":"s","more":"Here: {}"}'],
  ])('S7 does not repair %s', async (_, raw) => {
    expect((await checking(passed, raw)).ok).toBe(false);
  });

  it('S7 parses all JSON strings where objects and arrays are required', async () => {
    const raw = '{"passed":true,"summary":"{}","list":" [1]","more":"{\\"__proto__\\":{}}"}';
    const check = await checking(passed, raw);
    expect(check).toMatchObject({ ok: true, repaired: { kind: 'parsed', paths: ['/list', '/more'] } });
    expect(JSON.stringify(check.ok && check.payload)).toBe(
      '{"passed":true,"summary":"{}","list":[1],"more":{"__proto__":{}}}',
    );
  });

  it('S7 parses a string that is the whole of the arguments', async () => {
    expect(await checking(passed, JSON.stringify('{"passed":true,"summary":"s","list":[]}'))).toEqual({
      ok: true,
      payload: { passed: true, summary: 's', list: [] },
      repaired: { kind: 'parsed', paths: [''] },
    });
  });

  it('S7 parses nested strings in place', async () => {
    const items = {
      type: 'array',
      items: { type: 'object', required: ['a'], properties: { 'a/b': { type: ['array', 'null'] } } },
    };
    const raw = '{"x":[{"a":1},"{\\"a\\":2}",{"a":3,"a/b":"[4]"}]}';
    expect(await checking({ properties: { x: items } }, raw)).toEqual({
      ok: true,
      payload: { x: [{ a: 1 }, { a: 2 }, { a: 3, 'a/b': [4] }] },
      repaired: { kind: 'parsed', paths: ['/x/1', '/x/2/a~1b'] },
    });
  });

  it.each([
    ['truncated', 'shorter payload: fewer items, shorter texts.'],
    ['malformed', ''],
    ['too_long', ''],
  ] as const)('S8 rejects %s arguments, even when they look valid', async (status, words) => {
    const check = (await createContract({})).check({ rawArguments: '{"passed":true}', status });
    const message = expect.stringContaining(words);
    expect(check).toMatchObject({ ok: false, issues: [{ path: '', keyword: 'arguments', message }] });
  });

  it.each([
    ['N9 text that is not JSON', '{"passed":true', 'The text is not valid JSON'],
    ['duplicate keys', '{"passed":false,"summary":"s","passed":true}', 'gives a key twice'],
    ['too many levels', `{"more":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 'deeper than 100 levels'],
    ['one level too many', `{"more":${'['.repeat(100)}${']'.repeat(100)}}`, 'deeper than 100 levels'],
    ['S11 half of a surrogate pair', '{"passed":true,"summary":"\\ud83d"}', 'surrogate pair'],
    ['an array', '[]', 'but they are an array'],
    ['null', 'null', 'but they are null'],
    ['prose', '"all good"', 'but they are a string'],
  ])('%s: rejected with an issue about the arguments', async (_, raw, words) => {
    const check = await checking(passed, raw);
    expect(check).toEqual({
      ok: false,
      issues: [{ path: '', keyword: 'arguments', message: expect.stringContaining(words) }],
    });
  });

  it('records the place in the schema and the keyword of an issue, and nothing of the payload', async () => {
    const item = { type: 'object', properties: { 'a/b': { type: 'number' } } };
    const closed = { required: ['a'], additionalProperties: false, propertyNames: { maxLength: 3 } };
    const contract = await createContract({
      type: 'object',
      properties: { list: { type: 'array', items: { $ref: '#/$defs/item' } }, closed },
      additionalProperties: item,
      patternProperties: { '^n': false },
      $defs: { item },
    });
    const recorded = (raw: string) => {
      const check = contract.check(complete(raw));
      return check.ok
        ? []
        : check.redacted.map(({ path, ...rest }) => [path, ...Object.values(rest)].join(' '));
    };
    expect(recorded('{"list":[{},{"a/b":"x"}],"alice@example.com":{"a/b":1,"x":1},"bob":1,"no":1}')).toEqual([
      '/additionalProperties type',
      '/$defs/item/properties/a~1b type',
      '/patternProperties/%5En false schema',
    ]);
    expect(recorded('{"closed":{"alice":1}}')).toEqual([
      '/properties/closed required a',
      '/properties/closed/propertyNames maxLength',
      '/properties/closed propertyNames',
      '/properties/closed additionalProperties',
    ]);
    expect(recorded('{"list":[{"a/b":1e999}]}')).toEqual([' precision']);
    expect(recorded('{"a":1,"a":2}')).toEqual([' arguments']);
  });

  describe('a number that JavaScript cannot represent', () => {
    const scores: JsonObject = {
      type: 'object',
      required: ['score'],
      properties: {
        score: { type: ['number', 'string'] },
        list: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } },
        more: { type: 'object' },
      },
    };
    const issueAt = (...paths: readonly string[]) => ({
      ok: false,
      issues: paths.map((path) => ({
        path,
        keyword: 'precision',
        message: expect.stringContaining('Send fewer digits, or a string'),
      })),
    });

    it.each([
      ['9007199254740993', { score: 9007199254740992 }],
      ['79.99999999999999999', { score: 80 }],
      ['1e-400', { score: 0 }],
      ['1e999', { score: 0 }],
    ])('rejects %s by its path, whatever the schema says', async (literal, { score }) => {
      const exact = { ...scores, properties: { score: { const: score } } };
      for (const schema of [scores, exact, {}])
        expect(await checking(schema, `{"score":${literal}}`)).toEqual(issueAt('/score'));
    });

    it.each(['0.1', '1.50', '1.0', '1e3', '-0', '0e999999999', '9007199254740992', '"9007199254740993"'])(
      'accepts %s, which is exact',
      async (literal) => {
        const raw = `{"score":${literal}}`;
        expect(await checking(scores, raw)).toEqual(accepted(JSON.parse(raw)));
      },
    );

    it('is reported at each of its paths, up to ten', async () => {
      const ids = (count: number) => Array.from({ length: count }, () => '{"id":9007199254740993}').join();
      expect(await checking(scores, `{"score":1e999,"list":[{"id":1},${ids(1)}]}`)).toEqual(
        issueAt('/score', '/list/1/id'),
      );
      const check = await checking(scores, `{"score":1,"list":[${ids(500)}]}`);
      expect(check.ok ? [] : check.issues).toHaveLength(10);
      expect(check.ok ? '' : check.issues[9]?.message).toContain('490 more not listed');
    });

    it('is also rejected in a wrapper or a JSON string that would otherwise be repaired', async () => {
      const text = (value: unknown) => JSON.stringify(value);
      const inner = '{"score":9007199254740993}';
      for (const key of ['output', '$PARAMETER_NAME'])
        expect(await checking(scores, `{"${key}":${inner}}`)).toEqual(issueAt(`/${key}/score`));
      expect((await checking(scores, text(inner))).ok).toBe(false);
      const list = '[{"id":1},{"id":9007199254740993}]';
      expect(await checking(scores, text({ score: 1, list }))).toMatchObject({
        ok: false,
        issues: [{ path: '/list', keyword: 'type' }],
      });
      expect((await checking(scores, text({ score: 1, list: list.replace('993', '992') }))).ok).toBe(true);
    });
  });

  it('S9 a validation timeout is an issue, and no repair is attempted', async () => {
    const title = 'a'.repeat(40);
    const schema = { title, patternProperties: { '^(a+)+b$': { type: 'string' } } };
    const check = await checking(schema, `{"${title}":{}}`);
    expect(check).toMatchObject({ ok: false, issues: [{ keyword: 'deadline' }] });
  });

  it('S10 treats __proto__ and constructor as data, without prototype pollution', async () => {
    const raw = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const check = await checking({}, raw);
    expect(JSON.stringify(check.ok && check.payload)).toBe(raw);
    expect('polluted' in {}).toBe(false);
    expect((await checking({ additionalProperties: false }, raw)).ok).toBe(false);
  });
});

describe('any schema and any payload', () => {
  const name = fc.constantFrom('a', 'b', 'constructor', '__proto__', 'output', 'toString');
  const loose = { strictTypes: false, strictTuples: false, strictRequired: false } as const;
  const options = { ...loose, allowUnionTypes: true, ownProperties: true, logger: false } as const;
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonObject[]>({}, { enum: ['a', 1] }, { const: { a: 1 } }),
      fc.record({ type: fc.constantFrom<Json>('string', 'array', 'object', 'boolean', ['object', 'null']) }),
      fc.record(
        {
          type: fc.constantFrom('object', 'array'),
          properties: fc.dictionary(fc.constantFrom('a', 'b', 'constructor', 'output'), tie('schema'), {
            maxKeys: 3,
          }),
          required: fc.uniqueArray(name, { maxLength: 2 }),
          additionalProperties: fc.boolean(),
          items: tie('schema'),
        },
        { requiredKeys: [] },
      ),
      fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    ),
  }));
  const leaf = fc.constantFrom('a', '{}', '[]', '{"a":"[]"}', 1, true, null, '{"a":1}');
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie('value'), { maxLength: 2 }),
      fc.array(fc.tuple(name, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
    ),
  })).value;

  it('accepts only payloads that a plain Ajv accepts, unchanged unless reported as repaired', async () => {
    const seen = { accepted: 0, repaired: 0, rejected: 0 };
    await fc.assert(
      fc.asyncProperty(schema, fc.array(value, { minLength: 1, maxLength: 6 }), async (generated, values) => {
        const contract = await createContract(generated).catch(() => null);
        if (contract === null) return;
        const validate = new Ajv(options).compile(generated);
        const plain = (payload: unknown): boolean => {
          // Comparing an object with its own `toString` to a literal throws: that is not accepted either.
          try {
            return validate(payload);
          } catch {
            return false;
          }
        };
        for (const each of values) {
          const raw = JSON.stringify(each);
          const check = contract.check(complete(raw));
          const direct =
            typeof each === 'object' && each !== null && !Array.isArray(each) && plain(JSON.parse(raw));
          seen[check.ok ? (check.repaired === null ? 'accepted' : 'repaired') : 'rejected'] += 1;
          if (!check.ok) {
            expect(direct).toBe(false);
            expect(check.issues.length).toBeGreaterThan(0);
            continue;
          }
          expect(plain(check.payload)).toBe(true);
          expect(check.repaired === null).toBe(direct);
          if (check.repaired === null) expect(JSON.stringify(check.payload)).toBe(raw);
        }
      }),
      { numRuns: 150 },
    );
    expect(Object.values(seen).every((count) => count > 0)).toBe(true);
  });
});
