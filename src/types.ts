/**
 * The nouns that every layer speaks. This file holds types and nothing else, and imports nothing.
 */

/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object; its own keys only, `__proto__` and `constructor` are data like any other. */
export type JsonObject = { readonly [key: string]: Json };

/** Whether the provider delivered a call's argument text whole. Only `complete` arguments are ever read. */
export type ArgumentStatus = 'complete' | 'truncated' | 'malformed';

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
  /** The JSON Schema keyword that failed, or one of `arguments`, `deadline`, `validator`, `present`. */
  readonly keyword: string;
  /** One sentence for the model: what is wrong and what is there instead. */
  readonly message: string;
}

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
   * the payload's texts it holds none but words that the schema lists; the names in it may be hostile all the same.
   */
  readonly words?: readonly string[];
}

/** The limits that end a run. */
export type Limit = 'turns' | 'time' | 'tokens' | 'cost';

/** How the loop ended: every expected ending is a value. What is thrown is mapped once, in `verdict`. */
export type Outcome =
  | { readonly kind: 'submitted'; readonly payload: JsonObject; readonly repaired: Repair | null }
  | { readonly kind: 'plain_text'; readonly text: string; readonly truncated: boolean }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'exhausted'; readonly limit: Limit; readonly lastIssues: readonly Issue[] }
  | { readonly kind: 'cancelled'; readonly signal: string };

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
}

/** What judged it: hashes (hex SHA-256) of the texts that were frozen before the first model call. */
export interface Judge {
  readonly schema_sha256: string | null;
  readonly gate_sha256: string | null;
  readonly prompt_sha256: string | null;
  readonly version: string;
}

/** What stands between the shell tool and this machine. */
export type Isolation = 'bwrap' | 'sudo-bwrap' | 'unshare' | 'sudo-unshare' | 'seatbelt' | 'none';

/** What reading a file gave: its text without a BOM, or a sentence that names the path and says why not. */
export type Reading =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** A file of another repository: `owner/repo/path@ref`, the ref a branch, a tag or a commit. */
export interface Elsewhere {
  readonly owner: string;
  readonly repo: string;
  readonly path: string;
  readonly ref: string;
}

/** A file that judges and that the judged pull request changes. */
export interface JudgeChange {
  readonly what: 'schema' | 'gate' | 'prompt-file' | 'replay' | 'workflow';
  /** Relative to the repository's root. */
  readonly path: string;
  /** Whether the changed file judged; false where the base's did. */
  readonly applied: boolean;
}

/** One tool call in the timeline of a run; arguments of `structured_output` never appear here. */
export interface CallRecord {
  readonly name: string;
  /** What the call was about: a path, the first line of a command; hostile text. */
  readonly target: string;
  readonly decision: CallDecision;
  readonly durationMs: number;
}

/** What became of a call: executed (well or with an error result), skipped beside a terminal call, or judged. */
export type CallDecision = 'ok' | 'error' | 'skipped' | 'accepted' | 'rejected';

/** One turn in the timeline of a run. */
export interface TurnRecord {
  readonly turn: number;
  readonly forced: boolean;
  readonly durationMs: number;
  readonly usage: Usage | null;
  readonly calls: readonly CallRecord[];
}

/** What a vote or a leg says: `abstain` where it is missing, undecided, or cannot be read. */
export type Ballot = 'pass' | 'fail' | 'abstain';

/** How many legs say what; the three add up to `expected`. */
export interface Tally {
  readonly pass: number;
  readonly fail: number;
  readonly abstain: number;
  readonly expected: number;
}

/** What one run said, or that it said nothing. Names are the workflow's, but read from files of other jobs. */
export interface MergedVote {
  /** null where the leg casts one vote without a name, and for a missing one whose name is not known. */
  readonly vote: string | null;
  readonly ballot: Ballot;
  /** As its own envelope says; `missing` where there is none. */
  readonly conclusion: Conclusion | 'missing';
  readonly reason: Reason | 'missing';
  /** One sentence where it abstains or fails: why; of texts of other jobs masked and cut, hostile all the same. */
  readonly why: string | null;
  readonly turns: number;
  readonly usage: Usage;
  /** US dollars; null when not known. */
  readonly costUsd: number | null;
  /** Empty where no model was asked. */
  readonly model: string;
  /** Whether an earlier run's payload was taken in the place of a model's. */
  readonly reused: boolean;
  /** The attempt of the workflow run in which it was cast; null for a missing one and off GitHub. */
  readonly attempt: number | null;
  /** The page of that attempt; null where there is none. */
  readonly url: string | null;
}

/** One leg: what its votes come to under the rule for votes. */
export interface MergedLeg {
  /** null for a missing leg whose name is not known, because only a number was expected. */
  readonly leg: string | null;
  readonly ballot: Ballot;
  /** Its weight under a weighted rule; 1 under any other. */
  readonly weight: number;
  /** In the order of their names, the missing ones last. Never empty. */
  readonly votes: readonly MergedVote[];
}

/** One finding, told once however many runs have it. All of its text is a model's. */
export interface MergedFinding {
  readonly severity: 'error' | 'warning' | 'note';
  readonly path: string | null;
  readonly line: number | null;
  readonly endLine: number | null;
  readonly rule: string | null;
  readonly title: string | null;
  readonly message: string;
  /** The legs that agree, in the order of their names. */
  readonly legs: readonly string[];
  /** How many runs agree. */
  readonly votes: number;
  /** Whether none of it decided anything: each run that has it fails, and its leg passes, or all legs together do. */
  readonly outvoted: boolean;
}

/** What a merge found, decided or not. */
export interface Merged {
  /** The legs together: `abstain` where missing ones could change it. */
  readonly ballot: Ballot;
  /** As typed: the rule across legs. */
  readonly rule: string;
  /** As typed: the rule within a leg and how many votes it has; null where each leg casts one. */
  readonly votes: string | null;
  readonly tally: Tally;
  /** In the order of their names, those without a name last. */
  readonly legs: readonly MergedLeg[];
  /** The gravest first. */
  readonly findings: readonly MergedFinding[];
  /** How many findings there are beyond those in `findings`. */
  readonly findingsLeftOut: number;
  /** One sentence: how many legs pass, fail and abstain, and what the rule makes of it. */
  readonly summary: string;
  readonly turns: number;
  readonly rejections: number;
  readonly usage: Usage;
  /** null where the cost of a run is not known. */
  readonly costUsd: number | null;
  /** The models that were asked, each once, in order. */
  readonly models: readonly string[];
  /** Files that hold no envelope that counts, with the reason; names and reasons hostile. */
  readonly refused: readonly { readonly file: string; readonly why: string }[];
}

/** Which earlier envelope stands for this run, and by which key later runs find this one. */
export interface Reuse {
  /** Hex SHA-256 over subject tree, judge, model, version, leg and vote. */
  readonly key: string;
  /** Hex: git's name of what `subject-paths` held. */
  readonly tree: string;
  /** The run that a model judged; null where this one was. */
  readonly from: {
    readonly run_id: string;
    readonly run_attempt: number;
    readonly session_id: string;
  } | null;
}

/** Everything a reporter may tell about a finished run. */
export interface Report {
  readonly verdict: Verdict;
  /** The accepted payload; present exactly when `verdict.published`. */
  readonly payload: JsonObject | null;
  /** null where no payload was accepted. */
  readonly gate: GateResult | null;
  readonly turns: readonly TurnRecord[];
  /** Model calls that gave a completion. */
  readonly turnCount: number;
  readonly rejections: number;
  readonly repaired: Repair | null;
  readonly usage: Usage;
  /** US dollars; null when the model has no known price. */
  readonly costUsd: number | null;
  readonly durationMs: number;
  readonly model: string;
  readonly provider: string;
  /** Whether a recording answered in the model's place: no model judged anything. */
  readonly replayed?: boolean;
  readonly sessionId: string;
  /** The matrix leg that this run is, and which of its votes; null where the workflow does not say. */
  readonly leg?: string | null;
  readonly vote?: string | null;
  /** null where nothing was to be reused, or its key is not known. */
  readonly reuse?: Reuse | null;
  /** What a merge found; absent for the run of an agent. */
  readonly merged?: Merged | null;
  readonly isolation: Isolation;
  /** At most 200 characters of the model's prose, only for `plain_text`; hostile text. */
  readonly lastAssistantText: string | null;
  readonly subject: Subject | null;
  readonly judge: Judge;
  /** Files of the judge that the judged change itself changes. */
  readonly judgeChanges: readonly JudgeChange[];
  /** The page of the pull request comment; null where none was written. */
  readonly commentUrl: string | null;
  /** Names of the declared properties that get an output of their own, in the schema's order. */
  readonly outputNames: readonly string[];
  /** Files that the agent changed in the workspace; null when that is not known. */
  readonly changedFiles: number | null;
  readonly patchFile: string | null;
  readonly resultFile: string | null;
  readonly transcriptFile: string | null;
  /** What is weaker than it could be: no sandbox, network on, uid 0; told first and loudly. */
  readonly weaknesses: readonly string[];
}

/** What the loop tells while it runs. No event ever carries an argument of `structured_output`. */
export type RunEvent =
  | {
      readonly type: 'run_started';
      readonly model: string;
      readonly provider: string;
      readonly prompt: string;
      readonly sessionId: string;
      /** Names of the tools that the model is offered. */
      readonly tools: readonly string[];
    }
  | { readonly type: 'turn_started'; readonly turn: number; readonly forced: boolean }
  | {
      readonly type: 'turn_completed';
      readonly turn: number;
      readonly durationMs: number;
      readonly usage: Usage | null;
      readonly totals: Totals;
      readonly stopReason: StopReason;
      /** Redacted: the arguments of `structured_output` are the placeholder. */
      readonly message: AssistantMessage;
    }
  | { readonly type: 'tool_started'; readonly turn: number; readonly call: CallRef }
  | {
      readonly type: 'tool_finished';
      readonly turn: number;
      readonly call: CallRef;
      readonly decision: CallDecision;
      readonly durationMs: number;
      /** Redacted: of a rejection, instance paths and keywords only. */
      readonly result: ToolResult;
      readonly totals: Totals;
    }
  | { readonly type: 'user_message'; readonly text: string }
  | { readonly type: 'notice'; readonly level: 'info' | 'warning'; readonly text: string };

/** A tool call as events name it. */
export interface CallRef {
  readonly id: string;
  readonly name: string;
  readonly target: string;
}

/** What a run has used so far. */
export interface Totals {
  readonly turns: number;
  readonly usage: Usage;
  readonly costUsd: number | null;
}

/** What a reporter made that others tell of. */
export interface Told {
  readonly commentUrl: string;
}

/** Something that listens while a run goes on and tells about it at the end. Must not throw but `ReportError`. */
export interface Reporter {
  readonly name: string;
  /** Called for each event, synchronously and in order. */
  event?(event: RunEvent): void;
  /** Called once, after every child is dead. A rejection is a warning and never changes the verdict. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most reporters make nothing that others tell of.
  report?(report: Report, signal: AbortSignal): Promise<void | Told>;
  /** Whether `report` is called once more where the ending could not be written as it was told. */
  readonly retold?: boolean;
  /** Whether `report` goes over the network: such reporters are dropped when a signal ended the run. */
  readonly network?: boolean;
}
