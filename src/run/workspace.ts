/** Opens what the tools of a run work on. Loaded once the model has been asked. */
import os from 'node:os';
import path from 'node:path';
import type { Config } from '../config/parse-config.ts';
import { comparePatch, rememberTree } from '../git/patch.ts';
import { createTamperCheck } from '../sandbox/off.ts';
import { openSandbox } from '../sandbox/open.ts';
import type { OpenedSandbox, Sandbox } from '../sandbox/sandbox.ts';
import { once } from '../text/wait.ts';
import { openEvidence } from './evidence.ts';
import { inlineDiff, placeContext } from './place-change.ts';
import type { Plan } from './prepare.ts';
import type { RunState, World } from './world.ts';

/** Resolves once the self-test has passed and the change has been placed. @throws SandboxError, InputError for `base` */
export async function openWorkspace(plan: Plan, state: RunState, world: World) {
  const { config, policy, root, subject } = plan;
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
  state.evidence = openEvidence(policy.evidence, folders, state, world);
  return { tools, review: state.evidence.review };
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
