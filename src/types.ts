/** Types shared by all layers. This file contains only types and imports nothing. */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Only own keys count: `__proto__` and `constructor` are ordinary data. */
export type JsonObject = { readonly [key: string]: Json };

/**
 * Whether the provider delivered the argument text of a call completely and within the size limit. Only `complete`
 * arguments are parsed; the text of `too_long` ones is dropped.
 */
export type ArgumentStatus = 'complete' | 'truncated' | 'malformed' | 'too_long';

/** A tool call as the model wrote it. Arguments stay text until the contract or the toolbox parses them. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The provider's raw argument text; an empty string means `{}`. */
  readonly rawArguments: string;
  readonly status: ArgumentStatus;
}

/** The result of a tool call, returned to the model. Every call gets exactly one. */
export interface ToolResult {
  readonly callId: string;
  readonly content: string;
  readonly isError: boolean;
}

/** A message from this program to the model. */
export interface UserMessage {
  readonly role: 'user';
  readonly text: string;
}

/** A message from the model. */
export interface AssistantMessage {
  readonly role: 'assistant';
  /** The prose of the turn; may be empty. */
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /**
   * The provider's own representation of the message, replayed verbatim by the adapter that created it; opaque
   * elsewhere.
   */
  readonly native: unknown;
}

/** The results of one turn's tool calls, in call order. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly results: readonly ToolResult[];
}

/** An entry of the append-only conversation. */
export type Message = UserMessage | AssistantMessage | ToolMessage;

/** A tool as it is described to the model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /**
   * A JSON Schema. The adapter sends the projection that its API accepts, and moves what was removed into the
   * description.
   */
  readonly parameters: JsonObject;
}

/**
 * Why a completion ended. `length` marks all of its calls as truncated; `refusal` includes content filters; `pause` is
 * a provider's request to be called again and also counts as truncated.
 */
export type StopReason = 'end' | 'tool_calls' | 'length' | 'refusal' | 'pause';

/** Token counts of one completion, or their sum over a run. */
export interface Usage {
  /** All input tokens, including those read from and written to a prompt cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The part of `inputTokens` read from the cache. */
  readonly cachedInputTokens: number;
  /** The part of `inputTokens` written to the cache. */
  readonly cacheWriteTokens: number;
}

/** A problem found in a candidate payload. */
export interface Issue {
  /** JSON Pointer to the invalid value; empty for the root. */
  readonly path: string;
  /**
   * The JSON Schema keyword that failed, or one of `arguments`, `precision`, `deadline`, `validator`, `validate`,
   * `transform`, `present`, `coverage`, `quote`, `missing`.
   */
  readonly keyword: string;
  /** One sentence for the model: what is wrong, and the value found. */
  readonly message: string;
  /** The property that is missing: a word of the schema, never of the payload. */
  readonly missing?: string;
  /** JSON Pointer to the subschema with the keyword; absent if it is not one of JSON Schema. */
  readonly schemaPath?: string;
}

/** The part of an issue that may be recorded: no message, and as `path` the place in the schema. */
export type RedactedIssue = Pick<Issue, 'path' | 'keyword' | 'missing'>;

/** How an almost valid payload was repaired before it was accepted. */
export type Repair =
  | { readonly kind: 'unwrapped'; readonly key: string }
  | { readonly kind: 'parsed'; readonly paths: readonly string[] };

/** The result of the gate check; `none` when no gate was requested. */
export interface GateResult {
  readonly status: 'met' | 'not_met' | 'none';
  /** Their messages are clauses for people: what must hold, and what the payload has. They are untrusted text. */
  readonly issues: readonly Issue[];
}

/** The limits that end a run. */
export type Limit = 'turns' | 'time' | 'tokens' | 'cost';

/** How the loop ended. Every expected ending is a value; thrown errors are mapped in one function, `verdictOf`. */
export type Outcome =
  | { readonly kind: 'submitted'; readonly payload: JsonObject; readonly repaired: Repair | null }
  | {
      readonly kind: 'plain_text';
      /** The last non-empty text of the run; empty when the model wrote none. */
      readonly text: string;
      /** Whether the last answer had no text, so that `text` comes from an earlier turn. */
      readonly empty: boolean;
      readonly truncated: boolean;
    }
  | { readonly kind: 'refused'; readonly text: string }
  /** A valid payload that rests on too little; `text` is a sentence for people. */
  | { readonly kind: 'weak'; readonly text: string }
  | {
      readonly kind: 'exhausted';
      readonly limit: Limit;
      readonly lastIssues: readonly RedactedIssue[];
      /** Whether the model repeated one rejected call, so that the run ended before the limit. */
      readonly repeated?: boolean;
      /** The request that had no answer when time was up; absent if none was pending. */
      readonly pending?: PendingRequest;
    }
  | { readonly kind: 'cancelled'; readonly signal: string };

/** A request to the model that has no answer yet. */
export interface PendingRequest {
  /** Where it was sent: the host of the endpoint, or the model if there is none. */
  readonly to: string;
  readonly seconds: number;
}

/**
 * How much of the change under review the model was given: `missing` when the diff was requested but could not be
 * obtained, `truncated` when parts were left out, `none` when it was not requested or there is no pull request.
 */
export type ContextStatus = 'complete' | 'truncated' | 'missing' | 'none';

/** How much of the change under review was shown to the model in tool results. */
export interface Coverage {
  /** `partial` if parts of the change or of the results are not known; `unknown` if there is no known change. */
  readonly status: 'measured' | 'partial' | 'unknown';
  /** One sentence for people: why it is not `measured`; null if it is. */
  readonly why: string | null;
  readonly files: {
    readonly changed: number;
    /** Changed files that must be seen: all but those of `notRequired`. */
    readonly required: number;
    /** Required files of which every hunk has a shown line. */
    readonly shown: number;
    /** The required files that are not shown, in the order of the change; at most 200. */
    readonly unseen: readonly UnseenFile[];
    /** The other changed files; at most 200. */
    readonly notRequired: readonly { readonly path: string; readonly why: NotRequired }[];
  };
}

/** The share of files that `min-coverage` requires; `auto` follows from the schema and what is known about the change. */
export type MinCoverage = 'auto' | 'off' | number;

/** A required file of which not every hunk was shown; its path is hostile. */
export interface UnseenFile {
  /** Relative to the repository root. */
  readonly path: string;
  /** 0 if its lines are not known. */
  readonly hunks: number;
  readonly shownHunks: number;
}

/** Why a changed file does not have to be seen. */
export type NotRequired = 'lock_file' | 'binary' | 'generated' | 'vendored' | 'outside_working_directory';

/** How a finding was checked against the files: `exact` and `moved` are proven. */
export type GroundingStatus = 'exact' | 'moved' | 'unproven';

/** How many findings have each status. */
export type GroundingCounts = Readonly<Record<GroundingStatus, number>>;

/** The result of a run: one of three conclusions, or `skipped`. */
export type Conclusion = 'success' | 'failure' | 'inconclusive' | 'skipped';

/** Why a run ended with its conclusion. */
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
  | 'undecided'
  | 'unsupported';

/** The `subtype` field of the envelope: one per row of the endings table. */
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
  | 'error_evidence'
  | 'skipped';

/** A row of the endings table. */
export interface Verdict {
  readonly conclusion: Conclusion;
  readonly reason: Reason;
  readonly subtype: Subtype;
  readonly exitCode: 0 | 1 | 44 | 52 | 53 | 55 | 130;
  /** Whether the payload may leave this process. */
  readonly published: boolean;
  /** One sentence for people: what happened and what to do; null on success. */
  readonly error: string | null;
}

/** The commit and event that were reviewed; null outside GitHub. */
export interface Subject {
  readonly repository: string;
  readonly sha: string;
  readonly ref: string;
  readonly event: string;
  readonly pull_request: number | null;
  readonly run_id: string;
  readonly run_attempt: number;
  /** The commit checked out in the reviewed folder; null when unknown, absent when it was not looked up. */
  readonly checked_out?: string | null;
}

/** Hashes (hex SHA-256) of the policy texts, which are frozen before the first model call. */
export interface PolicyDigest {
  readonly schema_sha256: string | null;
  readonly gate_sha256: string | null;
  readonly prompt_sha256: string | null;
  readonly version: string;
}

/** The isolation backend between the shell tool and the host. */
export type Isolation = 'bwrap' | 'unshare' | 'none';

/**
 * The result of reading a file: its text without a BOM, or a sentence with the path and the reason for the failure.
 * `isMissing` is set when the file does not exist.
 */
export type Reading =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string; readonly isMissing?: true };

/** A file in another repository: `owner/repo/path@ref`, where the ref is a branch, a tag or a commit. */
export interface Elsewhere {
  readonly owner: string;
  readonly repo: string;
  readonly path: string;
  readonly ref: string;
}

/** A policy file that the pull request under review changes. */
export interface PolicyChange {
  readonly what: 'schema' | 'gate' | 'prompt-file' | 'replay' | 'workflow';
  /** Relative to the root of the repository. */
  readonly path: string;
  /** Whether the changed file was used; false when the base branch's version was. */
  readonly applied: boolean;
  /** Whether it is unknown if the file changed: GitHub lists at most 3,000 files of a pull request. */
  readonly unlisted?: boolean;
}
