/** Configuration of the merge action: every input as a typed value, parsed once and validated against the others. */
import { INPUTS, type Input, type InputName } from '../config/inputs.ts';
import { type Reporting, readReporting } from '../config/reporting.ts';
import { createReader, type InputReader, type Parsed, readSigningKey } from '../config/values.ts';
import { InputError } from '../errors.ts';
import { DISPLAY, LISTED, MERGE } from '../text/limits.ts';
import { quote, suggest } from '../text/messages.ts';

/** Inputs with the same meaning as for a run. */
const SHARED = [
  'signing-key',
  'summary',
  'comment',
  'comment-key',
  'annotations',
  'sarif-file',
  'commit-status',
  'github-token',
  'result-file',
  'log-level',
] as const satisfies readonly InputName[];

/** The inputs that only a merge has, in documentation order. */
const OWN = [
  input(
    'verdicts',
    'The folder of the envelopes that the legs uploaded, as actions/download-artifact lays them out: every .json file in it and below. Required.',
  ),
  input(
    'expect',
    'Which legs there must be: their names, separated by commas or lines. Or how many envelopes there must be in all, as a number. What is missing abstains. Required.',
  ),
  input(
    'votes',
    'How the votes of one leg make its verdict, and how many it has: all of N, any of N, majority of N or weighted:T of N. Without it: one vote a leg.',
  ),
  input(
    'rule',
    'How the legs make the verdict: all, any, majority (more than half of those expected) or weighted:T (the weights of those that pass add up to more than T).',
    'all',
  ),
  input(
    'weights',
    'For weighted rules, one NAME: NUMBER a line: what the legs weigh under rule, and the votes under votes. Without it, and for names not in it: 1.',
  ),
  input(
    'gate',
    "What must hold in a run's payload for the run to pass: auto (the run's own gate or, where it had none, passed is true), none (every accepted payload passes), the name of a boolean property, or a JSON Schema (inline, ./path, @path or @owner/repo/path@ref). A run whose own gate was not met never passes.",
    'auto',
  ),
] as const satisfies readonly Input[];

/** Descriptions of shared inputs that differ for a merge. */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'signing-key':
    'The secret that the legs signed their envelopes with. Given, an envelope that is not signed with it counts as missing.',
  annotations:
    'Whether findings become annotations on the files: findings or none. Needs the checkout, as sarif-file does.',
  'github-token': 'For the comment and the status, and a gate in another repository; nothing else.',
  'log-level': 'summary, or full to see every vote. Without it: summary, full when the runner debugs.',
};

export type MergeInputName = (typeof OWN)[number]['name'] | (typeof SHARED)[number];

const shared: readonly Input[] = INPUTS.filter(({ name }) => SHARED.some((each) => each === name));

export const MERGE_INPUTS: readonly Input[] = [...OWN, ...shared.map(forMerge)];

export const MERGE_NAMES: readonly MergeInputName[] = [...OWN.map(({ name }) => name), ...SHARED];

function forMerge(given: Input): Input {
  const description = DESCRIPTIONS[given.name];
  return description === undefined ? given : { ...given, description };
}

function input<const N extends string>(name: N, description: string, defaultValue = '') {
  return { name, description, default: defaultValue, where: 'github' } as const;
}

/**
 * Weights and thresholds are integers in millionths, because floating-point sums such as 0.1 + 0.2 cannot be compared
 * reliably with 0.3.
 */
export const WEIGHT_UNIT = 1_000_000;

/** A parsed rule; a threshold is in units of `WEIGHT_UNIT`. */
export type Rule =
  | { readonly kind: 'all' | 'any' | 'majority' }
  | { readonly kind: 'weighted'; readonly threshold: number };

export interface VotesRule {
  readonly rule: Rule;
  readonly count: number;
}

/** The legs or the number of envelopes that must be present. */
type Expectation =
  | { readonly kind: 'envelopes'; readonly count: number }
  | { readonly kind: 'legs'; readonly names: readonly string[] };

const RULES = ['all', 'any', 'majority'] as const;

/**
 * Parses a rule.
 * @throws InputError that lists the rules.
 */
export function parseRule(name: 'rule' | 'votes', text: string): Rule {
  const word = text.trim().toLowerCase();
  const plain = RULES.find((each) => each === word);
  if (plain !== undefined) return { kind: plain };
  const threshold = /^weighted\s*:\s*(\S+)$/u.exec(word)?.[1];
  const value = threshold === undefined ? null : parseWeight(threshold);
  if (value !== null) return { kind: 'weighted', threshold: value };
  if (word === 'weighted' || threshold !== undefined) {
    throw new InputError(
      name,
      `${name} is ${quote(text, DISPLAY.name)}. A weighted rule says how much is needed, as in weighted:1.5; the weights of those that pass must add up to more than that.`,
    );
  }
  throw new InputError(
    name,
    `${name} is ${quote(text, DISPLAY.name)}. Use all, any, majority or weighted:T.${ruleHint(name, word)}`,
  );
}

function ruleHint(name: 'rule' | 'votes', word: string): string {
  if (name === 'rule' && / of \d+$/u.test(word)) return ' The input votes says how many votes a leg has.';
  const near = suggest(word, [...RULES]);
  return near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
}

/**
 * Parses `votes`.
 * @throws InputError if it is not a rule with a number of votes.
 */
export function parseVotes(text: string): VotesRule {
  const [, rule, count] = /^(.*\S)\s+of\s+(\d{1,6})$/iu.exec(text.trim()) ?? [];
  if (/^\d+$/u.test(text))
    throw new InputError(
      'votes',
      `votes is ${quote(text, DISPLAY.name)}, without a rule. Write for example: majority of ${text}`,
    );
  if (rule !== undefined && /^\d{1,6}$/u.test(rule)) {
    throw new InputError(
      'votes',
      `votes is ${quote(text, DISPLAY.name)}. For ${rule} of them at least write weighted:${Math.max(0, Number(rule) - 1)} of ${count}, or name a rule: majority of ${count}`,
    );
  }
  if (rule === undefined) {
    const { kind } = parseRule('votes', text);
    const typed = kind === 'weighted' ? text.trim() : kind;
    throw new InputError(
      'votes',
      `votes is ${quote(text, DISPLAY.name)}, which does not say how many votes a leg has, so that a missing one would not be missed. Write for example: ${typed} of 3`,
    );
  }
  const number = Number(count);
  if (number < 1 || number > MERGE.votes)
    throw new InputError(
      'votes',
      `votes is ${quote(text, DISPLAY.name)}. A leg has from 1 to ${MERGE.votes} votes.`,
    );
  return { rule: parseRule('votes', rule), count: number };
}

/**
 * Parses `expect`.
 * @throws InputError unless it is a number from 1 to `MERGE.envelopes`, or a list of distinct names.
 */
export function parseExpectation(text: string): Expectation {
  if (/^\d+$/u.test(text)) {
    const count = Number(text);
    if (count < 1) throw refused(text, 'Use a number of envelopes from 1, or the names of the legs.');
    if (count > MERGE.envelopes)
      throw refused(
        text,
        `A merge reads at most ${MERGE.envelopes} envelopes. Give how many the legs write in all, or the names of the legs; merge more of them in several merges.`,
      );
    return { kind: 'envelopes', count };
  }
  const names = namesOf(text);
  if (names.length === 0 || names.length > MERGE.legs)
    throw refused(text, `Name from 1 to ${MERGE.legs} legs, or give a number of envelopes.`);
  const long = names.find((name) => name.length > MERGE.name);
  if (long !== undefined) throw refused(text, `A leg's name has at most ${MERGE.name} characters.`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new InputError('expect', `expect names ${quote(twice, DISPLAY.name)} twice. Name each leg once.`);
  return { kind: 'legs', names };
}

/** Parses a JSON array, such as the output of a job that plans a matrix, or names separated by commas and newlines. */
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

/**
 * Splits a list of names. An empty name between or after commas is an error: it may come from an output that is not
 * set, and the missing leg would go unnoticed.
 */
function listedNames(text: string): readonly string[] {
  const lines = text.split(/[\r\n]+/u).filter((line) => line.trim() !== '');
  const names = lines
    .map((line, at) => (at === lines.length - 1 ? line : line.replace(/,\s*$/u, '')))
    .flatMap((line) => line.split(','))
    .map(tidy);
  if (names.includes(''))
    throw refused(
      text,
      'One of its commas has no name beside it. Where an expression names the leg, check that it is set; else remove the comma.',
    );
  return names;
}

function nameOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? tidy(String(value)) : null;
}

/** Normalizes whitespace in the same way as the input `leg`. */
function tidy(name: string): string {
  return name.trim().replace(/\s+/gu, ' ');
}

/**
 * Parses `weights`, in units of `WEIGHT_UNIT`.
 * @throws InputError for a line that is not `NAME: NUMBER`.
 */
export function parseWeights(lines: readonly string[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const line of lines) {
    const [, name, number] = /^(.*\S)\s*[:=]\s*([^\s:=]+)$/u.exec(line) ?? [];
    const weight = number === undefined ? null : parseWeight(number);
    if (name === undefined || weight === null) {
      throw new InputError(
        'weights',
        `weights has the line ${quote(line, DISPLAY.name)}. Write NAME: NUMBER, with a number from 0 to 100000 of at most six decimals.`,
      );
    }
    const key = tidy(name);
    if (weights.has(key))
      throw new InputError('weights', `weights names ${quote(key, DISPLAY.name)} twice. Keep one line.`);
    weights.set(key, weight);
  }
  return weights;
}

function parseWeight(text: string): number | null {
  const [, whole, decimals = ''] = /^(\d{1,7})(?:\.(\d{1,6}))?$/u.exec(text) ?? [];
  if (whole === undefined) return null;
  const value = Number(whole) * WEIGHT_UNIT + Number(decimals.padEnd(6, '0'));
  return value <= MERGE.weight * WEIGHT_UNIT ? value : null;
}

function refused(text: string, why: string): InputError {
  return new InputError('expect', `expect is ${quote(text, DISPLAY.name)}. ${why}`);
}

export interface MergeConfig extends Reporting {
  /** The folder, as typed. */
  readonly verdicts: string;
  readonly expect: Expectation;
  /** null if each leg has one vote. */
  readonly votes: VotesRule | null;
  readonly rule: Rule;
  /** The rule as typed, for display. */
  readonly ruleText: string;
  readonly votesText: string | null;
  /** Weights by the name of a leg or a vote, in units of `WEIGHT_UNIT`; names not listed weigh one unit. */
  readonly weights: ReadonlyMap<string, number>;
  /** As typed: `auto`, `none`, a property, inline JSON or a file. */
  readonly gate: string;
  readonly signingKey: string | null;
}

interface MergeConfigWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Problems found while the inputs were collected. */
  readonly problems?: readonly InputError[];
  /** Inputs whose values are not known yet; they are not validated against other inputs. */
  readonly unknown?: ReadonlySet<MergeInputName>;
}

/** Inputs that are validated against each other if each is valid by itself. */
const JOINED = ['expect', 'votes', 'rule', 'weights'] as const;

/** Parses all inputs of a merge and collects all problems, including rules that could never pass. */
export function parseMergeConfig(
  raw: ReadonlyMap<MergeInputName, string>,
  { environment, problems, unknown = new Set() }: MergeConfigWorld,
): Parsed<MergeConfig> {
  const reader = createReader(raw, problems);
  const votesText = reader.line('votes', 200);
  const ruleText = reader.line('rule', 200) ?? 'all';
  const verdicts = required(
    reader,
    'verdicts',
    unknown,
    'the folder that actions/download-artifact wrote, for example ${{ runner.temp }}/verdicts',
  );
  const expected = required(
    reader,
    'expect',
    unknown,
    'the names of the legs, or how many envelopes there must be, for example api, web',
  );
  const config: MergeConfig = {
    verdicts: verdicts ?? '',
    expect: expected === null ? NOTHING : reader.attempt(() => parseExpectation(expected), NOTHING),
    votes: votesText === null ? null : reader.attempt(() => parseVotes(votesText), null),
    rule: reader.attempt(() => parseRule('rule', ruleText), { kind: 'all' }),
    ruleText: ruleText.toLowerCase(),
    votesText: votesText === null ? null : votesText.toLowerCase(),
    weights: reader.attempt(() => parseWeights(reader.list('weights')), new Map<string, number>()),
    gate: reader.text('gate') ?? 'auto',
    signingKey: readSigningKey(reader),
    ...readReporting(reader, environment),
  };
  if (!JOINED.some((name) => reader.hasProblem(name) || unknown.has(name))) {
    reader.attempt(() => {
      requireWholeLegs(config);
      requireWeights(config);
    }, null);
  }
  return { config, problems: reader.problems };
}

const NOTHING: Expectation = { kind: 'legs', names: [] };

function required(
  reader: InputReader<MergeInputName>,
  name: MergeInputName,
  unknown: ReadonlySet<MergeInputName>,
  example: string,
): string | null {
  const text = reader.text(name);
  if (text === null && !unknown.has(name))
    reader.add(new InputError(name, `${name} is not given. Set it to ${example}.`));
  return text;
}

function requireWholeLegs({ expect, votes }: MergeConfig): void {
  if (votes === null) return;
  if (expect.kind === 'legs') {
    const { length } = expect.names;
    if (length * votes.count <= MERGE.envelopes) return;
    throw new InputError(
      'expect',
      `expect names ${length} legs, and votes has ${votes.count} for each: that makes ${length * votes.count} envelopes, and a merge reads at most ${MERGE.envelopes}. Name fewer legs, or lower votes; merge more of them in several merges.`,
    );
  }
  if (expect.count % votes.count === 0) return;
  throw new InputError(
    'expect',
    `expect is ${expect.count} envelopes, and votes has ${votes.count} for each leg: that makes no whole number of legs. Give the number of legs times ${votes.count}, or the names of the legs.`,
  );
}

/** Rejects weights that no rule uses, names that match no leg or vote, and thresholds that cannot be exceeded. */
function requireWeights({ expect, rule, votes, weights }: MergeConfig): void {
  const ofLegs = rule.kind === 'weighted';
  const ofVotes = votes?.rule.kind === 'weighted';
  if (weights.size > 0 && !ofLegs && !ofVotes) {
    throw new InputError(
      'weights',
      'weights is given, and neither rule nor votes is weighted:T. Use a weighted rule, or remove weights.',
    );
  }
  if (ofLegs && expect.kind === 'envelopes') {
    throw new InputError(
      'expect',
      'expect is a number, and a weighted rule has to know which legs are missing. Give the names of the legs.',
    );
  }
  const legs = expect.kind === 'legs' ? expect.names : [];
  const beside = [...weights.keys()].filter((name) => !ofLegs || !legs.includes(name));
  if (!ofVotes && beside[0] !== undefined) throw stranger(beside[0], legs);
  if (ofVotes && votes !== null && beside.length > votes.count) {
    throw new InputError(
      'weights',
      `weights names ${beside.length} votes (${beside
        .slice(0, LISTED.some)
        .map((each) => quote(each, DISPLAY.name))
        .join(', ')}), and a leg has ${votes.count}. Remove those that no leg has.`,
    );
  }
  const weigh = (names: readonly string[]) =>
    names.reduce((sum, name) => sum + (weights.get(name) ?? WEIGHT_UNIT), 0);
  if (ofLegs) requirePassable('rule', rule.threshold, weigh(legs));
  if (ofVotes && votes?.rule.kind === 'weighted') {
    // A vote may have the same name as a leg and then has the same weight, so the sum is known only without such names.
    const unnamed = (votes.count - beside.length) * WEIGHT_UNIT;
    if (beside.length === weights.size)
      requirePassable('votes', votes.rule.threshold, weigh(beside) + unnamed);
  }
}

function stranger(name: string, legs: readonly string[]): InputError {
  const near = suggest(name, [...legs]);
  const hint =
    near.length === 0 ? '' : ` Did you mean ${near.map((each) => quote(each, DISPLAY.name)).join(' or ')}?`;
  return new InputError(
    'weights',
    `weights names ${quote(name, DISPLAY.name)}, which is no leg in expect.${hint}`,
  );
}

function requirePassable(name: 'rule' | 'votes', threshold: number, sum: number): void {
  if (sum > threshold) return;
  throw new InputError(
    name,
    `${name} needs weights of more than ${threshold / WEIGHT_UNIT}, and all of them together are ${sum / WEIGHT_UNIT}: it could never pass. Lower the threshold.`,
  );
}
