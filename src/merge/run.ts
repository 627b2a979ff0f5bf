/** Runs a merge: inputs → envelopes → votes → legs → verdict → finish. */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Parsed } from '../config/values.ts';
import { createContract, createGate, type Gate } from '../contract/contract.ts';
import { type Files, parseGateArgument, pathHere } from '../contract/source.ts';
import { readEnvelopes } from '../envelope/read.ts';
import { InputError, throwProblems } from '../errors.ts';
import type { Report } from '../reporters/report-types.ts';
import { runToEnd } from '../run/attempt.ts';
import type { Ending } from '../run/ending-sentences.ts';
import type { EndWorld, RunState } from '../run/world.ts';
import { LISTED } from '../text/limits.ts';
import { counted } from '../text/messages.ts';
import type { GateResult, Subject } from '../types.ts';
import type { MergeConfig } from './config.ts';
import { buildPayload, merge } from './count-votes.ts';
import { quoteName, readVote, type Vote, type VoteOptions } from './read-vote.ts';
import { describeMerge } from './report.ts';
import type { Merged } from './types.ts';
import { describeGate, describeUndecided, listed } from './words.ts';

export interface MergeWorld extends EndWorld {
  readonly files: Files;
  readonly workspace: string;
  /** Whether the legs may have judged what they checked out instead of the event's commit. */
  readonly anyCommit: boolean;
}

/** Runs a merge to its end, even if it fails, and reports it; never rejects. */
export function runMerge({ config, problems }: Parsed<MergeConfig>, world: MergeWorld): Promise<Report> {
  return runToEnd(async (state) => {
    // Even if the inputs are invalid, this is a failed merge and not a failed agent run.
    state.describe = (report) => describeMerge(report, null);
    state.stop.signal.throwIfAborted();
    throwProblems(problems);
    return work(config, state, world);
  }, world);
}

async function work(config: MergeConfig, state: RunState, world: MergeWorld): Promise<Ending> {
  const gate = await readGate(config.gate, state, world);
  const folder = path.resolve(world.workspace, config.verdicts);
  const votes = await readVotes(folder, config.signingKey, state.stop.signal, { ...world, gate });
  const merged = merge(votes, { ...config, ...world });
  state.describe = (report) =>
    describeMerge({ ...report, subject: judgedSubject(report.subject, votes) }, merged);
  if (merged.outcome === 'abstain')
    return { kind: 'no_verdict', reason: 'undecided', text: describeUndecided(merged) };
  state.gate = { warnings: [], evaluate: () => evaluateLegs(merged) };
  return { kind: 'submitted', payload: buildPayload(merged), repaired: null };
}

/**
 * Replaces the commit that is checked out here by the one that the runs judged; `checked_out` is null if runs with a
 * verdict checked out different commits.
 */
function judgedSubject(subject: Subject | null, votes: readonly Vote[]): Subject | null {
  const sha = votes[0]?.subject?.sha;
  if (subject === null || sha === undefined) return subject;
  const decided = votes.filter(({ outcome }) => outcome !== 'abstain');
  const [checkedOut = null, ...others] = new Set(decided.map((vote) => vote.subject?.checked_out));
  return { ...subject, sha, checked_out: others.length === 0 ? checkedOut : null };
}

function evaluateLegs(merged: Merged): GateResult {
  if (merged.outcome === 'pass') return { status: 'met', issues: [] };
  const issue = { path: '/passed', keyword: 'const', message: describeGate(merged) };
  return { status: 'not_met', issues: [issue] };
}

/** Reads the gate for the payloads of the legs; its hash is recorded as for a run. */
async function readGate(given: string, state: RunState, world: MergeWorld): Promise<Gate | null> {
  const file = pathHere(given);
  state.policyChanges = world.findPolicyChanges(file === null ? [] : [{ what: 'gate', path: file }], null);
  if (given === 'auto') return null;
  const request = await parseGateArgument(given, { kind: 'none' }, world.files);
  const gate_sha256 = createHash('sha256').update(JSON.stringify(request)).digest('hex');
  state.policy = { ...state.policy, gate_sha256 };
  // The legs' schemas are unknown here: a payload fails if the property is missing or not true.
  const properties = request.kind === 'property' ? { [request.name]: { type: 'boolean' } } : {};
  const gate = await createGate(request, await createContract({ type: 'object', properties }));
  for (const text of gate.warnings) world.warn(text);
  return gate;
}

async function readVotes(
  folder: string,
  signingKey: string | null,
  stop: AbortSignal,
  options: VoteOptions,
): Promise<readonly Vote[]> {
  const votes: Vote[] = [];
  const refused: string[] = [];
  for await (const read of readEnvelopes(folder, signingKey)) {
    stop.throwIfAborted();
    if (read.ok) votes.push(readVote(read.file, read.envelope, options));
    else refused.push(`${quoteName(read.file)}: ${read.why}`);
    // Files are read synchronously, so signals are handled here.
    await setImmediate();
  }
  const problem =
    refused.length > 0
      ? `The folder holds ${counted(refused.length, 'file')} that cannot count. ${listed(refused, LISTED.some)}. Put nothing but envelopes of the legs into the folder; delete the artifact of a damaged one, or start a new run.`
      : `There is no .json file in ${JSON.stringify(folder)}. Look whether the legs ran and uploaded run-result-file, and what actions/download-artifact put there.`;
  if (refused.length > 0 || votes.length === 0) throw new InputError('verdicts', problem);
  return votes;
}
