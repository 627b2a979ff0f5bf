/** Reads the vote of one run from its envelope, which another job wrote. */
import path from 'node:path';
import { MAX_LEG_NAME } from '../config/values.ts';
import type { Gate } from '../contract/contract.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { InputError } from '../errors.ts';
import { type Finding, readFindings } from '../reporters/findings.ts';
import { findWeaknesses } from '../reporters/sentences.ts';
import { readFlag, readText } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { quote, truncate } from '../text/messages.ts';
import type { Secrets } from '../text/secrets.ts';
import type { JsonObject, PolicyDigest, Subject } from '../types.ts';
import type { MergedFinding, MergedVote, VoteOutcome } from './types.ts';

/** Findings of one run, and of a merge: more than a reader would go through. */
export const MAX_FINDINGS = 200;

/** The part of an envelope that a merge keeps; the payload is dropped. */
export interface Vote extends MergedVote {
  /** Relative to the folder of envelopes; a hostile name. */
  readonly file: string;
  readonly leg: string;
  readonly subject: Subject | null;
  readonly policy: PolicyDigest;
  /** The most severe findings; empty if the vote abstains. */
  readonly findings: readonly VoteFinding[];
  readonly findingsLeftOut: number;
}

export interface VoteFinding extends Omit<MergedFinding, 'legs' | 'votes' | 'outvoted'> {
  /** Whether `rule` is only a category, of which one place may have several findings. */
  readonly isKind: boolean;
}

/** Quotes a name from another job's file for a message. */
export function quoteName(text: string): string {
  return quote(text, DISPLAY.path);
}

export interface VoteOptions {
  /** The gate that a payload must meet for its run to pass; null for the run's own gate, or its `passed`. */
  readonly gate: Gate | null;
  readonly secrets: Pick<Secrets, 'mask'>;
}

/**
 * Reads a vote from an envelope. Its texts are masked and cut.
 * @throws InputError if the envelope does not name its leg, or nothing states whether its payload passes.
 */
export function readVote(file: string, envelope: Envelope, { gate, secrets }: VoteOptions): Vote {
  const { vote, structured_output: payload = null, evidence, conclusion, reason, usage, subject } = envelope;
  // Mask before cutting: half a secret is not recognized. Megabytes are not searched for what is cut anyway.
  const cut: Cut = (text, max) =>
    text === null ? text : truncate(secrets.mask(text.slice(0, max + DISPLAY.sanitized)), max);
  const leg = requireLeg(file, envelope);
  const abstention = explainAbstention(envelope);
  const counts = abstention === null && payload !== null;
  const [outcome, why] = counts
    ? evaluate(file, envelope, leg, payload, gate)
    : (['abstain', abstention] as const);
  const findings = counts ? readFindings(payload, evidence) : [];
  return {
    ...{ file, leg, vote, outcome, conclusion, reason, usage, subject },
    turns: envelope.num_turns,
    costUsd: envelope.total_cost_usd,
    why: cut(why, DISPLAY.reason),
    model: cut(envelope.model, DISPLAY.phrase),
    weaknesses: evidence === null ? [] : findWeaknesses(evidence, counts),
    policy: envelope.judge,
    attempt: subject?.run_attempt ?? null,
    findings: findings.slice(0, MAX_FINDINGS).map((finding) => readFinding(finding, cut)),
    findingsLeftOut: Math.max(0, findings.length - MAX_FINDINGS),
  };
}

type Cut = <T extends string | null>(text: T, max: number) => T | string;

function readFinding({ place, severity, isKind, isDoubted, ...texts }: Finding, cut: Cut): VoteFinding {
  return {
    severity,
    isKind,
    path: place === null ? null : path.posix.normalize(place.path.replaceAll('\\', '/')),
    line: place?.line ?? null,
    endLine: place?.endLine ?? null,
    rule: cut(texts.rule, DISPLAY.sentence),
    title: cut(texts.title, DISPLAY.sentence),
    message: cut(texts.message, DISPLAY.cell),
    doubted: isDoubted,
  };
}

function requireLeg(file: string, { leg, vote, merged }: Envelope): string {
  const refuse = (why: string) => new InputError('verdicts', `${quoteName(file)} ${why}`);
  if (merged !== undefined)
    throw refuse('is the envelope of a merge and not of a leg. Download the artifacts of the legs alone.');
  if (leg === null)
    throw refuse(
      'does not say which leg it is of. Give the step that wrote it an input leg, for example leg: ${{ matrix.leg }}.',
    );
  if (Math.max(leg.length, vote?.length ?? 0) > MAX_LEG_NAME)
    throw refuse(`names a leg or a vote with more than ${MAX_LEG_NAME} characters. Shorten the name.`);
  return leg;
}

/** Returns why an envelope abstains; null if it does not. */
function explainAbstention({ conclusion, structured_output, replayed, error }: Envelope): string | null {
  if (replayed === true) return 'A recording answered: no model judged it.';
  if (structured_output !== undefined && (conclusion === 'success' || conclusion === 'failure')) return null;
  return error ?? 'It was cut off after its payload was accepted.';
}

/** A run whose own gate was not met never passes, whatever gate is given here. */
function evaluate(
  file: string,
  { conclusion, gate: own }: Envelope,
  leg: string,
  payload: JsonObject,
  gate: Gate | null,
): readonly [VoteOutcome, why: string | null] {
  const summary = (readText(payload, 'summary') ?? '').trim();
  const fail = (why: string) => ['fail', summary === '' ? why : `${why} It says: ${summary}`] as const;
  if (conclusion === 'failure' || own?.status === 'not_met') return fail('Its own gate is not met.');
  if (gate !== null) {
    const { status, issues } = gate.evaluate(payload);
    const clauses = issues.map(({ message }) => message);
    return status === 'not_met' ? fail(`The gate is not met: ${clauses.join('; ')}.`) : ['pass', null];
  }
  if (own?.status === 'met') return ['pass', null];
  if (readFlag(payload, 'passed')) return ['pass', null];
  if (Object.hasOwn(payload, 'passed') && payload['passed'] === false) return fail('`passed` is false.');
  throw new InputError(
    'gate',
    `The value is auto, and nothing says whether the payload of leg ${quoteName(leg)} passes (${quoteName(file)}): its step had no gate, and it has no boolean "passed". Set it to what must hold, or to off.`,
  );
}
