/** Attacks on the host around the checkout, through the committed bundle, on a runner in /opt behind every backend. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attackWalls, isWritable, missingWalls, runnerFor } from '../support/attacks/backends.ts';
import { type BatchResult, runBatch } from '../support/attacks/batch.ts';
import {
  groupRow,
  type Listeners,
  listenOnMachine,
  machineRows,
  plantMachine,
} from '../support/attacks/machine.ts';
import { type AttackWorld, createAttackWorld, PLANTED } from '../support/attacks/world.ts';

const RUN_MS = 200_000;
const isRoot = process.getuid?.() === 0;
const canWriteOpt = isWritable('/opt');

/** A separate world, and one run with all the attacks. */
async function attack(wall: (typeof attackWalls)[number], inputs: Readonly<Record<string, string>>) {
  const inPlace = inputs['workspace-access'] === 'in-place';
  const parent = canWriteOpt ? '/opt' : tmpdir();
  const world = await createAttackWorld({ parent, plant: plantMachine, runner: runnerFor(wall), inPlace });
  const listeners = await listenOnMachine(world);
  const variables = { HOME: path.join(world.base, 'user') };
  const run = await runBatch({ world, wall, inputs, variables }, rowsFor(wall));
  return { world, listeners, run };
}

/** Without root bubblewrap cannot drop the groups, and the run reports that. */
function rowsFor(wall: (typeof attackWalls)[number]) {
  return wall === 'bwrap' && !isRoot ? machineRows : [...machineRows, groupRow];
}

const settings = attackWalls.flatMap((wall) =>
  (['scratch', 'in-place'] as const).map((access) => ({ wall, access, rows: rowsFor(wall) })),
);

describe.each(settings)('behind $wall, $access', ({ wall, access, rows }) => {
  let world: AttackWorld;
  let listeners: Listeners;
  let run: BatchResult;
  beforeAll(async () => {
    ({ world, listeners, run } = await attack(wall, { 'workspace-access': access }));
  }, RUN_MS);
  afterAll(async () => {
    listeners.close();
    await world.close();
  });

  it.each(rows)('$id', ({ id, expect: expected }) => {
    const seen = run.observations.get(id);
    expect(seen?.result).toBeDefined();
    expect(seen?.result).not.toContain(PLANTED);
    expect(seen?.changed).toEqual([]);
    if (typeof expected['match'] === 'string') expect(seen?.result).toContain(expected['match']);
    if (typeof expected['not_match'] === 'string') expect(seen?.result).not.toContain(expected['not_match']);
  });

  it('M3 is not prevented by links at the mount points: the backend stays active', () => {
    expect([run.exitCode, run.outputs.get('run-sandbox')], run.stdout.toString().slice(-1_500)).toEqual([
      0,
      wall,
    ]);
  });

  it('H2, M7 reach no service and no pipe of another run', () => {
    expect(listeners.reached()).toBe(0);
  });
});

it.runIf(attackWalls.length > 0)('the same attacks succeed without isolation', async () => {
  const { world, listeners, run } = await attack('bwrap', { sandbox: 'off', 'workspace-access': 'in-place' });
  const got = (word: string) =>
    run.observations.get(machineRows.find(({ id }) => id.includes(word))?.id ?? '');
  expect(got('the key of the runner')?.result).toContain(PLANTED);
  expect(got('the key of the runner')?.changed).toEqual([expect.stringContaining('/.runner: ')]);
  expect(got('wants to forge')?.result).toContain('WRITTEN');
  expect(got('wants a service')?.result).toContain('REACHED\nREACHED\nREACHED\n');
  // Three connections, and two pipes that were written.
  expect(listeners.reached()).toBe(5);
  listeners.close();
  await world.close();
  expect(existsSync(world.base)).toBe(false);
});

it.skipIf(true).each(missingWalls)('the attacks behind $wall: $problem', () => undefined);

it.skipIf(canWriteOpt)('a runner in /opt, which this user cannot create', () => undefined);
