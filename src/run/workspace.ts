/** Opens what the tools of a run work on, and the review of its evidence. Loaded once the model has been asked. */
import os from 'node:os';
import path from 'node:path';
import type { Config } from '../config/parse-config.ts';
import { type CoverageOptions, createCoverageMeter } from '../evidence/coverage.ts';
import { type Claim, countGrounding, groundFindings } from '../evidence/grounding.ts';
import { isLockFile } from '../evidence/not-required.ts';
import { createReview } from '../evidence/review.ts';
import { readBounded } from '../files/read-bounded.ts';
import { isInside, realOrNull } from '../files/real-paths.ts';
import { comparePatch, rememberTree } from '../git/patch.ts';
import { findingRows, locationOfRow } from '../reporters/findings.ts';
import type { Evidence, Locate } from '../reporters/report-types.ts';
import { createTamperCheck } from '../sandbox/off.ts';
import { openSandbox } from '../sandbox/open.ts';
import type { OpenedSandbox, Sandbox } from '../sandbox/sandbox.ts';
import { isClosedPath } from '../text/file-names.ts';
import { isObject, readText } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { listNames } from '../text/messages.ts';
import { once } from '../text/wait.ts';
import type { JsonObject } from '../types.ts';
import { inlineDiff, placeContext } from './place-change.ts';
import type { Plan } from './prepare.ts';
import type { RunState, World } from './world.ts';

/** Resolves once the self-test has passed and the change has been placed. @throws SandboxError, InputError for `base` */
export async function openWorkspace(plan: Plan, state: RunState, world: World) {
  const { config, root, subject } = plan;
  const isSecret = createSecretTest(config, world);
  const detected = await plan.detect();
  // After the end of the run nobody would close it.
  state.stop.signal.throwIfAborted();
  const sandbox = openSandbox(
    {
      workspace: world.workspace,
      workingDirectory: plan.folder,
      mode: config.sandbox,
      shellNetwork: config.shellNetwork,
      readable: config.sandboxRead,
      passEnv: config.passEnv,
      environment: world.environment,
      home: world.environment['HOME'] ?? os.homedir(),
      runnerTemp: path.dirname(world.runFolder),
      isSecret,
      runFolder: world.runFolder,
    },
    detected,
  );
  state.sandbox = sandbox;
  state.tamper = config.sandbox === 'off' ? createTamperCheck(world.workspace, world.guarded) : null;
  const tools = watchTools(sandbox, plan, state, world);
  const [diff] = await Promise.all([
    placeChange(plan, sandbox, state, world),
    sandbox.ready(),
    state.tamper?.snapshot(),
  ]);
  for (const text of sandbox.weaknesses()) state.warn(text);
  const folders = { root, workingDirectory: sandbox.workingDirectory, subject, diff };
  return { tools, review: openReview(folders, plan, state, world) };
}

/** Writes the context files, notes what is known of the change, and returns its diff; null if there is none. */
async function placeChange(plan: Plan, sandbox: OpenedSandbox, state: RunState, world: World) {
  const { context, policy, root, subject } = plan;
  const { signal } = state.stop;
  const placed = context && (await placeContext(context, sandbox, signal, state.warn, root));
  if (placed !== null) {
    state.context = placed.context;
    state.change = placed.change;
    if (placed.diff !== null && policy.evidence.requiresCoverage)
      state.inlined = inlineDiff(placed.change, placed.diff.text, subject);
  }
  const isGiven = state.context === 'complete' || state.context === 'truncated';
  state.policyChanges = world.findPolicyChanges(policy.files, isGiven ? state.change : null);
  return placed?.diff ?? null;
}

/** Returns whether a value holds a secret, and warns about the variables that are not passed on because of it. */
function createSecretTest({ passEnv }: Config, { secrets, environment, warn }: World) {
  // A line of a registry configuration, a URL or a base64 pair exposes a secret as much as the secret alone.
  const isSecret = (value: string) => secrets.has(value) || secrets.find(value) !== null;
  for (const name of passEnv) {
    if (isSecret(environment[name] ?? ''))
      warn(
        `pass-env: ${name} is not passed to the agent's commands, because its value holds a secret of this run. Take it out, or give it a value without the secret.`,
      );
  }
  return isSecret;
}

/** The last commands of a run that its envelope lists. */
const MAX_COMMANDS = 50;

/** Notes how each command ended, and remembers the workspace before the first call that can change a file. */
function watchTools(sandbox: OpenedSandbox, plan: Plan, state: RunState, { secrets }: World): Sandbox {
  const { config, root, hasRepository } = plan;
  const { commands, stop } = state;
  const { runScript } = sandbox;
  const holdsSecret = (text: string) => secrets.find(text) !== null || secrets.mask(text) !== text;
  // With sandbox: off the changes are in the checkout already.
  const isCompared = config.sandbox !== 'off' && sandbox.shellOffered && hasRepository;
  if (isCompared) state.changes = async () => ({ files: [], patch: null, leftOut: [], why: null });
  const remember = once(async () => {
    if (!isCompared) return;
    const tree = await rememberTree(runScript, root, stop.signal);
    state.changes = (signal) => comparePatch(runScript, root, tree, holdsSecret, signal);
  });
  return {
    ...sandbox,
    async exec(command, options) {
      await remember();
      const { durationMs, ...result } = await sandbox.exec(command, options);
      commands.push({ command, exitCode: result.exitCode, seconds: Math.round(durationMs / 1_000) });
      if (commands.length > MAX_COMMANDS) commands.shift();
      return { ...result, durationMs };
    },
    async write(...given) {
      await remember();
      return sandbox.write(...given);
    },
  };
}

/** Bytes of a file in which quotes are looked up. */
const MAX_SOURCE_FILE = 1024 ** 2;

/** Reviews the payloads of a run, once its change is known, or known to be unknown. */
function openReview(folders: CoverageOptions, { policy }: Plan, state: RunState, { locate }: World) {
  const { findings: declared, namesCommand } = policy.evidence;
  const meter = createCoverageMeter(state.change, folders);
  function coverage() {
    meter.observe({ tool: 'message', target: '', text: state.inlined ?? '' });
    return meter.measure();
  }
  const lookedUp = new WeakMap<JsonObject, Pick<Evidence, 'grounding' | 'findings'>>();
  async function ground(payload: JsonObject): Promise<readonly string[]> {
    const claims = readClaims(payload, locate);
    const findings = await groundFindings(claims, (name) => readSource(name, folders.root), state.change);
    lookedUp.set(payload, { findings, grounding: countGrounding(findings) });
    const list = declared?.list ?? 'findings';
    return findings.flatMap(({ grounding }, at) =>
      grounding === 'unproven' && claims[at]?.quote != null ? [`/${list}/${at}/quote`] : [],
    );
  }
  state.describeEvidence = (payload) => ({ coverage: coverage(), ...(payload && lookedUp.get(payload)) });
  return createReview({
    ...policy.evidence,
    isRed: (payload) => isRed(payload, state),
    meter: { observe: meter.observe, measure: coverage },
    hasLooked: () => state.record.toolCalls > 0 || state.inlined !== null,
    judgeCommand: async (payload) => (namesCommand ? judgeCommand(payload, state) : null),
    ground,
  });
}

/** Without a gate, as in the legs of a merge, `passed` is what others will decide by. */
function isRed(payload: JsonObject, { gate }: RunState): boolean {
  const status = gate?.evaluate(payload).status ?? 'none';
  return status === 'none' ? payload['passed'] === false : status === 'not_met';
}

/** Compares the command of a payload with what was run; a clause about what is wrong with it, or null. */
async function judgeCommand(payload: JsonObject, state: RunState): Promise<string | null> {
  const line = (readText(payload, 'command') ?? '').trim();
  const name = JSON.stringify(line.slice(0, DISPLAY.path));
  const run = state.commands.findLast(({ command }) => command.trim() === line);
  if (run === undefined) return `no command was run whose whole line is ${name}.`;
  if (run.exitCode === null) return `the last run of ${name} did not end by itself.`;
  if (run.exitCode !== 0) return `the last run of ${name} ended with exit code ${run.exitCode}.`;
  const files = (await state.changes?.(state.stop.signal))?.files ?? null;
  if (files === null)
    return 'it is not known which files the agent changed: that needs a sandbox and a git repository.';
  state.judgedWith = files.map((each) => each.path);
  const edited = files.filter((each) => !each.isNew && !isLockFile(each.path)).map((each) => each.path);
  if (edited.length === 0) return null;
  return `files of the checkout were changed before ${name} was judged: ${listNames(edited)}.`;
}

/** Returns what each finding claims; null for one about no file. */
function readClaims(payload: JsonObject, locate: Locate): readonly (Claim | null)[] {
  return findingRows(payload).map((row) => {
    const written = locationOfRow(row)?.place ?? null;
    if (written === null) return null;
    const quote = isObject(row) ? (readText(row, 'quote') ?? '') : '';
    const file = locate(written)?.path ?? null;
    return { path: file, line: written.line, quote: quote.trim() === '' ? null : quote };
  });
}

/** Reads a file as it was before the agent: in the checkout, without what it wrote there. */
function readSource(name: string, root: string): string | null {
  const home = realOrNull(root) ?? root;
  const read = readBounded(path.resolve(home, name), { maxBytes: MAX_SOURCE_FILE, links: 'refuse' });
  // A verdict must not tell of what the tools do not read: a model may name any path.
  const isOpen =
    read.ok && isInside(read.realPath, home) && !isClosedPath(path.relative(home, read.realPath));
  return isOpen ? read.bytes.toString('utf8') : null;
}
