/** The whole merge on one page: what was typed → envelopes → votes → legs → verdict → finish. */
import { createHash } from 'node:crypto';
import { readInputs } from '../action/inputs.ts';
import { type Folders, type Known, readStepSetup, type Setup } from '../action/setup.ts';
import { createContract, createGate } from '../contract/contract.ts';
import { type Files, parseGateArgument, pathHere } from '../contract/source.ts';
import { type Claim, readEnvelopes } from '../envelope/envelope.ts';
import { InputError, throwProblems } from '../errors.ts';
import type { PolicyFile } from '../github/changed-policy.ts';
import type { RunnerFiles } from '../github/runner.ts';
import type { Report } from '../reporters/report-types.ts';
import { runToEnd } from '../run/finish.ts';
import type { Ending } from '../run/verdict.ts';
import type { EndWorld, RunState } from '../run/world.ts';
import type { JsonObject, PolicyChange, Subject } from '../types.ts';
import { type MergeConfig, parseMergeConfig } from './config.ts';
import { MERGE_NAMES } from './inputs.ts';
import {
  type Cast,
  castOf,
  type LegGate,
  merge,
  payloadOf,
  quoted,
  undecidedText,
  wantsOf,
} from './merge.ts';
import { mergedJson } from './merged-json.ts';
import { describeMerge } from './report.ts';
import { WEIGHT_UNIT } from './rule-inputs.ts';
import type { Merged } from './types.ts';

/** The world of a merge, built by its entry. */
export interface MergeWorld extends EndWorld {
  /** Real and absolute. */
  readonly workspace: string;
  /** Reads a gate that is a file. */
  readonly files: Files;
  /** Which files of the policy the pull request changes. Never rejects. */
  readonly findPolicyChanges: (files: readonly PolicyFile[]) => Promise<readonly PolicyChange[]>;
  /** The absolute folder of the envelopes. @throws InputError when it lies where nothing is read. */
  readonly resolveVerdicts: (folder: string) => Promise<string>;
  /** Whether the legs may have judged what they checked out, and not the event's commit. */
  readonly anyCommit: boolean;
  /** The page of a run's attempt; null where there is none. */
  readonly page: (subject: Subject | null) => string | null;
}

/** Reads the inputs of a merge, which has no transcript and no folder to work in, and is not a leg itself. */
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

/** Merges to the end, whatever happens, and reports it; never rejects. */
export function runMerge(inputs: MergeRunInputs, world: MergeWorld): Promise<Report> {
  return runToEnd(async (state) => {
    // Also where the inputs are wrong it is a merge that failed, and no agent.
    state.describe = (report) => describeMerge(report, null, world.secrets.mask);
    state.stop.signal.throwIfAborted();
    throwProblems(inputs.problems);
    return work(inputs.config, state, world);
  }, world);
}

/** What was typed, and all that is known to be wrong with it; then nothing is merged. */
export interface MergeRunInputs {
  readonly config: MergeConfig;
  readonly problems: readonly Error[];
}

async function work(config: MergeConfig, state: RunState, world: MergeWorld): Promise<Ending> {
  const gate = await readGate(config, state, world);
  const folder = await world.resolveVerdicts(config.verdicts);
  const { casts, refused, denied } = await readCasts(folder, config, gate, state.stop.signal, world);
  if (config.gate === 'none' && denied > 0) world.warn(ungated(denied));
  const { rule, expect, votes, weights, ruleText, votesText } = config;
  const merged = merge(casts, {
    ...{ rule, expect, votes, weights, ruleText, votesText, refused },
    unit: WEIGHT_UNIT,
    subject: world.subject,
    anyCommit: world.anyCommit,
    workspace: world.workspace,
    page: world.page,
  });
  state.describe = (report) => describeMerge(report, merged, world.secrets.mask);
  state.commit = commitOf(casts);
  if (merged.ballot === 'abstain')
    return { kind: 'undecided', text: undecidedText(merged.summary, merged.legs, merged.refused) };
  state.gate = {
    warnings: [],
    evaluate: (payload) => judged(payload, wantsOf(rule, merged, ruleText)),
  };
  return { kind: 'submitted', payload: payloadFor(merged, world), repaired: null };
}

/** The commit that the runs judged, as far as those with a verdict checked out the same; null where there is no run. */
function commitOf(casts: readonly Cast[]): RunState['commit'] {
  const sha = casts[0]?.subject?.sha;
  if (sha === undefined) return null;
  const judged = casts.filter(({ ballot }) => ballot !== 'abstain');
  const [checkedOut, ...others] = new Set(judged.map(({ subject }) => subject?.checked_out));
  if (others.length > 0) return { sha, checked_out: null };
  return checkedOut === undefined ? { sha } : { sha, checked_out: checkedOut };
}

/** Nothing is masked: a secret in it must be found, and then nothing is published. */
function payloadFor(merged: Merged, { secrets }: MergeWorld): JsonObject {
  return payloadOf(
    merged,
    mergedJson(merged, (text) => text),
    secrets,
  );
}

/** The gate for the payloads of the legs; what it was made from goes on record like that of a run. */
async function readGate(config: MergeConfig, state: RunState, world: MergeWorld): Promise<LegGate> {
  const path = pathHere(config.gate);
  state.judging = world.findPolicyChanges(path === null ? [] : [{ what: 'gate', path }]).then((changes) => {
    state.policyChanges = changes;
  });
  if (config.gate === 'auto') return null;
  const request = await parseGateArgument(config.gate, null, world.files);
  state.policy = { ...state.policy, gate_sha256: sha256(JSON.stringify(request)) };
  // Nothing is known of the schemas of the legs: a property that a payload lacks, or that is not true, fails it.
  const properties = request.kind === 'property' ? { [request.name]: { type: 'boolean' } } : {};
  const gate = await createGate(request, await createContract({ type: 'object', properties }));
  for (const text of gate.warnings) world.warn(text);
  return gate;
}

interface Read {
  readonly casts: readonly Cast[];
  readonly refused: Merged['refused'];
  /** How many payloads say that they have not passed, whatever the gate makes of them. */
  readonly denied: number;
}

async function readCasts(
  folder: string,
  { signingKey }: MergeConfig,
  gate: LegGate,
  stop: AbortSignal,
  world: MergeWorld,
): Promise<Read> {
  const { secrets } = world;
  const casts: Cast[] = [];
  const refused: { file: string; why: string }[] = [];
  const claims: RefusedFile[] = [];
  let denied = 0;
  const files = readEnvelopes(folder, { input: 'verdicts', signingKey, whenMissing: 'refuse' });
  for await (const read of files) {
    stop.throwIfAborted();
    if (read.ok) {
      casts.push(castOf(read.envelope, gate, secrets));
      if (read.envelope.payload?.['passed'] === false) denied += 1;
    } else {
      refused.push({ file: read.file, why: read.why });
      claims.push({ file: read.file, claim: read.claim, genuine: read.genuine });
    }
    // Files are read without waiting: this is where a signal comes through.
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (casts.length + refused.length > 0) return { casts: standing(casts, claims, world), refused, denied };
  throw new InputError(
    'verdicts',
    `verdicts: there is no envelope in ${JSON.stringify(folder)}, no .json file at all. Look whether the legs ran and uploaded run-result-file, and what actions/download-artifact put there.`,
  );
}

/** A file that counts as no envelope: what it says it is, and whether it may be a leg's own all the same. */
interface RefusedFile {
  readonly file: string;
  readonly claim: Claim | null;
  readonly genuine: boolean;
}

const attemptOf = ({ subject }: Cast) => subject?.run_attempt ?? 0;
const nameOf = ({ leg, vote }: Claim | Cast) => JSON.stringify([leg, vote]);

/**
 * The casts without those that may have been replaced by a later attempt whose envelope does not count: that one has no
 * verdict, and the earlier one is no longer it. Nor is it known which run of one attempt counts where the envelope of one
 * does not. A file that claims to be none of the votes that are there may be the envelope of any of them, so it replaces
 * every vote of an earlier attempt. An attacker who forges such a file takes a verdict away, and never gives one.
 */
function standing(
  casts: readonly Cast[],
  files: readonly RefusedFile[],
  { subject, warn }: MergeWorld,
): readonly Cast[] {
  const votes = new Set(casts.map(nameOf));
  const firsts = new Map<string, number>();
  const unknown: string[] = [];
  const current = subject?.run_attempt ?? Math.max(0, ...casts.map(attemptOf));
  for (const { file, claim, genuine } of files) {
    if (claim === null || !votes.has(nameOf(claim)) || !isOfThisRun(claim, subject)) {
      unknown.push(file);
      continue;
    }
    // What is not signed never was a run of this attempt.
    const first = genuine ? claim.attempt + 1 : claim.attempt;
    firsts.set(nameOf(claim), Math.max(first, firsts.get(nameOf(claim)) ?? 0));
  }
  const left = casts.filter((cast) => attemptOf(cast) >= (firsts.get(nameOf(cast)) ?? 0));
  const stand = unknown.length === 0 ? left : left.filter((cast) => attemptOf(cast) >= current);
  if (stand.length < left.length) warn(unclaimed(unknown, left.length - stand.length, current));
  return stand;
}

function isOfThisRun({ run, attempt }: Claim, subject: Subject | null): boolean {
  return subject === null || (run === subject.run_id && attempt <= subject.run_attempt);
}

function unclaimed([file = '', ...others]: readonly string[], count: number, attempt: number): string {
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  const votes = count === 1 ? 'The verdict of 1 run' : `The verdicts of ${count} runs`;
  return `${votes} before attempt ${attempt} cannot count: ${quoted(file)}${more} is no envelope that counts and does not say which vote of this run it is, so it may be a later one. Put nothing but envelopes into the folder of verdicts, and use "Re-run all jobs".`;
}

/** In the legs `gate: none` is right, and is easily copied here. */
function ungated(count: number): string {
  const runs =
    count === 1
      ? '1 run whose payload says "passed": false counts'
      : `${count} runs whose payloads say "passed": false count`;
  return `gate is none, so ${runs} as passing. Leave gate out here: then passed is asked for.`;
}

function judged(payload: JsonObject, words: string) {
  if (payload['passed'] === true) return { status: 'met', issues: [] } as const;
  const issue = { path: '/passed', keyword: 'const', message: 'must be true.' };
  return { status: 'not_met', issues: [issue], words: [words] } as const;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
