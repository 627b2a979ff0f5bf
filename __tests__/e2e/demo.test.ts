import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  BREAK,
  type DemoResult,
  type Edit,
  type Emulator,
  hasBubblewrap,
  MEND,
  runDemo,
  startEmulator,
} from '../../examples/demo/demo.ts';
import { OUTPUTS } from '../../scripts/generate.ts';

const sandbox = hasBubblewrap() ? 'required' : 'off';

describe.each(['openai-compatible', 'anthropic'] as const)(
  'the demo with a model that uses the %s format',
  (format) => {
    let emulator: Emulator;
    let log: string[];

    beforeEach(async () => {
      emulator = await startEmulator(format);
      log = [];
    });

    afterEach(() => emulator.close());

    function play(
      edits: readonly Edit[],
      inputs: Readonly<Record<string, string>> = {},
    ): Promise<DemoResult> {
      const onLine = (line: string) => void log.push(line);
      return runDemo({ edits, model: emulator.inputs, sandbox, inputs, environment: process.env, onLine });
    }

    function payload(result: DemoResult): unknown {
      return JSON.parse(result.outputs.get('structured_output') ?? 'null');
    }

    it('ends with 1 on the unchanged repository: one test fails, and the gate is not met', async () => {
      const result = await play([]);
      expect(payload(result), log.join('\n')).toEqual({
        passed: false,
        summary: '1 of 9 tests fails: an order of exactly 100.00 gets the discount.',
        failure_count: 1,
      });
      expect([result.exitCode, result.clean, emulator.requests.length]).toEqual([1, true, 4]);
      expect(Object.fromEntries(result.outputs)).toMatchObject({
        ...{ passed: 'false', failure_count: '1', 'run-conclusion': 'failure', 'run-reason': 'gate_not_met' },
        ...{ 'run-gate': 'not_met', 'run-exit-code': '1', 'run-turns': '4' },
      });
      const envelope = { type: 'result', subtype: 'gate_not_met', structured_output: payload(result) };
      expect(result.envelope).toMatchObject(envelope);
      expect(result.summary).toContain('exactly 100.00 gets the discount');
    });

    it('reports a second broken test', async () => {
      const result = await play([BREAK]);
      expect(payload(result), log.join('\n')).toEqual({
        passed: false,
        summary:
          '2 of 9 tests fail: an order of exactly 100.00 gets the discount; cents are shown with two places.',
        failure_count: 2,
      });
      expect([result.exitCode, result.clean]).toEqual([1, true]);
    });

    it('ends with 0 when the bug is fixed', async () => {
      const result = await play([MEND]);
      const wanted = { passed: true, summary: 'All 9 tests pass.', failure_count: 0 };
      expect(payload(result), log.join('\n')).toEqual(wanted);
      expect([result.exitCode, result.clean, result.outputs.get('run-gate')]).toEqual([0, true, 'met']);
    });

    it('gives exactly the outputs that action.yml declares for the preset', async () => {
      const result = await play([MEND], { schema: 'verdict', gate: 'auto' });
      expect([...result.outputs.keys()].toSorted(), log.join('\n')).toEqual(Object.keys(OUTPUTS).toSorted());
    });
  },
);
