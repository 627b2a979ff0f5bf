/** The votes of a merge, read from envelopes and grouped into legs that belong to one run and were expected. */
import type { Gate } from '../contract/contract.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { InputError } from '../errors.ts';
import {
  type Finding,
  isDoubted,
  isProven,
  readFindings,
  readGroundedFindings,
} from '../reporters/findings.ts';
import { groundFindings } from '../reporters/grounding.ts';
import { resolvedPaths, squeezeLine } from '../reporters/source-locations.ts';
import type { CoverageCounts } from '../text/coverage.ts';
import { DISPLAY, LISTED, MERGE } from '../text/limits.ts';
import { suggest } from '../text/messages.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Conclusion, JsonObject, PolicyDigest, Reason, Subject, Usage } from '../types.ts';
import type { MergeConfig } from './config.ts';
import type { MergedVote, Outcome } from './types.ts';

/** The part of an envelope that a merge keeps; the payload is dropped. */
export interface Vote extends Omit<MergedVote, 'attempt' | 'url'> {
  /** Relative to the folder of envelopes; a hostile name. */
  readonly file: string;
  readonly leg: string;
  readonly conclusion: Conclusion;
  readonly reason: Reason;
  readonly rejections: number;
  readonly subject: Subject | null;
  readonly policy: PolicyDigest;
  /** The most severe findings; empty if the vote abstains. */
  readonly findings: readonly VoteFinding[];
  readonly findingsLeftOut: number;
}

/** A finding with texts of bounded length. */
export interface VoteFinding extends Omit<Finding, 'evidence' | 'quote'> {
  /** Its title or message, shortened. */
  readonly brief: string;
  /** The text of the file that proves it, without blanks; absent if it is not proven. */
  readonly proof?: string;
  /** Whether its run checked it and could not prove it. */
  readonly isDoubted?: boolean;
}

/** The gate that a payload must meet for its run to pass; null for the run's own gate, or its `passed`. */
export type LegGate = Gate | null;

/**
 * Reads a vote from an envelope.
 * @throws InputError if the envelope does not name its leg, or nothing states whether its payload passes.
 */
export function readVote(envelope: Envelope, gate: LegGate, secrets: Secrets): Vote {
  const { file, vote, payload, evidence } = envelope;
  const leg = requireLeg(envelope);
  const abstention = explainAbstention(envelope);
  const counts = abstention === null && payload !== null;
  const [outcome, reason] = counts
    ? evaluate(envelope, leg, payload, gate)
    : (['abstain', abstention] as const);
  const why = counts && reason !== null ? withSummary(reason, payload) : reason;
  const findings = counts ? locateFindings(envelope, payload) : [];
  const cut = <T extends string | null>(text: T, max: number) => boundText(text, max, secrets);
  return {
    ...{ file, leg, vote, outcome },
    why: cut(why, DISPLAY.reason),
    conclusion: envelope.conclusion,
    reason: envelope.reason,
    turns: bound(envelope.turns),
    rejections: bound(envelope.rejections),
    usage: boundUsage(envelope.usage),
    costUsd: (envelope.costUsd ?? 0) > MERGE.cost ? null : envelope.costUsd,
    model: cut(envelope.model, DISPLAY.reason),
    reused: false,
    // Without the evidence of each finding, which would have to be kept for every run.
    evidence: evidence && {
      context: evidence.context,
      toolCalls: bound(evidence.toolCalls),
      ...(evidence.coverage == null ? {} : { coverage: boundCoverage(evidence.coverage) }),
    },
    subject: envelope.subject,
    policy: envelope.policy,
    findings: findings.slice(0, MERGE.findingsOfRun).map(({ evidence: proof, quote, ...finding }) => ({
      ...finding,
      rule: cut(finding.rule, DISPLAY.sentence),
      title: cut(finding.title, DISPLAY.sentence),
      message: cut(finding.message, DISPLAY.message),
      brief: cut(finding.title ?? finding.message, DISPLAY.sentence),
      ...(proof === undefined || !isProven(proof) || quote == null
        ? {}
        : { proof: squeezeLine(quote).slice(0, MERGE.proof) }),
      ...(isDoubted(proof) ? { isDoubted: true } : {}),
    })),
    findingsLeftOut: Math.max(0, findings.length - MERGE.findingsOfRun),
  };
}

function requireLeg({ file, leg, vote, merged }: Envelope): string {
  if (merged) {
    throw new InputError(
      'verdicts',
      `${quoteName(file)} is the envelope of a merge, and no leg's. Download the artifacts of the legs alone.`,
    );
  }
  if (leg === null) {
    throw new InputError(
      'verdicts',
      `${quoteName(file)} does not say which leg it is of. Give the step that wrote it an input leg, for example leg: \${{ matrix.leg }}.`,
    );
  }
  const long = [leg, vote ?? ''].find((name) => name.length > MERGE.name);
  if (long === undefined) return leg;
  throw new InputError(
    'verdicts',
    `${quoteName(file)} has a leg or a vote with a name of ${long.length} characters: ${quoteName(long)}. Names have at most ${MERGE.name}.`,
  );
}

/** Returns why an envelope abstains; null if it does not. */
function explainAbstention({ conclusion, payload, replayed, error, contradiction }: Envelope): string | null {
  if (contradiction !== null)
    return `Its envelope contradicts itself in ${contradiction}: it was changed after the run.`;
  if (replayed) return 'A recording answered: no model judged it.';
  const isDecided = conclusion === 'success' || conclusion === 'failure';
  return isDecided && payload !== null ? null : (error ?? 'It was cut off after its payload was accepted.');
}

/** A run whose own gate was not met never passes, whatever gate is given here. */
function evaluate(
  { file, conclusion, gate: own }: Envelope,
  leg: string,
  payload: JsonObject,
  gate: LegGate,
): readonly [Outcome, why: string | null] {
  if (conclusion === 'failure' || own?.status === 'not_met') return ['fail', 'Its own gate is not met.'];
  if (gate !== null) {
    const { status, words = [] } = gate.evaluate(payload);
    return status === 'not_met'
      ? ['fail', `The gate is not met: it ${words.join('. It ')}.`]
      : ['pass', null];
  }
  if (own?.status === 'met') return ['pass', null];
  const passed = Object.hasOwn(payload, 'passed') ? payload['passed'] : undefined;
  if (passed === true) return ['pass', null];
  if (passed === false) return ['fail', '`passed` is false.'];
  throw new InputError(
    'gate',
    `gate is auto, and nothing says whether the payload of leg ${quoteName(leg)} passes (${quoteName(file)}): its step had no gate, and it has no boolean "passed". Set gate to what must hold, or to none.`,
  );
}

/** The reason why a vote fails, followed by the payload's `summary` if it has one. */
function withSummary(why: string, payload: JsonObject): string {
  const summary = Object.hasOwn(payload, 'summary') ? payload['summary'] : null;
  return typeof summary === 'string' && summary.trim() !== '' ? `${why} It says: ${summary.trim()}` : why;
}

/** Returns the findings at the paths that the run itself resolved, or as written if it did not. */
function locateFindings({ evidence }: Envelope, payload: JsonObject): readonly Finding[] {
  const grounded = groundFindings(payload, evidence);
  if (grounded.byRow.size > 0) return readGroundedFindings(grounded.payload, grounded.byRow);
  const resolved = resolvedPaths(payload, evidence?.findings ?? []);
  return readFindings(payload).map((finding) => {
    const { place } = finding;
    const path = place === null ? null : (resolved.get(place.path) ?? null);
    return place === null || path === null ? finding : { ...finding, place: { ...place, path } };
  });
}

function bound(count: number): number {
  return Math.min(count, MERGE.count);
}

function boundCoverage({ status, files }: CoverageCounts): CoverageCounts {
  return {
    status,
    files: { required: bound(files.required), shown: bound(files.shown) },
  };
}

function boundUsage(usage: Usage): Usage {
  return {
    inputTokens: bound(usage.inputTokens),
    outputTokens: bound(usage.outputTokens),
    cachedInputTokens: bound(usage.cachedInputTokens),
    cacheWriteTokens: bound(usage.cacheWriteTokens),
  };
}

/**
 * Quotes a name from another job's file for a message. The message is masked later, so the name is truncated only
 * between words, to avoid splitting a secret.
 */
export function quoteName(text: string): string {
  return JSON.stringify(text.length <= DISPLAY.path ? text : cutAt(text, DISPLAY.path, /\s/u));
}

/**
 * A character that no key or token contains: whitespace, a bracket, a quote, a semicolon, or a letter of a non-Latin
 * script. Invisible characters do not count as seams: they may occur within a token and are removed later.
 */
const SEAM = /\s|[()[\]{}<>"'`;]|[^\x21-\x7e\p{Script=Latin}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/**
 * Truncates another job's text to at most `max` characters and an ellipsis. Short secrets are masked before truncation;
 * a text with a known secret in its beginning is left unchanged, because the payload is then not published
 * (`secret_in_payload`).
 * Anything that merely looks like a key is kept or dropped as a whole: the runner's log masks secrets that this step
 * does not know.
 */
export function boundText<T extends string | null>(
  text: T,
  max: number,
  secrets: Pick<Secrets, 'find' | 'mask' | 'longest'>,
): T | string {
  if (text === null || text.length <= max) return text;
  // Far longer than `max`: what is behind it is left out anyway, and searching megabytes would take seconds.
  const beginning = text.slice(0, max + Math.max(DISPLAY.sanitized, secrets.longest()));
  return secrets.find(beginning) === null ? cutAt(secrets.mask(beginning), max, SEAM) : text;
}

/** Walks backwards: a regular expression that searches for the last seam takes quadratic time. */
function cutAt(text: string, max: number, seam: RegExp): string {
  let end = max;
  while (end > 0 && !isSeam(text, end, seam)) end -= 1;
  // Copy the slice: V8 keeps the whole text in memory as long as a slice of it exists.
  return `${Buffer.from(text.slice(0, end).trimEnd()).toString()}…`;
}

function isSeam(text: string, end: number, seam: RegExp): boolean {
  const [behind = ''] = text.slice(end, end + 2);
  const [before = ''] = [...text.slice(Math.max(0, end - 2), end)].toReversed();
  const isSplit = !before.isWellFormed() && (before + text.charAt(end)).isWellFormed();
  return !isSplit && (seam.test(before) || seam.test(behind));
}

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
