/**
 * Reuse: takes an earlier verdict on the same files under the same policy for this run without calling a model. A wrong
 * hit would be a false success, so everything that may change the verdict is part of the key, and nothing is reused if
 * the files cannot be identified.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Config } from '../config/parse-config.ts';
import { isInside, resolveReuseFolder } from '../config/paths.ts';
import { type Envelope, readEnvelopes } from '../envelope/envelope.ts';
import { InputError } from '../errors.ts';
import { runPage } from '../reporters/links.ts';
import type { Evidence, MarkdownSanitizer, Report, Reuse } from '../reporters/report-types.ts';
import type { Ending } from '../run/endings.ts';
import type { ReuseOptions } from '../run/world.ts';
import { findPreloadVariable } from '../sandbox/exec/environment.ts';
import { findSubjectTree } from '../sandbox/workspace/tree-hash.ts';
import { DISPLAY } from '../text/limits.ts';
import { race } from '../text/wait.ts';
import type { JsonObject, PolicyDigest } from '../types.ts';

/**
 * Computes the key by which later runs find this one, and ends the run if an earlier verdict with that key exists.
 * Returns null if a model has to be called. The reused payload passes the same final checks as a model's.
 * @throws InputError for an invalid folder or path
 * @throws SandboxError if the sandbox did not start.
 */
export async function reuseVerdict(options: ReuseOptions): Promise<Ending | null> {
  const { config, state, world, notify } = options;
  const { reuseFrom, signingKey } = config;
  if (reuseFrom !== null && signingKey === null && world.privileged) {
    throw new InputError(
      'reuse-from',
      `reuse-from is refused on ${world.subject?.event ?? 'this trigger'} without a signing-key: it runs with the repository's rights, and a stranger's run can upload a file that looks like a verdict. Set signing-key, here and where the envelopes come from.`,
    );
  }
  const folder = reuseFrom === null ? null : await resolveReuseFolder(reuseFrom, world, signingKey !== null);
  const found = await findKey(options, folder);
  if (found === null) return null;
  if ('why' in found) {
    notify('warning', `No earlier verdict is reused, and none can reuse this one: ${found.why}.`);
    return null;
  }
  state.reuse = { ...found, change: null, from: null };
  if (reuseFrom === null || config.refresh) return null;
  if (folder === null) {
    notify('info', 'reuse-from is not there yet, so there is no earlier verdict.');
    return null;
  }
  if (signingKey === null) {
    notify(
      'warning',
      'reuse-from is read without a signing-key: anyone who can put a file into that folder decides this verdict. Set signing-key, here and where the envelopes come from.',
    );
  }
  const match = await findMatch(folder, found, options);
  if ('unlike' in match) {
    const unlike =
      match.unlike === null ? '' : ` The nearest of this leg and vote differs in ${match.unlike}.`;
    notify(
      'info',
      `reuse-from holds no verdict on the same files under the same policy, so the model is asked.${unlike}`,
    );
    return null;
  }
  const { from, payload, evidence, change } = match;
  if (!(await options.mayReuse(payload, { coverage: evidence?.coverage ?? null, changeId: change }))) {
    notify(
      'info',
      `The verdict of run ${from.run_id} on the same files is about another change, or rests on less of it than min-coverage requires, so the model is asked.`,
    );
    return null;
  }
  state.reuse = { ...found, change, from };
  state.describe = (report) =>
    describeReuse({ ...report, evidence: mergeEvidence(report.evidence ?? null, evidence) }, from);
  state.record.totals = { ...state.record.totals, costUsd: 0 };
  // No agent runs, so the workspace does not change.
  state.changes = { compare: async () => ({ changedFiles: 0, patch: null, leftOut: [] }) };
  notify(
    'info',
    `Reused the verdict of run ${from.run_id} (attempt ${from.run_attempt}): the judged files, prompt, schema, model and version are the same. No model was asked.`,
  );
  return { kind: 'submitted', payload, repaired: null };
}

type Key = Pick<Reuse, 'key' | 'tree'>;

/** Returns the key of this run; null if it has no use, or a clause with the reason if it cannot be determined. */
async function findKey(
  { config, workingDirectory, sandbox, state, world, notify }: ReuseOptions,
  folder: string | null,
): Promise<Key | { readonly why: string } | null> {
  const { signal } = state.stop;
  if (config.replay !== null) {
    notify('info', 'This run is replayed, so no verdict is reused.');
    return null;
  }
  await race(sandbox.ready(), signal);
  if (!sandbox.shellOffered || sandbox.isolation() === 'none')
    return { why: 'git is asked in the sandbox only, and there is none' };
  const { workspace, environment } = world;
  const steering = findPreloadVariable({ environment, passEnv: config.passEnv, workspace });
  if (steering !== null)
    return { why: `${steering} names a place in the workspace, so the change could answer for git` };
  const looking = findSubjectTree(sandbox, {
    workspace,
    workingDirectory,
    paths: config.subjectPaths,
    signal,
  });
  const subject = await race(looking, signal);
  if (subject.kind === 'unknown') return { why: subject.why };
  const { tree, paths } = subject;
  // Otherwise each download would change the judged files.
  if (folder !== null && paths.some((each) => isInside(folder, path.resolve(workspace, each))))
    return { why: 'reuse-from is inside the judged files. Download to ${{ runner.temp }} instead' };
  const place = path.relative(workspace, workingDirectory);
  return { key: reuseKey({ tree, paths, place, config, policy: state.policy }), tree };
}

export interface KeyParts {
  /** Hexadecimal object name of the judged tree. */
  readonly tree: string;
  /** Relative to the workspace, sorted. */
  readonly paths: readonly string[];
  /** The working directory, relative to the workspace. */
  readonly place: string;
  readonly config: Config;
  readonly policy: PolicyDigest;
}

/**
 * Returns the key (hex SHA-256) under which a verdict is found again: what was judged, by which model and policy, with
 * which tools, as which vote.
 *
 * Included besides tree, schema, prompt, model and version: where the model is called (the same name on another server
 * is a different model), how much it may think and write, whether it must answer, its working directory, and what it
 * can use: tools, network, folders, names of variables, and the time and output limits of a command; what its verdict
 * had to rest on. Leg and vote are included so that three votes stay three.
 *
 * Not included: the gate, which is evaluated again; commit, ref, event and run, so that a merge queue finds the verdict
 * of the pull request; and for the same reason the pull request context of `context: auto` (title, description, diff),
 * which the queue does not have. Limits end a run without a verdict and change none. Headers may contain secrets, and a
 * hash in a public file would allow guesses of them to be tested.
 */
export function reuseKey({ tree, paths, place, config, policy }: KeyParts): string {
  const { model } = config;
  const parts = [
    ['tree', tree, paths, place],
    ['judge', policy.schema_sha256, policy.prompt_sha256, config.systemPrompt !== null, policy.version],
    ['model', model.provider, model.model, model.baseUrl, model.reasoningEffort, model.maxOutputTokens],
    ['answer', config.forceOutput],
    ['tools', config.tools, config.excludeTools, config.workspaceAccess, config.maxToolOutputBytes],
    ['reach', config.shellNetwork, config.passEnv, config.sandboxRead, config.shellTimeoutSeconds],
    ['evidence', config.minCoverage, config.grounding, config.gateFindings],
    ['ballot', config.leg, config.vote],
  ];
  // A JSON array delimits values unambiguously; the first line separates this hash from other uses of SHA-256.
  return createHash('sha256')
    .update(`structured-agent reuse v2\n${JSON.stringify(parts)}`)
    .digest('hex');
}

interface Match {
  readonly from: NonNullable<Reuse['from']>;
  readonly payload: JsonObject;
  /** null if its envelope was written by a version without evidence. */
  readonly evidence: Evidence | null;
  /** null if its change was not known. */
  readonly change: string | null;
}

/** How the closest envelope differs; null if there is none of this leg and vote. */
interface Miss {
  readonly unlike: string | null;
}

/** Returns the newest envelope that can be reused, or why there is none. */
async function findMatch(folder: string, found: Key, options: ReuseOptions): Promise<Match | Miss> {
  const { config, state, world, notify } = options;
  const matches: Match[] = [];
  const unlike: (readonly string[])[] = [];
  const refused: string[] = [];
  const { signingKey } = config;
  for await (const read of readEnvelopes(folder, signingKey)) {
    // Files are read synchronously, so timers and signals are handled in between.
    await setImmediate();
    state.stop.signal.throwIfAborted();
    if (!read.ok) {
      refused.push(`${JSON.stringify(read.file)}: ${read.why}`);
      continue;
    }
    const match = read.envelope.reuse?.key === found.key ? matchOf(read.envelope, options) : null;
    if (match !== null) matches.push(match);
    else if (read.envelope.leg === config.leg && read.envelope.vote === config.vote)
      unlike.push(differencesOf(read.envelope, found, options));
  }
  if (refused.length > 0) {
    const files = refused.length === 1 ? 'A file was' : `${refused.length} files were`;
    const first = world.secrets.mask(refused[0] ?? '').slice(0, DISPLAY.sentence);
    notify('info', `${files} passed over in reuse-from. The first is ${first}.`);
  }
  matches.sort((a, b) => (isNewer(a.from, b.from) ? -1 : 1));
  const [nearest] = unlike.toSorted((a, b) => a.length - b.length);
  return matches[0] ?? { unlike: nearest?.join(', ') ?? null };
}

/** Lists the differences that explain why the verdict was not reused. */
function differencesOf(envelope: Envelope, { key, tree }: Key, { config, state }: ReuseOptions) {
  const { policy, reuse, model } = envelope;
  if (reuse === null) return ['that it was made without subject-paths and reuse-from'];
  if (reuse.key === key) return ['that it came to no verdict'];
  const parts = [
    ['the judged files', reuse.tree !== tree],
    ['the prompt', policy.prompt_sha256 !== state.policy.prompt_sha256],
    ['the schema', policy.schema_sha256 !== state.policy.schema_sha256],
    ['the version of structured-agent', policy.version !== state.policy.version],
    ['the model', model !== config.model.model],
  ] as const;
  const unlike = parts.filter(([, differs]) => differs).map(([what]) => what);
  return unlike.length === 0 ? ['the settings (base-url, tools, subject-paths and the like)'] : unlike;
}

/** Returns what this run can reuse from an envelope with the same key; null if it cannot be reused. */
function matchOf(envelope: Envelope, { contract, state, world }: ReuseOptions): Match | null {
  const { payload, reason, subject, policy, reuse } = envelope;
  const judged = reason === 'accepted' || reason === 'gate_not_met';
  if (!judged || payload === null || subject === null) return null;
  if (envelope.replayed || envelope.merged) return null;
  if (subject.repository !== world.subject?.repository) return null;
  // Both hashes are part of the key: a file in which they differ has been tampered with.
  if (policy.schema_sha256 !== state.policy.schema_sha256) return null;
  if (policy.prompt_sha256 !== state.policy.prompt_sha256) return null;
  // Checked as text, like a model's output: only what this run's schema accepts is reused, and nothing is repaired.
  const check = contract.check({ rawArguments: JSON.stringify(payload), status: 'complete' });
  if (!check.ok || check.repaired !== null) return null;
  // In a chain of reuses the run whose model judged counts, however often and how late its verdict was reused.
  const { run_id, run_attempt } = subject;
  const from = reuse?.from ?? { run_id, run_attempt, session_id: envelope.sessionId };
  return RUN_ID.test(from.run_id) && SESSION_ID.test(from.session_id)
    ? { from, payload: check.payload, evidence: envelope.evidence, change: reuse?.change ?? null }
    : null;
}

const RUN_ID = /^\d{1,19}$/u;
const SESSION_ID = /^[\w-]{1,100}$/u;

/** Whether one run is newer than another: GitHub's run ids increase. */
function isNewer(a: Match['from'], b: Match['from']): boolean {
  const [first, second] = [BigInt(a.run_id), BigInt(b.run_id)];
  if (first !== second) return first > second;
  return a.run_attempt === b.run_attempt ? a.session_id > b.session_id : a.run_attempt > b.run_attempt;
}

/**
 * Returns the evidence of the run whose model was asked, because this run asked none; null if it has none. Its findings
 * were located in its own checkout; those of this run are used if the payload has other ones.
 */
function mergeEvidence(own: Evidence | null, earlier: Evidence | null): Evidence | null {
  if (own === null || earlier === null) return null;
  if (own.findings.length === earlier.findings.length) return earlier;
  // The counts are of other findings than these.
  const { grounding: _, ...rest } = earlier;
  return { ...rest, findings: own.findings };
}

type Origin = NonNullable<Reuse['from']>;

/**
 * Describes a run that reused an earlier payload; if the payload is not published after all, there is no verdict to
 * describe.
 */
export function describeReuse(report: Report, from: Origin): Report {
  if (report.payload === null) return report;
  const view = {
    remark: 'reused',
    isWithoutModel: true,
    // The id was validated when the envelope was matched, but it comes from another run's file.
    logClause: `reused: the verdict of run ${from.run_id}, no model was asked`,
    paragraph: ({ subject }: Report, serverUrl: string | null, sanitizer: MarkdownSanitizer) => {
      const page = runPage(subject === null ? null : { ...subject, ...from }, serverUrl);
      const run = `run ${sanitizer.inline(from.run_id, 30)}`;
      return `♻️ **Reused:** this is the verdict of ${page === null ? run : `[${run}](${page})`}. No model was asked: files, policy and model are the same as there.\n\n`;
    },
  };
  return { ...report, view };
}
