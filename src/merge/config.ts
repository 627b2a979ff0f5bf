/** Configuration of the merge action: every input as a typed value, parsed once. */
import { gitHubInput, INPUTS, type Input, type InputName } from '../config/inputs.ts';
import { type Reporting, readReporting } from '../config/reporting.ts';
import { createReader, MAX_LEG_NAME, type Parsed } from '../config/values.ts';
import { InputError } from '../errors.ts';
import { parseOrUndefined } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote } from '../text/messages.ts';

/** Votes of one leg. GitHub allows 256 jobs in a matrix. */
const MAX_VOTES = 100;
const MAX_LEGS = 1_000;

/** Inputs that mean the same as for a run. */
const SHARED = [
  'signing-key',
  'summary',
  'comment',
  'comment-key',
  'commit-status',
  'github-token',
] as const satisfies readonly InputName[];

/** The inputs that only a merge has, in the order of the documentation. */
const OWN = [
  gitHubInput(
    'verdicts',
    'The folder where actions/download-artifact put the envelopes of the legs. Required.',
  ),
  gitHubInput('expect', 'The names of all legs: separated by commas or lines, or a JSON array. Required.'),
  gitHubInput(
    'votes',
    'How votes of a leg count: all of N, any of N or majority of N. Without it: one each.',
  ),
  gitHubInput(
    'gate',
    "What a payload must meet: auto (the leg's own gate, else passed), off, a boolean property, or a JSON Schema.",
    'auto',
  ),
];

export type MergeInputName = (typeof OWN)[number]['name'] | (typeof SHARED)[number];

export const MERGE_INPUTS: readonly Input[] = [
  ...OWN,
  ...INPUTS.filter(({ name }) => SHARED.some((shared) => shared === name)),
];

export const MERGE_NAMES: readonly MergeInputName[] = [...OWN.map(({ name }) => name), ...SHARED];

/** What an input must be set to that is not given. */
const REQUIRED = [
  ['verdicts', 'the folder that actions/download-artifact wrote, for example ${{ runner.temp }}/verdicts'],
  ['expect', 'the names of the legs, for example api, web'],
] as const;

const RULES = ['all', 'any', 'majority'] as const;

export type Rule = (typeof RULES)[number];

/** How the votes of a leg make its verdict, and how many there must be. */
export interface Votes {
  readonly rule: Rule;
  readonly count: number;
}

export interface MergeConfig extends Reporting {
  /** The folder, as typed. */
  readonly verdicts: string;
  /** The names of the legs that there must be. */
  readonly expect: readonly string[];
  /** null if each leg has one vote. */
  readonly votes: Votes | null;
  /** As typed: `auto`, `off`, a property, inline JSON or a file. */
  readonly gate: string;
}

interface ReadingOptions {
  /** Problems found while the inputs were collected. */
  readonly problems?: readonly InputError[];
  /** Inputs whose values are not known yet. */
  readonly unknown?: ReadonlySet<MergeInputName>;
}

/** Parses all inputs of a merge and collects all problems. */
export function parseMergeConfig(
  raw: ReadonlyMap<MergeInputName, string>,
  { problems, unknown = new Set() }: ReadingOptions = {},
): Parsed<MergeConfig> {
  const reader = createReader<InputName | MergeInputName>(raw, problems);
  const { text, attempt } = reader;
  for (const [name, wanted] of REQUIRED)
    if (!raw.has(name) && !unknown.has(name))
      reader.add(new InputError(name, `It is not given. Set it to ${wanted}.`));
  const [expected, votes] = [text('expect'), text('votes')];
  const config: MergeConfig = {
    verdicts: text('verdicts') ?? '',
    expect: expected === null ? [] : attempt(() => parseExpectation(expected), []),
    votes: votes === null ? null : attempt(() => parseVotes(votes), null),
    gate: text('gate') ?? 'auto',
    ...readReporting(reader),
  };
  return { config, problems: reader.problems };
}

/** Parses `votes`. @throws InputError if it is not a rule with a number of votes. */
export function parseVotes(text: string): Votes {
  const [, word, digits] = /^(\w+) of (\d{1,9})$/u.exec(text.trim().toLowerCase()) ?? [];
  const rule = RULES.find((each) => each === word);
  const count = Number(digits);
  if (rule !== undefined && count >= 1 && count <= MAX_VOTES) return { rule, count };
  throw new InputError(
    'votes',
    `${quote(text, DISPLAY.name)} is not valid. Write all of N, any of N or majority of N, with N from 1 to ${MAX_VOTES}, for example: majority of 3`,
  );
}

/** Parses `expect`. @throws InputError unless it is a list of distinct names. */
export function parseExpectation(text: string): readonly string[] {
  const refuse = (why: string) =>
    new InputError('expect', `${quote(text, DISPLAY.name)} is not valid. ${why}`);
  const names = (text.startsWith('[') ? arrayOf(text) : text.split(/,?\r?\n|,/u)).map((name) =>
    name.trim().replace(/\s+/gu, ' '),
  );
  if (names.length === 0 || names.length > MAX_LEGS)
    throw refuse(`Name from 1 to ${MAX_LEGS} legs: ["api", "web"], or: api, web`);
  if (names.includes(''))
    throw refuse('One of its names is empty. If an expression gives the name, check that it is set.');
  if (names.some((name) => name.length > MAX_LEG_NAME))
    throw refuse(`A leg's name has at most ${MAX_LEG_NAME} characters.`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw refuse(`It names ${quote(twice, DISPLAY.name)} twice.`);
  return names;
}

/** Returns the names in a JSON array, such as the output of a job that plans a matrix; empty if it is not one. */
function arrayOf(text: string): readonly string[] {
  const parsed: unknown = parseOrUndefined(text);
  const isName = (each: unknown) => typeof each === 'string' || typeof each === 'number';
  return Array.isArray(parsed) && parsed.every(isName) ? parsed.map(String) : [];
}
