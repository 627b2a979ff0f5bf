/** The nouns of a run as it is told: its events, its report, and who reports. */
import type { Merged } from '../merge/types.ts';
import type {
  AssistantMessage,
  ContextStatus,
  GateResult,
  Isolation,
  JsonObject,
  Judge,
  JudgeChange,
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
  /** null for a merge, and for a run that ended before it knew what it would rest on. */
  readonly evidence?: Evidence | null;
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
  /** Where it changed them: `scratch` is a copy. Absent where the configuration could not be read. */
  readonly workspaceAccess?: 'scratch' | 'in-place' | 'read-only' | undefined;
  readonly patchFile: string | null;
  readonly resultFile: string | null;
  readonly transcriptFile: string | null;
  /** What is weaker than it could be: no sandbox, network on, uid 0; told first and loudly. */
  readonly weaknesses: readonly string[];
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
  readonly retold?: boolean;
  /** Whether `report` goes over the network: such reporters are dropped when a signal ended the run. */
  readonly network?: boolean;
}
