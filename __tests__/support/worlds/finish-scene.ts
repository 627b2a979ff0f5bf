/** A run at its end that records each step of finishing. */
import type { Report, Reporter } from '../../../src/reporters/report-types.ts';
import type { Ending } from '../../../src/run/endings.ts';
import { createState, type RunState, type World } from '../../../src/run/world.ts';
import type { OpenedSandbox } from '../../../src/sandbox/sandbox.ts';
import { createSecrets } from '../../../src/text/secrets.ts';
import type { GateResult } from '../../../src/types.ts';
import { quietWorld } from './quiet.ts';

export const SECRET = 'sk-finish-0123456789abcdef';
export const payload = { passed: true, summary: 'fine' };
export const submitted = { kind: 'submitted', payload, repaired: null } satisfies Ending;
export const plain = { kind: 'plain_text', text: 'hm', empty: false, truncated: false } satisfies Ending;
export const outOfTurns = { kind: 'exhausted', limit: 'turns', lastIssues: [] } satisfies Ending;
export const outOfTime = { kind: 'exhausted', limit: 'time', lastIssues: [] } satisfies Ending;
export const met: GateResult = { status: 'met', issues: [] };
export const never = <T>() => new Promise<T>(() => undefined);

interface Scene {
  readonly world: World;
  readonly state: RunState;
  /** The steps, in order. */
  readonly steps: string[];
  readonly envelopes: Report[];
  readonly outputs: Report[];
  readonly warnings: string[];
}

/** Creates a run at its end; every step of finishing adds its name. */
export function scene(more: Partial<World> = {}): Scene {
  const steps: string[] = [];
  const envelopes: Report[] = [];
  const outputs: Report[] = [];
  const warnings: string[] = [];
  const secrets = createSecrets();
  secrets.add(SECRET);
  const world: World = {
    ...quietWorld('/', '/temp/run'),
    secrets,
    results: null,
    writePatch: (patch) => {
      steps.push(`patch ${patch.toString()}`);
      return '/temp/changes.patch';
    },
    restoreRunnerFiles: () => void steps.push('restored'),
    now: () => 0,
    reporters: [reporter('first', steps), reporter('second', steps)],
    writeEnvelope: (report) => {
      steps.push('envelope');
      envelopes.push(report);
    },
    writeOutputs: (report) => {
      steps.push('outputs');
      outputs.push(report);
    },
    warn: (text) => void warnings.push(text),
    ...more,
  };
  const state = createState(world);
  state.sandbox = sandbox(() => void steps.push('closed'));
  state.tamper = {
    snapshot: () => never(),
    compare: async () => {
      steps.push('tamper check');
      return null;
    },
  };
  state.changes = async () => {
    steps.push('changes');
    return { changedFiles: 2, patch: Buffer.from('diff'), leftOut: [], why: null };
  };
  state.gate = {
    warnings: [],
    evaluate: () => {
      steps.push('gate');
      return met;
    },
  };
  return { world, state, steps, envelopes, outputs, warnings };
}

export function reporter(name: string, steps: string[], more: Partial<Reporter> = {}): Reporter {
  return { name, report: async () => void steps.push(name), ...more };
}

export function sandbox(onClose: () => void): OpenedSandbox {
  return {
    isolation: () => 'bwrap',
    layer: () => null,
    contextFolder: '/tmp/context',
    addContext: () => never(),
    runScript: () => never(),
    workingDirectory: '/workspace',
    shellOffered: true,
    weaknesses: () => ['the network is on'],
    ready: () => never(),
    read: () => never(),
    write: () => never(),
    exec: () => never(),
    close: async () => onClose(),
  };
}

export function summarize({ verdict, payload: published, gate }: Report) {
  return [verdict.reason, verdict.exitCode, published, gate?.status ?? null];
}
