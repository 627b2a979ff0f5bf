/**
 * The nouns that every layer speaks. This file holds types and nothing else, and imports nothing.
 */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object; its own keys only, `__proto__` and `constructor` are data like any other. */
export type JsonObject = { readonly [key: string]: Json };

/**
 * Whether the provider delivered a call's argument text whole, and no longer than anybody reads. Only `complete`
 * arguments are ever read; the text of `too_long` ones is dropped.
 */
export type ArgumentStatus = 'complete' | 'truncated' | 'malformed' | 'too_long';

/** A call of a tool as the model wrote it: arguments stay text until the contract or the toolbox read them. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The provider's raw argument text; an empty text means `{}`. */
  readonly rawArguments: string;
  readonly status: ArgumentStatus;
}

/** What a tool call gave back to the model; every call gets exactly one. */
export interface ToolResult {
  readonly callId: string;
  readonly content: string;
  readonly isError: boolean;
}

/** A message of ours to the model. */
export interface UserMessage {
  readonly role: 'user';
  readonly text: string;
}

/** A message of the model. */
export interface AssistantMessage {
  readonly role: 'assistant';
  /** The prose of the turn, possibly empty. */
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** The provider's own form of this message, replayed verbatim by the adapter that made it; opaque elsewhere. */
  readonly native: unknown;
}

/** The results of one turn's tool calls, in call order. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly results: readonly ToolResult[];
}

/** One entry of the append-only conversation. */
export type Message = UserMessage | AssistantMessage | ToolMessage;

/** A tool as the model is told of it. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema; the adapter sends the projection that its API accepts, and writes what had to go into the description. */
  readonly parameters: JsonObject;
}

/**
 * Why a completion ended. `length` marks every call of it as truncated, `refusal` covers content filters;
 * `pause` is a provider's request to be called again, and counts as truncated too.
 */
export type StopReason = 'end' | 'tool_calls' | 'length' | 'refusal' | 'pause';

/** Tokens of one completion, or summed over a run. */
export interface Usage {
  /** All input tokens, those read from and written to a prompt cache included. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` that was read from a cache. */
  readonly cachedInputTokens: number;
  /** The part of `inputTokens` that was written to a cache. */
  readonly cacheWriteTokens: number;
}

/** One thing that is wrong with a candidate payload. */
export interface Issue {
  /** JSON Pointer of the offending value; empty for the root. */
  readonly path: string;
  /**
   * The JSON Schema keyword that failed, or one of `arguments`, `precision`, `deadline`, `validator`, `validate`,
   * `transform`, `present`.
   */
  readonly keyword: string;
  /** One sentence for the model: what is wrong and what is there instead. */
  readonly message: string;
}

/** What a durable surface may hold of an issue: no message, and `*` in the path for keys that the schema does not declare. */
export type RedactedIssue = Pick<Issue, 'path' | 'keyword'>;

/** How a near miss was mended before it was accepted. */
export type Repair =
  | { readonly kind: 'unwrapped'; readonly key: string }
  | { readonly kind: 'parsed'; readonly paths: readonly string[] };

/** How a payload fared against the gate; `none` where no gate was asked for. */
export interface GateResult {
  readonly status: 'met' | 'not_met' | 'none';
  readonly issues: readonly Issue[];
  /**
   * For people: what the gate wanted and what the payload says there, each a clause that reads on from "the gate". Of
   * the payload it holds no text but words that the schema lists, and no key but those that schema or gate declare.
   */
  readonly words?: readonly string[];
}

/** The limits that end a run. */
export type Limit = 'turns' | 'time' | 'tokens' | 'cost';

/** How the loop ended: every expected ending is a value. What is thrown is mapped once, in `verdict`. */
export type Outcome =
  | { readonly kind: 'submitted'; readonly payload: JsonObject; readonly repaired: Repair | null }
  | {
      readonly kind: 'plain_text';
      /** The last text of the run that is not empty; empty when the model never wrote any. */
      readonly text: string;
      /** Whether the last answer had no text, so that `text` is from an earlier turn. */
      readonly empty: boolean;
      readonly truncated: boolean;
    }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'exhausted'; readonly limit: Limit; readonly lastIssues: readonly RedactedIssue[] }
  | { readonly kind: 'cancelled'; readonly signal: string };

/**
 * What the model was given of the change under review: `missing` where the diff was asked for and not obtained,
 * `truncated` where parts of it were left out, `none` where none was asked for or there is no pull request.
 */
export type ContextStatus = 'complete' | 'truncated' | 'missing' | 'none';

/** The three-valued (and one skipped) answer of a run. */
export type Conclusion = 'success' | 'failure' | 'inconclusive' | 'skipped';

/** Why a run concluded as it did. */
export type Reason =
  | 'accepted'
  | 'gate_not_met'
  | 'plain_text'
  | 'refusal'
  | 'provider_auth'
  | 'provider_rate_limit'
  | 'provider_overloaded'
  | 'provider_error'
  | 'context_overflow'
  | 'replay_mismatch'
  | 'secret_in_payload'
  | 'tampered'
  | 'internal'
  | 'sandbox'
  | 'config'
  | 'max_turns'
  | 'timeout'
  | 'max_tokens'
  | 'max_cost'
  | 'cancelled'
  | 'missing_key'
  | 'undecided';

/** The envelope's `subtype`: one per row of the endings table. */
export type Subtype =
  | 'success'
  | 'gate_not_met'
  | 'error_plain_text'
  | 'error_refusal'
  | 'error_provider'
  | 'error_replay'
  | 'error_security'
  | 'error_internal'
  | 'error_sandbox'
  | 'error_config'
  | 'error_max_turns'
  | 'error_budget'
  | 'error_cancelled'
  | 'error_undecided'
  | 'skipped';

/** One row of the endings table. */
export interface Verdict {
  readonly conclusion: Conclusion;
  readonly reason: Reason;
  readonly subtype: Subtype;
  readonly exitCode: 0 | 1 | 44 | 52 | 53 | 55 | 130;
  /** Whether the payload may leave this process. */
  readonly published: boolean;
  /** One sentence for a person: what happened and what to do; null on success. */
  readonly error: string | null;
}

/** What was judged: which commit, by which event; null outside GitHub. */
export interface Subject {
  readonly repository: string;
  readonly sha: string;
  readonly ref: string;
  readonly event: string;
  readonly pull_request: number | null;
  readonly run_id: string;
  readonly run_attempt: number;
  /** The commit in the judged folder; null where that is not known, absent where nobody looked. */
  readonly checked_out?: string | null;
}

/** The policy that judged, as hashes (hex SHA-256) of the texts that were frozen before the first model call. */
export interface PolicyDigest {
  readonly schema_sha256: string | null;
  readonly gate_sha256: string | null;
  readonly prompt_sha256: string | null;
  readonly version: string;
}

/** What stands between the shell tool and this machine. */
export type Isolation = 'bwrap' | 'sudo-bwrap' | 'unshare' | 'sudo-unshare' | 'none';

/**
 * What reading a file gave: its text without a BOM, or a sentence that names the path and says why not. `isMissing` where
 * there is no such file.
 */
export type Reading =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string; readonly isMissing?: true };

/** A file of another repository: `owner/repo/path@ref`, the ref a branch, a tag or a commit. */
export interface Elsewhere {
  readonly owner: string;
  readonly repo: string;
  readonly path: string;
  readonly ref: string;
}

/** A file that judges and that the judged pull request changes. */
export interface PolicyChange {
  readonly what: 'schema' | 'gate' | 'prompt-file' | 'replay' | 'workflow';
  /** Relative to the repository's root. */
  readonly path: string;
  /** Whether the changed file judged; false where the base's did. */
  readonly applied: boolean;
  /** Whether it is not known to be changed: GitHub lists no more than 3,000 files of a change. */
  readonly unlisted?: boolean;
}
