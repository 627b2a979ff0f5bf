/** From the JSON of an envelope to the nouns of this program. */
import { isDeepStrictEqual } from 'node:util';
import type { Evidence, Reuse } from '../reporters/report-types.ts';
import { isArray, isObject, parseStrictJson } from '../text/json.ts';
import type {
  Conclusion,
  ContextStatus,
  GateResult,
  Issue,
  Json,
  JsonObject,
  PolicyDigest,
  Reason,
  Subject,
  Usage,
} from '../types.ts';

/** What one run told, as far as a merge and a later run need it. Its texts are of other jobs, and hostile. */
export interface Envelope {
  /** Relative to the folder that was read, with `/` between its parts. */
  readonly file: string;
  /** null where the workflow names none, and in an envelope of a version that knew no legs. */
  readonly leg: string | null;
  readonly vote: string | null;
  readonly conclusion: Conclusion;
  readonly reason: Reason;
  readonly exitCode: number;
  /** Present exactly where it was published. */
  readonly payload: JsonObject | null;
  /** How the payload fared against the run's own gate; null where there is no payload. */
  readonly gate: Pick<GateResult, 'status' | 'issues'> | null;
  readonly turns: number;
  readonly rejections: number;
  readonly usage: Usage;
  /** US dollars; null when not known. */
  readonly costUsd: number | null;
  /** In milliseconds. */
  readonly durationMs: number;
  readonly model: string;
  readonly provider: string;
  /** Whether a recording answered: no model judged anything. */
  readonly replayed: boolean;
  readonly sessionId: string;
  /** The sentence for a person; null where a payload was published. */
  readonly error: string | null;
  readonly subject: Subject | null;
  readonly policy: PolicyDigest;
  readonly reuse: Reuse | null;
  /** null in an envelope of a version that wrote none, and where the run ended before it was known. */
  readonly evidence: Evidence | null;
  /** Fields of it that do not agree with each other, such as `result and structured_output`; null where there are none. */
  readonly contradiction: string | null;
  /** Whether a merge wrote it: its payload is a tally, and no vote of a leg. */
  readonly merged: boolean;
}

/** Every conclusion there is. */
export const CONCLUSIONS: Readonly<Record<Conclusion, true>> = {
  success: true,
  failure: true,
  inconclusive: true,
  skipped: true,
};

/** Every reason there is. */
export const REASONS: Readonly<Record<Reason, true>> = {
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
};

/** Every status of a gate there is. */
export const GATE_STATUSES: Readonly<Record<GateResult['status'], true>> = {
  met: true,
  not_met: true,
  none: true,
};

/** Every status of the context there is. */
export const CONTEXT_STATUSES: Readonly<Record<ContextStatus, true>> = {
  complete: true,
  truncated: true,
  missing: true,
  none: true,
};

/** The typed form of an envelope that the schema has judged; null for words that it would have refused. */
export function viewOf(file: string, envelope: JsonObject): Envelope | null {
  const { conclusion, reason } = envelope;
  if (!isWord(CONCLUSIONS, conclusion) || !isWord(REASONS, reason)) return null;
  const gate = gateOf(objectAt(envelope, 'gate'));
  const evidence = evidenceOf(objectAt(envelope, 'evidence'));
  if (gate === undefined || evidence === undefined) return null;
  return {
    file,
    leg: textAt(envelope, 'leg'),
    vote: textAt(envelope, 'vote'),
    conclusion,
    reason,
    exitCode: numberAt(envelope, 'exit_code') ?? 1,
    payload: objectAt(envelope, 'structured_output'),
    gate,
    turns: countAt(envelope, 'num_turns'),
    rejections: countAt(envelope, 'rejections'),
    usage: usageOf(objectAt(envelope, 'usage') ?? {}),
    costUsd: numberAt(envelope, 'total_cost_usd'),
    durationMs: countAt(envelope, 'duration_ms'),
    model: textAt(envelope, 'model') ?? '',
    provider: textAt(envelope, 'provider') ?? '',
    replayed: at(envelope, 'replayed') === true,
    sessionId: textAt(envelope, 'session_id') ?? '',
    error: textAt(envelope, 'error'),
    subject: subjectOf(objectAt(envelope, 'subject')),
    policy: readPolicy(objectAt(envelope, 'judge') ?? {}),
    reuse: reuseOf(objectAt(envelope, 'reuse')),
    evidence,
    contradiction: contradictionIn(envelope),
    merged: objectAt(envelope, 'merged') !== null,
  };
}

/** Fields that say the same, where an envelope has both. */
const REPEATED: readonly (readonly [name: string, again: string])[] = [
  ['structured_output', 'structured_result'],
  ['num_turns', 'turns'],
];

/**
 * The fields that do not agree, of those that the schema does not hold against each other. This program writes no such
 * envelope: somebody has changed it, and nobody knows which field is true.
 */
function contradictionIn(envelope: JsonObject): string | null {
  for (const [name, again] of REPEATED) {
    if (Object.hasOwn(envelope, again) && !isDeepStrictEqual(at(envelope, name), at(envelope, again)))
      return `${name} and ${again}`;
  }
  const usage = objectAt(envelope, 'usage') ?? {};
  for (const name of ['input_tokens', 'output_tokens']) {
    const total = `total_${name}`;
    if (Object.hasOwn(envelope, total) && at(usage, name) !== at(envelope, total))
      return `usage and ${total}`;
  }
  const gate = gateOf(objectAt(envelope, 'gate'));
  if (gate?.status !== 'not_met' && (gate?.issues ?? []).length > 0)
    return 'the status of gate and its issues';
  const [result, payload] = [at(envelope, 'result'), at(envelope, 'structured_output')];
  if (payload === null) return result === at(envelope, 'error') ? null : 'result and error';
  const parsed = parseStrictJson(String(result));
  return parsed.ok && isDeepStrictEqual(parsed.value, payload) ? null : 'result and structured_output';
}

/** Which vote a file says it is, and of which run and attempt; nobody vouches for it. */
export interface Claim {
  readonly leg: string;
  readonly vote: string | null;
  readonly run: string;
  readonly attempt: number;
}

/** What a file claims that counts as no envelope; null where it does not say, or at a length that no input takes. */
export function claimOf(envelope: JsonObject): Claim | null {
  const [leg, vote] = [textAt(envelope, 'leg'), textAt(envelope, 'vote')];
  const subject = objectAt(envelope, 'subject') ?? {};
  const [run, attempt] = [textAt(subject, 'run_id'), numberAt(subject, 'run_attempt')];
  if (leg === null || run === null || attempt === null) return null;
  return leg.length + (vote ?? '').length + run.length > MAX_CLAIMED ? null : { leg, vote, run, attempt };
}

/** The names of leg, vote and run together, in characters: the inputs take 200 for each of the first two. */
const MAX_CLAIMED = 500;

function gateOf(gate: JsonObject | null): Envelope['gate'] | undefined {
  if (gate === null) return null;
  const { status, issues } = gate;
  if (!isWord(GATE_STATUSES, status) || !isArray(issues)) return undefined;
  return { status, issues: issues.filter(isObject).map(issueOf) };
}

function evidenceOf(evidence: JsonObject | null): Envelope['evidence'] | undefined {
  if (evidence === null) return null;
  const { context, findings } = evidence;
  if (!isWord(CONTEXT_STATUSES, context) || !isArray(findings)) return undefined;
  return {
    context,
    toolCalls: countAt(evidence, 'tool_calls'),
    findings: findings.map((each) => ({ path: isObject(each) ? pathInside(textAt(each, 'path')) : null })),
  };
}

/** A path as this program writes it: of a file in the repository. Any other counts as none. */
function pathInside(path: string | null): string | null {
  if (path === null || /[\p{Cc}\\]/u.test(path)) return null;
  const isOdd = (part: string) => ['', '.', '..', '.git'].includes(part.toLowerCase());
  return path.split('/').some(isOdd) ? null : path;
}

function issueOf(issue: JsonObject): Issue {
  return {
    path: textAt(issue, 'path') ?? '',
    keyword: textAt(issue, 'keyword') ?? '',
    message: textAt(issue, 'message') ?? '',
  };
}

function usageOf(usage: JsonObject): Usage {
  return {
    inputTokens: countAt(usage, 'input_tokens'),
    outputTokens: countAt(usage, 'output_tokens'),
    cachedInputTokens: countAt(usage, 'cached_input_tokens'),
    cacheWriteTokens: countAt(usage, 'cache_write_tokens'),
  };
}

function subjectOf(subject: JsonObject | null): Subject | null {
  if (subject === null) return null;
  return {
    repository: textAt(subject, 'repository') ?? '',
    sha: textAt(subject, 'sha') ?? '',
    ref: textAt(subject, 'ref') ?? '',
    event: textAt(subject, 'event') ?? '',
    pull_request: numberAt(subject, 'pull_request'),
    run_id: textAt(subject, 'run_id') ?? '',
    run_attempt: countAt(subject, 'run_attempt'),
    ...(Object.hasOwn(subject, 'checked_out') ? { checked_out: textAt(subject, 'checked_out') } : {}),
  };
}

function readPolicy(policy: JsonObject): PolicyDigest {
  return {
    schema_sha256: textAt(policy, 'schema_sha256'),
    gate_sha256: textAt(policy, 'gate_sha256'),
    prompt_sha256: textAt(policy, 'prompt_sha256'),
    version: textAt(policy, 'version') ?? '',
  };
}

function reuseOf(reuse: JsonObject | null): Reuse | null {
  if (reuse === null) return null;
  const from = objectAt(reuse, 'from');
  return {
    key: textAt(reuse, 'key') ?? '',
    tree: textAt(reuse, 'tree') ?? '',
    from:
      from === null
        ? null
        : {
            run_id: textAt(from, 'run_id') ?? '',
            run_attempt: countAt(from, 'run_attempt'),
            session_id: textAt(from, 'session_id') ?? '',
          },
  };
}

function isWord<Word extends string>(words: Readonly<Record<Word, true>>, value: unknown): value is Word {
  return typeof value === 'string' && Object.hasOwn(words, value);
}

/** What a JSON object itself holds, never what every object has. */
function at(object: JsonObject, name: string): Json {
  return Object.hasOwn(object, name) ? (object[name] ?? null) : null;
}

function textAt(object: JsonObject, name: string): string | null {
  const value = at(object, name);
  return typeof value === 'string' ? value : null;
}

function numberAt(object: JsonObject, name: string): number | null {
  const value = at(object, name);
  return typeof value === 'number' ? value : null;
}

function countAt(object: JsonObject, name: string): number {
  return numberAt(object, name) ?? 0;
}

function objectAt(object: JsonObject, name: string): JsonObject | null {
  const value = at(object, name);
  return isObject(value) ? value : null;
}
