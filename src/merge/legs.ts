/** Groups votes into legs, and checks that they belong to one run and were expected. */
import { InputError } from '../errors.ts';
import { LISTED } from '../text/limits.ts';
import { suggest } from '../text/messages.ts';
import type { Subject } from '../types.ts';
import type { MergeConfig } from './config.ts';
import { quoteName, type Vote } from './vote.ts';

/** One leg with the last attempt of each of its votes, ordered by name. */
export interface Leg {
  readonly name: string;
  readonly votes: readonly Vote[];
}

export interface LegsOptions extends Pick<MergeConfig, 'expect' | 'votes'> {
  /** The run being merged; null outside GitHub. */
  readonly subject: Subject | null;
  /** Whether the legs may have judged a commit other than the event's, namely what they checked out themselves. */
  readonly anyCommit: boolean;
}

/**
 * Compares numbers in names by value. `byName` makes the order total, so the same legs always come in the same order.
 */
const collator = new Intl.Collator('en', { numeric: true });

export function byName(one: string, other: string): number {
  return collator.compare(one, other) || (one < other ? -1 : one > other ? 1 : 0);
}

/**
 * Groups the votes into legs. A later attempt of a vote replaces earlier ones.
 * @throws InputError that names the files, for two envelopes of one vote, envelopes of another repository, commit or
 * run, more envelopes than expected, unexpected legs, and votes of one leg under different policies.
 */
export function groupLegs(votes: readonly Vote[], options: LegsOptions): readonly Leg[] {
  const sorted = votes.toSorted((one, other) => byName(one.file, other.file));
  requireOneSubject(sorted, options);
  const legs = [...Map.groupBy(sorted, ({ leg }) => leg)]
    .map(([name, group]) => ({ name, votes: keepLastAttempts(name, group) }))
    .toSorted((one, other) => byName(one.name, other.name));
  requireExpectedVotes(legs, options);
  requireExpectedLegs(legs, options);
  for (const leg of legs) requireOnePolicy(leg);
  return legs;
}

function keepLastAttempts(leg: string, group: readonly Vote[]): readonly Vote[] {
  return [...Map.groupBy(group, ({ vote }) => vote).values()]
    .flatMap((attempts) => findLast(leg, attempts) ?? [])
    .toSorted((one, other) => byName(one.vote ?? '', other.vote ?? ''));
}

/**
 * Two envelopes of one vote are an error even in a replaced attempt: they are two runs, and a later attempt replaces
 * only one.
 */
function findLast(leg: string, attempts: readonly Vote[]): Vote | null {
  let last: Vote | null = null;
  for (const [one, other] of Map.groupBy(attempts, attemptOf).values()) {
    if (one === undefined) continue;
    if (other !== undefined) {
      const which = one.vote === null ? 'no vote' : `vote ${quoteName(one.vote)}`;
      throw new InputError(
        'verdicts',
        `${quoteName(one.file)} and ${quoteName(other.file)} are both of leg ${quoteName(leg)}, with ${which}, in the same attempt. Give each run of a leg a vote of its own: vote: \${{ matrix.vote }}.`,
      );
    }
    if (last === null || attemptOf(one) > attemptOf(last)) last = one;
  }
  return last;
}

/** Returns the workflow run attempt of a vote; 0 outside GitHub. */
export function attemptOf({ subject }: Vote): number {
  return subject?.run_attempt ?? 0;
}

/** Requires all votes to be of one run on one commit; a verdict over a mixture would have no definite subject. */
function requireOneSubject(votes: readonly Vote[], { subject, anyCommit }: LegsOptions): void {
  const first = votes[0];
  if (first === undefined) return;
  const own = subject ?? first.subject;
  const wanted: readonly (readonly [what: string, key: 'repository' | 'run_id' | 'sha', Subject | null])[] = [
    ['repository', 'repository', own],
    ['workflow run', 'run_id', own],
    // If the run started on the base branch, legs may judge what they checked out, but must agree on it.
    ['commit', 'sha', anyCommit ? first.subject : own],
  ];
  for (const vote of votes) {
    for (const [what, key, reference] of wanted) {
      if (vote.subject?.[key] === reference?.[key]) continue;
      const theirs = vote.subject === null ? 'of none, made outside GitHub' : quoteName(vote.subject[key]);
      const ours = reference === null ? 'of none' : quoteName(reference[key]);
      const whose = reference === first.subject ? quoteName(first.file) : 'this job';
      throw new InputError(
        'verdicts',
        `${quoteName(vote.file)} is of another ${what}: ${theirs}, and ${whose} is of ${ours}. Download the verdicts of this run alone.`,
      );
    }
    // A vote cannot come from a future attempt.
    if (subject !== null && attemptOf(vote) > subject.run_attempt)
      throw new InputError(
        'verdicts',
        `${quoteName(vote.file)} is of attempt ${attemptOf(vote)}, and this is attempt ${subject.run_attempt}: this run cannot have made it.`,
      );
  }
}

function requireExpectedVotes(legs: readonly Leg[], { votes }: LegsOptions): void {
  const most = votes?.count ?? 1;
  const over = legs.find((leg) => leg.votes.length > most);
  if (over === undefined) return;
  const { length } = over.votes;
  const hint =
    votes === null
      ? `Say how they count: votes: majority of ${length}`
      : `votes says ${most}: correct it, or the matrix.`;
  throw new InputError(
    'votes',
    `Leg ${quoteName(over.name)} has ${length} votes (${listFiles(over)}), more than expected. ${hint}`,
  );
}

function requireExpectedLegs(legs: readonly Leg[], { expect, votes }: LegsOptions): void {
  if (expect.kind === 'legs') {
    const stranger = legs.find(({ name }) => !expect.names.includes(name));
    if (stranger !== undefined) throw strangerError(stranger, expect.names);
    return;
  }
  const limit = expect.count / (votes?.count ?? 1);
  if (legs.length <= limit) return;
  const names = legs.slice(0, LISTED.several).map((leg) => `${quoteName(leg.name)} (${listFiles(leg)})`);
  throw new InputError(
    'expect',
    `There are ${legs.length} legs, ${names.join(', ')}${legs.length > 10 ? ' and more' : ''}, and expect: ${expect.count} is a number of envelopes: ${limit} ${limit === 1 ? 'leg' : 'legs'}${votes === null ? '' : ` of ${votes.count} votes`}. Correct expect, or the download.`,
  );
}

function strangerError(leg: Leg, expected: readonly string[]): InputError {
  const [only = ''] = expected;
  const near = suggest(leg.name, expected).map(quoteName);
  const hint =
    expected.length === 1 && only.split(' ').includes(leg.name)
      ? `expect is one name, ${quoteName(only)}: put commas between the legs.`
      : `Add it to expect, or give that step another leg.${near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`}`;
  return new InputError(
    'expect',
    `${listFiles(leg)} ${leg.votes.length === 1 ? 'is' : 'are'} of leg ${quoteName(leg.name)}, which is not expected. ${hint}`,
  );
}

/** Legs may have different policies, but all votes of one leg must answer the same question. */
function requireOnePolicy({ name, votes }: Leg): void {
  const [first, ...others] = votes.filter(({ outcome }) => outcome !== 'abstain');
  const parts = [
    ['schema', 'schema_sha256'],
    ['gate', 'gate_sha256'],
    ['prompt', 'prompt_sha256'],
    ['version of structured-agent', 'version'],
  ] as const;
  for (const vote of others) {
    const differing = parts
      .filter(([, key]) => vote.policy[key] !== first?.policy[key])
      .map(([what]) => what);
    if (first === undefined || differing.length === 0) continue;
    throw new InputError(
      'verdicts',
      `The votes of leg ${quoteName(name)} have different policies: ${quoteName(first.file)} and ${quoteName(vote.file)} differ in ${differing.join(', ')}. Votes on one question need one policy; other questions are legs of their own.`,
    );
  }
}

function listFiles({ votes }: Leg): string {
  const named = votes.slice(0, LISTED.some).map(({ file }) => quoteName(file));
  return `${named.join(', ')}${votes.length > LISTED.some ? ` and ${votes.length - LISTED.some} more` : ''}`;
}
