/** Votes → legs: what belongs together, what is missing, and what makes the whole folder unbelievable. */

import { InputError } from '../errors.ts';
import { suggest } from '../text/messages.ts';
import type { Subject } from '../types.ts';
import { type Cast, quoted } from './cast.ts';

/** Which legs there must be. */
export type Expected =
  | { readonly kind: 'envelopes'; readonly count: number }
  | { readonly kind: 'legs'; readonly names: readonly string[] };

/** One leg and the last attempt of each of its votes, in the order of their names. */
export interface Leg {
  readonly name: string;
  readonly casts: readonly Cast[];
}

/** What the legs are held against. */
export interface LegsOptions {
  readonly expect: Expected;
  /** How many votes each leg has; null where that was not said, which is one. */
  readonly votes: number | null;
  /** What this merge is of; null outside GitHub. */
  readonly subject: Subject | null;
  /** Whether the legs may have judged another commit than the event's: what they checked out themselves. */
  readonly anyCommit: boolean;
}

/** Numbers in names by their value, and a total order: the same legs are always told alike. */
const collator = new Intl.Collator('en', { numeric: true });

/** Compares names. */
export function byName(one: string, other: string): number {
  return collator.compare(one, other) || (one < other ? -1 : one > other ? 1 : 0);
}

/**
 * Sorts the votes into legs. The later attempt of a vote replaces the earlier ones.
 * @throws InputError that names the files, for two envelopes of one vote, envelopes of another repository, commit or
 * run, more of them than expected, legs that nobody expects, and votes of one leg by different judges.
 */
export function legsOf(casts: readonly Cast[], options: LegsOptions): readonly Leg[] {
  const sorted = casts.toSorted((one, other) => byName(one.file, other.file));
  requireOneSubject(sorted, options);
  const groups = Map.groupBy(sorted, ({ leg }) => leg);
  const legs = [...groups]
    .map(([name, group]) => ({ name, casts: lastAttempts(name, group) }))
    .toSorted((one, other) => byName(one.name, other.name));
  requireExpected(legs, options);
  for (const leg of legs) requireOneJudge(leg);
  return legs;
}

function lastAttempts(name: string, group: readonly Cast[]): readonly Cast[] {
  const votes = Map.groupBy(group, ({ vote }) => vote);
  return [...votes.values()]
    .map((casts) => lastOf(name, casts))
    .toSorted((one, other) => byName(one.vote ?? '', other.vote ?? ''));
}

/** Also in an attempt that was replaced two are too many: they are two runs, and who was asked again replaces only one. */
function lastOf(name: string, casts: readonly Cast[]): Cast {
  let last: Cast | null = null;
  for (const [one, other] of Map.groupBy(casts, attemptOf).values()) {
    if (one === undefined) continue;
    if (other !== undefined) {
      const what = one.vote === null ? 'no vote' : `vote ${quoted(one.vote)}`;
      throw new InputError(
        'verdicts',
        `${quoted(one.file)} and ${quoted(other.file)} are both of leg ${quoted(name)}, with ${what}, in the same attempt. Give each run of a leg a vote of its own: vote: \${{ matrix.vote }}.`,
      );
    }
    if (last === null || attemptOf(one) > attemptOf(last)) last = one;
  }
  if (last === null) throw new Error('A group is never empty.');
  return last;
}

function attemptOf({ subject }: Cast): number {
  return subject?.run_attempt ?? 0;
}

/** All of one run on one commit; a verdict over anything else would be about nothing in particular. */
function requireOneSubject(casts: readonly Cast[], { subject, anyCommit }: LegsOptions): void {
  const first = casts[0];
  if (first === undefined) return;
  const own = subject ?? first.subject;
  const wanted: readonly (readonly [what: string, key: 'repository' | 'run_id' | 'sha', Subject | null])[] = [
    ['repository', 'repository', own],
    ['workflow run', 'run_id', own],
    // Where a run starts on the base branch the legs may judge what they checked out: then they must agree.
    ['commit', 'sha', anyCommit ? first.subject : own],
  ];
  for (const cast of casts) {
    for (const [what, key, reference] of wanted) {
      if (cast.subject?.[key] === reference?.[key]) continue;
      const theirs = cast.subject === null ? 'of none, made outside GitHub' : quoted(cast.subject[key]);
      const ours = reference === null ? 'of none' : quoted(reference[key]);
      const whose = reference === first.subject ? quoted(first.file) : 'this job';
      throw new InputError(
        'verdicts',
        `${quoted(cast.file)} is of another ${what}: ${theirs}, and ${whose} is of ${ours}. Download the verdicts of this run alone.`,
      );
    }
    requirePast(cast, subject);
  }
}

/** No leg can have run in an attempt that is yet to come. */
function requirePast(cast: Cast, subject: Subject | null): void {
  if (subject === null || attemptOf(cast) <= subject.run_attempt) return;
  throw new InputError(
    'verdicts',
    `${quoted(cast.file)} is of attempt ${attemptOf(cast)}, and this is attempt ${subject.run_attempt}: this run cannot have made it.`,
  );
}

function requireExpected(legs: readonly Leg[], { expect, votes }: LegsOptions): void {
  const most = votes ?? 1;
  for (const { name, casts } of legs) {
    if (casts.length <= most) continue;
    const hint =
      votes === null
        ? `Say how they count: votes: majority of ${casts.length}`
        : `votes says ${votes}: correct it, or the matrix.`;
    throw new InputError(
      'votes',
      `Leg ${quoted(name)} has ${casts.length} votes (${files(casts)}), more than expected. ${hint}`,
    );
  }
  if (expect.kind === 'legs') {
    const stranger = legs.find(({ name }) => !expect.names.includes(name));
    if (stranger === undefined) return;
    const [only = ''] = expect.names;
    const hint =
      expect.names.length === 1 && only.split(' ').includes(stranger.name)
        ? `expect is one name, ${quoted(only)}: put commas between the legs.`
        : `Add it to expect, or give that step another leg.${likely(stranger.name, expect.names)}`;
    throw new InputError(
      'expect',
      `${files(stranger.casts)} ${stranger.casts.length === 1 ? 'is' : 'are'} of leg ${quoted(stranger.name)}, which is not expected. ${hint}`,
    );
  }
  const limit = expect.count / most;
  if (legs.length <= limit) return;
  const names = legs.slice(0, 10).map(({ name, casts }) => `${quoted(name)} (${files(casts)})`);
  throw new InputError(
    'expect',
    `There are ${legs.length} legs, ${names.join(', ')}${legs.length > 10 ? ' and more' : ''}, and expect: ${expect.count} is a number of envelopes: ${limit} ${limit === 1 ? 'leg' : 'legs'}${votes === null ? '' : ` of ${votes} votes`}. Correct expect, or the download.`,
  );
}

/** Legs may have judges of their own; the votes of one leg are about the same question. */
function requireOneJudge({ name, casts }: Leg): void {
  const judged = casts.filter(({ ballot }) => ballot !== 'abstain');
  const [first] = judged;
  if (first === undefined) return;
  const parts = [
    ['schema', 'schema_sha256'],
    ['gate', 'gate_sha256'],
    ['prompt', 'prompt_sha256'],
    ['version of structured-agent', 'version'],
  ] as const;
  for (const cast of judged) {
    const differing = parts.filter(([, key]) => cast.policy[key] !== first.policy[key]).map(([what]) => what);
    if (differing.length === 0) continue;
    throw new InputError(
      'verdicts',
      `The votes of leg ${quoted(name)} have different judges: ${quoted(first.file)} and ${quoted(cast.file)} differ in ${differing.join(', ')}. Votes on one question need one judge; other questions are legs of their own.`,
    );
  }
}

function likely(name: string, expected: readonly string[]): string {
  const near = suggest(name, [...expected]);
  return near.length === 0 ? '' : ` Did you mean ${near.map(quoted).join(' or ')}?`;
}

function files(casts: readonly Cast[]): string {
  const named = casts.slice(0, 5).map(({ file }) => quoted(file));
  return `${named.join(', ')}${casts.length > 5 ? ` and ${casts.length - 5} more` : ''}`;
}
