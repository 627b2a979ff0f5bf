/** The secret values of a run: masks them in outgoing text, and finds them in what would be published. */

import type { Json } from '../types.ts';
import { cleanText } from './sanitize.ts';

/** Characters of a value that is masked: shorter ones would mask ordinary words, and the gaps would reveal them. */
export const MIN_MASKED = 4;
/** Characters of a value that is searched for in a payload. */
const MIN_FOUND = 8;
/** Characters of a part of a secret (a PEM body, a key in a JSON file) that is searched for on its own. */
const MIN_PART = 32;

/** Its functions do not use `this`. */
export interface Secrets {
  /** Adds a value; blank values are ignored. */
  add(value: string): void;
  /** Whether a text is exactly a known value. */
  has(value: string): boolean;
  /** Replaces known values with `***`, and of longer ones the forms that `find` looks for, and their lines. */
  mask(text: string): string;
  /**
   * Looks for a known value in the strings, numbers and names of a payload, whatever whitespace and undisplayed
   * characters are in it. Returns the form, never the value; null if there is none.
   */
  find(payload: Json): string | null;
}

type Form = readonly [name: string, text: string];

export function createSecrets(): Secrets {
  const known = new Set<string>();
  const masked = new Set<string>();
  const found: Form[] = [];
  let longestFirst: readonly string[] = [];

  return {
    add(value) {
      const trimmed = value.trim();
      if (trimmed === '' || known.has(value)) return;
      known.add(value);
      if (trimmed.length >= MIN_MASKED) masked.add(trimmed);
      if (trimmed.length >= MIN_FOUND) {
        const lines = trimmed.split(/[\r\n]+/).map((line) => line.trim());
        for (const line of lines) if (line.length >= MIN_FOUND) masked.add(line);
        for (const [, text] of formsOf(trimmed)) masked.add(text);
        for (const part of new Set([trimmed, ...keyParts(trimmed)])) found.push(...formsOf(part));
      }
      longestFirst = [...masked].sort((one, other) => other.length - one.length);
    },
    has: (value) => known.has(value),
    mask: (text) => longestFirst.reduce((rest, secret) => rest.replaceAll(secret, '***'), text),
    find(payload) {
      // Adjacent texts are not joined to a secret.
      const text = textsOf(payload).join('\uffff');
      const shown = withoutGaps(text);
      const holds = (form: string) => {
        const needle = withoutGaps(form);
        return text.includes(form) || (needle.length >= MIN_FOUND && shown.includes(needle));
      };
      return found.find(([, form]) => holds(form))?.[0] ?? null;
    },
  };
}

/** Returns the strings one of which is in every text that holds the value in one of five forms. */
function formsOf(value: string): readonly Form[] {
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map((shift) => base64At(bytes, shift));
  const hex = bytes.toString('hex');
  return [
    ['plain', value],
    ['plain', JSON.stringify(value).slice(1, -1)],
    ['reversed', [...value].reverse().join('')],
    ...base64.map((text): Form => ['base64', text]),
    ...base64.map((text): Form => ['base64', text.replaceAll('+', '-').replaceAll('/', '_')]),
    ['hex', hex],
    ['hex', hex.toUpperCase()],
    ['URL-encoded', encodeURIComponent(value.toWellFormed())],
  ];
}

/** Returns what the base64 of any text contains that has these bytes `shift` bytes behind a multiple of three. */
function base64At(bytes: Buffer, shift: number): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
}

/** Returns the runs of key material in a secret of several parts; its labels, addresses and armour are not secret. */
function keyParts(value: string): readonly string[] {
  return value
    .split(/(?:\\n|[\s"',;{}\\])+/)
    .filter((part) => part.length >= MIN_PART && /^\w[\w+/=.-]*$/.test(part));
}

function textsOf(payload: Json): readonly string[] {
  const texts: string[] = [];
  JSON.stringify(payload, (key, value: unknown) => {
    texts.push(key);
    if (typeof value !== 'object') texts.push(String(value));
    return value;
  });
  return texts;
}

/** Removes whitespace, what is not displayed, and the backticks that Markdown hides. */
function withoutGaps(text: string): string {
  return cleanText(text).replace(/[\s`]+/g, '');
}

/** Environment variables that usually contain keys and tokens, whichever provider is used. */
const SECRET_VARIABLES =
  /^(?:INPUT_API-KEY|INPUT_GITHUB-TOKEN|INPUT_SIGNING-KEY|[A-Z0-9_]*_API_KEY|ACTIONS_RUNTIME_TOKEN|ACTIONS_ID_TOKEN_REQUEST_TOKEN|(?:GITHUB|GH)_TOKEN|ANTHROPIC_AUTH_TOKEN|AWS_SECRET_ACCESS_KEY|AWS_SESSION_TOKEN|NODE_AUTH_TOKEN|NPM_TOKEN)$/iu;

/** Returns environment values that must be masked everywhere; those of headers even if the input is invalid. */
export function findSecrets(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = Object.entries(environment).flatMap(([name, value = '']) => {
    if (SECRET_VARIABLES.test(name)) return [value, value.trim()];
    return name.toUpperCase() === 'INPUT_HEADERS' ? value.split(/[\r\n]+/u).flatMap(headerSecrets) : [];
  });
  return [...new Set(values)].filter((value) => value !== '');
}

/**
 * Returns the value of a header line, and the credentials after its scheme, as in `Bearer x`. Short words and URLs without
 * a query are not secrets (`x-provider: openai`, `HTTP-Referer: https://…`): to mask them would damage messages.
 */
function headerSecrets(line: string): readonly string[] {
  const value = line.replace(/^[^:]+:/u, '').trim();
  const isPlain = /^(?:[a-z]{1,12}|https?:[^?@\s]*)$/iu;
  return [value, value.replace(/^\S+\s+/u, '')].filter((text) => !isPlain.test(text));
}
