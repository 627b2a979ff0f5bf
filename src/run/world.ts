/** The environment of a run (`World`) and its state so far (`RunState`). */
import { randomUUID } from 'node:crypto';
import { type AgentRecord, createRecord } from '../agent/loop.ts';
import type { Config } from '../config/parse-config.ts';
import type { Gate, StandardValidate } from '../contract/contract.ts';
import type { Files } from '../contract/source.ts';
import type { Change } from '../evidence/change.ts';
import type { Grounded } from '../evidence/grounding.ts';
import type { EvidenceReview } from '../evidence/review.ts';
import type { AgentChanges } from '../git/patch.ts';
import type { ChangeContext } from '../github/context.ts';
import type { Locate } from '../reporters/places.ts';
import type { Report, Reporter } from '../reporters/report-types.ts';
import type { TamperCheck } from '../sandbox/off.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import type { Entry } from '../text/messages.ts';
import type { Secrets } from '../text/secrets.ts';
import type {
  CommandRecord,
  ContextStatus,
  Coverage,
  GroundingCounts,
  JsonObject,
  PolicyChange,
  PolicyDigest,
  PolicyFile,
  Subject,
  Usage,
} from '../types.ts';
import { type Audience, createAudience } from './audience.ts';
import type { EndListener } from './signals.ts';

/** What any kind of run needs: that of an agent, or a merge. */
export interface EndWorld {
  /** How the user started this run. Messages name inputs as that entry writes them. */
  readonly entry: Entry;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly secrets: Secrets;
  readonly subject: Subject | null;
  /** The folder for the files that the run writes, under the names in RESULT_FILES; null for none. */
  readonly results: string | null;
  /** A new private folder for the sandbox, removed when the run ends; null for a merge, which has none. */
  readonly runFolder: string | null;
  /** Locates the files that a payload names. */
  readonly locate: Locate;
  /** Receives the patch of the agent's changes, which is also written to the results folder; absent if not wanted. */
  readonly onPatch?: (patch: Buffer) => void;
  /** Restores this step's file-command files after something else wrote to them. */
  readonly restoreRunnerFiles: () => void;
  /** The file to which model output is recorded, a line at a time; absent or null unless requested. */
  readonly recording?: { readonly file: string; readonly append: (line: string) => void } | null;
  /** Registers the listener for signals and uncaught errors, for the lifetime of the process. */
  readonly listen: (listener: EndListener) => void;
  /**
   * Returns the policy files that the pull request changes. Never rejects.
   * @param read the change as it was read for this run; it is used if GitHub does not list all of its files.
   */
  readonly findPolicyChanges: (
    files: readonly PolicyFile[],
    read: Change | null,
  ) => Promise<readonly PolicyChange[]>;
  /** Opens the reporters, once the model has been asked. They are notified in this order, during the run and at its end. */
  readonly openReporters: () => Promise<readonly Reporter[]>;
  /** Writes the envelope to the results folder. @throws InputError when it cannot be written */
  readonly writeEnvelope: (report: Report) => void | Promise<void>;
  /** Writes the outputs, as the last step. @throws InputError when they cannot be written */
  readonly writeOutputs: (report: Report) => void | Promise<void>;
  /** Reports a message that is not an event: a warning about a reporter, the stack of a bug. */
  readonly warn: (text: string) => void;
}

/** The environment of an agent's run, created by an entry. */
export interface World extends EndWorld {
  /** A real, absolute path. */
  readonly workspace: string;
  /** A new private folder, directly in RUNNER_TEMP on GitHub. */
  readonly runFolder: string;
  /** Files outside the workspace that the agent must never change: our bundle and this step's file-command files. */
  readonly guarded: readonly string[];
  /** Whether the trigger runs untrusted content with the repository's rights. */
  readonly privileged: boolean;
  /** Validates a payload in addition to the schema: the validator of a library's schema object. Absent for none. */
  readonly validate?: StandardValidate | null;
  /** Reads files that the user named (schema, gate, prompt), here or in another repository. */
  readonly files: Files;
  /**
   * Returns the change that the event is about; null when there is none, `unknown` when that could not be determined.
   * Never rejects.
   */
  readonly findContext: () => Promise<ChangeContext | 'unknown' | null>;
  /** `fetch` through the proxies and with the certificate authorities of this machine. */
  readonly fetch: typeof fetch;
}

/** What the verdict of a run rests on. */
export interface RunEvidence {
  readonly review: EvidenceReview;
  coverage(): Coverage;
  /** What was found about the findings of a payload; null if they were not looked up. */
  groundingOf(payload: JsonObject): LookedUp | null;
}

/** What was found about the findings of a payload, in their order. */
export interface LookedUp {
  readonly findings: readonly Grounded[];
  readonly counts: GroundingCounts;
}

/** What a run knows so far. Filled step by step, so that a run that fails midway is reported with all that is known. */
export class RunState {
  readonly sessionId: string = randomUUID();
  readonly startedAt = new Date();
  readonly record: AgentRecord = createRecord();
  readonly audience: Audience;
  /** Aborted with a `RunStop`, or with the error that makes it pointless to continue. */
  readonly stop = new AbortController();
  /** Aborted by signals only, even when the run has already ended for another reason. */
  readonly interrupt = new AbortController();
  /** Ends the run when its time is up; undefined until it has begun. */
  timer: NodeJS.Timeout | undefined;
  /** An invalid input has its default value; null for a merge. */
  config: Config | null = null;
  /** Whether the inputs that can be checked without this machine are valid. */
  isValid = false;
  /** The recording that answers, and the name of its model in reports; null for a live run, and until it has been read. */
  replay: (Pick<Report, 'model' | 'provider'> & { readonly name: string; readonly created: string }) | null =
    null;
  /** The name by which the price list knows the model; null if that is the model's own, or if nothing is priced. */
  pricedAs: string | null = null;
  outputNames: readonly string[] = [];
  gate: Gate | null = null;
  /** The warning that a schema of the user's own has no gate; empty if there is nothing to warn of. */
  openGate: readonly string[] = [];
  policy: PolicyDigest;
  /** The policy files that the pull request changes. Asked for while the model answers, and never rejects. */
  policyChanges: Promise<readonly PolicyChange[]> = Promise.resolve([]);
  /** Settles once `sandbox` begins to open, or will not be opened. */
  opening: Promise<unknown> = Promise.resolve();
  sandbox: OpenedSandbox | null = null;
  tamper: TamperCheck | null = null;
  /** Compares the workspace with what it was before the agent; null without a repository, and until that is known. */
  changes: ((signal: AbortSignal) => Promise<AgentChanges>) | null = null;
  /** How much of the change the model was given; null until known. */
  context: ContextStatus | null = null;
  /** The change as files and hunks; null while it is not known, for the reason in `noChange`. */
  change: Change | null = null;
  /** What is said of the coverage if `change` is null: it is partial if there is a change that was not given. */
  noChange: { readonly status: 'partial' | 'unknown'; readonly why: string } = {
    status: 'unknown',
    why: 'The run ended before the change was known.',
  };
  /** The diffs in the context folder, by their path. */
  diffs: ReadonlyMap<string, string> = new Map();
  /** The diff in the first message; null if there is none. */
  inlined: string | null = null;
  /** The usage of the first turn; null until then, and if the provider does not report it. */
  firstUsage: Usage | null = null;
  /** The last commands that the agent ran. */
  readonly commands: CommandRecord[] = [];
  /** The files that the agent had changed or made when the command of its payload was judged. */
  judgedWith: readonly string[] = [];
  /** Measures what the verdict rests on; null until the sandbox is ready. */
  evidence: RunEvidence | null = null;
  /** Lets a feature on top of the core change the report; null for a plain agent run. */
  describe: ((report: Report) => Report) | null = null;

  constructor({ version, openReporters, warn }: EndWorld) {
    this.audience = createAudience(openReporters, warn);
    this.policy = { schema_sha256: null, gate_sha256: null, prompt_sha256: null, version };
  }
}
