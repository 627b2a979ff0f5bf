/** The words of the merge action that say who votes, and what the votes come to. */

import { InputError } from '../errors.ts';
import { quote, suggest } from '../text/messages.ts';

/** Weights and thresholds are counted in millionths, whole numbers: of 0.1 + 0.2 nobody knows whether it is more than 0.3. */
export const WEIGHT_UNIT = 1_000_000;

/** A rule as typed and as meant; a threshold is in units of `WEIGHT_UNIT`. */
export type RuleWord =
  | { readonly kind: 'all' | 'any' | 'majority' }
  | { readonly kind: 'weighted'; readonly threshold: number };

/** The rule within a leg, and how many votes it is about. */
export interface VotesWord {
  readonly rule: RuleWord;
  readonly count: number;
}

/** Which legs there must be. */
export type Expectation =
  | { readonly kind: 'envelopes'; readonly count: number }
  | { readonly kind: 'legs'; readonly names: readonly string[] };

const RULES = ['all', 'any', 'majority'] as const;
const MAX_VOTES = 1_000;
const MAX_LEGS = 10_000;
/** So many JSON files a folder of envelopes may hold; a number typed by mistake must not fill the memory with missing ones. */
export const MAX_ENVELOPES = 20_000;
/** 10,000 legs of it are still counted exactly. */
const MAX_WEIGHT = 100_000;
const MAX_NAME = 200;

/** Reads a rule. @throws InputError that lists the rules. */
export function parseRule(name: 'rule' | 'votes', text: string): RuleWord {
  const word = text.trim().toLowerCase();
  const plain = RULES.find((each) => each === word);
  if (plain !== undefined) return { kind: plain };
  const threshold = /^weighted\s*:\s*(\S+)$/u.exec(word)?.[1];
  const value = threshold === undefined ? null : parseWeight(threshold);
  if (value !== null) return { kind: 'weighted', threshold: value };
  if (word === 'weighted' || threshold !== undefined) {
    throw new InputError(
      name,
      `${name} is ${quote(text, 80)}. A weighted rule says how much is needed, as in weighted:1.5; the weights of those that pass must add up to more than that.`,
    );
  }
  throw new InputError(
    name,
    `${name} is ${quote(text, 80)}. Use all, any, majority or weighted:T.${ruleHint(name, word)}`,
  );
}

function ruleHint(name: 'rule' | 'votes', word: string): string {
  if (name === 'rule' && / of \d+$/u.test(word)) return ' How many votes a leg has stands in votes.';
  const near = suggest(word, [...RULES]);
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}

/** Reads `votes`. @throws InputError where it is no rule with a number of votes. */
export function parseVotes(text: string): VotesWord {
  const [, rule, count] = /^(.*\S)\s+of\s+(\d{1,6})$/iu.exec(text.trim()) ?? [];
  if (/^\d+$/u.test(text))
    throw new InputError(
      'votes',
      `votes is ${quote(text, 80)}, without a rule. Write for example: majority of ${text}`,
    );
  if (rule !== undefined && /^\d{1,6}$/u.test(rule)) {
    throw new InputError(
      'votes',
      `votes is ${quote(text, 80)}. For ${rule} of them at least write weighted:${Math.max(0, Number(rule) - 1)} of ${count}, or name a rule: majority of ${count}`,
    );
  }
  if (rule === undefined) {
    const { kind } = parseRule('votes', text);
    const typed = kind === 'weighted' ? text.trim() : kind;
    throw new InputError(
      'votes',
      `votes is ${quote(text, 80)}, which does not say how many votes a leg has, so that a missing one would not be missed. Write for example: ${typed} of 3`,
    );
  }
  const number = Number(count);
  if (number < 1 || number > MAX_VOTES)
    throw new InputError('votes', `votes is ${quote(text, 80)}. A leg has from 1 to ${MAX_VOTES} votes.`);
  return { rule: parseRule('votes', rule), count: number };
}

/** Reads `expect`. @throws InputError for anything but a number from 1 to `MAX_ENVELOPES`, or names that differ. */
export function parseExpectation(text: string): Expectation {
  if (/^\d+$/u.test(text)) {
    const count = Number(text);
    if (count < 1) throw refused(text, 'Use a number of envelopes from 1, or the names of the legs.');
    if (count > MAX_ENVELOPES)
      throw refused(
        text,
        `A merge reads at most ${MAX_ENVELOPES} envelopes. Give how many the legs write in all, or the names of the legs; merge more of them in several merges.`,
      );
    return { kind: 'envelopes', count };
  }
  const names = namesOf(text);
  if (names.length === 0 || names.length > MAX_LEGS)
    throw refused(text, `Name from 1 to ${MAX_LEGS} legs, or give a number of envelopes.`);
  const long = names.find((name) => name.length > MAX_NAME);
  if (long !== undefined) throw refused(text, `A leg's name has at most ${MAX_NAME} characters.`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new InputError('expect', `expect names ${quote(twice, 80)} twice. Name each leg once.`);
  return { kind: 'legs', names };
}

/** A JSON array, as a job makes them that plans a matrix; or names between commas and lines. */
function namesOf(text: string): readonly string[] {
  if (!text.startsWith('[')) return listedNames(text);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw refused(text, 'It begins like a JSON array and is none. Write ["api", "web"], or: api, web');
  }
  const names = Array.isArray(parsed) ? parsed.map((each: unknown) => nameOf(each)) : [];
  if (names.some((name) => name === null || name === ''))
    throw refused(text, 'Every entry of the array must be the name of a leg.');
  return names.filter((name) => name !== null);
}

/** Between two commas, or behind the last one, may stand an output that nobody set: the leg would not be missed. */
function listedNames(text: string): readonly string[] {
  const lines = text.split(/[\r\n]+/u).filter((line) => line.trim() !== '');
  const names = lines
    .map((line, at) => (at === lines.length - 1 ? line : line.replace(/,\s*$/u, '')))
    .flatMap((line) => line.split(','))
    .map(tidy);
  if (names.includes(''))
    throw refused(
      text,
      'Beside one of its commas stands no name. Where an expression names the leg, look whether it is set; else remove the comma.',
    );
  return names;
}

function nameOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? tidy(String(value)) : null;
}

/** As the input `leg` is read. */
function tidy(name: string): string {
  return name.trim().replace(/\s+/gu, ' ');
}

/** Reads `weights`, in units of `WEIGHT_UNIT`. @throws InputError for a line that is no `NAME: NUMBER`. */
export function parseWeights(lines: readonly string[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const line of lines) {
    const [, name, number] = /^(.*\S)\s*[:=]\s*([^\s:=]+)$/u.exec(line) ?? [];
    const weight = number === undefined ? null : parseWeight(number);
    if (name === undefined || weight === null) {
      throw new InputError(
        'weights',
        `weights has the line ${quote(line, 80)}. Write NAME: NUMBER, with a number from 0 to 100000 of at most six decimals.`,
      );
    }
    const key = tidy(name);
    if (weights.has(key))
      throw new InputError('weights', `weights names ${quote(key, 80)} twice. Keep one line.`);
    weights.set(key, weight);
  }
  return weights;
}

function parseWeight(text: string): number | null {
  const [, whole, decimals = ''] = /^(\d{1,7})(?:\.(\d{1,6}))?$/u.exec(text) ?? [];
  if (whole === undefined) return null;
  const value = Number(whole) * WEIGHT_UNIT + Number(decimals.padEnd(6, '0'));
  return value <= MAX_WEIGHT * WEIGHT_UNIT ? value : null;
}

function refused(text: string, why: string): InputError {
  return new InputError('expect', `expect is ${quote(text, 80)}. ${why}`);
}
