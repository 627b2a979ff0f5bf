import path from 'node:path';
import type { Price } from '../agent/budget.ts';
import { type RunStop, runAgent } from '../agent/loop.ts';
import { contextNote, systemPrompt } from '../agent/prompt.ts';
import type { Config } from '../config/parse-config.ts';
import { requireReadableFolders, resolveWorkingDirectory } from '../config/paths.ts';
import type { Contract } from '../contract/contract.ts';
import { InputError, MissingKeyError, throwProblems } from '../errors.ts';
import type { ChangeContext } from '../github/context.ts';
import type { Provider } from '../providers/provider.ts';
import { isBelow, repositoryAround } from '../reporters/checkouts.ts';
import type { Report } from '../reporters/report-types.ts';
import type { Detected } from '../sandbox/detect.ts';
import { findProgram } from '../sandbox/host-program.ts';
import { contextFolderOf, type Sandbox } from '../sandbox/sandbox.ts';
import { race } from '../text/wait.ts';
import { structuredOutputSpec } from '../tools/structured-output.ts';
import { createToolbox, STRUCTURED_OUTPUT_NAME } from '../tools/toolbox.ts';
import type { Outcome } from '../types.ts';
import { runToEnd } from './attempt.ts';
import { explainNoChange, findContext } from './change.ts';
import type { Ending } from './endings.ts';
import { requiresCoverage } from './evidence-policy.ts';
import { connect, lazyPrice, modelWarning, requirePlaces, requirePrice } from './model.ts';
import { loadPolicy } from './policy.ts';
import type { OpenedWorkspace, WorkspacePlan } from './workspace.ts';
import type { RunState, World } from './world.ts';

/** Runs to the end and reports it; never rejects. */
export function run(inputs: RunInputs, world: World): Promise<Report> {
  return runToEnd((state) => work(inputs, state, world), world);
}

/** The parsed inputs and all problems known so far. If there are problems, nothing runs. */
export interface RunInputs {
  readonly config: Config;
  readonly problems: readonly Error[];
}

async function work(inputs: RunInputs, state: RunState, world: World): Promise<Ending> {
  const prepared = await prepare(inputs, state, world);
  const opening = openOnceAsked(prepared, state, world);
  // Nothing can be accepted without a working sandbox: the model request is aborted at once.
  opening.catch((error: unknown) => state.stop.abort(error));
  state.opening = opening;
  const outcome = await ask(prepared, opening, state, world);
  if (outcome.kind === 'submitted') prepared.provider.accepted?.();
  // A broken sandbox explains more than whatever the model did meanwhile.
  const timeIsUp = outcome.kind === 'cancelled' || (outcome.kind === 'exhausted' && outcome.limit === 'time');
  if (!timeIsUp && state.record.totals.turns > 0)
    await race(
      opening.then(({ ready }) => ready),
      state.interrupt.signal,
    );
  return outcome;
}

/** What is known before the model is asked. */
interface Prepared extends WorkspacePlan {
  readonly contract: Contract;
  readonly prompt: string;
  readonly provider: Provider;
  readonly price: Price;
}

/** Finds all that can end a run before the model is asked. @throws InputError, MissingKeyError, SandboxError */
async function prepare({ config, problems }: RunInputs, state: RunState, world: World): Promise<Prepared> {
  const notice = (level: 'info' | 'warning', text: string) =>
    state.audience.tell({ type: 'notice', level, text });
  state.identity = { leg: config.leg, vote: config.vote, model: config.model.model };
  state.stop.signal.throwIfAborted();
  if (problems.length === 0) {
    state.config = config;
    startClock(config.timeoutMs, state);
    requireKey(config);
  }
  const folder = await checkInputs({ config, problems }, world);
  state.workingDirectory = folder;
  const detected = await detectIfItMatters(config, state, world);
  const { provider: name, providerReason } = config.model;
  if (config.replay === null) notice('info', `provider ${name}, chosen by ${providerReason}`);
  const policy = loadPolicy(config, state, world);
  const { contract, prompt, evidence, warnings } = await race(policy, state.stop.signal);
  const found = await race(findContext(config, world), state.stop.signal);
  // Until the diff has been written it counts as missing.
  state.context = found === null ? 'none' : 'missing';
  const context = found === 'unknown' ? null : found;
  if (found === null || found === 'unknown')
    state.noChange = {
      status: found === null ? 'unknown' : 'partial',
      why: explainNoChange(found, world),
    };
  const root = repositoryAround(folder, world.workspace);
  const subject = path.relative(
    root ?? world.workspace,
    path.resolve(world.workspace, config.workingDirectory),
  );
  const inlined = requiresCoverage(evidence) ? inlineListed(context, subject) : null;
  const provider = await race(connect(config, state, world), state.stop.signal);
  const warning = modelWarning(state, world);
  for (const text of [...(warning === null ? [] : [warning]), ...warnings, ...exclusionWarnings(config)])
    notice('warning', text);
  const price = lazyPrice(config, state);
  await requirePrice(config, price);
  state.inlined = await race(Promise.resolve(inlined), state.stop.signal);
  return { config, folder, root, subject, detected, context, contract, prompt, evidence, provider, price };
}

/** Returns the diff of the first message, if GitHub lists all of the change; git has to wait for the sandbox. */
async function inlineListed(context: ChangeContext | null, subject: string): Promise<string | null> {
  const { listed, prefersGit } = (await context?.load()) ?? { listed: null, prefersGit: false };
  if (listed === null || prefersGit) return null;
  const { inlineDiff } = await import('./inline-diff.ts');
  return inlineDiff(listed, subject);
}

/**
 * Finds out how commands can be isolated if that decides what the model is offered, or if it is known to be impossible.
 * Otherwise it is left for later, and null: programs have to be started for it, which a request does not wait for.
 */
async function detectIfItMatters(config: Config, state: RunState, world: World): Promise<Detected | null> {
  const { sandbox: mode } = config;
  if (mode === 'off' || (mode === 'required' && hasIsolationPrograms(world.programFolders))) return null;
  const { detect } = await import('./workspace.ts');
  const detected = await detect(config, state, world);
  if (mode === 'required' && detected.kind === 'none') throw detected.error;
  return detected;
}

/** Whether this machine has programs that may isolate commands. None is started, so this takes no time. */
function hasIsolationPrograms(folders?: readonly string[]): boolean {
  const has = (name: string) => findProgram(name, folders) !== null;
  return process.platform === 'linux' && (has('bwrap') || ['unshare', 'nsenter', 'setpriv'].every(has));
}

/** Opens the workspace and the reporters once the first request is on its way; never, if none is sent. */
async function openOnceAsked(plan: WorkspacePlan, state: RunState, world: World): Promise<OpenedWorkspace> {
  if (!(await state.asked.promise)) throw new Error('The model was not asked.');
  const { openWorkspace } = await import('./workspace.ts');
  const [opened] = await Promise.all([openWorkspace(plan, state, world), state.audience.open()]);
  return opened;
}

/** Asks the model until the run ends; `opening` is awaited before anything of the workspace is used. */
function ask(
  { config, folder, root, detected, context, contract, prompt, evidence, provider, price }: Prepared,
  opening: Promise<OpenedWorkspace>,
  state: RunState,
  world: World,
): Promise<Outcome> {
  const isIsolated = config.sandbox !== 'off' && detected?.kind !== 'none';
  const ready = async () => (await opening).ready;
  const sandbox: Sandbox = {
    workingDirectory: folder,
    ready,
    read: async (...given) => (await opening).tools.read(...given),
    write: async (...given) => (await opening).tools.write(...given),
    exec: async (...given) => (await opening).tools.exec(...given),
  };
  const toolbox = createToolbox({
    sandbox,
    shellOffered: isIsolated || config.sandbox === 'off',
    tools: config.tools,
    exclude: config.excludeTools,
    structuredOutput: structuredOutputSpec(contract.schema),
  });
  const contextFolder = contextFolderOf(isIsolated, world.runFolder);
  const note =
    context === null
      ? ''
      : `\n\n${contextNote(context.subject, contextFolder, requiresCoverage(evidence), state.inlined)}`;
  return runAgent(
    {
      sessionId: state.sessionId,
      provider,
      toolbox,
      contract,
      evidence: async () => (await opening).review,
      limits: config,
      price,
      system: systemPrompt({
        root: root ?? world.workspace,
        workingDirectory: folder,
        structured: toolbox.has(STRUCTURED_OUTPUT_NAME),
        isIsolated,
        offline: toolbox.has('shell') && isIsolated && !config.shellNetwork,
        quotes: evidence.grounding !== 'off',
      }),
      prompt: `${prompt}${note}`,
      forceOutput: config.forceOutput,
      ready,
      signal: state.stop.signal,
      interrupt: state.interrupt.signal,
      now: world.now,
      emit(event) {
        if (event.type === 'turn_completed' && event.turn === 1) state.firstUsage = event.usage;
        state.audience.tell(event);
      },
    },
    state.record,
  );
}

/** Excluding `structured_output` is allowed, but the run cannot succeed. */
function exclusionWarnings({ excludeTools }: Config): readonly string[] {
  if (!excludeTools.includes(STRUCTURED_OUTPUT_NAME)) return [];
  return [
    'structured_output is excluded (exclude-tools), and only a call of that tool delivers a verdict: this run cannot succeed. Remove it from exclude-tools.',
  ];
}

/**
 * Checks what depends on this machine and on the trigger, and returns the absolute path of the agent's working
 * directory.
 * @throws InputError that lists all problems with the inputs
 */
async function checkInputs({ config, problems }: RunInputs, world: World): Promise<string> {
  const all = [...problems];
  let folder = world.workspace;
  const checks = [
    () => requirePlaces(config, world),
    () => requireSandbox(config, world),
    () => requireReadableFolders(config.sandboxRead),
    async () => {
      // A problem with the workspace itself has already been reported.
      if (problems.length === 0 || config.workingDirectory !== '.')
        folder = await resolveWorkingDirectory(config.workingDirectory, world.workspace);
    },
  ];
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      all.push(error);
    }
  }
  throwProblems(all);
  return folder;
}

/**
 * @throws InputError for `sandbox: off` on a trigger that has the repository's rights and runs on untrusted content, and
 * if the agent could change the action itself, parts of which are loaded after the agent ran
 */
function requireSandbox({ sandbox }: Config, world: World): void {
  if (sandbox !== 'off') return;
  const { privileged, subject, entry, guarded, workspace } = world;
  if (privileged)
    throw new InputError(
      'sandbox',
      `The value off is refused on ${subject?.event ?? 'this trigger'}, which runs with the repository's rights on what a stranger wrote. Use required.`,
    );
  const open = entry === 'action' ? guarded.find((place) => isBelow(place, workspace)) : undefined;
  if (open !== undefined)
    throw new InputError(
      'sandbox',
      `The value off is refused, because ${open} is in the workspace, where the agent could change it. Use required, or an action that is not checked out (uses: org/structured-agent@v1).`,
    );
}

/** @throws MissingKeyError when there is no key and the user chose to skip */
function requireKey({ model }: Config): void {
  if (model.missingKey === null) return;
  throw new MissingKeyError(
    `Nothing was judged, and this step is green all the same (on-missing-key: skip). api-key: ${model.missingKey}`,
  );
}

function startClock(timeoutMs: number, state: RunState): void {
  const reason: RunStop = { stop: 'timeout' };
  state.timer = setTimeout(() => state.stop.abort(reason), timeoutMs);
}
