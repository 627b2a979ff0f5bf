/** Types of reporting: the events of a run, its report, and its reporters. */
import type {
  AssistantMessage,
  ContextStatus,
  Coverage,
  GateResult,
  GroundingCounts,
  GroundingStatus,
  Isolation,
  JsonObject,
  PolicyChange,
  PolicyDigest,
  Repair,
  StopReason,
  Subject,
  ToolResult,
  Usage,
  Verdict,
} from '../types.ts';

/** One tool call in the timeline of a run, without its arguments. */
export interface CallRecord {
  readonly name: string;
  /** The subject of the call: a path, or the first line of a command; hostile text. */
  readonly target: string;
  readonly decision: CallDecision;
  readonly durationMs: number;
}

/**
 * The outcome of a call: executed (`ok`, or `error` for an error result), skipped because of a terminal call beside it,
 * or, for `structured_output`, accepted or rejected.
 */
export type CallDecision = 'ok' | 'error' | 'skipped' | 'accepted' | 'rejected';

export interface TurnRecord {
  readonly turn: number;
  readonly forced: boolean;
  readonly durationMs: number;
  readonly usage: Usage | null;
  readonly calls: readonly CallRecord[];
}

export interface FindingEvidence {
  /** The file, relative to the repository root, with `/`; null if the finding names no file that was found. */
  readonly path: string | null;
  /** The line that was proven or, without a proof, the one that the finding names; null if there is none. */
  readonly line?: number | null;
  /** The line that the finding names, if its quote stands at another one; null otherwise. */
  readonly lineWas?: number | null;
  /** null or absent if findings were not checked (`grounding: off`), or this one is about no file. */
  readonly grounding?: GroundingStatus | null;
}

/** What a verdict is based on. */
export interface Evidence {
  readonly context: ContextStatus;
  /** Number of tool calls that ran, without calls of `structured_output` and skipped calls. */
  readonly toolCalls: number;
  /** null or absent if the run ended before it was known, and in envelopes of versions without it. */
  readonly coverage?: Coverage | null;
  /** null or absent if findings were not checked. */
  readonly grounding?: GroundingCounts | null;
  /** One entry for each row of the payload's findings, in their order. */
  readonly findings: readonly FindingEvidence[];
}

/** Everything a reporter may use about a finished run. */
export interface Report {
  readonly verdict: Verdict;
  /** The accepted payload; present exactly when `verdict.published`. */
  readonly payload: JsonObject | null;
  /** null if no payload was accepted. */
  readonly gate: GateResult | null;
  readonly turns: readonly TurnRecord[];
  /** Number of model calls that returned a completion. */
  readonly turnCount: number;
  readonly rejections: number;
  readonly repaired: Repair | null;
  readonly usage: Usage;
  /** US dollars; null if the model's price is unknown. */
  readonly costUsd: number | null;
  /** The name by which the price list knows the model; null or absent if that is the model's own. */
  readonly pricedAs?: string | null;
  readonly durationMs: number;
  readonly model: string;
  readonly provider: string;
  /** Whether a recording answered instead of the model, so that no model judged anything. */
  readonly replayed?: boolean;
  readonly sessionId: string;
  /** The matrix leg and the vote of this run; null if the workflow does not set them. */
  readonly leg?: string | null;
  readonly vote?: string | null;
  /** null if the run ended before this was known, or if no agent ran. */
  readonly evidence?: Evidence | null;
  /** How to show a report that is not simply an agent run; null for an agent run. */
  readonly view?: ReportView | null;
  readonly isolation: Isolation;
  /** What the agent worked in instead of the checkout; null or absent if in the checkout itself, or if not known. */
  readonly scratch?: 'overlay' | 'copy' | null;
  /** At most 200 characters of the model's prose, for `plain_text` only; hostile text. */
  readonly lastAssistantText: string | null;
  readonly subject: Subject | null;
  readonly policy: PolicyDigest;
  /** Policy files that the change under review modifies. */
  readonly policyChanges: readonly PolicyChange[];
  /** Names of the declared properties that become outputs of their own, in schema order. */
  readonly outputNames: readonly string[];
  /** Number of files that the agent changed in the workspace; null if unknown. */
  readonly changedFiles: number | null;
  readonly patchFile: string | null;
  /** The folder with the files that the run wrote, under the names in RESULT_FILES; null for none. */
  readonly results: string | null;
  /** Weaknesses of the run's setup, such as no sandbox, network access or uid 0; shown first and prominently. */
  readonly weaknesses: readonly string[];
}

export interface Section {
  /** The name used in the note that lists omitted sections. */
  readonly name: string;
  /** If space is short, sections with the highest rank are omitted first. */
  readonly rank: number;
  /** The full text, followed by shorter versions; an empty text always fits. */
  readonly texts: readonly string[];
}

/**
 * Escapes text from the model, the repository or an error for Markdown, with secrets masked. `max` counts characters.
 */
export interface MarkdownSanitizer {
  inline(text: string, max?: number): string;
  /** One line; text between backticks becomes code. */
  prose(text: string, max?: number): string;
  /** One line, all of it code. */
  code(text: string, max?: number): string;
  cell(text: string, max?: number): string;
  /**
   * Whether a text contains a secret; values that cannot be masked usefully, such as URLs, are omitted in that case.
   */
  holdsSecret(text: string): boolean;
}

/** Options of the page that sections are rendered for. */
export interface PageOptions {
  /** Maximum rows per list, with smaller fallbacks if they do not fit. */
  readonly rows: readonly number[];
  /** Renders lists of objects as Markdown tables, with links to files and lines of the judged commit. */
  readonly tables: (lists: JsonObject, maxRows: number) => string;
}

/** A step output that describes the run. */
export interface RunOutput {
  readonly name: string;
  /** One sentence. */
  readonly description: string;
  /** Returns the value; empty if it does not apply. */
  readonly value: (report: Report) => string;
}

/**
 * How a feature built on the core shows its own kind of report: reporters use this view without knowing the feature.
 * Anything absent is shown as for an agent run. Texts for Markdown are sanitized; texts for the log need not be.
 */
export interface ReportView {
  /** The title with its mark; null to use the verdict's own title. */
  readonly title?: (report: Report) => string | null;
  /** Shown in parentheses after the conclusion in the verdict's own title. */
  readonly remark?: string;
  /** Facts that decided the verdict, beyond conclusion and reason. */
  readonly facts?: (sanitizer: MarkdownSanitizer) => readonly string[];
  /** A paragraph before the verdict's sentence. */
  readonly paragraph?: (report: Report, serverUrl: string | null, sanitizer: MarkdownSanitizer) => string;
  /** Replaces the payload and cost sections. */
  readonly sections?: (report: Report, page: PageOptions, sanitizer: MarkdownSanitizer) => readonly Section[];
  /** Whether no model was called, so that there are no turns, tokens or costs to report. */
  readonly isWithoutModel?: boolean;
  /** Whether the gate is internal to the feature, so that its status and requirements are not shown. */
  readonly hidesGate?: boolean;
  /** An additional clause of the verdict line in the log. */
  readonly logClause?: string;
  /** Log lines after the verdict; replaces the line about what the run used. */
  readonly logLines?: (report: Report, excerpt: (text: string, max: number) => string) => readonly string[];
  /** Weaknesses of the verdict; replaces those derived from the run's evidence. */
  readonly warnings?: readonly string[];
  /** Replaces the outputs of a run. */
  readonly outputs?: readonly RunOutput[];
  /** Additional fields of the envelope; `mask` is applied to text written by other jobs. */
  readonly envelope?: (mask: (text: string) => string) => JsonObject;
  /** The commit that gets the status, null if unknown; if absent, the commit that is checked out. */
  readonly statusCommit?: (report: Report) => string | null | undefined;
  /** Findings of the payload that did not decide the verdict; they are shown as notes with a remark. */
  readonly minor?: { readonly isMinor: (row: JsonObject) => boolean; readonly remark: string };
}

/**
 * Events that the loop emits while it runs. No event contains arguments of `structured_output` or of a tool that was
 * not offered.
 */
export type RunEvent =
  | {
      readonly type: 'run_started';
      readonly model: string;
      readonly provider: string;
      readonly prompt: string;
      readonly sessionId: string;
      /** Names of the tools offered to the model. */
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
      /** Redacted: a placeholder replaces the arguments of `structured_output` and of tools that were not offered. */
      readonly message: AssistantMessage;
    }
  | { readonly type: 'tool_started'; readonly turn: number; readonly call: CallRef }
  | {
      readonly type: 'tool_finished';
      readonly turn: number;
      readonly call: CallRef;
      readonly decision: CallDecision;
      readonly durationMs: number;
      /** Redacted: a rejection contains only places in the schema and keywords. */
      readonly result: ToolResult;
      readonly totals: Totals;
    }
  | { readonly type: 'user_message'; readonly text: string }
  | { readonly type: 'notice'; readonly level: 'info' | 'warning'; readonly text: string };

/** Identifies a tool call in events. */
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

/** A comment to write. All runs with the same key share one comment; a later run or attempt overwrites it. */
export interface CommentText {
  readonly key: string;
  /** The judged commit, in hexadecimal. */
  readonly commit: string;
  /** GITHUB_RUN_ID, in decimal; larger for later runs. */
  readonly runId: string;
  readonly attempt: number;
  /** At most 65,000 characters of Markdown. */
  readonly body: string;
  /** Whether to create the comment if it does not exist. */
  readonly create: boolean;
}

/**
 * The result of writing a comment: `superseded` if a newer run has already written it, `none` if no comment existed and
 * none was to be created.
 */
export type WrittenComment =
  | { readonly outcome: 'created' | 'updated' | 'unchanged' | 'superseded'; readonly url: string }
  | { readonly outcome: 'none' | 'no_pull_request'; readonly url: null };

/** The content of a commit status. */
export interface StatusText {
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  /** At most 140 characters, none of them above U+FFFF. */
  readonly description: string;
  /** Whether it is set only if the commit has a status of that name already. */
  readonly ifPresent?: true;
}

/** Receives the events of a run and reports on it at the end. Its methods throw nothing but `ReportError`. */
export interface Reporter {
  readonly name: string;
  /** Called synchronously for each event, in order. */
  event?(event: RunEvent): void;
  /** Called once, after every child process has exited. A rejection becomes a warning and never changes the verdict. */
  report?(report: Report, signal: AbortSignal): Promise<void>;
  /** Whether `report` is called again if the verdict had to be changed because outputs could not be written. */
  readonly repeatable?: boolean;
  /** Whether `report` uses the network: such reporters are skipped if a signal ended the run. */
  readonly network?: boolean;
}
