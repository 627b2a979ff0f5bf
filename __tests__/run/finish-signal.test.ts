import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import type { Ending } from '../../src/run/endings.ts';
import { finish } from '../../src/run/finish.ts';
import {
  never,
  outOfTurns,
  payload,
  plain,
  reporter,
  SECRET,
  sandbox,
  scene,
  submitted,
  summarize,
} from '../support/worlds/finish-scene.ts';

describe('a signal while the run finishes', () => {
  const leak: Ending = { ...submitted, payload: { summary: SECRET } };
  const wrongInput: Ending = { kind: 'failed', error: new InputError('model', 'x') };
  it.each<[string, Ending, unknown[]]>([
    ['E11 an accepted payload is published, with 130', submitted, ['cancelled', 130, payload, 'met']],
    ['plain text is cancelled', plain, ['cancelled', 130, null, null]],
    ['a refusal is cancelled', { kind: 'refused', text: '' }, ['cancelled', 130, null, null]],
    ['a limit is cancelled', outOfTurns, ['cancelled', 130, null, null]],
    ['a secret in the payload keeps its reason', leak, ['secret_in_payload', 1, null, null]],
    ['an invalid input keeps its reason', wrongInput, ['config', 52, null, null]],
  ])('before anything is written decides: %s', async (_, ending, row) => {
    const { world, state, envelopes, outputs } = scene();
    state.tamper = {
      snapshot: () => never(),
      compare: async () => {
        state.interrupt.abort('SIGTERM');
        return null;
      },
    };
    const report = await finish(ending, state, world);
    expect(summarize(report)).toEqual(row);
    expect([envelopes, outputs]).toEqual([[report], [report]]);
  });

  it('after the outputs were written takes no verdict back, and skips the network', async () => {
    const { world, state, steps, reporters } = scene();
    const report = async () => state.interrupt.abort('SIGTERM');
    reporters.splice(0, 2, reporter('a', steps, { report }), reporter('b', steps, { network: true }));
    expect(summarize(await finish(submitted, state, world))).toEqual([...['accepted', 0, payload, 'met']]);
    expect(steps).not.toContain('b');
  });

  it('does not hide tampering', async () => {
    const { world, state } = scene();
    state.tamper = {
      snapshot: () => never(),
      compare: async () => 'action.yml',
    };
    state.interrupt.abort('SIGINT');
    expect(summarize(await finish(submitted, state, world))).toEqual(['tampered', 1, null, null]);
  });

  it('skips network reporters and the comparison of changes, and keeps the other reporters', async () => {
    const { world, state, steps, reporters } = scene();
    reporters.unshift(reporter('network', steps, { network: true }));
    state.interrupt.abort('SIGTERM');
    await finish(submitted, state, world);
    expect(steps).toEqual(['closed', 'tamper check', 'gate', 'envelope', 'outputs', 'first', 'second']);
  });

  it('does not wait for a sandbox or reporter that hangs: envelope and outputs are written', async () => {
    const { world, state, steps, reporters } = scene();
    state.sandbox = { ...sandbox(() => undefined), close: () => never() };
    reporters.splice(0, 2, reporter('hanging', steps, { report: () => never() }));
    state.interrupt.abort('SIGTERM');
    const report = await finish(submitted, state, world);
    expect(steps.slice(-2)).toEqual(['envelope', 'outputs']);
    expect(report.verdict.exitCode).toBe(130);
  });

  it('publishes nothing when the tamper check does not finish in time', async () => {
    const { world, state, outputs } = scene();
    state.tamper = { snapshot: () => never(), compare: () => never() };
    state.interrupt.abort('SIGTERM');
    expect(summarize(await finish(submitted, state, world))).toEqual(['cancelled', 130, null, null]);
    expect(outputs.map((report) => report.payload)).toEqual([null]);
  });
});
