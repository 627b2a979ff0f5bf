/** The whole program: prepare → connect → open → ask → finish. */
import { runAgent } from '../agent/loop.ts';
import { contextNote, systemPrompt } from '../agent/prompt.ts';
import type { Config } from '../config/parse-config.ts';
import type { Parsed } from '../config/values.ts';
import type { Provider } from '../providers/provider.ts';
import type { Report } from '../reporters/report-types.ts';
import { contextFolderOf, type Sandbox } from '../sandbox/sandbox.ts';
import { once, race } from '../text/wait.ts';
import { structuredOutputSpec } from '../tools/tool.ts';
import { createToolbox, STRUCTURED_OUTPUT_NAME } from '../tools/toolbox.ts';
import type { Outcome } from '../types.ts';
import { runToEnd } from './attempt.ts';
import { type Ending, explainExcluded } from './ending-sentences.ts';
import { connect } from './model.ts';
import { type Plan, prepare } from './prepare.ts';
import type { openWorkspace } from './workspace.ts';
import type { RunState, World } from './world.ts';

/** Characters of a token: code has three or four. */
const MAX_PER_TOKEN = 6;

/** Runs to the end and reports it; never rejects. */
export function run(inputs: Parsed<Config>, world: World): Promise<Report> {
  return runToEnd((state) => work(inputs, state, world), world);
}

async function work(inputs: Parsed<Config>, state: RunState, world: World): Promise<Ending> {
  const { stop, interrupt, record } = state;
  const plan = await prepare(inputs, state, world);
  /** Opens the workspace and the reporters: once the model is asked, or before that if its first message has the diff. */
  const open = once(async () => {
    const { openWorkspace } = await import('./workspace.ts');
    const [opened] = await Promise.all([openWorkspace(plan, state, world), state.openReporters()]);
    return opened;
  });
  // Nothing can be accepted without a working sandbox: the model request is aborted at once.
  const onRequest = () => void open().catch((error: unknown) => stop.abort(error));
  const provider = await race(connect(plan, onRequest, state, world), stop.signal);
  // A `base` that git does not know ends the run before the model is asked.
  const isOpenedFirst = plan.policy.evidence.requiresCoverage || plan.config.base !== null;
  if (plan.context !== null && isOpenedFirst) await race(open(), stop.signal);
  const outcome = await ask(plan, provider, open, state, world);
  if (outcome.kind === 'submitted') provider.accepted?.();
  // A broken sandbox explains more than whatever the model did meanwhile.
  const timeIsUp = outcome.kind === 'cancelled' || (outcome.kind === 'exhausted' && outcome.limit === 'time');
  if (!timeIsUp && record.totals.turns > 0) await race(open(), interrupt.signal);
  return outcome;
}

/** Asks the model until the run ends. @param open called before anything of the workspace is used. */
async function ask(
  { config, folder, root, detect, context, policy, price }: Plan,
  provider: Provider,
  open: () => ReturnType<typeof openWorkspace>,
  state: RunState,
  world: World,
): Promise<Outcome> {
  const { contract, evidence, prompt } = policy;
  const mode = config.sandbox;
  // With `auto` it decides which tools the model is offered.
  const isIsolated = mode === 'required' || (mode === 'auto' && (await detect()).kind !== 'none');
  const sandbox: Sandbox = {
    workingDirectory: folder,
    ready: async () => void (await open()),
    read: async (...given) => (await open()).tools.read(...given),
    write: async (...given) => (await open()).tools.write(...given),
    exec: async (...given) => (await open()).tools.exec(...given),
  };
  const toolbox = createToolbox({
    sandbox,
    shellOffered: isIsolated || mode === 'off',
    tools: config.tools,
    exclude: config.excludeTools,
    structuredOutput: structuredOutputSpec(contract.schema),
  });
  const isStructured = toolbox.has(STRUCTURED_OUTPUT_NAME);
  // Excluding it is allowed.
  if (!isStructured) state.warn(explainExcluded('this run cannot succeed', world.entry));
  const contextFolder = contextFolderOf(isIsolated, world.runFolder);
  const note =
    context && contextNote(context.subject, contextFolder, evidence.requiresCoverage, state.inlined);
  return runAgent(
    {
      sessionId: state.sessionId,
      provider,
      toolbox,
      contract,
      evidence: async () => (await open()).review,
      limits: config,
      price,
      system: systemPrompt({
        root,
        workingDirectory: folder,
        structured: isStructured,
        isIsolated,
        offline: toolbox.has('shell') && isIsolated && !config.shellNetwork,
        quotes: evidence.grounding !== 'off',
      }),
      prompt: note === null ? prompt : `${prompt}\n\n${note}`,
      forceOutput: config.forceOutput,
      ready: sandbox.ready,
      signal: state.stop.signal,
      interrupt: state.interrupt.signal,
      now: () => performance.now(),
      emit(event) {
        const received =
          event.type === 'turn_completed' && event.turn === 1 ? event.usage?.inputTokens : null;
        // The provider cut the first message.
        if (received != null && received * MAX_PER_TOKEN < (state.inlined?.length ?? 0)) state.inlined = null;
        state.tell(event);
      },
    },
    state.record,
  );
}
