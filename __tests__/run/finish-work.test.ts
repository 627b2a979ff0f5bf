import { describe, expect, it } from 'vitest';
import type { Report } from '../../src/reporters/report-types.ts';
import { runToEnd } from '../../src/run/attempt.ts';
import type { Ending } from '../../src/run/endings.ts';
import type { EndListener } from '../../src/run/signals.ts';
import type { EndWorld } from '../../src/run/world.ts';
import { quietWorld } from '../support/worlds/quiet.ts';

type Work = Parameters<typeof runToEnd>[0];

/** Runs the work in a world where nothing else fails; `listener` receives signals and crashes. */
async function end(work: (listener: EndListener, state: Parameters<Work>[0]) => Promise<Ending>) {
  const steps: string[] = [];
  const heard: EndListener[] = [];
  const world: EndWorld = {
    ...quietWorld('/', '/temp/run'),
    runFolder: null,
    listen: (listener) => void heard.push(listener),
    openReporters: async () => [{ name: 'probe', report: async () => void steps.push('reporter') }],
    writeEnvelope: () => void steps.push('envelope'),
    writeOutputs: () => void steps.push('outputs'),
  };
  const report = await runToEnd((state) => {
    const [listener] = heard;
    if (listener === undefined) throw new Error('nobody listens');
    return work(listener, state);
  }, world);
  expect(steps).toEqual(['envelope', 'outputs', 'reporter']);
  return report;
}

const endOf = ({ verdict }: Report) => [verdict.exitCode, verdict.reason];
const diskError = (code: string) => Object.assign(new Error('no room'), { code });

describe('every outcome ends in a report', () => {
  it.each(['ENOSPC', 'EDQUOT'])('a full disk is a failure of the machine: %s', async (code) => {
    const report = await end(() => Promise.reject(diskError(code)));
    expect(endOf(report)).toEqual([44, 'sandbox']);
    expect(report.verdict.error).toContain('RUNNER_TEMP is full');
  });

  it('any other error is internal, whether rejected or thrown', async () => {
    expect(endOf(await end(() => Promise.reject(diskError('EACCES'))))).toEqual([1, 'internal']);
    const thrown = await end(() => {
      throw new TypeError('a bug');
    });
    expect(endOf(thrown)).toEqual([1, 'internal']);
  });

  it('work that a signal interrupts is cancelled, whether it uses `stop` or `interrupt`', async () => {
    const stopped = await end(async (listener, { stop }) => {
      listener.signal('SIGTERM');
      stop.signal.throwIfAborted();
      throw new Error('it went on');
    });
    expect(endOf(stopped)).toEqual([130, 'cancelled']);
    const interrupted = await end(async (listener, { interrupt }) => {
      listener.signal('SIGINT');
      interrupt.signal.throwIfAborted();
      throw new Error('it went on');
    });
    expect(endOf(interrupted)).toEqual([130, 'cancelled']);
    expect(interrupted.verdict.error).toContain('SIGINT');
  });

  it('an uncaught error ends the work', async () => {
    const report = await end(async (listener, { stop }) => {
      listener.crash(new RangeError('elsewhere'));
      stop.signal.throwIfAborted();
      throw new Error('it went on');
    });
    expect(endOf(report)).toEqual([1, 'internal']);
    expect(report.verdict.error).toContain('elsewhere');
  });

  it('a wait for the first request is released', async () => {
    let waited: Promise<unknown> = Promise.resolve();
    await end((_, { asked }) => {
      waited = asked.promise.then(() => 'done');
      return Promise.reject(new Error('before any request'));
    });
    expect(await Promise.race([waited, new Promise((resolve) => setTimeout(resolve, 1_000, 'waits'))])).toBe(
      'done',
    );
  });
});
