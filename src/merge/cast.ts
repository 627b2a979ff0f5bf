/** One envelope → one vote as it counts: whether that run passes, fails or abstains, and why. */
import type { Gate } from '../contract/contract.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { InputError } from '../errors.ts';
import { type Finding, readFindings } from '../reporters/findings.ts';
import { resolvedPaths } from '../reporters/source-locations.ts';
import type { Conclusion, JsonObject, PolicyDigest, Reason, Subject, Usage } from '../types.ts';
import { clipped, type Known } from './clipped.ts';
import { type Kept, keep } from './kept.ts';
import type { Ballot, MergedVote } from './types.ts';

/** What a merge keeps of an envelope; its payload is let go. */
export interface Cast {
  /** Relative to the folder of the verdicts; a hostile name. */
  readonly file: string;
  readonly leg: string;
  readonly vote: string | null;
  readonly ballot: Ballot;
  readonly why: string | null;
  readonly conclusion: Conclusion;
  readonly reason: Reason;
  readonly turns: number;
  readonly rejections: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
  readonly model: string;
  readonly reused: boolean;
  readonly evidence: MergedVote['evidence'];
  readonly subject: Subject | null;
  readonly policy: PolicyDigest;
  /** None where it abstains. */
  readonly findings: Kept;
}

/** The inputs leg and vote take no longer ones. */
const MAX_NAME = 200;
const MAX_TEXT = 500;
/** Names of legs and votes are shorter, and so are those of files that anybody gave. */
const MAX_QUOTED = 300;
/** No run takes so much, and sums of what files claim stay exact: of turns and tokens, and of US dollars. */
const MAX_COUNT = 1e11;
const MAX_COST = 10_000;

/** What a payload must hold for its run to pass; null for what the run itself was told, or says. */
export type LegGate = Gate | null;

/**
 * Reads a vote out of an envelope.
 * @param known where long texts are cut, so that no secret is left in half.
 * @throws InputError where the envelope does not say which leg it is of, or nothing says whether its payload passes.
 */
export function castOf(envelope: Envelope, gate: LegGate, known: Known): Cast {
  const { file, leg, payload } = envelope;
  if (envelope.merged) {
    throw new InputError(
      'verdicts',
      `${quoted(file)} is the envelope of a merge, and no leg's. Download the artifacts of the legs alone.`,
    );
  }
  if (leg === null) {
    throw new InputError(
      'verdicts',
      `${quoted(file)} does not say which leg it is of. Give the step that wrote it an input leg, for example leg: \${{ matrix.leg }}.`,
    );
  }
  for (const name of [leg, envelope.vote ?? '']) {
    if (name.length <= MAX_NAME) continue;
    throw new InputError(
      'verdicts',
      `${quoted(file)} has a leg or a vote with a name of ${name.length} characters: ${quoted(name)}. Names have at most ${MAX_NAME}.`,
    );
  }
  const missing = abstention(envelope);
  const said = missing !== null || payload === null ? null : judge(envelope, leg, payload, gate);
  return {
    file,
    leg,
    vote: envelope.vote,
    ballot: said?.ballot ?? 'abstain',
    why: clipped(said === null ? missing : withSummary(said.why, payload), MAX_TEXT, known),
    conclusion: envelope.conclusion,
    reason: envelope.reason,
    turns: bounded(envelope.turns),
    rejections: bounded(envelope.rejections),
    usage: boundedUsage(envelope.usage),
    costUsd: (envelope.costUsd ?? 0) > MAX_COST ? null : envelope.costUsd,
    model: clipped(envelope.model, MAX_TEXT, known),
    reused: envelope.reuse !== null && envelope.reuse.from !== null,
    evidence: lookedOf(envelope),
    subject: envelope.subject,
    policy: envelope.policy,
    findings: keep(said === null || payload === null ? [] : foundIn(envelope, payload), known),
  };
}

/** The evidence without what is said of each finding, which would have to be kept of every run. */
function lookedOf({ evidence }: Envelope): MergedVote['evidence'] {
  return evidence === null ? null : { context: evidence.context, toolCalls: bounded(evidence.toolCalls) };
}

/** The findings at the paths that the run itself has resolved; as they are written where it says nothing of them. */
function foundIn({ evidence }: Envelope, payload: JsonObject): readonly Finding[] {
  const resolved = resolvedPaths(payload, evidence?.findings ?? []);
  return readFindings(payload).map((finding) => {
    const { place } = finding;
    const path = place === null ? null : (resolved.get(place.path) ?? null);
    return place === null || path === null ? finding : { ...finding, place: { ...place, path } };
  });
}

/** Why a vote fails, in its own words too where its payload has a `summary`; its findings are told elsewhere. */
function withSummary(why: string | null, payload: JsonObject | null): string | null {
  const summary = payload !== null && Object.hasOwn(payload, 'summary') ? payload['summary'] : null;
  if (why === null || typeof summary !== 'string' || summary.trim() === '') return why;
  return `${why} It says: ${summary.trim()}`;
}

/** Why an envelope gives no vote; null where it gives one. */
function abstention({ conclusion, payload, replayed, error, contradiction }: Envelope): string | null {
  if (contradiction !== null)
    return `Its envelope contradicts itself in ${contradiction}: it was changed after the run.`;
  if (replayed) return 'A recording answered: no model judged it.';
  const judged = conclusion === 'success' || conclusion === 'failure';
  if (judged && payload !== null) return null;
  return error ?? 'It was cut off after its payload was accepted.';
}

function bounded(count: number): number {
  return Math.min(count, MAX_COUNT);
}

function boundedUsage(usage: Usage): Usage {
  return {
    inputTokens: bounded(usage.inputTokens),
    outputTokens: bounded(usage.outputTokens),
    cachedInputTokens: bounded(usage.cachedInputTokens),
    cacheWriteTokens: bounded(usage.cacheWriteTokens),
  };
}

/** A run whose own gate was not met never passes, whatever is asked of it here. */
function judge(
  envelope: Envelope,
  leg: string,
  payload: JsonObject,
  gate: LegGate,
): { readonly ballot: Ballot; readonly why: string | null } {
  if (envelope.conclusion === 'failure' || envelope.gate?.status === 'not_met')
    return { ballot: 'fail', why: 'Its own gate is not met.' };
  if (gate !== null) {
    const { status, words = [] } = gate.evaluate(payload);
    if (status !== 'not_met') return { ballot: 'pass', why: null };
    return { ballot: 'fail', why: `The gate is not met: it ${words.join('. It ')}.` };
  }
  if (envelope.gate?.status === 'met') return { ballot: 'pass', why: null };
  const passed = Object.hasOwn(payload, 'passed') ? payload['passed'] : undefined;
  if (passed === true) return { ballot: 'pass', why: null };
  if (passed === false) return { ballot: 'fail', why: '`passed` is false.' };
  throw new InputError(
    'gate',
    `gate is auto, and nothing says whether the payload of leg ${quoted(leg)} passes (${quoted(envelope.file)}): its step had no gate, and it has no boolean "passed". Set gate to what must hold, or to none.`,
  );
}

/** A name out of another job's file, for a message: cut between words alone, because half of a secret would be masked by nobody. */
export function quoted(text: string): string {
  return JSON.stringify(clipped(text, MAX_QUOTED));
}
