/** Many attacks in one run of the bundle: a scripted model makes one call a turn, and what came of it is seen before the next. */
import { existsSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../sandbox/world.ts';
import { calls, type Reply, submits } from '../fakes/model/server.ts';
import { startStopwatch } from '../stopwatch.ts';
import { type AttackCall, type AttackRow, callsOf } from './rows.ts';
import { type AttackResult, type AttackStep, runAttackStep } from './step.ts';
import { differences, watchSystem } from './system.ts';
import type { AttackWorld } from './world.ts';

/** What an attack led to, seen right after it. */
export interface Observation {
  /** What the model was told. */
  readonly result: string;
  /** From the model's answer to its next request, in milliseconds in which this machine ran. */
  readonly elapsedMs: number;
  /** What is not as it was before the first attack, a line for each file. */
  readonly changed: readonly string[];
  /** How often the listeners outside had been reached. */
  readonly reached: number;
  readonly alive: boolean;
}

/** The whole run. */
export interface BatchResult extends AttackResult {
  /** By the id of the row. */
  readonly observations: ReadonlyMap<string, Observation>;
  /** How many calls of tools were made. */
  readonly calls: number;
}

interface Turn {
  readonly call: AttackCall;
  /** Set on the last call of a row. */
  readonly row: AttackRow | null;
  readonly mark: string;
}

/** What the model submits in the end: the schema of these runs is the usual one. */
export const FINAL = { verdict: 'pass', summary: 'nothing came of it' };

/** The schema of the payload of every run here, unless a row has its own. */
export const VERDICT_SCHEMA = {
  type: 'object',
  required: ['verdict', 'summary'],
  additionalProperties: false,
  properties: { verdict: { enum: ['pass', 'fail'] }, summary: { type: 'string' } },
};

/** Attacks in their order, and then an honest verdict. */
export async function runBatch(
  step: Omit<AttackStep, 'script'>,
  rows: readonly AttackRow[],
): Promise<BatchResult> {
  const { world } = step;
  const turns = turnsOf(rows, world);
  const observations = new Map<string, Observation>();
  const calls = turns.map(({ call }) => call);
  const systemState = watchSystem({ calls, mark: world.mark, except: world.base });
  const state = () => ({ ...systemState(), ...world.manifest() });
  let before: Readonly<Record<string, string>> = {};
  let spent = () => 0;
  const result = await runAttackStep({
    ...step,
    inputs: { schema: JSON.stringify(VERDICT_SCHEMA), 'timeout-minutes': '6', ...step.inputs },
    script: async (request, index) => {
      const elapsedMs = spent();
      const done = turns[index - 1];
      // The first turn is a call that does nothing: with it the sandbox is up.
      if (index === 1) before = state();
      if (done?.row != null) {
        const told = request.toolResults.map(({ text }) => text).join('\n');
        observations.set(
          done.row.id,
          await observe(world, done, done.row, told, elapsedMs, () => differences(before, state())),
        );
      }
      const next = turns[index];
      spent = startStopwatch();
      return next === undefined ? submits(FINAL) : replyOf(next.call);
    },
  });
  return { ...result, observations, calls: turns.length };
}

function turnsOf(rows: readonly AttackRow[], world: AttackWorld): readonly Turn[] {
  const turns: Turn[] = [{ call: { tool: 'shell', args: { command: 'true' } }, row: null, mark: '' }];
  for (const [number, row] of rows.entries()) {
    const mark = `${world.mark}-${number}-`;
    const calls = callsOf(row, {
      '{BASE}': world.base,
      '{WS}': world.workspace,
      '{HOME}': world.home,
      '{TEMP}': world.temp,
      '{ACT}': world.actions,
      '{TOOL}': world.toolCache,
      '{PORT}': String(world.port),
      '{SOCK}': world.socket,
      '{ABSTRACT}': world.abstract,
      '{PIDNS}': pidNamespace(),
      SAMARK: mark,
    });
    for (const [at, call] of calls.entries())
      turns.push({ call, row: at === calls.length - 1 ? row : null, mark });
  }
  return turns;
}

/** What must not kill every process it sees asks first whether it is among ours. */
function pidNamespace(): string {
  return existsSync('/proc/self/ns/pid') ? readlinkSync('/proc/self/ns/pid') : 'none';
}

function replyOf({ tool, args }: AttackCall): Reply {
  // Prose alone would end the run: a call goes with it.
  if (tool === 'assistant_text')
    return { text: String(args['text']), ...calls('read_file', { path: 'README.md' }) };
  return calls(tool, args);
}

async function observe(
  world: AttackWorld,
  { mark }: Turn,
  row: AttackRow,
  result: string,
  elapsedMs: number,
  changes: () => readonly string[],
): Promise<Observation> {
  const settle = row.expect['settle_ms'];
  if (typeof settle === 'number') await sleep(settle);
  return {
    result,
    elapsedMs,
    changed: changes(),
    reached: world.reached(),
    alive: isAlive(mark),
  };
}
