/** A run at its end that records each step of finishing. */
import type { Report, Reporter } from '../../../src/reporters/report-types.ts';
import type { Ending } from '../../../src/run/endings.ts';
import { createState, type World } from '../../../src/run/world.ts';
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

/** Creates a run at its end; every step of finishing adds its name. */
export function scene(more: Partial<World> = {}) {
  const steps: string[] = [];
  const envelopes: Report[] = [];
  const outputs: Report[] = [];
  const reporters = [reporter('first', steps), reporter('second', steps)];
  const warnings: string[] = [];
  const secrets = createSecrets();
  secrets.add(SECRET);
  const add = <T>(step: string, value: T): T => {
    steps.push(step);
    return value;
  };
  const world: World = {
    ...quietWorld('/', '/temp/run'),
    secrets,
    results: null,
    writePatch: (patch) => add(`patch ${patch.toString()}`, '/temp/changes.patch'),
    restoreRunnerFiles: () => add('restored', undefined),
    now: () => 0,
    openReporters: async () => reporters,
    writeEnvelope: (report) => void add('envelope', envelopes).push(report),
    writeOutputs: (report) => void add('outputs', outputs).push(report),
    warn: (text) => void warnings.push(text),
    ...more,
  };
  const state = createState(world);
  state.sandbox = sandbox(() => add('closed', undefined));
  state.tamper = { snapshot: () => never(), compare: async () => add('tamper check', null) };
  const files = ['a', 'b'].map((path) => ({ path, isNew: false }));
  const changes = { files, patch: Buffer.from('diff'), leftOut: [], why: null };
  state.changes = async () => add('changes', changes);
  state.gate = { warnings: [], evaluate: () => add('gate', met) };
  return { world, state, steps, envelopes, outputs, warnings, reporters };
}

export function reporter(name: string, steps: string[], more: Partial<Reporter> = {}): Reporter {
  return { name, report: async () => void steps.push(name), ...more };
}

export function sandbox(onClose: () => void): OpenedSandbox {
  return {
    isolation: () => 'bwrap',
    layer: () => null,
    contextFolder: '/tmp/context',
    workingDirectory: '/workspace',
    shellOffered: true,
    weaknesses: () => ['the network is on'],
    ...{ addContext: never, runScript: never, ready: never, read: never, write: never, exec: never },
    close: async () => onClose(),
  };
}

export function summarize({ verdict, payload: published, gate }: Report) {
  return [verdict.reason, verdict.exitCode, published, gate?.status ?? null];
}
