/** The legs of a merge taken together: which there are twice, how many there are, and what tells their votes apart. */

import { InputError } from '../../errors.ts';
import { parseExpectation } from '../../merge/rule-inputs.ts';
import { doubtful, type Fault, wrong } from './finding.ts';
import type { NamedLeg } from './leg-names.ts';
import type { MergeStepInputs } from './merge-step.ts';
import { type Job, type Step, withOf } from './workflow.ts';
import { textAt } from './yaml-file.ts';

/** A leg with where it stands. */
export interface PlacedLeg extends NamedLeg {
  readonly job: Job;
  readonly step: Step;
}

/** The legs of which another one before them has a name and a vote. */
export function twins(
  legs: readonly PlacedLeg[],
): readonly { readonly leg: PlacedLeg; readonly fault: Fault }[] {
  const seen = new Set<string>();
  return legs.flatMap((leg) => {
    // Of two that depend on conditions there may be one at a time.
    if ([leg.job, leg.step].some(({ node }) => textAt(node, 'if') !== null)) return [];
    const pairs = pairsOf(leg) ?? [];
    const twin = pairs.find(([key]) => seen.has(key));
    for (const [key] of pairs) seen.add(key);
    return twin === undefined ? [] : [{ leg, fault: twice(twin[1]) }];
  });
}

/** What is wrong with a number of envelopes that is expected; null where nobody knows how many there are. */
export function countFault(legs: readonly PlacedLeg[], inputs: MergeStepInputs): Fault | null {
  const text = inputs.get('expect');
  const expected = typeof text === 'string' ? countIn(text) : null;
  if (expected === null || legs.length === 0 || inputs.faults.some(({ key }) => key === 'expect'))
    return null;
  const all = new Set<string>();
  for (const leg of legs) {
    const pairs = pairsOf(leg);
    if (pairs === null) return null;
    for (const [key] of pairs) all.add(key);
  }
  if (all.size === expected) return null;
  const message = `The legs leave ${all.size} envelopes in all, one for each vote, and ${expected} are expected`;
  const fix = `Write expect: ${all.size}, or the names of the legs.`;
  return all.size > expected
    ? wrong('expect-count', `${message}: what is too many is refused (52).`, fix)
    : doubtful('expect-count', `${message}: what is missing abstains.`, fix);
}

/** What makes the votes of a leg differ in what they are asked: the merge refuses such votes. */
export function votePrompt(step: Step): { readonly key: string; readonly fault: Fault } | null {
  const vote = keyOf(withOf(step, 'vote'));
  if (vote === null || keyOf(withOf(step, 'leg')) === vote) return null;
  const read = new RegExp(`\\bmatrix\\.${vote}(?![\\w-])`, 'iu');
  const key = ['prompt', 'prompt-file', 'system-prompt', 'schema'].find((each) =>
    read.test(withOf(step, each) ?? ''),
  );
  return key === undefined ? null : { key, fault: askedApart };
}

/** Each name with each vote; null where one of them cannot be told. */
function pairsOf({ names, votes, step }: PlacedLeg): readonly (readonly [string, string])[] | null {
  const all = withOf(step, 'vote') === null ? [null] : votes;
  const [leg, vote] = [keyOf(withOf(step, 'leg')), keyOf(withOf(step, 'vote'))];
  if (names === null || all === null || (leg !== null && leg === vote)) return null;
  return names.flatMap((name) => all.map((vote) => [JSON.stringify([name, vote]), name] as const));
}

function countIn(text: string): number | null {
  try {
    const expected = parseExpectation(text);
    return expected.kind === 'envelopes' ? expected.count : null;
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

function keyOf(text: string | null): string | null {
  return /^\s*\$\{\{\s*matrix\.([\w-]+)\s*\}\}\s*$/u.exec(text ?? '')?.[1]?.toLowerCase() ?? null;
}

function twice(name: string): Fault {
  const message = `Another step has this leg ${JSON.stringify(name.slice(0, 100))} and vote too, and two verdicts of one leg and vote are refused (52).`;
  return wrong('leg-twice', message, 'Give it another leg, or another vote.');
}

const askedApart = wrong(
  'vote-prompt',
  'Every vote is asked something else here, and votes that were asked different questions are refused (52).',
  'Keep the vote out of it; what should differ is a leg.',
);
