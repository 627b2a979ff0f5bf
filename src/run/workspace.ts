/**
 * Opens what the tools of a run work on: the sandbox over the workspace, the change in it, and what measures evidence.
 * Loaded once the model has been asked.
 */
import os from 'node:os';
import path from 'node:path';
import type { Price } from '../agent/budget.ts';
import type { Config } from '../config/parse-config.ts';
import type { EvidenceReview } from '../evidence/review.ts';
import { comparePatch, rememberTree } from '../git/patch.ts';
import type { ChangeContext } from '../github/context.ts';
import { type Detected, detectBackend } from '../sandbox/detect.ts';
import { createTamperCheck } from '../sandbox/off.ts';
import { openSandbox } from '../sandbox/open.ts';
import type { OpenedSandbox, Sandbox } from '../sandbox/sandbox.ts';
import { once, race } from '../text/wait.ts';
import { openEvidence } from './evidence.ts';
import { placeContext } from './place-change.ts';
import type { RunPolicy } from './policy.ts';
import type { RunState, World } from './world.ts';

/** What is known before the model is asked. */
export interface Plan {
  readonly config: Config;
  readonly policy: RunPolicy;
  readonly price: Price;
  /** The working directory of the agent, absolute. */
  readonly folder: string;
  /** The root of the repository around it, or of the only one in the workspace; null if there is none. */
  readonly root: string | null;
  /** The judged folder, relative to that root, or to the workspace. */
  readonly subject: string;
  readonly context: ChangeContext | null;
  /** How commands can be isolated here; null if that is still to be found out. */
  readonly detected: Detected | null;
}

export interface OpenedWorkspace {
  /** Ready once the self-test has passed and the change has been placed. */
  readonly tools: Sandbox;
  /** Resolves after that. */
  readonly review: Promise<EvidenceReview>;
}

/** Finds out how commands can be isolated. Rejects with the reason of `state.stop` only. */
export function detect({ sandbox: mode, shellNetwork }: Config, { stop }: RunState): Promise<Detected> {
  return race(detectBackend({ mode, shellNetwork }), stop.signal);
}

/** Returns once the sandbox begins to open. @throws SandboxError if none can be opened and one is required */
export async function openWorkspace(plan: Plan, state: RunState, world: World): Promise<OpenedWorkspace> {
  const { config, context, policy, subject } = plan;
  const root = plan.root ?? world.workspace;
  const isSecret = createSecretTest(config, world);
  const detected = plan.detected ?? (await detect(config, state));
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
  const ready = Promise.all([
    sandbox.ready(),
    state.tamper?.snapshot(),
    placeChange(context, sandbox, root, state).then(() => {
      state.policyChanges = world.findPolicyChanges(policy.files, state.change);
    }),
  ]).then(() => {
    for (const text of sandbox.weaknesses()) state.audience.notice('warning', text);
  });
  // Abort the model request at once: nothing can be accepted without a working sandbox.
  ready.catch((error: unknown) => state.stop.abort(error));
  const review = ready.then(() => {
    state.evidence = openEvidence({ policy: policy.evidence, sandbox, root, subject, state, world });
    return state.evidence.review;
  });
  review.catch(() => undefined);
  const tools = { ...watchTools(sandbox, plan, state, world), ready: () => ready };
  return { tools, review };
}

/** Writes the context files, and notes what is known of the change. */
async function placeChange(
  context: ChangeContext | null,
  sandbox: OpenedSandbox,
  root: string,
  state: RunState,
): Promise<void> {
  if (context === null) return;
  const warn = (text: string) => state.audience.notice('warning', text);
  const placed = await placeContext(context, sandbox, state.stop.signal, warn, root);
  state.context = placed.status;
  state.change = placed.change;
  state.diffs = placed.diffs;
  state.noChange = { status: 'partial', why: placed.unknown };
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
function watchTools(
  sandbox: OpenedSandbox,
  { config, root }: Plan,
  state: RunState,
  { secrets }: World,
): Sandbox {
  const { commands, stop } = state;
  const { runScript, shellOffered } = sandbox;
  const holdsSecret = (text: string) => secrets.find(text) !== null || secrets.mask(text) !== text;
  // With sandbox: off the changes are in the checkout already.
  const isCompared = config.sandbox !== 'off' && shellOffered && root !== null;
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
      const result = await sandbox.exec(command, options);
      const seconds = Math.round(result.durationMs / 1_000);
      commands.push({ command, exitCode: result.exitCode, seconds });
      if (commands.length > MAX_COMMANDS) commands.shift();
      return result;
    },
    async write(...given) {
      await remember();
      return sandbox.write(...given);
    },
  };
}
