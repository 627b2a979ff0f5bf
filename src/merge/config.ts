/** What the user of the merge action meant: every input as a typed value, parsed once and held against the others. */

import { type Reporting, readReporting } from '../config/reporting.ts';
import { createReader, type InputReader, type Parsed, readSigningKey } from '../config/values.ts';
import { InputError } from '../errors.ts';
import { quote, suggest } from '../text/messages.ts';
import type { MergeInputName } from './inputs.ts';
import {
  type Expectation,
  MAX_ENVELOPES,
  parseExpectation,
  parseRule,
  parseVotes,
  parseWeights,
  type RuleWord,
  type VotesWord,
  WEIGHT_UNIT,
} from './rule-inputs.ts';

/** Every input of a merge. */
export interface MergeConfig extends Reporting {
  /** The folder, as typed. */
  readonly verdicts: string;
  readonly expect: Expectation;
  /** null where each leg has one vote. */
  readonly votes: VotesWord | null;
  readonly rule: RuleWord;
  /** As typed, for people. */
  readonly ruleText: string;
  readonly votesText: string | null;
  /** By the name of a leg or a vote, in units of `WEIGHT_UNIT`; what is not in it weighs one unit. */
  readonly weights: ReadonlyMap<string, number>;
  /** As typed: `auto`, `none`, a property, inline JSON or a file. */
  readonly gate: string;
  readonly signingKey: string | null;
}

/** What the environment says beside the inputs. */
export interface MergeConfigWorld {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What was found to be wrong when the inputs were collected. */
  readonly problems?: readonly InputError[];
  /** Inputs whose values are not known yet: nothing is said of how they fit with others. */
  readonly unknown?: ReadonlySet<MergeInputName>;
}

/** Inputs that are checked against each other, where each is right by itself. */
const JOINED = ['expect', 'votes', 'rule', 'weights'] as const;

/** Reads every input of a merge, and notes all that is wrong with them, also where a rule could never be met. */
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
    if (length * votes.count <= MAX_ENVELOPES) return;
    throw new InputError(
      'expect',
      `expect names ${length} legs, and votes has ${votes.count} for each: that makes ${length * votes.count} envelopes, and a merge reads at most ${MAX_ENVELOPES}. Name fewer legs, or lower votes; merge more of them in several merges.`,
    );
  }
  if (expect.count % votes.count === 0) return;
  throw new InputError(
    'expect',
    `expect is ${expect.count} envelopes, and votes has ${votes.count} for each leg: that makes no whole number of legs. Give the number of legs times ${votes.count}, or the names of the legs.`,
  );
}

/** Weights that nobody looks at, names that nobody has, and thresholds that cannot be passed are mistakes. */
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
        .slice(0, 5)
        .map((each) => quote(each, 80))
        .join(', ')}), and a leg has ${votes.count}. Remove those that no leg casts.`,
    );
  }
  const weigh = (names: readonly string[]) =>
    names.reduce((sum, name) => sum + (weights.get(name) ?? WEIGHT_UNIT), 0);
  if (ofLegs) requirePassable('rule', rule.threshold, weigh(legs));
  if (ofVotes && votes?.rule.kind === 'weighted') {
    // A vote may bear the name of a leg, and then weighs the same: only without such names is the sum known.
    const unnamed = (votes.count - beside.length) * WEIGHT_UNIT;
    if (beside.length === weights.size)
      requirePassable('votes', votes.rule.threshold, weigh(beside) + unnamed);
  }
}

function stranger(name: string, legs: readonly string[]): InputError {
  const near = suggest(name, [...legs]);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((each) => quote(each, 80)).join(' or ')}?`;
  return new InputError('weights', `weights names ${quote(name, 80)}, which is no leg in expect.${hint}`);
}

function requirePassable(name: 'rule' | 'votes', threshold: number, sum: number): void {
  if (sum > threshold) return;
  throw new InputError(
    name,
    `${name} needs weights of more than ${threshold / WEIGHT_UNIT}, and all of them together are ${sum / WEIGHT_UNIT}: it could never pass. Lower the threshold.`,
  );
}
