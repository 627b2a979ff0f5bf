/** The headers that a gateway asks for, one `Name: value` a line. No error ever shows a value. */
import { InputError } from '../errors.ts';
import type { InputReader } from './values.ts';

/** The names that carry a key; each takes the place of the input api-key. */
export const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'api-key'] as const;

type Reader = InputReader<'headers' | 'api-key'>;

/** What the connection or the API's own wire format decides, by RFC 9110 and 9112; and who we are. */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/**
 * The headers by their names in lower case; empty where none are given.
 * @throws InputError that tells the line by its number.
 */
export function readHeaders(reader: Reader): Readonly<Record<string, string>> {
  const lines = (reader.text('headers') ?? '').split(/\r?\n/u);
  const headers = new Map<string, string>();
  for (const [at, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const [name, value] = readLine(line, at + 1);
    if (headers.has(name)) throw refused(at + 1, `gives ${name} a second time. Keep one of them.`);
    headers.set(name, value);
  }
  refuseTwoKeys([...headers.keys()], reader);
  return Object.fromEntries(headers);
}

function readLine(line: string, number: number): readonly [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon === -1) throw refused(number, 'has no colon. Write it as Name: value.');
  const name = line.slice(0, colon).trim().toLowerCase();
  const value = line.slice(colon + 1).trim();
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/u.test(name)) {
    throw refused(number, 'does not begin with the name of a header. Write it as Name: value.');
  }
  if (name.startsWith('proxy-')) {
    throw refused(
      number,
      `names ${name}, which is the proxy's. Write a user name and password into the URL in HTTPS_PROXY or HTTP_PROXY.`,
    );
  }
  if (RESERVED.has(name)) throw refused(number, `names ${name}, which is not yours to set. Take it out.`);
  if (value === '') {
    throw refused(number, `gives ${name} no value. Give one (is its secret set?), or take the line out.`);
  }
  if (!/^[\t\x20-\x7e]+$/u.test(value)) {
    throw refused(
      number,
      `gives ${name} a value with a character that no header can carry. Use printable ASCII.`,
    );
  }
  return [name, value];
}

/** Two keys would leave it to the server which one it reads. */
function refuseTwoKeys(names: readonly string[], reader: Reader): void {
  const keys = names.filter((name) => CREDENTIAL_HEADERS.some((each) => each === name));
  if (keys[0] === undefined) return;
  if (reader.text('api-key') !== null) {
    throw new InputError(
      'headers',
      ({ name, setting }) =>
        `Both ${name('api-key')} and the header ${keys[0]} in ${name('headers')} give a key. Keep one of them; ${setting('auth-scheme', 'bearer')} sends ${name('api-key')} as Authorization.`,
    );
  }
}

function refused(number: number, what: string): InputError {
  return new InputError('headers', ({ name }) => `Line ${number} of ${name('headers')} ${what}`);
}
