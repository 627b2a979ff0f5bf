/** Many attacks in one run of the bundle: a scripted model makes one call per turn and observes its effects before the next. */
import { existsSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../sandbox/world.ts';
import { calls, type Reply, submits } from '../fakes/model/server.ts';
import { type AttackCall, type AttackRow, callsOf } from './rows.ts';
import { type AttackResult, type AttackStep, runAttackStep } from './step.ts';
import { differences, watchSystem } from './system.ts';
import type { AttackWorld } from './world.ts';

/** The effects of an attack, observed right after it. */
export interface Observation {
  /** The tool results for the model. */
  readonly result: string;
  /** The time from the response of the model to its next request, in milliseconds of machine time. */
  readonly elapsedMs: number;
  /** The changes since the first attack, one line per file. */
  readonly changed: readonly string[];
  /** The number of connections to the listeners outside. */
  readonly reached: number;
  readonly alive: boolean;
}

/** The whole run. */
export interface BatchResult extends AttackResult {
  /** By the id of the row. */
  readonly observations: ReadonlyMap<string, Observation>;
}

interface Turn {
  readonly call: AttackCall;
  /** Set on the last call of a row. */
  readonly row: AttackRow | null;
  readonly mark: string;
}

/** The final payload of the model for the default schema of these runs. */
export const FINAL = { verdict: 'pass', summary: 'nothing came of it' };

/** The schema of these runs by default. */
export const VERDICT_SCHEMA = {
  type: 'object',
  required: ['verdict', 'summary'],
  additionalProperties: false,
  properties: { verdict: { enum: ['pass', 'fail'] }, summary: { type: 'string' } },
};

/** Runs attacks in order and then submits an honest verdict. */
export async function runBatch(
  step: Omit<AttackStep, 'script'>,
  rows: readonly AttackRow[],
): Promise<BatchResult> {
  const { world } = step;
  const turns = turnsOf(rows, world);
  const observations = new Map<string, Observation>();
  const calls = turns.map(({ call }) => call);
  const systemState = watchSystem(calls, world.mark, world.base);
  const state = () => ({ ...systemState(), ...world.manifest() });
  let before: Readonly<Record<string, string>> = {};
  let startedAt = 0;
  const result = await runAttackStep({
    ...step,
    inputs: { schema: JSON.stringify(VERDICT_SCHEMA), 'timeout-minutes': '6', ...step.inputs },
    script: async (request, index) => {
      const elapsedMs = performance.now() - startedAt;
      const done = turns[index - 1];
      // The first turn is a call without effect, after which the sandbox has started.
      if (index === 1) before = state();
      if (done?.row != null) {
        const results = request.toolResults.map(({ text }) => text).join('\n');
        observations.set(
          done.row.id,
          await observe(world, done, done.row, results, elapsedMs, () => differences(before, state())),
        );
      }
      const next = turns[index];
      startedAt = performance.now();
      return next === undefined ? submits(FINAL) : replyOf(next.call);
    },
  });
  return { ...result, observations };
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

/** Guards a command that kills processes: it first checks that it is in a process of this run. */
function pidNamespace(): string {
  return existsSync('/proc/self/ns/pid') ? readlinkSync('/proc/self/ns/pid') : 'none';
}

function replyOf({ tool, args }: AttackCall): Reply {
  // Text alone would end the run, so a call is added.
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
