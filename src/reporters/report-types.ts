/** The nouns of a run as it is told: its events, its report, and who reports. */
import type {
  AssistantMessage,
  ContextStatus,
  GateResult,
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

/** One tool call in the timeline of a run; no call's arguments appear here. */
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

/** Where one finding of a payload is. */
export interface FindingEvidence {
  /** The file, relative to the root of the repository, with `/`; null where the finding names no file that was found. */
  readonly path: string | null;
}

/** What a verdict rests on. */
export interface Evidence {
  readonly context: ContextStatus;
  /** How many tool calls ran; calls of `structured_output` and skipped calls are not counted. */
  readonly toolCalls: number;
  /** One entry for each row of the payload's findings, in their order. */
  readonly findings: readonly FindingEvidence[];
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
  /** null for a run that ended before it knew what it would rest on, and where no agent ran. */
  readonly evidence?: Evidence | null;
  /** How it is shown where it is more than, or something else than, the run of an agent; null for such a run. */
  readonly view?: ReportView | null;
  readonly isolation: Isolation;
  /** At most 200 characters of the model's prose, only for `plain_text`; hostile text. */
  readonly lastAssistantText: string | null;
  readonly subject: Subject | null;
  readonly policy: PolicyDigest;
  /** Files of the judge that the judged change itself changes. */
  readonly policyChanges: readonly PolicyChange[];
  /** The page of the pull request comment; null where none was written. */
  readonly commentUrl: string | null;
  /** Names of the declared properties that get an output of their own, in the schema's order. */
  readonly outputNames: readonly string[];
  /** Files that the agent changed in the workspace; null when that is not known. */
  readonly changedFiles: number | null;
  /** Where it changed them: `scratch` is a copy. Absent where the configuration could not be read. */
  readonly workspaceAccess?: 'scratch' | 'in-place' | 'read-only' | undefined;
  readonly patchFile: string | null;
  readonly resultFile: string | null;
  readonly transcriptFile: string | null;
  /** What is weaker than it could be: no sandbox, network on, uid 0; told first and loudly. */
  readonly weaknesses: readonly string[];
}

/** A part of a page in Markdown. */
export interface Section {
  /** As the note speaks of it that says what is missing. */
  readonly name: string;
  /** Where space is short, those of the highest rank are given up first. */
  readonly rank: number;
  /** The part in full, and shorter ways to say it; an empty text always fits. */
  readonly texts: readonly string[];
}

/** Puts text of the model, of the repository or of an error into Markdown: without secrets, and inert. `max` counts characters. */
export interface MarkdownSanitizer {
  inline(text: string, max?: number): string;
  /** One line, in which what stands between backticks is code. */
  prose(text: string, max?: number): string;
  /** One line that is code as a whole. */
  code(text: string, max?: number): string;
  cell(text: string, max?: number): string;
  /** Whether a text holds a secret; what is no text to read, such as an address, is left out then. */
  holdsSecret(text: string): boolean;
}

/** The page for which sections are made. */
export interface PageOptions {
  /** Rows of one list, and how many are left where those would not fit. */
  readonly rows: readonly number[];
  /** Lists of objects as tables in Markdown, with links to files and lines of the judged commit. */
  readonly tables: (lists: JsonObject, maxRows: number) => string;
}

/** One output of a step about its run. */
export interface RunOutput {
  readonly name: string;
  /** One sentence. */
  readonly description: string;
  /** Empty where it does not apply. */
  readonly value: (report: Report) => string;
}

/**
 * How a feature on top of the core shows a report of its own: reporters ask this and do not know the feature. Whatever is
 * absent is shown as for the run of an agent. Texts for Markdown are sanitized, texts for the log need not be.
 */
export interface ReportView {
  /** The title with its mark; null where the verdict's own title is right. */
  readonly title?: (report: Report) => string | null;
  /** Follows the conclusion in the verdict's own title, in parentheses. */
  readonly remark?: string;
  /** What the verdict was decided by, beside conclusion and reason. */
  readonly facts?: (sanitizer: MarkdownSanitizer) => readonly string[];
  /** A paragraph before the verdict's sentence. */
  readonly paragraph?: (report: Report, serverUrl: string | null, sanitizer: MarkdownSanitizer) => string;
  /** Instead of the sections for payload and costs. */
  readonly sections?: (report: Report, page: PageOptions, sanitizer: MarkdownSanitizer) => readonly Section[];
  /** Whether no model was asked, so that there is nothing to say of turns, tokens and money. */
  readonly isWithoutModel?: boolean;
  /** Whether the gate is an internal of the feature, and its status and wishes are not shown. */
  readonly hidesGate?: boolean;
  /** One more clause of the verdict's line in the log. */
  readonly logClause?: string;
  /** The lines of the log behind the verdict, instead of what the run took. */
  readonly logLines?: (report: Report, excerpt: (text: string, max: number) => string) => readonly string[];
  /** What makes the verdict weaker than it could be, instead of the evidence of the run. */
  readonly warnings?: readonly string[];
  /** Instead of the outputs of a run. */
  readonly outputs?: readonly RunOutput[];
  /** Further fields of the envelope; `mask` is applied to what other jobs wrote. */
  readonly envelope?: (mask: (text: string) => string) => JsonObject;
  /** The description of the commit status; null where the verdict's own is right. */
  readonly statusText?: (report: Report) => string | null;
  /** The commit that gets the status, null where it is not known; without it, the one that is checked out. */
  readonly statusCommit?: (report: Report) => string | null | undefined;
  /** Findings in the payload that did not decide the verdict: they are shown as notes, behind a remark. */
  readonly minor?: { readonly isMinor: (row: JsonObject) => boolean; readonly remark: string };
  /** Follows the line in the log about the SARIF file. */
  readonly sarifNote?: string;
}

/**
 * What the loop reports while it runs. No event ever carries an argument of `structured_output`, or of a tool that was not
 * offered.
 */
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
  readonly repeatable?: boolean;
  /** Whether `report` goes over the network: such reporters are dropped when a signal ended the run. */
  readonly network?: boolean;
}
