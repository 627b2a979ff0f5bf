import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { InputError, MissingKeyError, SandboxError } from '../../src/errors.ts';
import type { Reporter } from '../../src/reporters/report-types.ts';
import { runToEnd } from '../../src/run/attempt.ts';
import type { Ending } from '../../src/run/ending-sentences.ts';
import type { EndListener } from '../../src/run/signals.ts';
import type { RunState, World } from '../../src/run/world.ts';
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

afterEach(() => void vi.useRealTimers());

const folder = makeFolder();
const failed = (error: unknown): Ending => ({ kind: 'failed', error });
const fail = (error: Error) => () => Promise.reject(error);
const throwing = (error: Error) => () => {
  throw error;
};

const CHECKED = 'closed, tamper check, envelope, outputs, first, second';
it.each<[string, Ending, string]>([
  ['a payload', submitted, `changes, ${CHECKED.replace('envelope', 'gate, envelope')}`],
  ['plain text', plain, `changes, ${CHECKED}`],
  ['a failure', failed(new Error('bug')), `changes, ${CHECKED}`],
  ['a cancellation', cancelled, `changes, ${CHECKED}`],
  ['a timeout, as the comparison could hang as well', out('time'), CHECKED],
  ['a broken sandbox', failed(new SandboxError('gone.')), CHECKED],
])('finishing has a fixed order for %s', async (_, ending, order) => {
  const { end, state, steps } = scene();
  const { report } = await end(ending);
  expect([steps.join(', '), state.stop.signal.aborted]).toEqual([order, true]);
  expect(report).toMatchObject(
    ending === submitted
      ? { payload, gate: met, changedFiles: 2, isolation: 'bwrap' }
      : { payload: null, gate: null },
  );
});

it('the patch is written, and the run folder removed before anything else, to free disk space', async () => {
  const runFolder = mkdtempSync(path.join(folder, 'run-'));
  writeFileSync(path.join(runFolder, 'flood'), 'x');
  const wasThere: boolean[] = [];
  const writeEnvelope = () => void wasThere.push(existsSync(runFolder));
  const { report } = await scene({ runFolder, results: folder, writeEnvelope }).end(submitted);
  expect([wasThere, report.weaknesses]).toEqual([[false], ['the network is on']]);
  expect(readFileSync(report.patchFile ?? '', 'utf8')).toBe('diff');
});

it('the failures of a sandbox, a comparison and a reporter become warnings', async () => {
  const { end, state, sandbox, warnings, reporters } = scene();
  state.changes = fail(new Error('no git'));
  state.sandbox = { ...sandbox, close: fail(new Error('busy')) };
  reporters.splice(0, 2, { name: 'log', report: fail(new Error('deaf')) });
  expect((await end(submitted)).row).toEqual(['accepted', 0, payload, 'met']);
  expect(warnings).toEqual(['changes: no git', 'sandbox: busy', 'log: deaf']);
});

const leftOut = ['action.yml', 'b', 'c', 'd', `f ${SECRET}`, 'g'];
const told = /^The patch leaves out "action\.yml", "b", "c", "d", "f \*\*\*" and 1 more: w/u;
it.each([
  [7, Array(7).fill({ path: 'a', isNew: false }), ['No patch.', expect.stringMatching(told)]],
  [null, null, ['No patch.']],
])('%s files are counted, and what the patch leaves out is masked', async (count, files, says) => {
  const { end, state, warnings } = scene();
  state.changes = async () => ({ files, patch: null, leftOut, why: 'No patch.' });
  const { report } = await end(submitted);
  expect([report.changedFiles, report.patchFile]).toEqual([count, null]);
  expect(warnings).toEqual(says);
});

it('text is masked before it is truncated', async () => {
  const { report } = await scene().end({ ...plain, text: `${'x'.repeat(190)}${SECRET}` });
  expect(report.lastAssistantText).toBe(`${'x'.repeat(190)}***`);
  expect(report.verdict.error).not.toContain(SECRET.slice(0, 6));
});

const throws = throwing(new RangeError('stack'));
it.each<[string, Partial<RunState>, Ending, string]>([
  ['the gate throws', { gate: { warnings: [], evaluate: throws } }, submitted, 'internal'],
  ['the tamper check throws', { tamper: { snapshot: never, compare: throws } }, submitted, 'internal'],
  ['the payload contains a secret', {}, leaking, 'secret_in_payload'],
])('nothing is published when %s', async (_, change, ending, reason) => {
  const { end, state, steps, envelopes, outputs } = scene();
  Object.assign(state, change);
  const { report, row } = await end(ending);
  expect(row).toEqual([reason, 1, null, null]);
  expect([steps.includes('gate'), envelopes, outputs]).toEqual([false, [report], [report]]);
  expect(JSON.stringify(report)).not.toContain(SECRET);
});

it.each([submitted, leaking, plain, cancelled])('tampering is reported instead of %j', async (ending) => {
  const { end, state, steps } = scene();
  state.tamper = { snapshot: never, compare: async () => '.git/config' };
  // Also after a signal.
  if (ending === submitted) state.interrupt.abort('SIGINT');
  const { report, row } = await end(ending);
  expect(row).toEqual(['tampered', 1, null, null]);
  expect(report.verdict.error).toContain('.git/config');
  const order = ['closed', 'restored', 'envelope', 'outputs', 'first', 'second'];
  expect(steps.slice(steps.indexOf('closed'))).toEqual(order);
});

const full = throwing(new InputError(null, 'the disk is full'));
const both = { writeOutputs: full, writeEnvelope: full };
const config = ['config', 52, null, null];
it.each([
  ['outputs', submitted, { writeOutputs: full }, config],
  ['outputs (known later)', submitted, { writeOutputs: async () => full() }, config],
  ['outputs of a skipped run', failed(new MissingKeyError('no key')), { writeOutputs: full }, config],
  ['envelopes', submitted, { writeEnvelope: full }, config],
  ['outputs and envelopes', submitted, both, config],
  ['outputs and envelopes without a payload', plain, both, ['plain_text', 1, null, null]],
])('%s that cannot be written change the verdict before it is told', async (_, ending, more, row) => {
  const { end, warnings, envelopes, reporters } = scene(more);
  const codes: number[] = [];
  const report: Reporter['report'] = async ({ verdict }) => void codes.push(verdict.exitCode);
  reporters.splice(0, 2, { name: 'log', report });
  expect((await end(ending)).row).toEqual(row);
  expect(codes).toEqual([row[1]]);
  expect(envelopes.map(({ verdict }) => verdict.exitCode)).toEqual('writeEnvelope' in more ? [] : [0, 52]);
  expect(warnings).toEqual(['outputs: the disk is full']);
});

const now = ['cancelled', 130, null, null];
it.each<[string, Ending, unknown[]]>([
  ['E11 an accepted payload is published, with 130', submitted, ['cancelled', 130, payload, 'met']],
  ['plain text is cancelled', plain, now],
  ['a refusal is cancelled', { kind: 'refused', text: '' }, now],
  ['a limit is cancelled', out('turns'), now],
  ['a secret in the payload keeps its reason', leaking, ['secret_in_payload', 1, null, null]],
  ['an invalid input keeps its reason', failed(new InputError('model', 'x')), ['config', 52, null, null]],
])('a signal before anything is written decides: %s', async (_, ending, row) => {
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

it('a signal after the outputs were written takes no verdict back, and skips the network', async () => {
  const { end, state, steps, reporters } = scene();
  reporters.push({ name: 'network', network: true, report: async () => void steps.push('sent') });
  reporters.unshift({ name: 'log', report: async () => state.interrupt.abort('SIGTERM') });
  expect((await end(submitted)).row).toEqual(['accepted', 0, payload, 'met']);
  expect(steps.slice(-3)).toEqual(['outputs', 'first', 'second']);
});

it('a signal skips the network and the comparison of changes, and keeps the other reporters', async () => {
  const { end, state, steps, reporters } = scene();
  state.policyChanges = never();
  reporters.unshift({ name: 'network', network: true, report: async () => void steps.push('sent') });
  state.interrupt.abort('SIGTERM');
  vi.useFakeTimers();
  // No time passes: nothing is waited for.
  await end(submitted);
  expect(steps).toEqual(['closed', 'tamper check', 'gate', 'envelope', 'outputs', 'first', 'second']);
});

it('a signal while changes are compared causes a warning that they are not kept', async () => {
  const { end, state, warnings } = scene();
  state.changes = async (signal) => {
    state.interrupt.abort('SIGTERM');
    throw signal.reason;
  };
  expect((await end(submitted)).row).toEqual(['cancelled', 130, payload, 'met']);
  expect(warnings).toEqual(["The agent's changes are not kept as a patch: the run was stopped by SIGTERM."]);
});

it('after a signal, neither a sandbox nor a reporter that hangs delays envelope and outputs', async () => {
  const { end, state, sandbox, steps, reporters } = scene();
  state.sandbox = { ...sandbox, close: never };
  reporters.splice(0, 2, { name: 'hanging', report: never });
  state.interrupt.abort('SIGTERM');
  const { report } = await end(submitted);
  expect([steps.slice(-2), report.verdict.exitCode]).toEqual([['envelope', 'outputs'], 130]);
});

it('after a signal, nothing is published if the tamper check does not finish in time', async () => {
  const { end, state, outputs } = scene();
  state.tamper = { snapshot: never, compare: never };
  state.interrupt.abort('SIGTERM');
  expect((await end(submitted)).row).toEqual(now);
  expect(outputs.map((report) => report.payload)).toEqual([null]);
});

it('a slow reader of the outputs is waited for without a limit', async () => {
  vi.useFakeTimers();
  const { promise, resolve } = Promise.withResolvers<void>();
  const ending = scene({ writeOutputs: () => promise }).end(submitted);
  await vi.advanceTimersByTimeAsync(3_600_000);
  resolve();
  expect((await ending).report.verdict.exitCode).toBe(0);
});

it('E10 a slow reader is given up after a signal: 130, in the envelope as well', async () => {
  vi.useFakeTimers();
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

type Work = (state: RunState, listener: EndListener) => Promise<Ending>;
/** Lets something happen, and then ends only if a signal of the run is aborted. */
const onEvent =
  (happen: (listener: EndListener) => void, watched: 'stop' | 'interrupt'): Work =>
  async (state, listener) => {
    happen(listener);
    state[watched].signal.throwIfAborted();
    throw new Error('it went on');
  };
const onDisk = (code: string) => fail(Object.assign(new Error('no room'), { code }));
const crash = (listener: EndListener) => listener.crash(new RangeError('elsewhere'));
const signal = (name: string) => (listener: EndListener) => listener.signal(name);
it.each<[string, Work, string, string]>([
  ['a full disk', onDisk('ENOSPC'), '44 sandbox', 'RUNNER_TEMP is full'],
  ['a full quota', onDisk('EDQUOT'), '44 sandbox', 'RUNNER_TEMP is full'],
  ['any other error', onDisk('EACCES'), '1 internal', 'no room'],
  ['a signal, if it watches `stop`', onEvent(signal('SIGTERM'), 'stop'), '130 cancelled', 'SIGTERM'],
  ['a signal, if it watches `interrupt`', onEvent(signal('SIGINT'), 'interrupt'), '130 cancelled', 'SIGINT'],
  ['an uncaught error', onEvent(crash, 'stop'), '1 internal', 'elsewhere'],
])('E19 any work ends in a report after %s', async (_, work, ending, says) => {
  const listen = vi.fn<World['listen']>();
  const { world, steps, warnings } = scene({ runFolder: '/nowhere', listen });
  const listener = () => listen.mock.lastCall?.[0] ?? expect.unreachable();
  const { verdict } = await runToEnd((state) => work(state, listener()), world);
  expect(`${verdict.exitCode} ${verdict.reason}`).toBe(ending);
  expect(verdict.error).toContain(says);
  // The stack of a bug.
  expect(/Error: .*\n\s+at /u.test(warnings.join('\n'))).toBe(verdict.reason === 'internal');
  expect(steps).toEqual(['envelope', 'outputs', 'first', 'second']);
});
