import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InputError, SandboxError } from '../../src/errors.ts';
import type { Reporter } from '../../src/reporters/report-types.ts';
import type { Ending } from '../../src/run/endings.ts';
import { finish } from '../../src/run/finish.ts';
import type { RunState } from '../../src/run/world.ts';
import {
  met,
  never,
  outOfTime,
  payload,
  plain,
  reporter,
  SECRET,
  sandbox,
  scene,
  submitted,
  summarize,
} from '../support/worlds/finish-scene.ts';

describe('finishing', () => {
  it('has a fixed order: processes are stopped before the checks, and nobody is told before it is written', async () => {
    const { world, state, steps } = scene();
    const report = await finish(submitted, state, world);
    const order = 'changes, patch diff, closed, tamper check, gate, envelope, outputs, first, second';
    expect(steps.join(', ')).toBe(order);
    expect(report).toMatchObject({
      payload,
      gate: met,
      changedFiles: 2,
      patchFile: '/temp/changes.patch',
      isolation: 'bwrap',
      weaknesses: ['the network is on'],
    });
  });

  it('removes the run directory before anything is written, to free disk space', async () => {
    const runFolder = mkdtempSync(path.join(os.tmpdir(), 'finish-'));
    writeFileSync(path.join(runFolder, 'flood'), 'x');
    const wasThere: boolean[] = [];
    const look: Reporter = { name: 'look', report: async () => void wasThere.push(existsSync(runFolder)) };
    const { world, state } = scene({ runFolder, openReporters: async () => [look] });
    await finish(submitted, state, world);
    expect(wasThere).toEqual([false]);
  });

  it.each<[string, Ending]>([
    ['plain text', plain],
    ['a failure', { kind: 'failed', error: new Error('bug') }],
    ['a cancellation', { kind: 'cancelled', signal: 'SIGTERM' }],
  ])('follows the same order for %s, except for the gate', async (_, ending) => {
    const { world, state, steps } = scene();
    const report = await finish(ending, state, world);
    expect(steps.slice(-6)).toEqual(['closed', 'tamper check', 'envelope', 'outputs', 'first', 'second']);
    expect([report.payload, report.gate]).toEqual([null, null]);
  });

  it('stops the timer first', async () => {
    const { world, state, steps } = scene();
    state.timer = setTimeout(() => steps.push('rang'), 0);
    await finish(submitted, state, world);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(steps).not.toContain('rang');
  });

  it('does not compare changes after a timeout, because that could hang as well', async () => {
    const { world, state, steps } = scene();
    const report = await finish(outOfTime, state, world);
    expect(steps).not.toContain('changes');
    expect([report.verdict.reason, report.changedFiles, report.patchFile]).toEqual(['timeout', null, null]);
  });

  it('warns when the sandbox cannot be closed or changes cannot be compared', async () => {
    const { world, state, warnings } = scene();
    state.changes = () => Promise.reject(new Error('no git'));
    state.sandbox = { ...sandbox(() => undefined), close: () => Promise.reject(new Error('busy')) };
    expect(summarize(await finish(submitted, state, world))).toEqual(['accepted', 0, payload, 'met']);
    expect(warnings).toEqual(['changes: no git', 'sandbox: busy']);
  });

  it('warns about files left out of the patch, with secrets masked in names, and if there is none', async () => {
    const { world, state, warnings } = scene();
    const leftOut = ['action.yml', 'b', 'c', 'd', `f ${SECRET}`, 'g'];
    state.changes = async () => ({
      files: Array(7).fill({ path: 'a', isNew: false }),
      patch: null,
      leftOut,
      why: 'No patch.',
    });
    const report = await finish(submitted, state, world);
    expect([report.changedFiles, report.patchFile]).toEqual([7, null]);
    expect(warnings).toEqual([
      'No patch.',
      expect.stringMatching(/^The patch leaves out "action\.yml", "b", "c", "d", "f \*\*\*" and 1 more: w/u),
    ]);
  });

  it('counts no file if git cannot tell', async () => {
    const { world, state, warnings } = scene();
    state.changes = async () => ({ files: null, patch: null, leftOut: [], why: 'Unknown.' });
    const report = await finish(submitted, state, world);
    expect([report.changedFiles, report.patchFile, warnings]).toEqual([null, null, ['Unknown.']]);
  });

  it('does not compare changes when the sandbox broke, and says so', async () => {
    const { world, state, steps } = scene();
    const report = await finish({ kind: 'failed', error: new SandboxError('gone.') }, state, world);
    expect(report.verdict).toMatchObject({ exitCode: 44, error: 'gone.' });
    expect(steps).not.toContain('changes');
  });

  it('masks text before truncating it', async () => {
    const { world, state } = scene();
    const text = `${'x'.repeat(190)}${SECRET}`;
    const report = await finish({ kind: 'plain_text', text, empty: false, truncated: false }, state, world);
    const shown = `${report.lastAssistantText}${report.verdict.error}`;
    expect(report.lastAssistantText).toBe(`${'x'.repeat(190)}***`);
    expect(shown).not.toContain(SECRET.slice(0, 6));
  });
});

describe('the final checks', () => {
  const fail = () => {
    throw new RangeError('stack');
  };

  it.each<[string, Partial<RunState>]>([
    ['the gate', { gate: { warnings: [], evaluate: fail } }],
    ['the tamper check', { tamper: { snapshot: () => never(), compare: fail } }],
  ])('publish nothing when %s throws', async (_, broken) => {
    const { world, state, outputs } = scene();
    Object.assign(state, broken);
    expect(summarize(await finish(submitted, state, world))).toEqual(['internal', 1, null, null]);
    expect(outputs.map((report) => report.payload)).toEqual([null]);
  });

  it('publish nothing and skip the gate when the payload contains a secret', async () => {
    const { world, state, steps, envelopes, outputs } = scene();
    const leaking: Ending = { ...submitted, payload: { passed: true, summary: `see ${SECRET}` } };
    expect(summarize(await finish(leaking, state, world))).toEqual(['secret_in_payload', 1, null, null]);
    expect(steps).not.toContain('gate');
    expect(JSON.stringify([envelopes, outputs])).not.toContain(SECRET);
  });

  it.each<[string, Ending]>([
    ['a payload', submitted],
    ['a payload with a secret', { ...submitted, payload: { summary: SECRET } }],
    ['plain text', plain],
    ['a cancellation', { kind: 'cancelled', signal: 'SIGTERM' }],
  ])(
    'report tampering instead of %s, and restore the files of the runner before writing',
    async (_, ending) => {
      const { world, state, steps } = scene();
      const compare = async () => '.git/config';
      state.tamper = { snapshot: () => never(), compare };
      const report = await finish(ending, state, world);
      expect(summarize(report)).toEqual(['tampered', 1, null, null]);
      expect(report.verdict.error).toContain('.git/config');
      const order = ['closed', 'restored', 'envelope', 'outputs', 'first', 'second'];
      expect(steps.slice(steps.indexOf('closed'))).toEqual(order);
    },
  );
});

describe('an ending that cannot be written', () => {
  const full = () => {
    throw new InputError(null, 'the disk is full');
  };

  it('ends with 52 before anybody is told of a verdict', async () => {
    const { world, state, steps, reporters } = scene({ writeOutputs: full });
    const codes: number[] = [];
    const told: Reporter['report'] = async ({ verdict }) => void codes.push(verdict.exitCode);
    reporters.splice(0, 2, reporter('log', steps, { report: told }));
    const report = await finish(submitted, state, world);
    expect(summarize(report)).toEqual(['config', 52, null, null]);
    expect([codes, steps.slice(-2)]).toEqual([[52], ['envelope', 'envelope']]);
  });

  it('keeps its reason when nothing was published', async () => {
    const { world, state, warnings } = scene({ writeOutputs: full, writeEnvelope: full });
    const report = await finish(plain, state, world);
    expect(summarize(report)).toEqual(['plain_text', 1, null, null]);
    expect(warnings).toEqual(['outputs: the disk is full']);
  });

  it('ends with 52 if only the envelope cannot be written', async () => {
    const { world, state } = scene({ writeEnvelope: full });
    expect(summarize(await finish(submitted, state, world))).toEqual(['config', 52, null, null]);
  });

  it('ends with 52 and a warning when nothing can be written, without rejecting', async () => {
    const { world, state, warnings, reporters } = scene({ writeOutputs: full, writeEnvelope: full });
    const deaf = () => Promise.reject(new Error('deaf'));
    reporters.splice(0, 2, reporter('log', [], { report: deaf }));
    const report = await finish(submitted, state, world);
    expect(summarize(report)).toEqual(['config', 52, null, null]);
    expect(warnings).toEqual(['outputs: the disk is full', 'log: deaf']);
  });
});

describe('outputs with a slow reader', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are waited for without a limit', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const made = scene({ writeOutputs: () => promise });
    const finishing = finish(submitted, made.state, made.world);
    await vi.advanceTimersByTimeAsync(3_600_000);
    resolve();
    expect((await finishing).verdict.exitCode).toBe(0);
  });

  it('end with 52 in verdict and envelope when they fail', async () => {
    const made = scene({ writeOutputs: async () => Promise.reject(new InputError(null, 'nobody reads')) });
    const { verdict, payload } = await finish(submitted, made.state, made.world);
    expect(verdict).toMatchObject({ exitCode: 52, error: 'nobody reads', published: false });
    expect(payload).toBe(null);
    expect(made.envelopes.map((each) => each.verdict.exitCode)).toEqual([0, 52]);
  });

  it('E10 are given up after a signal: 130, in the envelope as well', async () => {
    let asked = 0;
    const made = scene({
      writeOutputs: () => {
        asked += 1;
        // A sink that was called once writes nothing more.
        return asked === 1 ? never<void>() : undefined;
      },
    });
    // A program removes a folder, and knows nothing of these timers.
    const finishing = finish(submitted, made.state, { ...made.world, runFolder: null });
    await vi.advanceTimersByTimeAsync(60_000);
    made.state.interrupt.abort('SIGTERM');
    await vi.advanceTimersByTimeAsync(2_000);
    const { verdict, payload } = await finishing;
    expect(verdict).toMatchObject({ exitCode: 130, reason: 'cancelled', published: false });
    expect(verdict.error).toContain('SIGTERM');
    expect(payload).toBe(null);
    expect(made.envelopes.map((each) => each.verdict.exitCode)).toEqual([0, 130]);
  });

  it('E10 that are read just after a signal stay published', async () => {
    const made = scene({ writeOutputs: async () => undefined });
    made.state.interrupt.abort('SIGTERM');
    const finishing = finish(submitted, made.state, made.world);
    await vi.advanceTimersByTimeAsync(5_000);
    const { verdict } = await finishing;
    expect(verdict).toMatchObject({ exitCode: 130, published: true });
  });
});
