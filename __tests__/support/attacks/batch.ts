/** Many attacks in one run of the bundle: a scripted model makes one call per turn and observes its effects before the next. */
import { existsSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../sandbox/world.ts';
import { calls, type Reply, submits } from '../fakes/model/server.ts';
import { type AttackCall, type AttackRow, callsOf, shell } from './rows.ts';
import { type AttackStep, runAttackStep } from './step.ts';
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

/** The final payload of the model for the default schema of these runs. */
export const FINAL = { verdict: 'pass', summary: 'nothing came of it' };

/** The schema of these runs by default. */
export const VERDICT_SCHEMA = {
  type: 'object',
  required: ['verdict', 'summary'],
  additionalProperties: false,
  properties: { verdict: { enum: ['pass', 'fail'] }, summary: { type: 'string' } },
};

/** A call without effect, after which the sandbox has started. */
const FIRST = shell('nothing', 'true');

/** The whole run, with the observations by the id of the row. */
export type BatchResult = Awaited<ReturnType<typeof runBatch>>;

/** Runs attacks in order and then submits an honest verdict. */
export async function runBatch(step: Omit<AttackStep, 'script'>, rows: readonly AttackRow[]) {
  const { world } = step;
  const turns = [FIRST, ...rows].flatMap((row, number) => {
    const mark = `${world.mark}-${number}-`;
    const calls = callsOf(row, { ...namesIn(world), SAMARK: mark });
    return calls.map((call, at) => ({ call, mark, row: at === calls.length - 1 ? row : null }));
  });
  const observations = new Map<string, Observation>();
  const systemState = watchSystem(
    turns.map(({ call }) => call),
    world.mark,
    world.base,
  );
  const state = () => ({ ...systemState(), ...world.manifest() });
  let before: Readonly<Record<string, string>> = {};
  let startedAt = 0;
  const result = await runAttackStep({
    ...step,
    inputs: { schema: JSON.stringify(VERDICT_SCHEMA), 'timeout-minutes': '6', ...step.inputs },
    script: async (request, index) => {
      const elapsedMs = performance.now() - startedAt;
      const { row = null, mark = '' } = turns[index - 1] ?? {};
      if (index === 1) before = state();
      if (row !== null) {
        const settle = row.expect['settle_ms'];
        if (typeof settle === 'number') await sleep(settle);
        observations.set(row.id, {
          result: request.toolResults.map(({ text }) => text).join('\n'),
          elapsedMs,
          changed: differences(before, state()),
          reached: world.reached(),
          alive: isAlive(mark),
        });
      }
      const next = turns[index];
      startedAt = performance.now();
      return next === undefined ? submits(FINAL) : replyOf(next.call);
    },
  });
  return { ...result, observations };
}

/** What the names in the commands of an attack stand for. */
function namesIn(world: AttackWorld): Readonly<Record<string, string>> {
  // Guards a command that kills processes: it first checks that it is in a process of this run.
  const namespace = '/proc/self/ns/pid';
  return {
    '{BASE}': world.base,
    '{WS}': world.workspace,
    '{HOME}': world.home,
    '{TEMP}': world.temp,
    '{ACT}': world.actions,
    '{TOOL}': world.toolCache,
    '{PORT}': String(world.port),
    '{SOCK}': world.socket,
    '{ABSTRACT}': world.abstract,
    '{PIDNS}': existsSync(namespace) ? readlinkSync(namespace) : 'none',
  };
}

function replyOf({ tool, args }: AttackCall): Reply {
  // Text alone would end the run, so a call is added.
  if (tool === 'assistant_text')
    return { text: String(args['text']), ...calls('read_file', { path: 'README.md' }) };
  return calls(tool, args);
}
