/** The world of a run, and what a run knows so far. */
import { randomUUID } from 'node:crypto';
import { type AgentRecord, createRecord } from '../agent/agent.ts';
import type { Config } from '../config/config.ts';
import type { Contract, Gate, StandardValidate } from '../contract/contract.ts';
import type { Files } from '../contract/source.ts';
import type { PolicyFile } from '../github/changed-policy.ts';
import type { PullRequestContext } from '../github/context.ts';
import type { Provider } from '../providers/provider.ts';
import type { Evidence, Report, Reporter, Reuse } from '../reporters/report-types.ts';
import type { Locate } from '../reporters/source-locations.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import type { TamperCheck } from '../sandbox/workspace/tamper.ts';
import type { Changes } from '../sandbox/workspace/workspace-diff.ts';
import type { Entry } from '../text/naming.ts';
import type { Secrets } from '../text/secrets.ts';
import type { ContextStatus, PolicyChange, PolicyDigest, Subject } from '../types.ts';
import type { Ending } from './endings.ts';

/** What the end of a run needs of its world, whatever came before it. */
export interface EndWorld {
  /** How the user started this run: messages name inputs as they are written there. */
  readonly entry: Entry;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly secrets: Secrets;
  readonly subject: Subject | null;
  readonly resultFile: string | null;
  readonly transcriptFile: string | null;
  /** A fresh private folder for the sandbox, removed when the run ends; null for a merge, which has none. */
  readonly runFolder: string | null;
  /** Finds the files that a payload names; null for a merge, whose legs have looked for them. */
  readonly locate: Locate | null;
  /** Keeps the patch of what the agent changed; gives its path, null where it is no file. */
  readonly writePatch: (patch: Buffer) => string | null;
  /** Takes back what somebody wrote into this step's own file-command files. */
  readonly restoreRunnerFiles: () => void;
  /** Where what the model says is recorded, a line at a time; nowhere unless the user asked for it. */
  readonly recording?: { readonly file: string; readonly append: (line: string) => void } | null;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
  /** Tells the listener of what ends a run from outside, for as long as the process lives. */
  readonly listen: (listener: EndListener) => void;
  /** Told while the run goes on and at its end, in this order. */
  readonly reporters: readonly Reporter[];
  /** Where the envelope goes when it cannot be written where it was asked for; null for nowhere. */
  readonly spareResultFile: string | null;
  /** Writes the result envelope to the report's result file. @throws InputError when it cannot be written. */
  readonly writeEnvelope: (report: Report) => void;
  /** Writes the outputs, last of all. @throws InputError when they cannot be written. */
  readonly writeOutputs: (report: Report) => void | Promise<void>;
  /** Says something outside any event: a warning about a reporter, the stack of a bug. */
  readonly warn: (text: string) => void;
}

/** The world of an agent's run, built by an entry. */
export interface World extends EndWorld {
  /** Real, absolute paths. */
  readonly workspace: string;
  readonly home: string;
  readonly temp: string;
  readonly runFolder: string;
  /** Files beside the workspace that the agent must never change: our bundle, this step's file-command files. */
  readonly guarded: readonly string[];
  /** Where the helpers of the sandbox are looked for, absolute; the system's own folders when left out. */
  readonly helperFolders?: readonly string[];
  /** Whether the trigger gives a stranger's text the repository's rights. */
  readonly privileged: boolean;
  /** What judges a payload beside the schema: the validator of a library's schema object; absent for none. */
  readonly validate?: StandardValidate | null;
  /** Reads files that the user named: the schema, the gate, the prompt; here or in another repository. */
  readonly files: Files;
  /**
   * What the agent can be told of the run's pull request; null where it is about none, `unknown` where nobody could say.
   * Never rejects.
   */
  readonly findContext: () => Promise<PullRequestContext | 'unknown' | null>;
  /** Which files of the policy the pull request changes. Never rejects. */
  readonly findPolicyChanges: (files: readonly PolicyFile[]) => Promise<readonly PolicyChange[]>;
  /** How requests leave this machine: through its proxies, trusting its authorities. */
  readonly fetch: typeof fetch;
  readonly features: Features;
  /** @throws InputError for a folder that the shell cannot be shown. */
  readonly requireReadable: (folders: readonly string[]) => Promise<void>;
}

/** A recording that stands in for a model. */
export interface Replayed {
  readonly provider: Provider;
  readonly header: { readonly model: string; readonly provider: string; readonly created: string };
}

/** What a replay is told of the run that it plays in. */
export interface ReplayWorld {
  readonly mask: (text: string) => string;
  /** What this run asks a model for, null where any model will do; asked for on the first turn. */
  readonly task: () => {
    readonly policy: PolicyDigest;
    readonly model: string | null;
    readonly workingDirectory: string;
  };
}

/** What a recorder is told of the run that it records. */
export interface RecorderWorld {
  /** Takes one line, without its end. What it throws ends the recording, and not the run. */
  readonly append: (line: string) => void;
  readonly mask: (text: string) => string;
  /** Asked for when the first line is written. */
  readonly policy: () => PolicyDigest;
  readonly workingDirectory: () => string;
  /** The time, as ISO 8601. */
  readonly time: () => string;
  /** Called with what keeps the recording from being replayed, each thing once. */
  readonly warn: (text: string) => void;
}

/** What an earlier verdict is looked for with. */
export interface ReuseOptions {
  readonly config: Config;
  /** The absolute folder where the agent starts. */
  readonly workingDirectory: string;
  readonly contract: Contract;
  /** It is still being started. */
  readonly sandbox: OpenedSandbox;
  readonly state: RunState;
  readonly world: World;
  readonly notify: (level: 'info' | 'warning', text: string) => void;
}

/** Features on top of the core, which entries hand in: each is loaded by the runs whose inputs ask for it. */
export interface Features {
  /** Opens a recording. @throws InputError for a text that is none. */
  readonly replay: (text: string, world: ReplayWorld) => Promise<Replayed>;
  /** A provider whose answers are recorded. */
  readonly record: (provider: Provider, world: RecorderWorld) => Promise<Provider>;
  /** An earlier verdict on the same files by the same policy as the ending; null where a model has to be asked. */
  readonly reuse: (options: ReuseOptions) => Promise<Ending | null>;
}

/** Hears of what ends a run from outside the loop. */
export interface EndListener {
  /** A signal that asks to end. */
  signal(name: string): void;
  /** An error that nothing caught: a bug. */
  crash(error: unknown): void;
}

/** What a run knows so far; grows, so that a run that failed midway is reported whole. */
export interface RunState {
  readonly sessionId: string;
  readonly startedAt: number;
  readonly record: AgentRecord;
  /** Aborted with a `RunStop`, or with the error that makes it pointless to go on. */
  readonly stop: AbortController;
  /** Aborted by signals alone, whatever else ended the run before. */
  readonly interrupt: AbortController;
  readonly timers: Set<NodeJS.Timeout>;
  /** Which run this is, whatever is wrong with its other inputs: the model as typed. */
  identity: Pick<Config, 'leg' | 'vote'> & { readonly model: string };
  /** null where an input is wrong. */
  config: Config | null;
  /** What the recording says of itself; null for a real run, and until it is read. */
  replay: Replayed['header'] | null;
  contract: Contract | null;
  gate: Gate | null;
  policy: PolicyDigest;
  policyChanges: readonly PolicyChange[];
  /** Resolved once the first request has left, or none will. */
  readonly asked: PromiseWithResolvers<void>;
  /** Resolves once `policyChanges` is known. */
  judging: Promise<void>;
  commentUrl: string | null;
  /** What was reused, or by which key this run may be; null where that was not asked for. */
  reuse: Reuse | null;
  /** What the model was given of the change; null before that is known. */
  context: ContextStatus | null;
  /** What a reused verdict rests on: its own run's evidence, null where that has none. */
  reusedEvidence: Evidence | null;
  /** What a feature on top of the core makes of the report; null for the plain run of an agent. */
  describe: ((report: Report) => Report) | null;
  /** The commit that was judged, where the world cannot know it; null where it does. */
  commit: Pick<Subject, 'sha' | 'checked_out'> | null;
  sandbox: OpenedSandbox | null;
  tamper: TamperCheck | null;
  changes: Changes | null;
}

/** The state of a run that has done nothing yet. */
export function createState(world: EndWorld): RunState {
  return {
    sessionId: randomUUID(),
    startedAt: world.now(),
    record: createRecord(),
    stop: new AbortController(),
    interrupt: new AbortController(),
    timers: new Set(),
    identity: { leg: null, vote: null, model: '' },
    config: null,
    replay: null,
    contract: null,
    gate: null,
    policy: { schema_sha256: null, gate_sha256: null, prompt_sha256: null, version: world.version },
    policyChanges: [],
    asked: Promise.withResolvers(),
    judging: Promise.resolve(),
    commentUrl: null,
    reuse: null,
    context: null,
    reusedEvidence: null,
    describe: null,
    commit: null,
    sandbox: null,
    tamper: null,
    changes: null,
  };
}
