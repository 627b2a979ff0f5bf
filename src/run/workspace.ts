/**
 * Opens what the tools of a run work on: the sandbox over the workspace, the change in it, and what measures evidence.
 * Loaded once the model has been asked.
 */
import type { Config } from '../config/parse-config.ts';
import type { EvidenceReview } from '../evidence/review.ts';
import { comparePatch, rememberTree } from '../git/patch.ts';
import type { ChangeContext } from '../github/context.ts';
import { type Detected, detectBackend } from '../sandbox/detect.ts';
import { openSandbox } from '../sandbox/open.ts';
import type { OpenedSandbox, Sandbox } from '../sandbox/sandbox.ts';
import { createTamperCheck } from '../sandbox/tamper.ts';
import { race } from '../text/wait.ts';
import { openEvidence } from './evidence.ts';
import type { EvidencePolicy } from './evidence-policy.ts';
import { placeContext } from './place-change.ts';
import { once } from './signals.ts';
import type { RunState, World } from './world.ts';

/** What is opened, and how. */
export interface WorkspacePlan {
  readonly config: Config;
  /** The working directory of the agent, absolute. */
  readonly folder: string;
  /** The root of the repository around it; null if there is none. */
  readonly root: string | null;
  /** The judged folder, relative to that root, or to the workspace. */
  readonly subject: string;
  readonly context: ChangeContext | null;
  readonly evidence: EvidencePolicy;
  /** How commands can be isolated here; null if that is still to be found out. */
  readonly detected: Detected | null;
}

export interface OpenedWorkspace {
  readonly tools: Sandbox;
  /** Resolves once the self-test has passed and the change has been placed. */
  readonly ready: Promise<void>;
  /** Resolves after `ready`. */
  readonly review: Promise<EvidenceReview>;
}

/** Finds out how commands can be isolated. Rejects with the reason of `state.stop` only. */
export function detect(
  { sandbox: mode, shellNetwork }: Pick<Config, 'sandbox' | 'shellNetwork'>,
  state: RunState,
  { programFolders }: Pick<World, 'programFolders'>,
): Promise<Detected> {
  const folders = programFolders === undefined ? {} : { programFolders };
  return race(detectBackend({ mode, shellNetwork, ...folders }), state.stop.signal);
}

/** Returns once the sandbox begins to open. @throws SandboxError if none can be opened and one is required */
export async function openWorkspace(
  plan: WorkspacePlan,
  state: RunState,
  world: World,
): Promise<OpenedWorkspace> {
  const { config, context, evidence: policy, folder } = plan;
  const root = plan.root ?? world.workspace;
  const isSecret = createSecretTest(config, world);
  const detected = plan.detected ?? (await detect(config, state, world));
  const sandbox = openSandbox(
    {
      workspace: world.workspace,
      workingDirectory: folder,
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
  state.tamper = config.sandbox === 'off' ? createTamperCheck(world.workspace, world.guarded) : null;
  const notice = (level: 'info' | 'warning') => (text: string) =>
    state.audience.tell({ type: 'notice', level, text });
  const place = async () => {
    if (context === null) return;
    const placed = await placeContext(context, sandbox, state.stop.signal, notice('warning'), root);
    state.context = placed.status;
    state.change = placed.change;
    state.diffs = placed.diffs;
    state.noChange = { status: 'partial', why: placed.unknown };
    state.placed.resolve();
  };
  const ready = Promise.all([sandbox.ready(), state.tamper?.snapshot(), place()]).then(() => {
    for (const text of sandbox.weaknesses()) notice('warning')(text);
    const layer = sandbox.layer();
    if (layer !== null)
      notice('info')(
        `The agent works in ${layer === 'overlay' ? 'an overlay over' : 'a copy of'} the checkout.`,
      );
  });
  // Abort the model request at once: nothing can be accepted without a working sandbox.
  ready.catch((error: unknown) => state.stop.abort(error));
  const review = ready.then(() => {
    state.evidence = openEvidence({ policy, sandbox, root, subject: plan.subject, config, state, world });
    return state.evidence.review;
  });
  review.catch(() => undefined);
  const watched = withChanges(sandbox, plan, state, world);
  const tools = { ...watched, exec: recording(watched.exec, state), ready: () => ready };
  return { tools, ready, review };
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

/** Lets a sandbox remember the workspace before the first call that can change a file, and not at all for reads only. */
function withChanges(
  sandbox: OpenedSandbox,
  { config, root }: WorkspacePlan,
  state: RunState,
  { secrets }: World,
): OpenedSandbox {
  // With sandbox: off the changes are in the checkout already.
  if (config.sandbox === 'off' || !sandbox.shellOffered || root === null) return sandbox;
  state.changes = async () => ({ files: [], patch: null, leftOut: [], why: null });
  const { runScript } = sandbox;
  const holdsSecret = (text: string) => secrets.find(text) !== null || secrets.mask(text) !== text;
  const remember = once(async () => {
    const tree = await rememberTree(runScript, root, state.stop.signal);
    state.changes = (signal) => comparePatch(runScript, root, tree, holdsSecret, signal);
  });
  return {
    ...sandbox,
    async exec(...given) {
      await remember();
      return sandbox.exec(...given);
    },
    async write(...given) {
      await remember();
      return sandbox.write(...given);
    },
  };
}

/** The last commands of a run that its envelope lists. */
const MAX_COMMANDS = 50;

/** Returns the same function, which records how each command ended. */
function recording(exec: OpenedSandbox['exec'], { commands }: RunState): OpenedSandbox['exec'] {
  return async (command, options) => {
    const result = await exec(command, options);
    commands.push({ command, exitCode: result.exitCode, seconds: Math.round(result.durationMs / 1_000) });
    if (commands.length > MAX_COMMANDS) commands.shift();
    return result;
  };
}
