import { type RunStop, runAgent } from '../agent/loop.ts';
import { contextNote, systemPrompt } from '../agent/prompt.ts';
import type { Config } from '../config/parse-config.ts';
import { requireReadableFolders, resolveWorkingDirectory } from '../config/paths.ts';
import type { Contract } from '../contract/contract.ts';
import { InputError, MissingKeyError, messageOf, throwProblems } from '../errors.ts';
import { comparePatch, rememberTree } from '../git/patch.ts';
import type { ChangeContext } from '../github/change-context.ts';
import { isBelow, repositoryAround } from '../reporters/checkouts.ts';
import type { Report, RunEvent } from '../reporters/report-types.ts';
import { type Detected, detectBackend } from '../sandbox/detect.ts';
import { openSandbox } from '../sandbox/open.ts';
import type { OpenedSandbox } from '../sandbox/sandbox.ts';
import { createTamperCheck } from '../sandbox/tamper.ts';
import { race } from '../text/wait.ts';
import { structuredOutputSpec } from '../tools/structured-output.ts';
import { createToolbox, STRUCTURED_OUTPUT_NAME, type Toolbox } from '../tools/toolbox.ts';
import { explainNoChange, findContext } from './change.ts';
import type { Ending } from './endings.ts';
import { requiresCoverage } from './evidence-policy.ts';
import { runToEnd } from './finish.ts';
import { connect, lazyPrice, modelWarning, requirePlaces, requirePrice } from './model.ts';
import { loadPolicy } from './policy.ts';
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

async function work({ config, problems }: RunInputs, state: RunState, world: World): Promise<Ending> {
  state.identity = { leg: config.leg, vote: config.vote, model: config.model.model };
  state.stop.signal.throwIfAborted();
  if (problems.length === 0) {
    state.config = config;
    startClock(config.timeoutMs, state);
    requireKey(config);
  }
  const folder = await checkInputs({ config, problems }, world);
  // No request is sent, or paid for, if no sandbox can start.
  const { programFolders } = world;
  const detecting = detectBackend({
    mode: config.sandbox,
    shellNetwork: config.shellNetwork,
    ...(programFolders === undefined ? {} : { programFolders }),
  });
  const emit = (event: RunEvent) => notify(event, world);
  const provider = connect(config, state, world);
  provider.catch(() => undefined);
  const { provider: name, providerReason } = config.model;
  if (config.replay === null)
    emit({ type: 'notice', level: 'info', text: `provider ${name}, chosen by ${providerReason}` });
  const finding = findContext(config, world);
  const { contract, prompt, evidence, warnings } = await loadPolicy(config, state, world);
  const found = await race(finding, state.stop.signal);
  // Until the diff has been written it counts as missing.
  state.context = found === null ? 'none' : 'missing';
  const context = found === 'unknown' ? null : found;
  if (found === null || found === 'unknown') state.changeUnknown = explainNoChange(found, world);
  if (config.replay !== null) await race(provider, state.stop.signal);
  const warning = modelWarning(state, world);
  if (warning !== null) emit({ type: 'notice', level: 'warning', text: warning });
  for (const text of [...warnings, ...exclusionWarnings(config)])
    emit({ type: 'notice', level: 'warning', text });
  const detected = await race(detecting, state.stop.signal);
  const { sandbox, tools, ready } = startSandbox(config, folder, context, detected, state, world);
  const toolbox = openToolbox(config, contract, tools);
  const price = lazyPrice(config, state);
  await requirePrice(config, price);
  const root = repositoryAround(folder, world.workspace) ?? world.workspace;
  const openReview = once(async () => {
    // Loaded beside the first request.
    const { openEvidence } = await import('./evidence.ts');
    state.evidence = openEvidence({ policy: evidence, sandbox, root, config, state, world });
    return state.evidence.review;
  });
  ready()
    .then(openReview)
    .catch(() => undefined);
  const connected = await provider;
  const outcome = await runAgent(
    {
      sessionId: state.sessionId,
      provider: connected,
      toolbox,
      contract,
      evidence: openReview,
      limits: config,
      price,
      system: systemPrompt({
        ...{ root, workingDirectory: folder },
        structured: toolbox.has(STRUCTURED_OUTPUT_NAME),
        isIsolated: sandbox.isolation() !== 'none',
        offline: toolbox.has('shell') && sandbox.isolation() !== 'none' && !config.shellNetwork,
        quotes: evidence.grounding !== 'off',
      }),
      prompt:
        context === null
          ? prompt
          : `${prompt}\n\n${contextNote(context.subject, sandbox.contextFolder, requiresCoverage(evidence))}`,
      forceOutput: config.forceOutput,
      ready,
      signal: state.stop.signal,
      interrupt: state.interrupt.signal,
      now: world.now,
      emit,
    },
    state.record,
  );
  if (outcome.kind === 'submitted') connected.accepted?.();
  // A broken sandbox explains more than whatever the model did meanwhile.
  const timeIsUp = outcome.kind === 'cancelled' || (outcome.kind === 'exhausted' && outcome.limit === 'time');
  if (!timeIsUp && state.record.totals.turns > 0) await race(ready(), state.interrupt.signal);
  return outcome;
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

function openToolbox(config: Config, contract: Contract, sandbox: OpenedSandbox): Toolbox {
  return createToolbox({
    sandbox,
    shellOffered: sandbox.shellOffered,
    tools: config.tools,
    exclude: config.excludeTools,
    structuredOutput: structuredOutputSpec(contract.schema),
  });
}

/** Opens the sandbox. It is built and tested while the first model request is under way. */
function startSandbox(
  config: Config,
  workingDirectory: string,
  context: ChangeContext | null,
  detected: Detected,
  state: RunState,
  world: World,
) {
  const { secrets } = world;
  // A line of a registry configuration, a URL or a base64 pair exposes a secret as much as the secret alone.
  const isSecret = (value: string) => secrets.has(value) || secrets.find(value) !== null;
  for (const name of config.passEnv) {
    if (isSecret(world.environment[name] ?? ''))
      world.warn(
        `pass-env: ${name} is not passed to the agent's commands, because its value holds a secret of this run. Take it out, or give it a value without the secret.`,
      );
  }
  const sandbox = openSandbox(
    {
      workspace: world.workspace,
      workingDirectory,
      mode: config.sandbox,
      shellNetwork: config.shellNetwork,
      readable: config.sandboxRead,
      passEnv: config.passEnv,
      environment: world.environment,
      home: world.home,
      runnerTemp: world.temp,
      isSecret,
      runFolder: world.runFolder,
    },
    detected,
  );
  state.sandbox = sandbox;
  const tamper = config.sandbox === 'off' ? createTamperCheck(world.workspace, world.guarded) : null;
  const { runScript } = sandbox;
  state.tamper = tamper;
  const root = repositoryAround(workingDirectory, world.workspace);
  // With sandbox: off the changes are in the checkout already.
  const isTracked = config.sandbox !== 'off' && sandbox.shellOffered && root !== null;
  if (isTracked) state.changes = async () => ({ changedFiles: 0, patch: null, leftOut: [], why: null });
  // Before the first call that can change a file, and not at all in a run that only reads.
  const remember = once(async () => {
    const { find, mask } = world.secrets;
    const holdsSecret = (text: string) => find(text) !== null || mask(text) !== text;
    if (!isTracked) return;
    const tree = await rememberTree(runScript, root, state.stop.signal);
    state.changes = (signal) => comparePatch(runScript, root, tree, holdsSecret, signal);
  });
  const place = async () => {
    if (context === null) return;
    const warn = (text: string) => notify({ type: 'notice', level: 'warning', text }, world);
    const { placeContext } = await import('./place-change.ts');
    const placed = await placeContext(context, sandbox, state.stop.signal, warn, root ?? world.workspace);
    state.context = placed.status;
    state.change = placed.change;
    state.changeUnknown = placed.unknown;
    state.placed.resolve();
  };
  const snapshots = Promise.all([sandbox.ready(), tamper?.snapshot(), place()]).then(() => {
    for (const text of sandbox.weaknesses()) notify({ type: 'notice', level: 'warning', text }, world);
    const layer = sandbox.layer();
    if (layer === null) return;
    const text = `The agent works in ${layer === 'overlay' ? 'an overlay over' : 'a copy of'} the checkout.`;
    notify({ type: 'notice', level: 'info', text }, world);
  });
  // Abort the model request at once: nothing can be accepted without a working sandbox.
  snapshots.catch((error: unknown) => state.stop.abort(error));
  const changing =
    <A extends readonly unknown[], R>(change: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      await remember();
      return change(...args);
    };
  const tools = {
    ...sandbox,
    ready: () => snapshots,
    exec: changing(sandbox.exec),
    write: changing(sandbox.write),
  };
  return { sandbox, tools, ready: () => snapshots };
}

function startClock(timeoutMs: number, state: RunState): void {
  const reason: RunStop = { stop: 'timeout' };
  state.timer = setTimeout(() => state.stop.abort(reason), timeoutMs);
}

/** A reporter that throws on an event has a bug, but must not end the run. */
function notify(event: RunEvent, world: World): void {
  for (const reporter of world.reporters) {
    try {
      reporter.event?.(event);
    } catch (error) {
      world.warn(`${reporter.name}: ${messageOf(error)}`);
    }
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
