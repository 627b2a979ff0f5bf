/** Groups votes into legs, and requires that they belong to one run and were expected. */
import { InputError } from '../errors.ts';
import { LISTED } from '../text/limits.ts';
import { suggest } from '../text/messages.ts';
import type { Subject } from '../types.ts';
import type { MergeConfig } from './config.ts';
import { quoteName, type Vote } from './read-vote.ts';
import { listed } from './words.ts';

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

const collator = new Intl.Collator('en', { numeric: true });

/** Compares numbers in names by value. The order is total: the same legs always come in the same order. */
export function byName(one: string, other: string): number {
  return collator.compare(one, other) || (one < other ? -1 : one > other ? 1 : 0);
}

/**
 * Groups the votes into legs. A later attempt of a vote replaces earlier ones.
 * @throws InputError that names the files, for two envelopes of one vote, envelopes of another repository, commit or
 * run, unexpected legs, more votes than expected, and votes of one leg under different policies.
 */
export function groupLegs(votes: readonly Vote[], options: LegsOptions): readonly Leg[] {
  const sorted = votes.toSorted((one, other) => byName(one.file, other.file));
  requireOneSubject(sorted, options);
  const legs = [...Map.groupBy(sorted, ({ leg }) => leg)]
    .map(([name, group]) => ({ name, votes: keepLastAttempts(name, group) }))
    .toSorted((one, other) => byName(one.name, other.name));
  for (const leg of legs) {
    requireExpectedVotes(leg, options);
    requireExpectedLeg(leg, options);
    requireOnePolicy(leg);
  }
  return legs;
}

/** Two envelopes of one vote are an error even in a replaced attempt: they are two runs, and only one is replaced. */
function keepLastAttempts(leg: string, group: readonly Vote[]): readonly Vote[] {
  const last = new Map<string | null, Vote>();
  for (const vote of group.toSorted((one, other) => (one.attempt ?? 0) - (other.attempt ?? 0))) {
    const earlier = last.get(vote.vote);
    if (earlier !== undefined && earlier.attempt === vote.attempt) {
      const which = vote.vote === null ? 'no vote' : `vote ${quoteName(vote.vote)}`;
      throw new InputError(
        'verdicts',
        `${quoteName(earlier.file)} and ${quoteName(vote.file)} are both of leg ${quoteName(leg)}, with ${which}, in the same attempt. Give each run of a leg a vote of its own: vote: \${{ matrix.vote }}.`,
      );
    }
    last.set(vote.vote, vote);
  }
  return [...last.values()].toSorted((one, other) => byName(one.vote ?? '', other.vote ?? ''));
}

const SUBJECT_WORDS = { repository: 'repository', run_id: 'workflow run', sha: 'commit' } as const;

/** Requires all votes to be of one run on one commit; a verdict over a mixture would have no definite subject. */
function requireOneSubject(votes: readonly Vote[], { subject, anyCommit }: LegsOptions): void {
  const [first] = votes;
  const own = subject ?? first?.subject ?? null;
  // If the run started on the base branch, legs may judge what they checked out, but must agree on it.
  const wanted = own && { ...own, sha: (anyCommit ? first?.subject?.sha : null) ?? own.sha };
  const keys = ['repository', 'run_id', 'sha'] as const;
  for (const { file, subject: theirs, attempt } of votes) {
    const refuse = (why: string) => new InputError('verdicts', `${quoteName(file)} is of ${why}`);
    const key = keys.find((each) => theirs?.[each] !== wanted?.[each]);
    if (key !== undefined) {
      const [is, was] = [theirs, wanted].map((of) => (of === null ? 'none' : quoteName(of[key])));
      throw refuse(
        `another ${SUBJECT_WORDS[key]}: ${is} instead of ${was}. Download the verdicts of this run alone.`,
      );
    }
    // A vote cannot come from a future attempt.
    if (subject !== null && (attempt ?? 0) > subject.run_attempt)
      throw refuse(
        `attempt ${attempt}, and this is attempt ${subject.run_attempt}: this run cannot have made it.`,
      );
  }
}

function requireExpectedVotes(leg: Leg, { votes }: LegsOptions): void {
  const { length } = leg.votes;
  if (length <= (votes?.count ?? 1)) return;
  const hint =
    votes === null
      ? `Say how they count: votes: majority of ${length}`
      : `votes says ${votes.count}: correct it, or the matrix.`;
  throw new InputError(
    'votes',
    `Leg ${quoteName(leg.name)} has ${length} votes (${listFiles(leg)}), more than expected. ${hint}`,
  );
}

function requireExpectedLeg(leg: Leg, { expect }: LegsOptions): void {
  if (expect.includes(leg.name)) return;
  const near = suggest(leg.name, expect).map(quoteName);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.join(' or ')}?`;
  throw new InputError(
    'expect',
    `${listFiles(leg)}: leg ${quoteName(leg.name)} is not expected. Add it to expect, or give that step another leg.${hint}`,
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
  return listed(
    votes.map(({ file }) => quoteName(file)),
    LISTED.some,
  );
}
