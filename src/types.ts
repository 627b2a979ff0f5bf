/** Types shared by all layers. This file contains only types. */
import type { Conclusion, ExitCode, Reason, Subtype } from './text/exit-codes.ts';

export type { Conclusion, Reason } from './text/exit-codes.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. Only own keys count: `__proto__` and `constructor` are ordinary data. */
export type JsonObject = { readonly [key: string]: Json };

/** How the provider delivered the arguments of a call. Only `complete` ones are parsed; `too_long` ones are dropped. */
export type ArgumentStatus = 'complete' | 'truncated' | 'too_long';

/** A tool call as the model wrote it. Arguments stay text until the contract or the toolbox parses them. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** The provider's raw argument text; an empty string means `{}`. */
  readonly rawArguments: string;
  readonly status: ArgumentStatus;
}

/** The result of a tool call. Every call gets exactly one. */
export interface ToolResult {
  readonly callId: string;
  readonly content: string;
  readonly isError: boolean;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  /** The provider's own form of the message, which the adapter that created it sends back unchanged. */
  readonly native: unknown;
}

/** An entry of the append-only conversation; the results of a turn are in call order. */
export type Message =
  | { readonly role: 'user'; readonly text: string }
  | AssistantMessage
  | { readonly role: 'tool'; readonly results: readonly ToolResult[] };

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. The adapter sends what its API accepts of it, and describes the rest. */
  readonly parameters: JsonObject;
}

/** Why a completion ended: after `length` and `pause` its calls are truncated; `refusal` includes content filters. */
export type StopReason = 'end' | 'tool_calls' | 'length' | 'refusal' | 'pause';

/** Token counts of one completion, or their sum over a run. */
export interface Usage {
  /** All input tokens, including those read from and written to a prompt cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The parts of `inputTokens` that were read from the cache and written to it. */
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
}

export interface Issue {
  /** JSON Pointer to the invalid value; empty for the root. */
  readonly path: string;
  /**
   * The JSON Schema keyword that failed, or one of `arguments`, `precision`, `deadline`, `validator`, `validate`,
   * `transform`, `present`, `coverage`, `looked`, `command`, `quote`.
   */
  readonly keyword: string;
  /** One sentence for the model: what is wrong, and the value found. */
  readonly message: string;
  /** The property that is missing: a word of the schema, never of the payload. */
  readonly missing?: string;
  /** JSON Pointer to the subschema with the keyword. */
  readonly schemaPath?: string;
}

/** The part of an issue that may be recorded: no message, and as `path` the place in the schema. */
export type RedactedIssue = Pick<Issue, 'path' | 'keyword' | 'missing'>;

/** How an almost valid payload was repaired before it was accepted. */
export type Repair =
  | { readonly kind: 'unwrapped'; readonly key: string }
  | { readonly kind: 'parsed'; readonly paths: readonly string[] };

/** The result of the gate; `none` if there is none. */
export interface GateResult {
  readonly status: 'met' | 'not_met' | 'none';
  /** Their messages are untrusted clauses: what must hold, and what the payload has. */
  readonly issues: readonly Issue[];
}

export type Limit = 'turns' | 'time' | 'tokens' | 'cost';

/** How the loop ended; `verdictOf` maps it, and what was thrown, to a verdict. */
export type Outcome =
  | { readonly kind: 'submitted'; readonly payload: JsonObject; readonly repaired: Repair | null }
  | {
      readonly kind: 'plain_text';
      /** The last text of the run that is not empty; empty if there is none. */
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

/** A request without an answer yet; `to` is the host of the endpoint, or the model if there is none. */
export interface PendingRequest {
  readonly to: string;
  readonly seconds: number;
  /** What the log says last of it, for example that the server answered 503; null for nothing. */
  readonly notice: string | null;
}

/** How much of the change under review the model was given: `missing` if it could not be obtained, `none` if there is none. */
export type ContextStatus = 'complete' | 'truncated' | 'missing' | 'none';

/** How much of the change under review was shown to the model, in tool results or in the first message. */
export interface Coverage {
  /** `partial` if parts of the change or of the results are not known; `unknown` if there is no known change. */
  readonly status: 'measured' | 'partial' | 'unknown';
  /** One sentence for people: why it is not `measured`; null if it is. */
  readonly why: string | null;
  readonly files: {
    readonly changed: number;
    /** Changed files that must be seen: all but those of `notRequired`. */
    readonly required: number;
    /** Required files of which nine tenths of every hunk were shown. */
    readonly shown: number;
    /** The paths of the required files that are not shown, in the order of the change; hostile. */
    readonly unseen: readonly string[];
    readonly notRequired: readonly { readonly path: string; readonly why: NotRequired }[];
  };
}

/** Why a changed file does not have to be seen. */
export type NotRequired = 'lock_file' | 'binary' | 'generated' | 'vendored' | 'outside_working_directory';

export interface CommandRecord {
  /** The whole command line; text of the model. */
  readonly command: string;
  /** null if its timeout ended it, or the run did. */
  readonly exitCode: number | null;
  readonly seconds: number;
}

/** How a finding was checked against the files: `exact` and `moved` are proven. */
export type GroundingStatus = 'exact' | 'moved' | 'unproven';

export type GroundingCounts = Readonly<Record<GroundingStatus, number>>;

export interface Verdict {
  readonly conclusion: Conclusion;
  readonly reason: Reason;
  readonly subtype: Subtype;
  readonly exitCode: ExitCode;
  /** Whether the payload may leave this process. */
  readonly published: boolean;
  /** One sentence for people: what happened and what to do; null on success. */
  readonly error: string | null;
}

/** What was reviewed. On the command line `event` and `run_id` are empty. */
export interface Subject {
  /** `owner/name`; empty if it is not known. */
  readonly repository: string;
  readonly sha: string;
  readonly ref: string;
  readonly event: string;
  readonly pull_request: number | null;
  readonly run_id: string;
  readonly run_attempt: number;
  /** The user who started the run; absent in envelopes of earlier versions. */
  readonly actor?: string;
  /** The commit checked out in the reviewed folder; null when unknown, absent when it was not looked up. */
  readonly checked_out?: string | null;
}

/** Hashes (hex SHA-256) of the policy texts as they were before the first model call. */
export interface PolicyDigest {
  readonly schema_sha256: string | null;
  readonly gate_sha256: string | null;
  readonly prompt_sha256: string | null;
  readonly version: string;
}

/** The isolation backend between the shell tool and the host. */
export type Isolation = 'bwrap' | 'unshare' | 'none';

/** The text of a file without a BOM, or a sentence that names the path and says why it could not be read. */
export type Reading =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** A file in another repository, written `owner/repo/path@ref`. */
export interface Elsewhere {
  readonly owner: string;
  readonly repo: string;
  readonly path: string;
  readonly ref: string;
}

/** A changed file; its names are chosen by the author and hostile. */
export interface ChangedFile {
  /** Relative to the repository root. */
  readonly path: string;
  /** Previous path of a renamed file; empty otherwise. */
  readonly previous: string;
  /** GitHub's status: added, removed, modified, renamed, copied, changed or unchanged. */
  readonly status: string;
  readonly additions: number;
  readonly deletions: number;
  /** The hunks of its unified diff; null if GitHub provides none (binary, too large, only renamed). */
  readonly patch: string | null;
  /** The blob id of its content, or of its former content if removed; empty if GitHub does not provide it. */
  readonly blob: string;
}

/** The changed files of a pull request as GitHub lists them. */
export interface ListedChange {
  readonly files: readonly ChangedFile[];
  /** What is missing, in one or two sentences; null if this is all. */
  readonly more: string | null;
}

/** A policy file that the pull request under review changes. */
export interface PolicyChange {
  readonly what: 'schema' | 'gate' | 'prompt-file' | 'replay' | 'workflow';
  /** Relative to the root of the repository. */
  readonly path: string;
  /** Whether the changed file was used; false when the base branch's version was. */
  readonly applied: boolean;
}

/** A policy file, with its path as typed. */
export type PolicyFile = Pick<PolicyChange, 'what' | 'path'>;
