/** Converts the JSON of an envelope to typed values. */
import { isDeepStrictEqual } from 'node:util';
import type { Evidence, FindingEvidence } from '../reporters/report-types.ts';
import { hasPlausibleCounts, readCoverage } from '../text/coverage.ts';
import { isArray, isObject, parseStrictJson } from '../text/json.ts';
import { findObject, readCount, readFlag, readObject, readText, readUsage } from '../text/json-fields.ts';
import { NO_USAGE } from '../text/usage.ts';
import type {
  Conclusion,
  ContextStatus,
  GateResult,
  GroundingCounts,
  GroundingStatus,
  JsonObject,
  PolicyDigest,
  Reason,
  Subject,
  Usage,
} from '../types.ts';

/** The largest line of a finding that the schema of the envelope allows. */
const MAX_LINE = 1_000_000_000;

/** What one run reported, as needed by a merge and by later runs. Its strings come from other jobs and are hostile. */
export interface Envelope {
  /** Relative to the folder that was read, with `/` as separator. */
  readonly file: string;
  /** null if the workflow sets none, and in an envelope of a version without legs. */
  readonly leg: string | null;
  readonly vote: string | null;
  readonly conclusion: Conclusion;
  readonly reason: Reason;
  /** The payload; non-null exactly if it was published. */
  readonly payload: JsonObject | null;
  /** The result of the run's own gate; null if there is no payload. */
  readonly gate: Pick<GateResult, 'status' | 'issues'> | null;
  readonly turns: number;
  readonly rejections: number;
  readonly usage: Usage;
  /** US dollars; null if unknown. */
  readonly costUsd: number | null;
  readonly model: string;
  /** Whether a recording answered, so that no model judged anything. */
  readonly replayed: boolean;
  readonly sessionId: string;
  /** A human-readable sentence; null if a payload was published. */
  readonly error: string | null;
  readonly subject: Subject | null;
  readonly policy: PolicyDigest;
  /** null in an envelope of a version without evidence, and if the run ended before it was known. */
  readonly evidence: Evidence | null;
  /** Whether a merge wrote it: its payload is then a tally and not a vote of a leg. */
  readonly merged: boolean;
}

/** A set of all members of a string union; omitting one is a compile error. */
type Words<Word extends string> = Readonly<Record<Word, true>>;

export const CONCLUSIONS: Words<Conclusion> = {
  success: true,
  failure: true,
  inconclusive: true,
  skipped: true,
};

export const REASONS: Words<Reason> = {
  accepted: true,
  gate_not_met: true,
  plain_text: true,
  refusal: true,
  provider_auth: true,
  provider_rate_limit: true,
  provider_overloaded: true,
  provider_error: true,
  context_overflow: true,
  replay_mismatch: true,
  secret_in_payload: true,
  tampered: true,
  internal: true,
  sandbox: true,
  config: true,
  max_turns: true,
  timeout: true,
  max_tokens: true,
  max_cost: true,
  cancelled: true,
  missing_key: true,
  undecided: true,
  unsupported: true,
};

export const GATE_STATUSES: Words<GateResult['status']> = {
  met: true,
  not_met: true,
  none: true,
};

export const CONTEXT_STATUSES: Words<ContextStatus> = {
  complete: true,
  truncated: true,
  missing: true,
  none: true,
};

export const GROUNDING_STATUSES: Words<GroundingStatus> = {
  exact: true,
  moved: true,
  unproven: true,
};

/**
 * Returns the typed form of an envelope that the schema has accepted; null for values that the schema would have
 * rejected.
 */
export function viewOf(file: string, envelope: JsonObject): Envelope | null {
  const { conclusion, reason } = envelope;
  if (!isWord(CONCLUSIONS, conclusion) || !isWord(REASONS, reason)) return null;
  const gate = readGate(envelope);
  const evidence = readEvidence(envelope);
  if (gate === undefined || evidence === undefined) return null;
  return {
    file,
    leg: readText(envelope, 'leg'),
    vote: readText(envelope, 'vote'),
    conclusion,
    reason,
    payload: findObject(envelope, 'structured_output'),
    gate,
    turns: readCount(envelope, 'num_turns') ?? 0,
    rejections: readCount(envelope, 'rejections') ?? 0,
    usage: readUsage(envelope, 'usage') ?? NO_USAGE,
    costUsd: readCount(envelope, 'total_cost_usd'),
    model: readText(envelope, 'model') ?? '',
    replayed: readFlag(envelope, 'replayed'),
    sessionId: readText(envelope, 'session_id') ?? '',
    error: readText(envelope, 'error'),
    subject: readSubject(envelope),
    policy: readPolicy(readObject(envelope, 'judge')),
    evidence,
    merged: findObject(envelope, 'merged') !== null,
  };
}

/** Pairs of fields with the same value, if an envelope has both. */
const REPEATED: readonly (readonly [name: string, again: string])[] = [
  ['structured_output', 'structured_result'],
  ['num_turns', 'turns'],
];

/**
 * Returns fields that contradict each other, such as `result and structured_output`, among those that the schema does
 * not check against each other; null if there are none. This program never writes such an envelope: it was modified,
 * and it is unknown which field is correct.
 */
export function contradictionOf(envelope: JsonObject, { gate, evidence }: Envelope): string | null {
  const at = (name: string) => (Object.hasOwn(envelope, name) ? (envelope[name] ?? null) : null);
  for (const [name, again] of REPEATED) {
    if (Object.hasOwn(envelope, again) && !isDeepStrictEqual(at(name), at(again)))
      return `${name} and ${again}`;
  }
  const usage = readObject(envelope, 'usage');
  for (const name of ['input_tokens', 'output_tokens']) {
    const total = `total_${name}`;
    if (Object.hasOwn(envelope, total) && usage[name] !== at(total)) return `usage and ${total}`;
  }
  if (gate?.status !== 'not_met' && (gate?.issues ?? []).length > 0)
    return 'the status of gate and its issues';
  const coverage = evidence?.coverage ?? null;
  if (coverage !== null && !hasPlausibleCounts(coverage)) return 'the counts of evidence and coverage';
  const [result, payload] = [at('result'), at('structured_output')];
  if (payload === null) return result === at('error') ? null : 'result and error';
  const parsed = parseStrictJson(String(result));
  return parsed.ok && isDeepStrictEqual(parsed.value, payload) ? null : 'result and structured_output';
}

/** Returns undefined for values that the schema would have rejected, as does `readEvidence`. */
function readGate(envelope: JsonObject): Envelope['gate'] | undefined {
  const gate = findObject(envelope, 'gate');
  if (gate === null) return null;
  const { status, issues } = gate;
  if (!isWord(GATE_STATUSES, status) || !isArray(issues)) return undefined;
  const text = (issue: JsonObject, name: string) => readText(issue, name) ?? '';
  return {
    status,
    issues: issues.filter(isObject).map((issue) => ({
      path: text(issue, 'path'),
      keyword: text(issue, 'keyword'),
      message: text(issue, 'message'),
    })),
  };
}

/** Returns null if the envelope says nothing about its evidence, and undefined for evidence that cannot be read. */
export function readEvidence(envelope: JsonObject): Envelope['evidence'] | undefined {
  const evidence = findObject(envelope, 'evidence');
  if (evidence === null) return null;
  const { context, findings } = evidence;
  if (!isWord(CONTEXT_STATUSES, context) || !isArray(findings)) return undefined;
  const coverage = readCoverage(evidence);
  const grounding = readGrounding(evidence);
  if (coverage === undefined && findObject(evidence, 'coverage') !== null) return undefined;
  if (grounding === undefined && findObject(evidence, 'grounding') !== null) return undefined;
  return {
    context,
    toolCalls: readCount(evidence, 'tool_calls') ?? 0,
    // Absent in envelopes of earlier versions.
    ...(coverage === undefined ? {} : { coverage }),
    ...(grounding === undefined ? {} : { grounding }),
    findings: findings.map((each) => readFinding(isObject(each) ? each : {}, grounding !== undefined)),
  };
}

function readGrounding(evidence: JsonObject): GroundingCounts | undefined {
  const counts = findObject(evidence, 'grounding');
  if (counts === null) return undefined;
  const read = Object.keys(GROUNDING_STATUSES).map((name) => [name, readCount(counts, name)] as const);
  if (read.some(([, count]) => !Number.isInteger(count))) return undefined;
  return Object.fromEntries(read) as GroundingCounts;
}

/** A word that is not known is read as none: the finding then counts as not proven. */
function readFinding(finding: JsonObject, isChecked: boolean): FindingEvidence {
  const path = pathInside(readText(finding, 'path'));
  if (!isChecked) return { path };
  const grounding = readText(finding, 'grounding');
  return {
    path,
    line: readLine(finding, 'line'),
    lineWas: readLine(finding, 'line_was'),
    grounding: isWord(GROUNDING_STATUSES, grounding) ? grounding : null,
  };
}

function readLine(finding: JsonObject, name: string): number | null {
  const line = readCount(finding, name);
  return line !== null && Number.isInteger(line) && line >= 1 && line <= MAX_LINE ? line : null;
}

/** Returns the path if it has the form that this program writes, of a file in the repository; null otherwise. */
function pathInside(path: string | null): string | null {
  if (path === null || /[\p{Cc}\\]/u.test(path)) return null;
  const isOdd = (part: string) => ['', '.', '..', '.git'].includes(part.toLowerCase());
  return path.split('/').some(isOdd) ? null : path;
}

function readSubject(envelope: JsonObject): Subject | null {
  const subject = findObject(envelope, 'subject');
  if (subject === null) return null;
  const text = (name: string) => readText(subject, name) ?? '';
  return {
    repository: text('repository'),
    sha: text('sha'),
    ref: text('ref'),
    event: text('event'),
    pull_request: readCount(subject, 'pull_request'),
    run_id: text('run_id'),
    run_attempt: readCount(subject, 'run_attempt') ?? 0,
    ...(Object.hasOwn(subject, 'checked_out') ? { checked_out: readText(subject, 'checked_out') } : {}),
  };
}

function readPolicy(policy: JsonObject): PolicyDigest {
  return {
    schema_sha256: readText(policy, 'schema_sha256'),
    gate_sha256: readText(policy, 'gate_sha256'),
    prompt_sha256: readText(policy, 'prompt_sha256'),
    version: readText(policy, 'version') ?? '',
  };
}

function isWord<Word extends string>(words: Words<Word>, value: unknown): value is Word {
  return typeof value === 'string' && Object.hasOwn(words, value);
}
