import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findSecrets } from '../../src/text/secrets.ts';
import { anyCharacter, knowSecrets } from '../support/surroundings.ts';

const KEY = 'sk-canary+0123456789/abcXYZ';

it('mask replaces every known value, the longest first', () => {
  const secrets = knowSecrets('abcdef', 'abcdefgh-longer');
  expect(secrets.mask('1 abcdef 2 abcdefabcdef 3 abcdefgh-longer 4')).toBe('1 *** 2 ****** 3 *** 4');
});

it('mask ignores values shorter than 4 characters and blank values', () => {
  const secrets = knowSecrets('abc', '   ', '');
  expect([secrets.mask('abc    '), secrets.has('abc'), secrets.has('')]).toEqual(['abc    ', true, false]);
});

it('mask replaces the lines of a multi-line secret, its encoded forms, and it as JSON', () => {
  const secrets = knowSecrets(`${KEY}\nsecond-line-of-it\n}\n`, 'with "quotes" and \\');
  const base64 = Buffer.from(`user:${KEY}\nsecond-line-of-it\n}`).toString('base64');
  const masked = secrets.mask(`a ${KEY} b second-line-of-it c } d ${base64}`);
  expect(masked).toMatch(/^a \*\*\* b \*\*\* c \} d .{0,9}\*\*\*.{0,4}$/);
  expect(secrets.mask(JSON.stringify({ a: 'with "quotes" and \\' }))).toBe('{"a":"***"}');
});

it('mask leaves no known value in any text', () => {
  const value = fc.string({ minLength: 4, maxLength: 12, unit: fc.constantFrom('a', 'b', ' ', '=') });
  const parts = fc.array(fc.string({ maxLength: 5 }));
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), parts, (values, between) => {
      const text = between.flatMap((part, at) => [part, values[at % values.length] ?? '']).join('');
      const masked = knowSecrets(...values).mask(text);
      for (const known of values.map((each) => each.trim()))
        if (known.length >= 4) expect(masked).not.toContain(known);
    }),
  );
});

const hex = Buffer.from(KEY).toString('hex');
const rows: [string, string, string][] = [
  ['in plain text', KEY, 'plain'],
  ['A12 in base64', Buffer.from(KEY).toString('base64'), 'base64'],
  ['in base64 at offset 1', Buffer.from(`x${KEY}yz`).toString('base64'), 'base64'],
  ['in base64 at offset 2', Buffer.from(`xy${KEY}z`).toString('base64'), 'base64'],
  ['in base64url without padding', Buffer.from(`${KEY}?`).toString('base64url'), 'base64'],
  ['in hex', hex, 'hex'],
  ['in upper-case hex', hex.toUpperCase(), 'hex'],
  ['URL-encoded', encodeURIComponent(KEY), 'URL-encoded'],
  ['reversed', KEY.split('').reverse().join(''), 'reversed'],
];

it.each(rows)('a secret %s is found and masked', (_, text, form) => {
  const secrets = knowSecrets('another-secret-value', KEY);
  expect(secrets.find({ a: 1, list: [null, { b: `before ${text} after` }] })).toBe(form);
  expect(secrets.mask(`before ${text} after`)).toMatch(/^before .{0,4}\*\*\*.{0,4} after$/);
});

it('find sees a secret in a property name, and one that is a number', () => {
  expect(knowSecrets(KEY).find({ outer: { [`x${KEY}`]: { deeper: true } } })).toBe('plain');
  expect(knowSecrets('1234567890').find({ pin: 1234567890 })).toBe('plain');
});

it('find sees a secret with gaps between its letters, in any form', () => {
  const secrets = knowSecrets('secret with blanks', KEY);
  const invisible = [...'\u200b\u00ad\ufe0f\u{e0041}\u3164\0\x1b', '\x1b[31m', '\x1b]0;title\x07'];
  for (const gap of [...invisible, ' ', '\r\n', '\u00a0', '`'])
    for (const [, text, form] of rows)
      expect([gap, secrets.find({ a: [[...text].join(gap)] })]).toEqual([gap, form]);
  expect(secrets.find({ a: 'secretwith\nblanks' })).toBe('plain');
});

it('find sees the key material of a secret with several parts, but not its labels', () => {
  const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7';
  const email = 'a-very-long-name@some-project.example';
  const account = { type: 'service_account', email, key: `-----BEGIN PRIVATE KEY-----\n${body}\n` };
  const secrets = knowSecrets(JSON.stringify(account));
  expect(secrets.find({ a: `x${body}x` })).toBe('plain');
  expect(secrets.find({ a: `-----BEGIN PRIVATE KEY----- ${email} service_account` })).toBeNull();
});

it('find ignores values of fewer than 8 characters, payloads without a secret, and adjacent strings', () => {
  expect(knowSecrets('short77').find({ a: 'short77' })).toBeNull();
  expect(knowSecrets(KEY).find({ a: 'sk-canary', b: [true, null, 3], '': {} })).toBeNull();
  expect(knowSecrets('abcdefghij').find({ a: ['abcde', 'fghij'] })).toBeNull();
});

it('A12 find sees any secret inside any base64 or hex text', () => {
  const text = fc.string({ unit: anyCharacter });
  const secret = fc.string({ minLength: 8, maxLength: 40, unit: anyCharacter });
  const form = fc.constantFrom('base64', 'base64url', 'hex');
  fc.assert(
    fc.property(secret, text, text, form, (value, before, after, encoding) => {
      fc.pre(value.trim().length >= 8);
      const a = Buffer.from(`${before}${value}${after}`).toString(encoding);
      expect(knowSecrets(value).find({ a })).not.toBeNull();
    }),
  );
});

const tokens =
  'INPUT_API-KEY INPUT_GITHUB-TOKEN INPUT_SIGNING-KEY OPENAI_API_KEY Mistral_Api_Key ACTIONS_RUNTIME_TOKEN ACTIONS_ID_TOKEN_REQUEST_TOKEN GITHUB_TOKEN GH_TOKEN ANTHROPIC_AUTH_TOKEN AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN NODE_AUTH_TOKEN NPM_TOKEN';
it.each(tokens.split(' '))('the value of %s is a secret', (name) => {
  expect(findSecrets({ [name]: 'value-1' })).toEqual(['value-1']);
});

const headers = (...lines: readonly string[]) => ({ INPUT_HEADERS: lines.join('\r\n') });
it.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
  [
    'values as given and trimmed, once',
    { OPENAI_API_KEY: ' k1\n', GITHUB_TOKEN: 'k2', GH_TOKEN: 'k2', NPM_TOKEN: '', GITHUB_SHA: 'abc' },
    [' k1\n', 'k1', 'k2'],
  ],
  ['no plain words and pages', headers('x-a: openai', 'Referer: https://github.com/a', 'x-b: true'), []],
  ['headers with and without their scheme', headers('A: Bearer tok:1', 'X:blue'), ['Bearer tok:1', 'tok:1']],
  ['invalid headers', headers('no-colon', 'bad name: value-2', ':v3'), ['no-colon', 'value-2', ':v3']],
  ['addresses with a password', headers('x-proxy: https://me:pw@host'), ['https://me:pw@host']],
])('secrets are %s', (_, environment, secrets) => {
  expect(findSecrets(environment)).toEqual(secrets);
});
