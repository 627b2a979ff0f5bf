/** Types of reporting: the events of a run, its report, the view of it, and its reporters. */
import type { Secrets } from '../text/secrets.ts';
import type {
  AssistantMessage,
  CommandRecord,
  Conclusion,
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

/** `ok` and `error` are calls that ran, `skipped` ones stood beside `structured_output`, which is accepted or rejected. */
export type CallDecision = 'ok' | 'error' | 'skipped' | 'accepted' | 'rejected';

export interface FindingEvidence {
  /** The file, relative to the repository root, with `/`; null if the finding names no file that was found. */
  readonly path: string | null;
  /** The line that was proven or, without a proof, the one that the finding names; null if there is none. */
  readonly line?: number | null;
  /** The line that the finding names, if its quote is at another one. */
  readonly lineWas?: number | null;
  /** null or absent if findings were not checked, or this one is about no file. */
  readonly grounding?: GroundingStatus | null;
}

/** A file and lines in it: as written by the model, or as found in the repository. */
export interface SourcePlace {
  /** At most 4,096 characters, none of them a control character. */
  readonly path: string;
  /** 1-based, like `endLine`; null for the whole file. */
  readonly line: number | null;
  /** Greater than `line`; null for a single line. */
  readonly endLine: number | null;
}

/**
 * Finds a place that a model has written. Returns the file's path relative to the root of the repository, with `/` and
 * links resolved, and those of the lines that the file has; null if there is no such file. Never throws.
 * @param isResolved whether the path is relative to the root for certain
 */
export type Locate = (written: SourcePlace, isResolved?: boolean) => SourcePlace | null;

/** What a verdict is based on. */
export interface Evidence {
  readonly context: ContextStatus;
  /** Tool calls that ran, without those of `structured_output`. */
  readonly toolCalls: number;
  /** null or absent if the run ended before it was known. */
  readonly coverage?: Coverage | null;
  /** The last commands that the agent ran. */
  readonly commands?: readonly CommandRecord[];
  /** null or absent if findings were not checked. */
  readonly grounding?: GroundingCounts | null;
  /** One entry for each row of the payload's findings, in their order. */
  readonly findings: readonly FindingEvidence[];
}

/** A finished run, or a merge. */
export interface Report {
  readonly verdict: Verdict;
  /** The accepted payload; present exactly when `verdict.published`. */
  readonly payload: JsonObject | null;
  /** null if no payload was accepted. */
  readonly gate: GateResult | null;
  /** Model calls that returned a completion. */
  readonly turnCount: number;
  readonly rejections: number;
  readonly repaired: Repair | null;
  readonly usage: Usage;
  /** US dollars; null if unknown. */
  readonly costUsd: number | null;
  /** The name of the model in the price list; null or absent if it is the model's own. */
  readonly pricedAs?: string | null;
  /** When the run began, as ISO 8601 in UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly model: string;
  readonly provider: string;
  /** Whether a recording answered instead of the model, so that no model judged anything. */
  readonly replayed?: boolean;
  readonly sessionId: string;
  readonly leg?: string | null;
  readonly vote?: string | null;
  /** null if the run ended before this was known, or if no agent ran. */
  readonly evidence?: Evidence | null;
  /** How to show a merge; null or absent for an agent run. */
  readonly view?: ReportView | null;
  /** The action that ran: its ref in the workflow, and the commit if that ref is one; null outside GitHub. */
  readonly action: { readonly ref: string; readonly commit: string | null } | null;
  /** As in the envelope; null if an input was invalid, or if no agent ran. */
  readonly settings: JsonObject | null;
  readonly isolation: Isolation;
  /** What the agent worked in instead of the checkout; null or absent for the checkout itself, or if not known. */
  readonly scratch?: 'overlay' | 'copy' | null;
  /** At most 200 characters of the model's prose, for `plain_text` only; hostile text. */
  readonly lastAssistantText: string | null;
  readonly subject: Subject | null;
  readonly policy: PolicyDigest;
  readonly policyChanges: readonly PolicyChange[];
  /** Names of the declared properties that become outputs of their own, in schema order. */
  readonly outputNames: readonly string[];
  /** Files that the agent changed; null if unknown. */
  readonly changedFiles: number | null;
  /** The agent's changes as a git patch; null or absent if there are none, or if they are unknown. */
  readonly patch?: Uint8Array | null;
  readonly patchFile: string | null;
  /** The folder with the files that the run wrote, under the names in RESULT_FILES; null for none. */
  readonly results: string | null;
  /** Weaknesses of the setup, such as no sandbox or network access, one sentence each. */
  readonly weaknesses: readonly string[];
}

/** A step output that describes the run. */
export interface RunOutput {
  readonly description: string;
  /** Returns an empty text if it does not apply. */
  readonly value: (report: Report) => string;
}

/** What a finished run says, as plain data. Its texts may be hostile, and contain no secret. */
export interface View {
  readonly conclusion: Conclusion;
  /** An emoji. */
  readonly mark: string;
  readonly name: string | null;
  /** The answer in words, with the counts of the findings: `not passed · 1 error, 2 warnings`. */
  readonly outcome: string;
  /** What made the run weaker than it could be, one sentence each. */
  readonly warnings: readonly string[];
  readonly summary: string | null;
  /** Why there is no success, in sentences; null if the outcome and the summary say so. */
  readonly reason: string | null;
  /** The page that says what to do about this ending; null on success. */
  readonly help: string | null;
  /** What else a reader wants to know, one sentence each. */
  readonly notes: readonly string[];
  /** The values and lists to show as tables. */
  readonly tables: JsonObject;
  readonly rows: ReadonlyMap<JsonObject, RowFacts>;
  /** Conclusion, reason, gate, exit code and sandbox, for those who audit the run; trusted texts. */
  readonly facts: readonly string[];
  /** What the run used; the first one is the model. */
  readonly costs: readonly string[];
  /** The payload as indented JSON; null if there is none, or if it is too long to read. */
  readonly json: string | null;
  /** The envelope; null if the run wrote none. */
  readonly resultFile: string | null;
}

/** What is known about a row of a table. */
export interface RowFacts {
  /** The page that shows the line of a finding; null if it names none that exists. */
  readonly link: string | null;
  /** Whether the finding was looked up and could not be proven. */
  readonly isDoubted: boolean;
}

/** What a view needs beside the report. */
export interface ViewFacts {
  readonly secrets: Secrets;
  /** The name of the check; null if it has none, as on the command line. */
  readonly name: string | null;
  /** Such as `https://github.com`; null for a view without links. */
  readonly serverUrl: string | null;
  /** The page that explains the endings. */
  readonly help: string;
  /** Finds the files of findings in the repository; without it, paths are used as written. */
  readonly locate?: Locate;
}

/** How a merge is shown. */
export interface ReportView {
  readonly show: (report: Report, facts: ViewFacts) => View;
  readonly outputs: Readonly<Record<string, RunOutput>>;
  /** Additional fields of the envelope; `mask` is applied to text written by other jobs. */
  readonly envelope?: (mask: (text: string) => string) => JsonObject;
  /** A remark on findings that did not decide the verdict, whose `outvoted` is true; absent if no row says so. */
  readonly outvoted?: string;
}

/** What happens in a run. No event contains arguments of `structured_output` or of a tool that was not offered. */
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

export type CallEvent = Extract<RunEvent, { type: 'tool_finished' }>;

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

/** `superseded` if a newer run has written the comment, `none` if there was none and none was to be created. */
export type WrittenComment = 'created' | 'updated' | 'superseded' | 'none' | 'no_pull_request';

export interface StatusText {
  readonly state: 'pending' | 'success' | 'failure' | 'error';
  /** At most 140 characters, none of them above U+FFFF. */
  readonly description: string;
  /** Whether it is set only if the commit has a status of that name already. */
  readonly ifPresent?: true;
}

/** Receives the events of a run and reports on it at the end. */
export interface Reporter {
  /** What it writes, in words for a warning that it failed. */
  readonly name: string;
  /** Called for each event, in order. */
  event?(event: RunEvent): void;
  /** Writes the verdict, before any `report`. If it throws, the run fails, and it is called again with that failure. */
  publish?(report: Report): void | Promise<void>;
  /** Called once, after every child process has exited. A rejection becomes a warning and never changes the verdict. */
  report?(report: Report, signal: AbortSignal): Promise<void>;
  /** Whether `report` uses the network: such reporters are skipped if a signal ended the run. */
  readonly network?: boolean;
}
