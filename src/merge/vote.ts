/** Converts an envelope to a vote: whether the run passes, fails or abstains, and why. */
import type { Gate } from '../contract/contract.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { InputError } from '../errors.ts';
import { type Finding, readFindings } from '../reporters/findings.ts';
import { resolvedPaths } from '../reporters/source-locations.ts';
import { DISPLAY, MERGE } from '../text/limits.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Conclusion, JsonObject, PolicyDigest, Reason, Subject, Usage } from '../types.ts';
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
export interface VoteFinding extends Finding {
  /** Its title or message, shortened. */
  readonly brief: string;
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
    reused: envelope.reuse !== null && envelope.reuse.from !== null,
    // Without the evidence of each finding, which would have to be kept for every run.
    evidence: evidence && { context: evidence.context, toolCalls: bound(evidence.toolCalls) },
    subject: envelope.subject,
    policy: envelope.policy,
    findings: findings.slice(0, MERGE.findingsOfRun).map((finding) => ({
      ...finding,
      rule: cut(finding.rule, DISPLAY.sentence),
      title: cut(finding.title, DISPLAY.sentence),
      message: cut(finding.message, DISPLAY.message),
      brief: cut(finding.title ?? finding.message, DISPLAY.sentence),
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
  secrets: Pick<Secrets, 'find' | 'mask'>,
): T | string {
  if (text === null || text.length <= max) return text;
  // Far longer than `max`: what is behind it is left out anyway, and searching megabytes would take seconds.
  const beginning = text.slice(0, max + DISPLAY.sanitized);
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
