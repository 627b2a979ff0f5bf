/** Runs a merge: inputs → envelopes → votes → legs → verdict → finish. */
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { readInputs } from '../action/raw-inputs.ts';
import { type Folders, type Known, readStepSetup, type Setup } from '../action/setup.ts';
import { createContract, createGate } from '../contract/contract.ts';
import { type Files, parseGateArgument, pathHere } from '../contract/source.ts';
import { type Claim, type EnvelopeFile, readEnvelopes } from '../envelope/envelope.ts';
import { InputError, throwProblems } from '../errors.ts';
import type { PolicyFile } from '../github/changed-files.ts';
import type { RunnerFiles } from '../github/runner.ts';
import type { Report } from '../reporters/report-types.ts';
import type { Ending } from '../run/endings.ts';
import { runToEnd } from '../run/finish.ts';
import type { EndWorld, RunState } from '../run/world.ts';
import type { JsonObject, PolicyChange, Subject } from '../types.ts';
import { MERGE_NAMES, type MergeConfig, parseMergeConfig } from './config.ts';
import { attemptOf, type LegGate, quoteName, readVote, type Vote } from './legs.ts';
import { buildPayload, merge } from './merge.ts';
import { describeMerge } from './report.ts';
import { describeGate, describeUndecided } from './words.ts';

export interface MergeWorld extends EndWorld {
  /** Real and absolute. */
  readonly workspace: string;
  readonly files: Files;
  /** Returns the policy files that the pull request changes. Never rejects. */
  readonly findPolicyChanges: (files: readonly PolicyFile[]) => Promise<readonly PolicyChange[]>;
  /**
   * Returns the absolute path of the folder of envelopes.
   * @throws InputError if it is outside the folders that may be read.
   */
  readonly resolveVerdicts: (folder: string) => Promise<string>;
  /** Whether the legs may have judged what they checked out instead of the event's commit. */
  readonly anyCommit: boolean;
  /** Returns the URL of a run attempt; null if there is none. */
  readonly page: (subject: Subject | null) => string | null;
}

/** Reads the inputs of a merge, which has no transcript and no working directory, and is not a leg itself. */
export function readMergeSetup(
  environment: NodeJS.ProcessEnv,
  files: RunnerFiles,
  folders: Folders,
): Promise<Setup<MergeConfig & Known>> {
  const collected = readInputs(MERGE_NAMES);
  const { config, problems } = parseMergeConfig(collected.raw, { environment, problems: collected.problems });
  const fixed = {
    transcriptFile: null,
    reportFile: null,
    workingDirectory: '.',
    trustedFiles: 'workspace',
    leg: null,
    vote: null,
  } as const;
  return readStepSetup({ config: { ...config, ...fixed }, problems }, null, environment, files, folders);
}

/** Runs a merge to its end, even if it fails, and reports it; never rejects. */
export function runMerge(inputs: MergeRunInputs, world: MergeWorld): Promise<Report> {
  return runToEnd(async (state) => {
    // Even if the inputs are invalid, this is a failed merge and not a failed agent run.
    state.describe = (report) => describeMerge(report, null, world.secrets.mask);
    state.stop.signal.throwIfAborted();
    throwProblems(inputs.problems);
    return work(inputs.config, state, world);
  }, world);
}

/** The inputs and all known problems with them; if there are any, nothing is merged. */
export interface MergeRunInputs {
  readonly config: MergeConfig;
  readonly problems: readonly Error[];
}

async function work(config: MergeConfig, state: RunState, world: MergeWorld): Promise<Ending> {
  const gate = await readGate(config, state, world);
  const folder = await world.resolveVerdicts(config.verdicts);
  const { votes, refused } = await readVotes(folder, config, gate, state.stop.signal, world);
  const { subject, anyCommit, workspace, page } = world;
  const merged = merge(votes, { ...config, subject, anyCommit, workspace, page, refused });
  const commit = findCommit(votes);
  state.describe = (report) =>
    describeMerge({ ...report, subject: withCommit(report.subject, commit) }, merged, world.secrets.mask);
  if (merged.outcome === 'abstain') return { kind: 'undecided', text: describeUndecided(merged) };
  const words = describeGate(config.rule, merged, config.ruleText);
  state.gate = { warnings: [], evaluate: (payload) => evaluateRule(payload, words) };
  return { kind: 'submitted', payload: buildPayload(merged), repaired: null };
}

type ReviewedCommit = Pick<Subject, 'sha' | 'checked_out'>;

/** Replaces the commit that is checked out here, which is not the one that was reviewed. */
function withCommit(subject: Subject | null, commit: ReviewedCommit | null): Subject | null {
  if (subject === null || commit === null) return subject;
  const { checked_out: _, ...own } = subject;
  return { ...own, ...commit };
}

/**
 * Returns the commit that the runs judged; `checked_out` is null if runs with a verdict checked out different commits.
 * Returns null if there is no run.
 */
function findCommit(votes: readonly Vote[]): ReviewedCommit | null {
  const sha = votes[0]?.subject?.sha;
  if (sha === undefined) return null;
  const decided = votes.filter(({ outcome }) => outcome !== 'abstain');
  const [checkedOut, ...others] = new Set(decided.map(({ subject }) => subject?.checked_out));
  if (others.length > 0) return { sha, checked_out: null };
  return checkedOut === undefined ? { sha } : { sha, checked_out: checkedOut };
}

/** Reads the gate for the payloads of the legs; its hash is recorded as for a run. */
async function readGate(config: MergeConfig, state: RunState, world: MergeWorld): Promise<LegGate> {
  const path = pathHere(config.gate);
  state.judging = world.findPolicyChanges(path === null ? [] : [{ what: 'gate', path }]).then((changes) => {
    state.policyChanges = changes;
  });
  if (config.gate === 'auto') return null;
  const request = await parseGateArgument(config.gate, null, world.files);
  state.policy = { ...state.policy, gate_sha256: sha256(JSON.stringify(request)) };
  // The legs' schemas are unknown here: a payload fails if the property is missing or not true.
  const properties = request.kind === 'property' ? { [request.name]: { type: 'boolean' } } : {};
  const gate = await createGate(request, await createContract({ type: 'object', properties }));
  for (const text of gate.warnings) world.warn(text);
  return gate;
}

/** A file that is not a valid envelope: the vote that it claims to be, and whether it may still be a leg's own. */
type RefusedFile = Extract<EnvelopeFile, { readonly ok: false }>;

async function readVotes(
  folder: string,
  { signingKey, gate: gateText }: MergeConfig,
  gate: LegGate,
  stop: AbortSignal,
  world: MergeWorld,
): Promise<{ readonly votes: readonly Vote[]; readonly refused: readonly RefusedFile[] }> {
  const votes: Vote[] = [];
  const refused: RefusedFile[] = [];
  let denied = 0;
  const files = readEnvelopes(folder, { input: 'verdicts', signingKey, whenMissing: 'refuse' });
  for await (const read of files) {
    stop.throwIfAborted();
    if (read.ok) {
      votes.push(readVote(read.envelope, gate, world.secrets));
      if (read.envelope.payload?.['passed'] === false) denied += 1;
    } else refused.push(read);
    // Files are read synchronously, so signals are handled here.
    await setImmediate();
  }
  if (votes.length + refused.length === 0)
    throw new InputError(
      'verdicts',
      `verdicts: there is no envelope in ${JSON.stringify(folder)}, no .json file at all. Look whether the legs ran and uploaded run-result-file, and what actions/download-artifact put there.`,
    );
  if (gateText === 'none' && denied > 0) world.warn(warnUngated(denied));
  return { votes: dropReplaced(votes, refused, world), refused };
}

const nameOf = ({ leg, vote }: Claim | Vote) => JSON.stringify([leg, vote]);

/**
 * Drops votes that may have been replaced by a later attempt whose envelope is not valid: that attempt has no verdict,
 * and the earlier verdict no longer applies. If an envelope of the same attempt is invalid, it is also unknown which
 * run of that attempt counts. A file that claims to be none of the present votes may be the envelope of any of them, so
 * it replaces every vote of an earlier attempt. An attacker who forges such a file can remove a verdict but never
 * create one.
 */
function dropReplaced(
  votes: readonly Vote[],
  files: readonly RefusedFile[],
  { subject, warn }: MergeWorld,
): readonly Vote[] {
  const names = new Set(votes.map(nameOf));
  const firsts = new Map<string, number>();
  const unknown: string[] = [];
  const current = subject?.run_attempt ?? Math.max(0, ...votes.map(attemptOf));
  for (const { file, claim, genuine } of files) {
    if (claim === null || !names.has(nameOf(claim)) || !isOfThisRun(claim, subject)) {
      unknown.push(file);
      continue;
    }
    // A file without a valid signature does not come from a run of this attempt.
    const first = genuine ? claim.attempt + 1 : claim.attempt;
    firsts.set(nameOf(claim), Math.max(first, firsts.get(nameOf(claim)) ?? 0));
  }
  const left = votes.filter((vote) => attemptOf(vote) >= (firsts.get(nameOf(vote)) ?? 0));
  const kept = unknown.length === 0 ? left : left.filter((vote) => attemptOf(vote) >= current);
  if (kept.length < left.length) warn(warnUnclaimed(unknown, left.length - kept.length, current));
  return kept;
}

function isOfThisRun({ run, attempt }: Claim, subject: Subject | null): boolean {
  return subject === null || (run === subject.run_id && attempt <= subject.run_attempt);
}

function warnUnclaimed([file = '', ...others]: readonly string[], count: number, attempt: number): string {
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const votes = count === 1 ? 'The verdict of 1 run' : `The verdicts of ${count} runs`;
  return `${votes} before attempt ${attempt} cannot count: ${quoteName(file)}${more} is no envelope that counts and does not say which vote of this run it is, so it may be a later one. Put nothing but envelopes into the folder of verdicts, and use "Re-run all jobs".`;
}

/** `gate: none` is valid in the legs, and is easily copied to the merge by mistake. */
function warnUngated(count: number): string {
  const runs =
    count === 1
      ? '1 run whose payload says "passed": false counts'
      : `${count} runs whose payloads say "passed": false count`;
  return `gate is none, so ${runs} as passing. Leave gate out here: then passed is asked for.`;
}

function evaluateRule(payload: JsonObject, words: string) {
  if (payload['passed'] === true) return { status: 'met', issues: [] } as const;
  const issue = { path: '/passed', keyword: 'const', message: 'must be true.' };
  return { status: 'not_met', issues: [issue], words: [words] } as const;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
