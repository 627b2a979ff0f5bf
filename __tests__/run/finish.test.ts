import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InputError, MissingKeyError, SandboxError } from '../../src/errors.ts';
import type { Reporter } from '../../src/reporters/report-types.ts';
import { runToEnd } from '../../src/run/attempt.ts';
import type { Ending } from '../../src/run/ending-sentences.ts';
import type { EndListener } from '../../src/run/signals.ts';
import type { RunState } from '../../src/run/world.ts';
import { makeFolder } from '../support/surroundings.ts';
import {
  cancelled,
  leaking,
  met,
  never,
  out,
  payload,
  plain,
  SECRET,
  scene,
  submitted,
} from '../support/worlds/finish-scene.ts';

const folder = makeFolder();
const failed = (error: unknown): Ending => ({ kind: 'failed', error });
const broken = failed(new SandboxError('gone.'));
const fail = (error: Error) => () => Promise.reject(error);

describe('finishing', () => {
  const CHECKED = 'closed, tamper check, envelope, outputs, first, second';
  it.each<[string, Ending, string]>([
    ['a payload', submitted, `changes, ${CHECKED.replace('envelope', 'gate, envelope')}`],
    ['plain text', plain, `changes, ${CHECKED}`],
    ['a failure', failed(new Error('bug')), `changes, ${CHECKED}`],
    ['a cancellation', cancelled, `changes, ${CHECKED}`],
    ['a timeout, as the comparison could hang as well', out('time'), CHECKED],
    ['a broken sandbox', broken, CHECKED],
  ])('has a fixed order for %s', async (_, ending, order) => {
    const { end, state, steps } = scene();
    const { report } = await end(ending);
    expect([steps.join(', '), state.stop.signal.aborted]).toEqual([order, true]);
    expect(report).toMatchObject(
      ending === submitted
        ? { payload, gate: met, changedFiles: 2, isolation: 'bwrap' }
        : { payload: null, gate: null },
    );
  });

  it('writes the patch, and removes the run folder before anything else, to free disk space', async () => {
    const runFolder = mkdtempSync(path.join(folder, 'run-'));
    writeFileSync(path.join(runFolder, 'flood'), 'x');
    const wasThere: boolean[] = [];
    const writeEnvelope = () => void wasThere.push(existsSync(runFolder));
    const { report } = await scene({ runFolder, results: folder, writeEnvelope }).end(submitted);
    expect([wasThere, report.weaknesses]).toEqual([[false], ['the network is on']]);
    expect(readFileSync(report.patchFile ?? '', 'utf8')).toBe('diff');
  });

  it('turns the failures of a sandbox, a comparison and a reporter into warnings', async () => {
    const { end, state, sandbox, warnings, reporters } = scene();
    state.changes = fail(new Error('no git'));
    state.sandbox = { ...sandbox, close: fail(new Error('busy')) };
    reporters.splice(0, 2, { name: 'log', report: fail(new Error('deaf')) });
    expect((await end(submitted)).row).toEqual(['accepted', 0, payload, 'met']);
    expect(warnings).toEqual(['changes: no git', 'sandbox: busy', 'log: deaf']);
  });

  const files = Array(7).fill({ path: 'a', isNew: false });
  it.each([
    [
      7,
      files,
      [/^No patch\.$/u, /^The patch leaves out "action\.yml", "b", "c", "d", "f \*\*\*" and 1 more: w/u],
    ],
    [null, null, [/^No patch\.$/u]],
  ])(
    'counts %s files and warns about what is left out of the patch, masked',
    async (count, changed, says) => {
      const { end, state, warnings } = scene();
      const leftOut = ['action.yml', 'b', 'c', 'd', `f ${SECRET}`, 'g'];
      state.changes = async () => ({ files: changed, patch: null, leftOut, why: 'No patch.' });
      const { report } = await end(submitted);
      expect([report.changedFiles, report.patchFile]).toEqual([count, null]);
      expect(warnings).toEqual(says.map((text) => expect.stringMatching(text)));
    },
  );

  it('masks text before truncating it', async () => {
    const { report } = await scene().end({ ...plain, text: `${'x'.repeat(190)}${SECRET}` });
    expect(report.lastAssistantText).toBe(`${'x'.repeat(190)}***`);
    expect(report.verdict.error).not.toContain(SECRET.slice(0, 6));
  });
});

describe('the final checks', () => {
  const throws = () => {
    throw new RangeError('stack');
  };
  it.each<[string, Partial<RunState>, Ending, string]>([
    ['the gate throws', { gate: { warnings: [], evaluate: throws } }, submitted, 'internal'],
    ['the tamper check throws', { tamper: { snapshot: never, compare: throws } }, submitted, 'internal'],
    ['the payload contains a secret', {}, leaking, 'secret_in_payload'],
  ])('publish nothing when %s', async (_, change, ending, reason) => {
    const { end, state, steps, envelopes, outputs } = scene();
    Object.assign(state, change);
    const { report, row } = await end(ending);
    expect(row).toEqual([reason, 1, null, null]);
    expect([steps.includes('gate'), envelopes, outputs]).toEqual([false, [report], [report]]);
    expect(JSON.stringify(report)).not.toContain(SECRET);
  });

  it.each([submitted, leaking, plain, cancelled])(
    'report tampering instead of %j, also after a signal',
    async (ending) => {
      const { end, state, steps } = scene();
      state.tamper = { snapshot: never, compare: async () => '.git/config' };
      if (ending === submitted) state.interrupt.abort('SIGINT');
      const { report, row } = await end(ending);
      expect(row).toEqual(['tampered', 1, null, null]);
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
  const both = { writeOutputs: full, writeEnvelope: full };
  const config = ['config', 52, null, null];
  it.each([
    ['the outputs', submitted, { writeOutputs: full }, config],
    ['the outputs, later', submitted, { writeOutputs: async () => full() }, config],
    ['the outputs, of a skipped run,', failed(new MissingKeyError('no key')), { writeOutputs: full }, config],
    ['the envelope', submitted, { writeEnvelope: full }, config],
    ['both', submitted, both, config],
    ['both, of a run that published nothing,', plain, both, ['plain_text', 1, null, null]],
  ])('because of %s changes the verdict before anybody is told of it', async (_, ending, more, row) => {
    const { end, warnings, envelopes, reporters } = scene(more);
    const codes: number[] = [];
    const report: Reporter['report'] = async ({ verdict }) => void codes.push(verdict.exitCode);
    reporters.splice(0, 2, { name: 'log', report });
    expect((await end(ending)).row).toEqual(row);
    expect(codes).toEqual([row[1]]);
    expect(envelopes.map(({ verdict }) => verdict.exitCode)).toEqual('writeEnvelope' in more ? [] : [0, 52]);
    expect(warnings).toEqual(['outputs: the disk is full']);
  });
});

describe('a signal while the run finishes', () => {
  const now = ['cancelled', 130, null, null];
  it.each<[string, Ending, unknown[]]>([
    ['E11 an accepted payload is published, with 130', submitted, ['cancelled', 130, payload, 'met']],
    ['plain text is cancelled', plain, now],
    ['a refusal is cancelled', { kind: 'refused', text: '' }, now],
    ['a limit is cancelled', out('turns'), now],
    ['a secret in the payload keeps its reason', leaking, ['secret_in_payload', 1, null, null]],
    ['an invalid input keeps its reason', failed(new InputError('model', 'x')), ['config', 52, null, null]],
  ])('before anything is written decides: %s', async (_, ending, row) => {
    const { end, state, envelopes, outputs } = scene();
    const compare = async () => {
      state.interrupt.abort('SIGTERM');
      return null;
    };
    state.tamper = { snapshot: never, compare };
    const ended = await end(ending);
    expect(ended.row).toEqual(row);
    expect([envelopes, outputs]).toEqual([[ended.report], [ended.report]]);
  });

  it('after the outputs were written takes no verdict back, and skips the network', async () => {
    const { end, state, steps, reporters } = scene();
    reporters.push({ name: 'network', network: true, report: async () => void steps.push('sent') });
    reporters.unshift({ name: 'log', report: async () => state.interrupt.abort('SIGTERM') });
    expect((await end(submitted)).row).toEqual(['accepted', 0, payload, 'met']);
    expect(steps.slice(-3)).toEqual(['outputs', 'first', 'second']);
  });

  it('skips the network and the comparison of changes, and keeps the other reporters', async () => {
    const { end, state, steps, reporters } = scene();
    state.policyChanges = never();
    reporters.unshift({ name: 'network', network: true, report: async () => void steps.push('sent') });
    state.interrupt.abort('SIGTERM');
    vi.useFakeTimers();
    // No time passes: nothing is waited for.
    await end(submitted);
    vi.useRealTimers();
    expect(steps).toEqual(['closed', 'tamper check', 'gate', 'envelope', 'outputs', 'first', 'second']);
  });

  it('says that the changes are not kept if they are being compared', async () => {
    const { end, state, warnings } = scene();
    state.changes = async (signal) => {
      state.interrupt.abort('SIGTERM');
      throw signal.reason;
    };
    expect((await end(submitted)).row).toEqual(['cancelled', 130, payload, 'met']);
    expect(warnings).toEqual([
      "The agent's changes are not kept as a patch: the run was stopped by SIGTERM.",
    ]);
  });

  it('waits neither for a sandbox nor for a reporter that hangs: envelope and outputs are written', async () => {
    const { end, state, sandbox, steps, reporters } = scene();
    state.sandbox = { ...sandbox, close: never };
    reporters.splice(0, 2, { name: 'hanging', report: never });
    state.interrupt.abort('SIGTERM');
    const { report } = await end(submitted);
    expect([steps.slice(-2), report.verdict.exitCode]).toEqual([['envelope', 'outputs'], 130]);
  });

  it('publishes nothing when the tamper check does not finish in time', async () => {
    const { end, state, outputs } = scene();
    state.tamper = { snapshot: never, compare: never };
    state.interrupt.abort('SIGTERM');
    expect((await end(submitted)).row).toEqual(now);
    expect(outputs.map((report) => report.payload)).toEqual([null]);
  });
});

describe('outputs with a slow reader', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('are waited for without a limit', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const ending = scene({ writeOutputs: () => promise }).end(submitted);
    await vi.advanceTimersByTimeAsync(3_600_000);
    resolve();
    expect((await ending).report.verdict.exitCode).toBe(0);
  });

  it('E10 are given up after a signal: 130, in the envelope as well', async () => {
    // A sink that was called once writes nothing more.
    const writeOutputs = vi.fn(async () => undefined).mockImplementationOnce(never);
    const { end, state, world, envelopes } = scene({ writeOutputs });
    // A program removes a folder, and knows nothing of these timers.
    Object.assign(world, { runFolder: null });
    const ending = end(submitted);
    await vi.advanceTimersByTimeAsync(60_000);
    state.interrupt.abort('SIGTERM');
    await vi.advanceTimersByTimeAsync(2_000);
    const { report, row } = await ending;
    expect([row, report.verdict.published]).toEqual([['cancelled', 130, null, null], false]);
    expect(report.verdict.error).toContain('SIGTERM');
    expect(envelopes.map(({ verdict }) => verdict.exitCode)).toEqual([0, 130]);
  });
});

describe('any work', () => {
  type Work = (state: RunState, listener: EndListener) => Promise<Ending>;
  const goOn = async (signal: AbortSignal): Promise<Ending> => {
    signal.throwIfAborted();
    throw new Error('it went on');
  };
  const onSignal =
    (name: string, watched: 'stop' | 'interrupt'): Work =>
    (state, listener) => {
      listener.signal(name);
      return goOn(state[watched].signal);
    };
  const onCrash: Work = (state, listener) => {
    listener.crash(new RangeError('elsewhere'));
    return goOn(state.stop.signal);
  };
  const onDisk = (code: string) => fail(Object.assign(new Error('no room'), { code }));
  it.each<[string, Work, string, string]>([
    ['a full disk', onDisk('ENOSPC'), '44 sandbox', 'RUNNER_TEMP is full'],
    ['a full quota', onDisk('EDQUOT'), '44 sandbox', 'RUNNER_TEMP is full'],
    ['any other error', onDisk('EACCES'), '1 internal', 'no room'],
    ['a signal, if it watches `stop`', onSignal('SIGTERM', 'stop'), '130 cancelled', 'SIGTERM'],
    ['a signal, if it watches `interrupt`', onSignal('SIGINT', 'interrupt'), '130 cancelled', 'SIGINT'],
    ['an uncaught error', onCrash, '1 internal', 'elsewhere'],
  ])('ends in a report after %s', async (_, work, ending, says) => {
    let listener: EndListener | null = null;
    const { world, steps } = scene({
      runFolder: '/nowhere',
      listen: (end) => {
        listener = end;
      },
    });
    const { verdict } = await runToEnd((state) => work(state, listener ?? expect.unreachable()), world);
    expect(`${verdict.exitCode} ${verdict.reason}`).toBe(ending);
    expect(verdict.error).toContain(says);
    expect(steps).toEqual(['envelope', 'outputs', 'first', 'second']);
  });
});
