import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maxSchemaBytes, readTrustedFile } from '../../src/config/workspace-file.ts';
import { presets } from '../../src/contract/presets.ts';
import { type Files, parseGateArgument, parseSchemaArgument, pathHere } from '../../src/contract/source.ts';

let outer: string;
let root: string;
const read = (path: string) => readTrustedFile(path, { root, outside: 'refused', maxBytes: maxSchemaBytes });
const files: Files = {
  readFile: read,
  readElsewhere: async ({ owner, repo, path, ref }) =>
    ref === 'v1'
      ? { ok: true, text: `{"type":"object","title":"${owner} ${repo} ${path}"}` }
      : { ok: false, problem: `there is no ${ref}` },
};
const schemaOf = (raw: string | undefined) => parseSchemaArgument(raw, files);
const verdict = presets.get('verdict') ?? null;
const gateOf = (raw: string | undefined, preset = verdict) => parseGateArgument(raw, preset, files);
const refusal = async (given: Promise<unknown>) => {
  const error: unknown = await given.then(
    (value) => ({ accepted: value }),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ name: 'ContractError', stage: 'source' });
  return error instanceof Error ? error.message : '';
};

beforeAll(() => {
  outer = realpathSync(mkdtempSync(join(tmpdir(), 'source-')));
  root = join(outer, 'workspace');
  mkdirSync(root);
  writeFileSync(join(root, 'ok.json'), '\uFEFF{"type":"object"}\n');
  writeFileSync(join(root, 'secret.json'), 'AWS_SECRET_ACCESS_KEY: hunter2\n');
  writeFileSync(join(root, 'twice.json'), '{"hunter2":1,"hunter2":2}');
  writeFileSync(join(root, 'trailing-comma.json'), '{\n  "hunter2": 1,\n}');
  writeFileSync(join(root, 'comment.json'), '{// hunter2\n}');
  writeFileSync(join(root, 'cut.json'), '{"a": 123');
  mkdirSync(join(root, 'sub', 'a'), { recursive: true });
  writeFileSync(join(root, 'sub', 'ok'), '{"type":"object"}');
  writeFileSync(join(root, 'sub', 'a', 'b.json'), '{"type":"object"}');
  symlinkSync('/etc/hostname', join(root, 'link.json'));
  writeFileSync(join(root, '..', 'up.json'), '{"type":"object"}');
  writeFileSync(join(root, 'a@b.json'), '{"type":"object"}');
  writeFileSync(join(root, 'bound.json'), '{"maximum":\n9223372036854775807}');
  writeFileSync(join(root, 'const.json'), '{"properties":{"n":{"const":9007199254740993}}}');
});
afterAll(() => rmSync(outer, { recursive: true, force: true }));

describe('parseSchemaArgument', () => {
  it('A1 absent, empty or by name is the verdict preset', async () => {
    for (const raw of [undefined, '', 'verdict', ' verdict\n']) {
      expect(await schemaOf(raw)).toEqual({ schema: verdict?.schema, preset: verdict, warnings: [] });
    }
  });

  it('A2 an inline object is that object, blanks and a BOM around it aside', async () => {
    expect(await schemaOf('\uFEFF {"type":"object","title":"@x"}\n')).toEqual({
      schema: { type: 'object', title: '@x' },
      preset: null,
      warnings: [],
    });
  });

  it('A3 A12 a file is parsed, with a BOM too', async () => {
    expect(await schemaOf('@ok.json')).toEqual({ schema: { type: 'object' }, preset: null, warnings: [] });
    expect(await schemaOf('@./ok.json')).toEqual({ schema: { type: 'object' }, preset: null, warnings: [] });
    expect(await schemaOf(' @ok.json ')).toEqual({ schema: { type: 'object' }, preset: null, warnings: [] });
  });

  it('A4 blanks only cannot be empty', async () => {
    expect(await refusal(schemaOf(' \n'))).toBe(
      'schema cannot be empty. Leave it out for the verdict preset.',
    );
    expect(await refusal(schemaOf('@'))).toBe('schema has no path after @. Write @path/to/file.json.');
  });

  it("A5 text that is no JSON is refused with the parser's words", async () => {
    const message = await refusal(schemaOf('{not json}'));
    expect(message).toContain("schema is not valid JSON: Expected property name or '}' (line 1, column 2). ");
    expect(await refusal(schemaOf('type: object'))).toContain('not valid JSON');
  });

  it('A6 JSON of another shape is read; the contract refuses it', async () => {
    for (const [raw, schema] of [
      ['[]', []],
      ['"text"', 'text'],
      ['true', true],
      ['3', 3],
      ['null', null],
    ]) {
      expect(await schemaOf(String(raw))).toEqual({ schema, preset: null, warnings: [] });
    }
  });

  it('A7 A8 what cannot be read says so and names the path', async () => {
    expect(await refusal(schemaOf('@nope.json'))).toBe(
      'schema: could not read "nope.json": there is no such file. Check the path; in a workflow, also that the repository is checked out before this step.',
    );
    expect(await refusal(schemaOf('@.'))).toBe('schema: "." must be a regular file, but is a directory.');
    expect(await refusal(schemaOf('@/etc/hostname'))).toBe(
      'schema: "/etc/hostname" leaves the workspace; only files inside it are read.',
    );
  });

  it.each(['ok.json', './ok.json', 'sub/../ok.json', 'sub/ok', '@ok.json', '@./ok.json'])(
    'the file %s is read without @ and with it, as schema and as gate',
    async (given) => {
      expect(await schemaOf(given)).toEqual({ schema: { type: 'object' }, preset: null, warnings: [] });
      expect(await gateOf(given)).toEqual({ kind: 'schema', schema: { type: 'object' } });
    },
  );

  it.each(['../up.json', '/etc/hostname', './link.json'])(
    '%s leaves the workspace, with @ or without',
    async (given) => {
      for (const name of [given, `@${given}`]) {
        expect(await refusal(schemaOf(name))).toContain(
          'leaves the workspace; only files inside it are read.',
        );
        expect(await refusal(gateOf(name))).toContain('leaves the workspace; only files inside it are read.');
      }
    },
  );

  it.each([
    [
      '@org/judges/x.json',
      ' If it is a file of the repository org/judges, the @REF at its end is missing: write "@org/judges/x.json@REF", with a branch, a tag or a commit for REF.',
    ],
    ['org/judges/x.json@v1', ' To read it from the repository org/judges, write "@org/judges/x.json@v1".'],
    ['@.github/judges/x.json', 'before this step.'],
    ['@judges/x.json', 'before this step.'],
    ['judges/x.json', 'before this step.'],
  ])('%s, where there is no such file, ends in: %s', async (given, end) => {
    for (const message of [await refusal(schemaOf(given)), await refusal(gateOf(given))]) {
      expect(message).toContain(': there is no such file. ');
      expect(message.endsWith(`before this step.${end}`) || message.endsWith(end)).toBe(true);
      expect(message.includes('REF')).toBe(given.startsWith('@org/'));
    }
  });

  it('a path of three folders without a ref is the file where there is one', async () => {
    expect(await schemaOf('@sub/a/b.json')).toEqual({
      schema: { type: 'object' },
      preset: null,
      warnings: [],
    });
  });

  it.each([
    ['trailing-comma.json', 'a comma before the closing }, at line 3, column 1. Remove that comma.'],
    ['comment.json', 'a comment, which JSON does not have, at line 1, column 2. Remove the comment.'],
    ['cut.json', 'it ends too early, at line 1, column 10. Complete it:'],
  ])('%s names the mistake of syntax', async (name, text) => {
    expect(await refusal(schemaOf(name))).toContain(`file "${name}" is not valid JSON: ${text}`);
  });

  it('A10 a file that is not JSON is refused without a character of it', async () => {
    expect(await refusal(schemaOf('@secret.json'))).toBe(
      'schema file "secret.json" is not valid JSON: a syntax error, at line 1, column 1.',
    );
    expect(await refusal(schemaOf('@twice.json'))).toBe(
      'schema file "twice.json" is not valid JSON: a key that is given twice in one object, at line 1, column 14.',
    );
  });

  it('keys given twice, and levels without end, are refused', async () => {
    expect(await refusal(schemaOf('{"a":1,"a":2}'))).toContain('The key at "/a" is given twice');
    expect(await refusal(schemaOf('{"not":'.repeat(20_000)))).toContain('deeper than 500 levels');
  });

  it('a word that is no preset names the nearest', async () => {
    expect(await refusal(schemaOf('verdit'))).toBe(
      'schema is "verdit", which is no preset. Did you mean "verdict"? For a schema of your own give inline JSON or the path of a .json file.',
    );
    for (const word of ['constructor', '__proto__', 'verdict2'])
      expect(await refusal(schemaOf(word))).toContain('which is no preset');
  });

  it('a file of another repository is read there, at its ref', async () => {
    const { schema, preset } = await schemaOf('@org/judges/schemas/x.json@v1');
    expect([schema, preset]).toEqual([{ type: 'object', title: 'org judges schemas/x.json' }, null]);
    expect(await gateOf('@org/judges/x.json@v1')).toMatchObject({ kind: 'schema' });
  });

  it('a file of another repository that is not there is refused, with the way to a path of this one', async () => {
    expect(await refusal(schemaOf('@org/judges/x.json@refs/heads/main'))).toBe(
      'schema: there is no refs/heads/main If it is a path in this repository, write @./ before it.',
    );
  });

  it.each([
    ['@a/b.json', 'a/b.json'],
    ['@./org/judges/x.json@v1', './org/judges/x.json@v1'],
    ['@org/judges/x.json@v1', null],
    ['verdict', null],
    ['{}', null],
    ['@', null],
    [' ./a.json ', './a.json'],
    ['a.json', 'a.json'],
    ['A.JSON', 'A.JSON'],
    ['a/b', 'a/b'],
    ['org/judges/x.json@v1', 'org/judges/x.json@v1'],
    ['code-review', null],
    ['passed', null],
    ['{"$ref":"a/b.json"}', null],
    ['{not json}/x.json', null],
    ['["a/b"]', null],
    ['"a/b"', null],
    ['all\na/b.json', null],
    ['true', null],
  ])('%s is the path %s of this repository', (given, path) => {
    expect(pathHere(given)).toBe(path);
  });

  it('a path with @ in it is a path', async () => {
    expect(await schemaOf('@a@b.json')).toEqual({ schema: { type: 'object' }, preset: null, warnings: [] });
    expect(await refusal(schemaOf('@./org/judges/x.json@v1'))).toContain(
      'could not read "./org/judges/x.json@v1"',
    );
  });
});

describe('a number of a schema that JavaScript cannot hold', () => {
  it.each([
    ['{"const":9007199254740993}', '/const', '9007199254740992'],
    ['{"properties":{"n":{"enum":[1,9007199254740993]}}}', '/properties/n/enum/1', '9007199254740992'],
    ['{"items":[{"const":{"a":[79.99999999999999999]}}]}', '/items/0/const/a/0', '80'],
    ['{"$defs":{"x":{"anyOf":[{},{"const":1e-400}]}}}', '/$defs/x/anyOf/1/const', '0'],
    ['{"additionalProperties":{"not":{"enum":[1e-400]}}}', '/additionalProperties/not/enum/0', '0'],
    // A $ref may lead there.
    ['{"default":{"const":9007199254740993}}', '/default/const', '9007199254740992'],
  ])('%s is refused with its place and the fix', async (schema, place, number) => {
    expect(await refusal(schemaOf(schema))).toBe(
      `schema has a number at ${place} that cannot be represented exactly: it would be read as ${number}. Write fewer digits, or declare a string.`,
    );
  });

  it.each(['{"maximum":1e999}', '{"default":-1e999}', '[1e999]'])(
    '%s is refused: the number is infinite',
    async (schema) => {
      expect(await refusal(schemaOf(schema))).toContain('it is too large. Write a smaller number.');
    },
  );

  it.each([
    ['{"maximum":9223372036854775807}', '/maximum', '9223372036854776000'],
    ['{"properties":{"const":{"multipleOf":0.10000000000000000001}}}', '/properties/const/multipleOf', '0.1'],
    ['{"patternProperties":{"enum":{"minLength":1e-400}}}', '/patternProperties/enum/minLength', '0'],
    ['{"properties":{"a":{"default":9007199254740993}}}', '/properties/a/default', '9007199254740992'],
    ['{"dependencies":{"enum":["a"]},"examples":[1e-400]}', '/examples/0', '0'],
  ])('%s is read with a warning', async (schema, place, number) => {
    expect(await schemaOf(schema)).toEqual({
      schema: JSON.parse(schema),
      preset: null,
      warnings: [
        `The number at ${place} in the schema cannot be represented exactly: it is read as ${number}. Write fewer digits.`,
      ],
    });
  });

  it('is found in a file too', async () => {
    expect((await schemaOf('@bound.json')).warnings).toHaveLength(1);
    expect(await refusal(schemaOf('@const.json'))).toContain('/properties/n/const');
  });

  it('is named five times at most', async () => {
    const properties = Array.from({ length: 9 }, (_, at) => `"p${at}":{"maximum":9223372036854775807}`);
    const { warnings } = await schemaOf(`{"properties":{${properties.join()}}}`);
    expect(warnings).toHaveLength(6);
    expect(warnings[5]).toBe('4 more numbers in the schema cannot be represented exactly.');
  });

  it('is none where digits only look different', async () => {
    expect((await schemaOf('{"maximum":1.50,"const":1e3,"enum":[1.0,-0]}')).warnings).toEqual([]);
  });
});

describe('parseGateArgument', () => {
  it.each([
    '{"properties":{"n":{"const":9007199254740993}}}',
    '{"properties":{"score":{"minimum":79.99999999999999999}}}',
    '{"minProperties":1e-400}',
    '{"maximum":1e999}',
  ])('a number that JavaScript cannot hold is refused in %s', async (gate) => {
    expect(await refusal(gateOf(gate))).toContain(
      'A number cannot be represented exactly; write fewer digits, or a string (line 1, column ',
    );
  });

  it('a number that JavaScript cannot hold is refused in a file, by its line', async () => {
    expect(await refusal(gateOf('@bound.json'))).toBe(
      'gate file "bound.json" holds a number that cannot be represented exactly (write fewer digits, or a string), at line 2, column 1.',
    );
  });

  it("auto and absent are the preset's gate, or none", async () => {
    for (const raw of [undefined, '', 'auto']) {
      expect(await gateOf(raw)).toEqual({ kind: 'property', name: 'passed' });
      expect(await gateOf(raw, null)).toEqual({ kind: 'none' });
    }
  });

  it('none, a property, a schema, a file', async () => {
    expect(await gateOf(' none ')).toEqual({ kind: 'none' });
    expect(await gateOf('all good')).toEqual({ kind: 'property', name: 'all good' });
    expect(await gateOf('{"minProperties":1}')).toEqual({ kind: 'schema', schema: { minProperties: 1 } });
    expect(await gateOf('@ok.json')).toEqual({ kind: 'schema', schema: { type: 'object' } });
    expect(await gateOf('true')).toEqual({ kind: 'schema', schema: true });
  });

  it('what is broken says that the gate is', async () => {
    expect(await refusal(gateOf(' '))).toBe(
      'gate cannot be empty. Write auto, none, a property, or a JSON Schema.',
    );
    expect(await refusal(gateOf('{"a"'))).toContain('gate is not valid JSON');
    expect(await refusal(gateOf('@nope.json'))).toContain('gate: could not read "nope.json"');
    expect(await refusal(gateOf('@secret.json'))).not.toContain('hunter2');
  });
});
