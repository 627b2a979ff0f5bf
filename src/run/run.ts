/** The whole program: prepare → connect → open → ask → finish. */
import path from 'node:path';
import { type RunStop, runAgent } from '../agent/loop.ts';
import { contextNote, systemPrompt } from '../agent/prompt.ts';
import type { Config } from '../config/parse-config.ts';
import type { Parsed } from '../config/values.ts';
import { MissingKeyError } from '../errors.ts';
import type { Provider } from '../providers/provider.ts';
import { findCheckout, isBelow } from '../reporters/places.ts';
import type { Report } from '../reporters/report-types.ts';
import type { Detected } from '../sandbox/detect.ts';
import { findProgram } from '../sandbox/host-program.ts';
import { contextFolderOf, type Sandbox } from '../sandbox/sandbox.ts';
import { race } from '../text/wait.ts';
import { structuredOutputSpec } from '../tools/tool.ts';
import { createToolbox, STRUCTURED_OUTPUT_NAME } from '../tools/toolbox.ts';
import type { Outcome } from '../types.ts';
import { runToEnd } from './attempt.ts';
import { explainNoChange, findContext } from './change.ts';
import { checkInputs } from './check-inputs.ts';
import type { Ending } from './endings.ts';
import { requiresCoverage } from './evidence-policy.ts';
import { connect, findPrice, modelWarnings } from './model.ts';
import { loadPolicy } from './policy.ts';
import type { OpenedWorkspace, Plan } from './workspace.ts';
import type { RunState, World } from './world.ts';

/** Runs to the end and reports it; never rejects. */
export function run(inputs: Parsed<Config>, world: World): Promise<Report> {
  return runToEnd((state) => work(inputs, state, world), world);
}

async function work(inputs: Parsed<Config>, state: RunState, world: World): Promise<Ending> {
  const { stop, interrupt, record, audience } = state;
  const plan = await prepare(inputs, state, world);
  const { config, folder } = plan;
  const requested = Promise.withResolvers<void>();
  const provider = await race(connect(config, folder, requested.resolve, state, world), stop.signal);
  for (const text of modelWarnings(state, world)) audience.notice('warning', text);
  const opening = requested.promise.then(() => open(plan, state, world));
  // Nothing can be accepted without a working sandbox: the model request is aborted at once.
  opening.catch((error: unknown) => stop.abort(error));
  state.opening = opening;
  if (plan.context !== null && requiresCoverage(plan.policy.evidence)) {
    requested.resolve();
    const { tools } = await race(opening, stop.signal);
    await race(tools.ready(), stop.signal);
    state.inlined = await inlineChange(plan, state);
  }
  const outcome = await ask(plan, provider, opening, state, world).finally(() =>
    requested.reject(new Error('The model was not asked.')),
  );
  if (outcome.kind === 'submitted') provider.accepted?.();
  // A broken sandbox explains more than whatever the model did meanwhile.
  const timeIsUp = outcome.kind === 'cancelled' || (outcome.kind === 'exhausted' && outcome.limit === 'time');
  if (!timeIsUp && record.totals.turns > 0)
    await race(
      opening.then(({ tools }) => tools.ready()),
      interrupt.signal,
    );
  return outcome;
}

/** Finds all that can end a run before the model is asked. @throws InputError, MissingKeyError, SandboxError */
async function prepare({ config, problems }: Parsed<Config>, state: RunState, world: World): Promise<Plan> {
  const { signal } = state.stop;
  state.config = config;
  state.isValid = problems.length === 0;
  signal.throwIfAborted();
  const timeout: RunStop = { stop: 'timeout' };
  state.timer = setTimeout(() => state.stop.abort(timeout), config.timeoutMs);
  if (state.isValid && config.model.missingKey !== null)
    throw new MissingKeyError(
      `Nothing was judged, and this step is green all the same (on-missing-key: skip). api-key: ${config.model.missingKey}`,
    );
  const folder = await checkInputs({ config, problems }, world);
  const detected = await detectForTools(config, state);
  if (config.replay === null)
    state.audience.notice(
      'info',
      `provider ${config.model.provider}, chosen by ${config.model.providerReason}`,
    );
  const price = await findPrice(config, state);
  const policy = await race(loadPolicy(config, state, world), signal);
  const found = await race(findContext(config, world), signal);
  // Until the diff has been written it counts as missing.
  state.context = found === null ? 'none' : 'missing';
  const context = found === 'unknown' ? null : found;
  if (found === null || found === 'unknown')
    state.noChange = {
      status: found === null ? 'unknown' : 'partial',
      why: explainNoChange(found, world),
    };
  const root = findCheckout(folder, world.workspace);
  const around = root ?? world.workspace;
  // A checkout below the working directory is judged as a whole.
  const subject = isBelow(folder, around) ? path.relative(around, folder) : '';
  return { config, folder, root, subject, detected, context, policy, price };
}

/** Returns the diff of the first message; null if there is none, or not all of it is known or fits. */
async function inlineChange({ subject }: Plan, { change, diffs }: RunState): Promise<string | null> {
  const [diff] = diffs.values();
  if (change === null || diff === undefined) return null;
  const { inlineDiff } = await import('./inline-diff.ts');
  return inlineDiff(change, diff, subject);
}

/**
 * With `auto` it decides which tools the model is offered how commands can be isolated. Otherwise a request does not wait
 * for the programs that have to be started for it, and this is null, unless it is known that there are none.
 */
async function detectForTools(config: Config, state: RunState): Promise<Detected | null> {
  const { sandbox: mode } = config;
  const mayWork = process.platform === 'linux' && ['bwrap', 'nsenter'].some((name) => findProgram(name));
  if (mode === 'off' || (mode === 'required' && mayWork)) return null;
  const { detect } = await import('./workspace.ts');
  const detected = await detect(config, state);
  if (mode === 'required' && detected.kind === 'none') throw detected.error;
  return detected;
}

/** Opens the workspace and the reporters, which are loaded while the model answers. */
async function open(plan: Plan, state: RunState, world: World): Promise<OpenedWorkspace> {
  const { openWorkspace } = await import('./workspace.ts');
  const [opened] = await Promise.all([openWorkspace(plan, state, world), state.audience.open()]);
  return opened;
}

/** Asks the model until the run ends; `opening` is awaited before anything of the workspace is used. */
function ask(
  { config, folder, root, detected, context, policy, price }: Plan,
  provider: Provider,
  opening: Promise<OpenedWorkspace>,
  state: RunState,
  world: World,
): Promise<Outcome> {
  const { contract, evidence, prompt } = policy;
  const isIsolated = config.sandbox !== 'off' && detected?.kind !== 'none';
  const sandbox: Sandbox = {
    workingDirectory: folder,
    ready: async () => (await opening).tools.ready(),
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
  const isStructured = toolbox.has(STRUCTURED_OUTPUT_NAME);
  // Excluding it is allowed.
  if (!isStructured)
    state.audience.notice(
      'warning',
      'structured_output is excluded (exclude-tools), and only a call of that tool delivers a verdict: this run cannot succeed. Remove it from exclude-tools.',
    );
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
        structured: isStructured,
        isIsolated,
        offline: toolbox.has('shell') && isIsolated && !config.shellNetwork,
        quotes: evidence.grounding !== 'off',
      }),
      prompt: `${prompt}${note}`,
      forceOutput: config.forceOutput,
      ready: sandbox.ready,
      signal: state.stop.signal,
      interrupt: state.interrupt.signal,
      now: () => performance.now(),
      emit(event) {
        if (event.type === 'turn_completed' && event.turn === 1) state.firstUsage = event.usage;
        state.audience.tell(event);
      },
    },
    state.record,
  );
}
