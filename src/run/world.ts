/** The environment of a run (`World`) and its state so far (`RunState`). */
import { randomUUID } from 'node:crypto';
import { type AgentRecord, createRecord } from '../agent/loop.ts';
import type { Config } from '../config/parse-config.ts';
import type { Gate, StandardValidate } from '../contract/contract.ts';
import type { Files } from '../contract/source.ts';
import { messageOf } from '../errors.ts';
import type { Change } from '../evidence/change.ts';
import type { AgentChanges } from '../git/patch.ts';
import type { ChangeContext } from '../github/context.ts';
import type { Evidence, Locate, Report, Reporter, RunEvent } from '../reporters/report-types.ts';
import type { TamperCheck } from '../sandbox/off.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import type { Entry } from '../text/messages.ts';
import type { Secrets } from '../text/secrets.ts';
import { once } from '../text/wait.ts';
import type { CommandRecord, JsonObject, PolicyChange, PolicyFile } from '../types.ts';
import type { EndListener } from './signals.ts';

/** What any kind of run needs: that of an agent, or a merge. */
export interface EndWorld {
  readonly entry: Entry;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly secrets: Secrets;
  readonly subject: Report['subject'];
  /** The folder for the files that the run writes, under the names in RESULT_FILES; null for none. */
  readonly results: string | null;
  /** A new private folder for the sandbox, removed when the run ends; null for a merge, which has none. */
  readonly runFolder: string | null;
  readonly locate: Locate;
  /** Restores this step's file-command files after something else wrote to them. */
  readonly restoreRunnerFiles: () => void;
  readonly listen: (listener: EndListener) => void;
  /**
   * Returns the policy files that the pull request changes. Never rejects.
   * @param read the change as it was read for this run; it is used if GitHub does not list all of its files.
   */
  findPolicyChanges(files: readonly PolicyFile[], read: Change | null): Promise<readonly PolicyChange[]>;
  /** The reporters are called in this order. */
  readonly openReporters: () => Promise<readonly Reporter[]>;
  /** Reports what is not an event: a warning about a reporter, the stack of a bug. */
  readonly warn: (text: string) => void;
}

/** The environment of an agent's run, created by an entry. */
export interface World extends EndWorld {
  /** A real, absolute path. */
  readonly workspace: string;
  readonly runFolder: string;
  /** Files outside the workspace that the agent must never change: our bundle and this step's file-command files. */
  readonly guarded: readonly string[];
  /** Whether the trigger runs untrusted content with the repository's rights. */
  readonly privileged: boolean;
  /** The validator of a library's schema object, in addition to the schema. */
  readonly validate?: StandardValidate | null;
  /** The absolute path of the file to which the model's answers are recorded. */
  readonly recording?: string | null;
  /** Where the programs of the sandbox are looked up. Default: the folders of the system. */
  readonly programFolders?: readonly string[];
  /** Reads files that the user named (schema, gate, prompt), here or in another repository. */
  readonly files: Files;
  /** Returns the change that the event is about; null if there is none. Never rejects. */
  readonly findContext: () => Promise<ChangeContext | 'unknown' | null>;
  /** `fetch` through the proxies and with the certificate authorities of this machine. */
  readonly fetch: typeof fetch;
}

/** What a run knows so far. Filled step by step, so that a run that fails midway is reported with all that is known. */
export class RunState {
  readonly sessionId: string = randomUUID();
  readonly startedAt = new Date();
  readonly record: AgentRecord = createRecord();
  /** Aborted with a `RunStop`, with the error that makes it pointless to continue, or because the run is over. */
  readonly stop = new AbortController();
  /** Aborted by signals only, even when the run has already ended for another reason. */
  readonly interrupt = new AbortController();
  /** An invalid input has its default value; null for a merge. */
  config: Config | null = null;
  /** Whether the inputs that can be checked without this machine are valid. */
  isValid = false;
  /** Who answers: the model, or a recording of one; nobody in a merge. */
  answeredBy: Pick<Report, 'model' | 'provider' | 'replayed'> = { model: '', provider: '' };
  /** The name by which the price list knows the model; null if that is the model's own, or if nothing is priced. */
  pricedAs: string | null = null;
  outputNames: readonly string[] = [];
  gate: Gate | null = null;
  policy: Report['policy'];
  /** The policy files that the pull request changes. Asked for while the model answers, and never rejects. */
  policyChanges: Promise<readonly PolicyChange[]> = Promise.resolve([]);
  /** What is weaker than it could be, apart from the sandbox. */
  readonly weaknesses: string[] = [];
  sandbox: OpenedSandbox | null = null;
  tamper: TamperCheck | null = null;
  /** Compares the workspace with what it was before the agent; null without a repository, and until that is known. */
  changes: ((signal: AbortSignal) => Promise<AgentChanges>) | null = null;
  /** How much of the change the model was given; null until known. */
  context: Evidence['context'] | null = null;
  change: Change = { status: 'unknown', why: null, files: [], marked: new Map() };
  /** The diff in the first message; null if there is none, or the provider cut it. */
  inlined: string | null = null;
  /** The last commands that the agent ran. */
  readonly commands: CommandRecord[] = [];
  /** The files that the agent had changed or made when the command of its payload was judged. */
  judgedWith: readonly string[] = [];
  /** Returns the coverage and, if the findings of the payload were looked up, their grounding. */
  describeEvidence: (payload: JsonObject | null) => Partial<Evidence> = () => ({});
  /** Lets a feature on top of the core change the report. */
  describe: ((report: Report) => Report) | null = null;
  /** Opens the reporters, which are loaded while the model answers, and tells them what has happened so far. */
  readonly openReporters: () => Promise<readonly Reporter[]>;
  /** Tells the reporters of an event, once they are open. */
  readonly tell: (event: RunEvent) => void;
  readonly warn = (text: string) => this.tell({ type: 'notice', level: 'warning', text });

  constructor({ version, openReporters, warn }: EndWorld) {
    this.policy = { schema_sha256: null, gate_sha256: null, prompt_sha256: null, version };
    const early: RunEvent[] = [];
    let reporters: readonly Reporter[] | null = null;
    this.tell = (event) => {
      if (reporters === null) early.push(event);
      for (const reporter of reporters ?? []) {
        try {
          reporter.event?.(event);
        } catch (error) {
          // It has a bug, which must not end the run.
          warn(`${reporter.name}: ${messageOf(error)}`);
        }
      }
    };
    this.openReporters = once(async () => {
      reporters = await openReporters();
      early.forEach(this.tell);
      return reporters;
    });
  }

  /** Warns now, and in the report. */
  warnOfWeakness(text: string): void {
    this.warn(text);
    this.weaknesses.push(text);
  }
}
