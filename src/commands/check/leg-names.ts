/** Whether the legs that there are bear the names that a merge expects, as far as both are written out. */

import { InputError } from '../../errors.ts';
import { parseExpectation, parseVotes } from '../../merge/rule-inputs.ts';
import { suggest } from '../../text/messages.ts';
import { doubtful, type Fault, wrong } from './finding.ts';
import type { MergeStepInputs } from './merge-step.ts';
import type { Job } from './workflow.ts';
import { valueAt } from './yaml-file.ts';

/** A leg as its step names it: every name that it takes; null where nobody can say which. */
export interface NamedLeg {
  readonly names: readonly string[] | null;
  readonly votes: readonly string[] | null;
}

/** The names of legs that a merge expects; null where that is a number, unknown or wrong. */
export function expectedLegs(inputs: MergeStepInputs): readonly string[] | null {
  const text = inputs.get('expect');
  if (typeof text !== 'string') return null;
  const expected = known(() => parseExpectation(text));
  return expected?.kind === 'legs' ? expected.names : null;
}

/** How many votes a merge expects of each leg; null where that is unknown or wrong. */
export function expectedVotes(inputs: MergeStepInputs): number | null {
  const text = inputs.get('votes');
  if (text === null) return 1;
  return text === undefined ? null : (known(() => parseVotes(text))?.count ?? null);
}

/** The values that an input takes in a job: itself, or those of the matrix; null where they cannot be told. */
export function valuesIn(job: Job, text: string): readonly string[] | null {
  if (!text.includes('${{')) return [tidy(text)];
  const key = /^\s*\$\{\{\s*matrix\.([\w-]+)\s*\}\}\s*$/u.exec(text)?.[1]?.toLowerCase();
  const matrix = valueAt(valueAt(job.node, 'strategy'), 'matrix');
  if (key === undefined || matrix?.kind !== 'map' || valueAt(matrix, 'exclude') !== null) return null;
  const found: string[] = [];
  for (const entry of matrix.entries) {
    if (entry.key.toLowerCase() === key) {
      if (entry.value.kind !== 'list') return null;
      for (const item of entry.value.items) {
        if (item.kind !== 'scalar' || item.text.includes('${{')) return null;
        found.push(tidy(item.text));
      }
    } else if (entry.key === 'include') {
      if (entry.value.kind !== 'list') return null;
      for (const item of entry.value.items) {
        const value = valueAt(item, key);
        if (value?.kind === 'scalar') found.push(tidy(value.text));
      }
    }
  }
  return found.length === 0 ? null : [...new Set(found)];
}

/** The votes that every leg of a job has; null where they cannot be told, or where legs may have votes of their own. */
export function votesIn(job: Job, text: string): readonly string[] | null {
  const matrix = valueAt(valueAt(job.node, 'strategy'), 'matrix');
  return matrix !== null && valueAt(matrix, 'include') !== null ? null : valuesIn(job, text);
}

/** What is wrong with the name of one leg. */
export function strangerFault({ names }: NamedLeg, expected: readonly string[] | null): Fault | null {
  const stranger = expected === null ? undefined : names?.find((name) => !expected.includes(name));
  if (stranger === undefined || expected === null) return null;
  const near = suggest(stranger, [...expected]);
  const message = `The merge expects no leg ${JSON.stringify(stranger.slice(0, 100))}, and refuses it (52).`;
  const fix = near.length === 0 ? 'Add it to expect.' : `Did you mean ${near.join(' or ')}?`;
  return wrong('leg-unexpected', message, fix);
}

/** What is wrong with the votes of one leg. */
export function votesFault({ votes }: NamedLeg, expected: number | null): Fault | null {
  if (votes === null || expected === null || votes.length === expected || votes.length < 2) return null;
  const count = `Here a leg has ${votes.length} votes, and the merge expects ${expected}`;
  const fix = 'Let votes of the merge say how many there are.';
  return votes.length > expected
    ? wrong('leg-votes', `${count}: it refuses what is too many (52).`, fix)
    : doubtful('leg-votes', `${count}: what is missing abstains.`, fix);
}

/** The names that no leg bears; empty where nobody can say which there are. */
export function missingLegs(
  legs: readonly NamedLeg[],
  expected: readonly string[] | null,
): readonly string[] {
  const names = legs.flatMap((leg) => leg.names ?? []);
  if (expected === null || legs.length === 0 || legs.some((leg) => leg.names === null)) return [];
  return expected.filter((name) => !names.includes(name));
}

/** As the input `leg` is read. */
function tidy(text: string): string {
  return text.trim().replace(/\s+/gu, ' ');
}

function known<T>(task: () => T): T | null {
  try {
    return task();
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}
