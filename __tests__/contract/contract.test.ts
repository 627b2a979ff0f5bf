import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createContract } from '../../src/contract/contract.ts';
import type { JsonObject } from '../../src/types.ts';

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
/** What the model is told of a candidate. */
const checking = async (schema: JsonObject, raw: string) => {
  const check = (await createContract(schema)).check(complete(raw));
  return check.ok ? check : { ok: check.ok, issues: check.issues };
};

describe('createContract', () => {
  it('tells what the schema declares', async () => {
    const contract = await createContract({
      ...passed,
      properties: { 'a.b': {}, Passed: {}, passed: {}, ok: { format: 'odd' } },
      required: [],
    });
    expect({ ...contract, check: null, accept: null, acceptsPart: null }).toEqual({
      acceptsPart: null,
      schema: contract.schema,
      title: 'Review',
      declaredProperties: ['a.b', 'Passed', 'passed', 'ok'],
      outputNames: ['ok'],
      warnings: [
        'The format "odd" in the schema is not known, so it is not checked.',
        'The property "a.b" gets no step output of its own: the name of an output is a letter or underscore, then letters, digits, underscores and hyphens. Read it from structured_output.',
        'The property "Passed" gets no step output of its own: outputs ignore case, and "passed" is declared too. Read it from structured_output.',
        'The property "passed" gets no step output of its own: outputs ignore case, and "Passed" is declared too. Read it from structured_output.',
      ],
      check: null,
      accept: null,
    });
  });

  it('tells at most 20 warnings, and how many more there are', async () => {
    const properties = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`a.${i}`, {}]));
    const { warnings } = await createContract({ properties });
    expect(warnings.length).toBe(21);
    expect(warnings[20]).toBe('10 more warnings about the schema are not listed.');
  });

  it('A2 the schema stays the object that was given', async () => {
    const schema = { type: 'object', properties: { summary: { type: 'string' } } };
    const before = structuredClone(schema);
    const contract = await createContract(schema);
    expect(contract.schema).toBe(schema);
    expect(schema).toEqual(before);
    expect(contract.title).toBeNull();
  });
});

describe('check', () => {
  it('accepts what the schema accepts, exactly as it was written', async () => {
    expect(await checking(passed, '{"passed":true,"summary":"fine","list":[]}')).toEqual(
      accepted({ passed: true, summary: 'fine', list: [] }),
    );
  });

  it.each([
    [
      'S2 a missing property is named, with the keys that are there',
      '{"passed":true,"list":[]}',
      [' required: the required property "summary" is missing; the keys here are "passed", "list".'],
    ],
    [
      'S3 two errors are both reported',
      '{"passed":1}',
      [
        ' required: the required property "summary" is missing; the keys here are "passed".',
        '/passed type: must be boolean, but is a number.',
      ],
    ],
    [
      'S4 nothing is coerced',
      '{"passed":"true","summary":"s"}',
      ['/passed type: must be boolean, but is a string; write it as JSON, without quotes around it.'],
    ],
    ['S4 no number', '{"passed":1,"summary":"s"}', ['/passed type: must be boolean, but is a number.']],
    ['S4 no text', '{"passed":true,"summary":1}', ['/summary type: must be string, but is a number.']],
    ['S4 no null', '{"passed":null,"summary":"s"}', ['/passed type: must be boolean, but is null.']],
    [
      'S5 an extra property under additionalProperties: false is rejected by name',
      '{"passed":true,"summary":"s","conclusion":"success"}',
      [
        ' additionalProperties: the property "conclusion" is not allowed here; the properties allowed are "passed", "summary", "list", "more".',
      ],
    ],
  ])('%s', async (_, raw, told) => {
    const check = await checking(passed, raw);
    expect(
      check.ok ? [] : check.issues.map((each) => `${each.path} ${each.keyword}: ${each.message}`),
    ).toEqual(told);
  });

  it('S6 no arguments, and an empty text, are an empty object', async () => {
    expect(await checking({}, '')).toEqual(accepted({}));
    expect(await checking({}, '{}')).toEqual(accepted({}));
    expect((await checking(passed, '')).ok).toBe(false);
  });

  it.each(['output', 'arguments', 'input', '$PARAMETER_NAME', 'Review'])(
    'S7 an object wrapped in %s is accepted as the inner one',
    async (key) => {
      const inner = { passed: true, summary: 's' };
      expect(await checking(passed, JSON.stringify({ [key]: inner }))).toEqual({
        ok: true,
        payload: inner,
        repaired: { kind: 'unwrapped', key },
      });
    },
  );

  it('S7 where the outer object is valid, it is the payload', async () => {
    expect(await checking({}, '{"output":{"a":1}}')).toEqual(accepted({ output: { a: 1 } }));
  });

  it.each([
    ['an unknown wrapper', '{"result":{"passed":true,"summary":"s"}}'],
    ['a second key', '{"output":{"passed":true,"summary":"s"},"x":1}'],
    ['an inner object that is not valid', '{"output":{"passed":true}}'],
    ['two wrappers', '{"output":{"input":{"passed":true,"summary":"s"}}}'],
    ['a wrapper around a string', '{"output":"{\\"passed\\":true,\\"summary\\":\\"s\\"}"}'],
    ['a string that holds a wrapper', JSON.stringify('{"output":{"passed":true,"summary":"s"}}')],
    ['a boolean in a string', '{"passed":"true","summary":"s"}'],
    ['an object in an array', '[{"passed":true,"summary":"s"}]'],
    ['a string in a string', JSON.stringify(JSON.stringify('{"passed":true,"summary":"s"}'))],
    ['a string with a key given twice', JSON.stringify('{"passed":false,"summary":"s","passed":true}')],
    ['an array where an object is required', '{"passed":true,"summary":"s","more":"[]"}'],
    ['prose around the JSON', '{"passed":true,"summary":"s","more":"Here: {}"}'],
  ])('S7 %s is not repaired', async (_, raw) => {
    expect((await checking(passed, raw)).ok).toBe(false);
  });

  it('S7 JSON strings where objects and arrays are required are read, all of them', async () => {
    const raw = '{"passed":true,"summary":"{}","list":" [1]","more":"{\\"__proto__\\":{}}"}';
    const check = await checking(passed, raw);
    expect(check).toMatchObject({ ok: true, repaired: { kind: 'parsed', paths: ['/list', '/more'] } });
    expect(JSON.stringify(check.ok && check.payload)).toBe(
      '{"passed":true,"summary":"{}","list":[1],"more":{"__proto__":{}}}',
    );
  });

  it('S7 a string that is the whole of the arguments is read', async () => {
    expect(await checking(passed, JSON.stringify('{"passed":true,"summary":"s","list":"[]"}'))).toEqual({
      ok: true,
      payload: { passed: true, summary: 's', list: [] },
      repaired: { kind: 'parsed', paths: ['', '/list'] },
    });
  });

  it('S7 a string in a string is read, one more inside is more than a near miss', async () => {
    const nested = { type: 'object', properties: { a: { $ref: '#/$defs/o' } } };
    const schema = { properties: { a: { $ref: '#/$defs/o' } }, $defs: { o: nested } };
    const wrap = (times: number): unknown => (times === 0 ? {} : { a: JSON.stringify(wrap(times - 1)) });
    expect(await checking(schema, JSON.stringify(wrap(2)))).toMatchObject({
      ok: true,
      repaired: { kind: 'parsed', paths: ['/a', '/a/a'] },
    });
    expect((await checking(schema, JSON.stringify(wrap(3)))).ok).toBe(false);
  });

  it('S7 strings deep inside are read where they stand', async () => {
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
  ] as const)('S8 %s arguments are rejected, however valid they look', async (status, words) => {
    const check = (await createContract({})).check({ rawArguments: '{"passed":true}', status });
    const message = expect.stringContaining(words);
    expect(check).toMatchObject({ ok: false, issues: [{ path: '', keyword: 'arguments', message }] });
  });

  it.each([
    ['N9 text that is not JSON', '{"passed":true', 'The text is not valid JSON'],
    ['keys given twice', '{"passed":false,"summary":"s","passed":true}', '"/passed" is given twice'],
    ['too many levels', `{"more":${'['.repeat(20_000)}`, 'deeper than 100 levels'],
    ['one level too many', `{"more":${'['.repeat(100)}${']'.repeat(100)}}`, 'deeper than 100 levels'],
    ['S11 half of a surrogate pair', '{"passed":true,"summary":"\\ud83d"}', 'surrogate pair'],
    ['an array', '[]', 'but they are an array'],
    ['null', 'null', 'but they are a bare null'],
    ['prose', '"all good"', 'but they are a string'],
  ])('%s: rejected, as an issue about the arguments', async (_, raw, words) => {
    const check = await checking(passed, raw);
    expect(check).toEqual({
      ok: false,
      issues: [{ path: '', keyword: 'arguments', message: expect.stringContaining(words) }],
    });
  });

  it('names no key in what lasts of a rejection that the schema does not declare', async () => {
    const item = { type: 'object', properties: { id: { type: 'number' } } };
    const contract = await createContract({
      type: 'object',
      properties: { list: { type: 'array', items: item }, 'a/b': item },
      additionalProperties: item,
    });
    const redactedOf = (raw: string) => {
      const check = contract.check(complete(raw));
      return check.ok ? check.repaired : check.redacted.map(({ path, keyword }) => `${path} ${keyword}`);
    };
    expect(redactedOf('{"list":[{},{"id":"x"}],"a/b":1,"alice@example.com":{"id":"x"},"0":1}')).toEqual([
      '/* type',
      '/*/id type',
      '/list/1/id type',
      '/a~1b type',
    ]);
    expect(redactedOf('{"list":[{"id":1e999}],"alice":{"id":1e-400,"0":[[1e999]]}}')).toEqual([
      '/list/0/id precision',
      '/*/id precision',
      '/*/*/0/0 precision',
    ]);
    expect(redactedOf('{"a":1,"a":2}')).toEqual([' arguments']);
    expect(redactedOf(JSON.stringify({ alice: '{"id":1}', list: ['{"id":1}'] }))).toEqual({
      kind: 'parsed',
      paths: ['/*', '/list/0'],
    });
  });

  describe('a number that JavaScript cannot hold', () => {
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
    ])('%s is rejected by its path, whatever the schema asks', async (literal, { score }) => {
      const exact = { ...scores, properties: { score: { const: score } } };
      for (const schema of [scores, exact, {}])
        expect(await checking(schema, `{"score":${literal}}`)).toEqual(issueAt('/score'));
    });

    it.each(['0.1', '1.50', '1.0', '1e3', '-0', '0e999999999', '9007199254740992', '"9007199254740993"'])(
      '%s is not one',
      async (literal) => {
        const raw = `{"score":${literal}}`;
        expect(await checking(scores, raw)).toEqual(accepted(JSON.parse(raw)));
      },
    );

    it('is named at each of its places, ten at most', async () => {
      const ids = (count: number) => Array.from({ length: count }, () => '{"id":9007199254740993}').join();
      expect(await checking(scores, `{"score":1e999,"list":[{"id":1},${ids(1)}]}`)).toEqual(
        issueAt('/score', '/list/1/id'),
      );
      const check = await checking(scores, `{"score":1,"list":[${ids(500)}]}`);
      expect(check.ok ? [] : check.issues).toHaveLength(10);
      expect(check.ok ? '' : check.issues[9]?.message).toContain('490 more issues');
    });

    it('is none the less one in a wrapper or in a JSON string, which are repaired otherwise', async () => {
      const text = (value: unknown) => JSON.stringify(value);
      const inner = '{"score":9007199254740993}';
      for (const key of ['output', '$PARAMETER_NAME'])
        expect(await checking(scores, `{"${key}":${inner}}`)).toEqual(issueAt(`/${key}/score`));
      expect(await checking(scores, text(inner))).toEqual(issueAt('/score'));
      const list = '[{"id":1},{"id":9007199254740993}]';
      expect(await checking(scores, text({ score: 1, list }))).toEqual(issueAt('/list/1/id'));
      expect(await checking(scores, text({ score: 1, list: list.replace('993', '992') }))).toMatchObject({
        ok: true,
        repaired: { kind: 'parsed', paths: ['/list'] },
      });
      const nested = text({ score: 1, list: `[${text('{"id":1e-400}')}]` });
      expect(await checking(scores, nested)).toEqual(issueAt('/list/0/id'));
    });

    it('is found in megabytes of digits', async () => {
      const digits = '7'.repeat(10_000_000);
      expect(await checking(scores, `{"score":${digits}}`)).toEqual(issueAt('/score'));
      expect(await checking(scores, `{"score":0.${digits}}`)).toEqual(issueAt('/score'));
    });
  });

  it('S9 a check that ran out of time is an issue, and is not tried again in other clothes', async () => {
    const title = 'a'.repeat(40);
    const schema = { title, patternProperties: { '^(a+)+b$': { type: 'string' } } };
    const check = await checking(schema, `{"${title}":{}}`);
    expect(check).toMatchObject({ ok: false, issues: [{ keyword: 'deadline' }] });
  });

  it('S10 __proto__ and constructor are data, and nothing is polluted', async () => {
    const raw = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const check = await checking({}, raw);
    expect(JSON.stringify(check.ok && check.payload)).toBe(raw);
    expect('polluted' in {}).toBe(false);
    expect((await checking({ additionalProperties: false }, raw)).ok).toBe(false);
  });
});

describe('any schema and any payload', () => {
  const name = fc.constantFrom('a', 'b', 'constructor', '__proto__', 'output', 'toString');
  const options = {
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowUnionTypes: true,
    ownProperties: true,
    logger: false,
  } as const;
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<JsonObject[]>(
        {},
        { type: 'string' },
        { type: 'array' },
        { type: 'object' },
        { type: 'boolean' },
        { type: ['object', 'null'] },
        { enum: ['a', 1] },
        { const: { a: 1 } },
      ),
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

  it('a payload comes out only if a plain Ajv accepts it, and unchanged unless it says so', async () => {
    const seen = { accepted: 0, repaired: 0, rejected: 0 };
    await fc.assert(
      fc.asyncProperty(schema, fc.array(value, { minLength: 1, maxLength: 6 }), async (generated, values) => {
        const contract = await createContract(generated).catch(() => null);
        if (contract === null) return;
        const validate = new Ajv(options).compile(generated);
        const plain = (payload: unknown): boolean => {
          // Comparing an object that has a `toString` of its own with a literal throws: no acceptance either.
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
