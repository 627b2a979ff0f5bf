/** The merged payload: what a merge publishes, as consumers of the outputs read it. */

import { MAX_PAYLOAD_BYTES, shellSafeJson } from '../reporters/inert-json.ts';
import { isArray, isObject } from '../text/json.ts';
import type { Json, JsonObject } from '../types.ts';
import { clipped, type Known } from './clipped.ts';
import type { Merged, MergedFinding } from './types.ts';

/** What of the votes is told, in characters; null leaves their list empty. */
type Shortening = { readonly why: number; readonly model: number } | null;

/** For findings the texts of the legs make room up to so many bytes. */
const ROOM_FOR_FINDINGS = MAX_PAYLOAD_BYTES / 4;
/** What is given up of the votes where they are too many or their texts too long, one step after the other. */
const SHORTENINGS: readonly Shortening[] = [
  { why: Number.POSITIVE_INFINITY, model: Number.POSITIVE_INFINITY },
  { why: 200, model: 200 },
  { why: 80, model: 100 },
];
/** The same where the legs alone do not fit: names stay whole, because whoever reads the output looks legs up by them. */
const LAST_SHORTENINGS: readonly Shortening[] = [{ why: 0, model: 100 }, null];

/**
 * The payload of a merge that came to a verdict. It fits into the output of a step, shell-safe as it stands there:
 * findings get what the legs leave, and where many long texts leave them less than a quarter of it, those are shortened.
 * Only with thousands of legs, which no matrix has, it may be longer.
 * @param counted `rule`, `votes`, `tally` and `legs` as the envelope tells them.
 * @param known where texts are shortened, so that no secret is left in half.
 */
export function payloadOf(merged: Merged, counted: JsonObject, known: Known): JsonObject {
  const findings = merged.findings.map(findingJson);
  const sizes = findings.map((finding) => bytesOf(finding) + ','.length);
  const build = (legs: Json, shown: number): JsonObject => ({
    passed: merged.ballot === 'pass',
    summary: merged.summary,
    ...counted,
    legs,
    findings: findings.slice(0, shown),
    findings_left_out: merged.findingsLeftOut + findings.length - shown,
    total: totalOf(merged),
  });
  const room = Math.min(
    ROOM_FOR_FINDINGS,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  const { legs, bytes } = shortened(
    counted['legs'] ?? [],
    (shorter) => bytesOf(build(shorter, 0)),
    room,
    known,
  );
  return build(legs, countOf(sizes, MAX_PAYLOAD_BYTES - bytes));
}

/** The legs in as many words as leave that room, or else fit at all; and the size of the payload with them and no finding. */
function shortened(
  legs: Json,
  sizeWith: (legs: Json) => number,
  room: number,
  known: Known,
): { readonly legs: Json; readonly bytes: number } {
  const ways = [
    ...SHORTENINGS.map((way) => ({ way, most: MAX_PAYLOAD_BYTES - room })),
    ...LAST_SHORTENINGS.map((way) => ({ way, most: MAX_PAYLOAD_BYTES })),
  ];
  let last = { legs, bytes: 0 };
  for (const { way, most } of ways) {
    const shorter = objectsOf(legs).map((leg) => shortLeg(leg, way, known));
    last = { legs: shorter, bytes: sizeWith(shorter) };
    if (last.bytes <= most) break;
  }
  return last;
}

function shortLeg(leg: JsonObject, way: Shortening, known: Known): JsonObject {
  const votes = way === null ? [] : objectsOf(leg['votes']).map((vote) => shortVote(vote, way, known));
  return { ...leg, votes };
}

function shortVote(vote: JsonObject, { why, model }: NonNullable<Shortening>, known: Known): JsonObject {
  return {
    ...vote,
    why: why === 0 ? null : shortText(vote['why'], why, known),
    model: shortText(vote['model'], model, known),
  };
}

function shortText(text: Json | undefined, max: number, known: Known): Json {
  return typeof text === 'string' ? clipped(text, max, known) : (text ?? null);
}

function objectsOf(list: Json | undefined): readonly JsonObject[] {
  return isArray(list) ? list.filter(isObject) : [];
}

/** As a step's output has them. */
function bytesOf(value: Json): number {
  return Buffer.byteLength(shellSafeJson(value));
}

/** How many of the first ones have no more than so many bytes. */
function countOf(sizes: readonly number[], most: number): number {
  let left = most;
  const over = sizes.findIndex((size) => {
    left -= size;
    return left < 0;
  });
  return over === -1 ? sizes.length : over;
}

function totalOf({ turns, usage, costUsd }: Merged): JsonObject {
  return {
    turns,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cost_usd: costUsd,
  };
}

/** What a run did not say is not there, and `outvoted` only where it is true. */
function findingJson(finding: MergedFinding): JsonObject {
  const { severity, path, line, endLine, rule, title, message, legs, votes, outvoted } = finding;
  return {
    severity,
    ...given('path', path),
    ...given('line', line),
    ...given('end_line', endLine),
    ...given('rule', rule),
    ...given('title', title),
    message,
    legs,
    votes,
    ...(outvoted ? { outvoted } : {}),
  };
}

function given(name: string, value: string | number | null): JsonObject {
  return value === null ? {} : { [name]: value };
}
