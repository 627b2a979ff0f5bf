/** A run at its end that records each step of finishing. */
import type { Report, Reporter } from '../../../src/reporters/report-types.ts';
import type { Ending } from '../../../src/run/ending-sentences.ts';
import { finish } from '../../../src/run/finish.ts';
import { RunState, type World } from '../../../src/run/world.ts';
import type { OpenedSandbox } from '../../../src/sandbox/sandbox.ts';
import type { GateResult } from '../../../src/types.ts';
import { knowSecrets } from '../surroundings.ts';
import { quietWorld } from './quiet.ts';

export const SECRET = 'sk-finish-0123456789abcdef';
export const payload = { passed: true, summary: 'fine' };
export const submitted = { kind: 'submitted', payload, repaired: null } satisfies Ending;
export const leaking = { ...submitted, payload: { summary: `see ${SECRET}` } } satisfies Ending;
export const plain = { kind: 'plain_text', text: 'hm', empty: false, truncated: false } satisfies Ending;
export const cancelled = { kind: 'cancelled', signal: 'SIGTERM' } satisfies Ending;
export const out = (limit: 'turns' | 'time') =>
  ({ kind: 'exhausted', limit, lastIssues: [] }) satisfies Ending;
export const met: GateResult = { status: 'met', issues: [] };
export const never = <T>() => new Promise<T>(() => undefined);

interface Writers {
  readonly writeEnvelope?: Reporter['publish'];
  readonly writeOutputs?: Reporter['publish'];
}

/** Creates a run at its end; every step of finishing adds its name. */
export function scene({ writeEnvelope, writeOutputs, ...more }: Partial<World> & Writers = {}) {
  const steps: string[] = [];
  const envelopes: Report[] = [];
  const outputs: Report[] = [];
  const warnings: string[] = [];
  const add = <T>(step: string, value: T): T => {
    steps.push(step);
    return value;
  };
  const keep = (step: string, list: Report[]) => (report: Report) => void add(step, list).push(report);
  const reporters = ['first', 'second'].map(
    (name): Reporter => ({ name, report: async () => add(name, undefined) }),
  );
  const world: World = {
    ...quietWorld('/', '/temp/run'),
    secrets: knowSecrets(SECRET),
    restoreRunnerFiles: () => add('restored', undefined),
    openReporters: async () => [
      { name: 'envelope', publish: writeEnvelope ?? keep('envelope', envelopes) },
      { name: 'outputs', publish: writeOutputs ?? keep('outputs', outputs) },
      ...reporters,
    ],
    warn: (text) => void warnings.push(text),
    ...more,
  };
  const state = new RunState(world);
  const sandbox: OpenedSandbox = {
    isolation: () => 'bwrap',
    layer: () => null,
    contextFolder: '/tmp/context',
    workingDirectory: '/workspace',
    shellOffered: true,
    weaknesses: () => ['the network is on'],
    addContext: never,
    runScript: never,
    ready: never,
    read: never,
    write: never,
    exec: never,
    close: async () => add('closed', undefined),
  };
  state.sandbox = sandbox;
  state.tamper = { snapshot: never, compare: async () => add('tamper check', null) };
  const files = ['a', 'b'].map((path) => ({ path, isNew: false }));
  const changes = { files, patch: Buffer.from('diff'), leftOut: [], why: null };
  state.changes = async () => add('changes', changes);
  state.gate = { warnings: [], evaluate: () => add('gate', met) };
  /** Finishes the run and returns the report, and its reason, exit code, payload and gate as a row. */
  const end = async (ending: Ending) => {
    const report = await finish(ending, state, world);
    const { verdict, gate } = report;
    return { report, row: [verdict.reason, verdict.exitCode, report.payload, gate?.status ?? null] };
  };
  return { end, world, state, sandbox, steps, envelopes, outputs, warnings, reporters };
}
