import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BREAK, type Edit, MEND, runDemo } from '../../examples/demo/demo.ts';
import { answer } from '../../examples/demo/model.ts';
import { OUTPUTS } from '../../scripts/generate.ts';
import { type ScriptedModel, startModel } from '../support/fakes/model/server.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const DISCOUNT = 'an order of exactly 100.00 gets the discount';
let model: ScriptedModel;

beforeAll(async () => {
  model = await startModel(answer);
});
afterAll(() => model.close());

const play = (edits: readonly Edit[], inputs: Readonly<Record<string, string>> = {}) => {
  const asked = { provider: 'openai-compatible', model: 'scripted-1', 'base-url': `${model.url}/v1` };
  return runDemo({ edits, inputs: { ...asked, ...inputs }, onLine: () => undefined });
};

describe('the demo', () => {
  it.each([
    ['as it is', [], 1, `1 of 9 tests fails: ${DISCOUNT}.`, 1],
    ['with a second bug', [BREAK], 1, `2 of 9 tests fail: ${DISCOUNT}; cents are shown with two places.`, 2],
    ['fixed', [MEND], 0, 'All 9 tests pass.', 0],
  ] as const)('judges the repository %s', async (_, edits, exitCode, summary, failures) => {
    const { outputs, ...run } = await play(edits);
    const payload = { passed: failures === 0, summary, failure_count: failures };
    expect([run.exitCode, run.isClean, outputs.get('structured_output')]).toEqual([
      exitCode,
      true,
      JSON.stringify(payload),
    ]);
    expect(outputs.get('run-reason')).toBe(failures === 0 ? 'accepted' : 'gate_not_met');
    expect(run.summary).toContain(summary.split(':')[0]);
  });

  it('gives exactly the outputs that action.yml declares for the preset', async () => {
    const { outputs } = await play([MEND], { schema: 'verdict', gate: 'auto' });
    expect([...outputs.keys()].toSorted()).toEqual(Object.keys(OUTPUTS).toSorted());
  });

  it('npm run demo ends with 0', () => {
    const args = [path.join(ROOT, 'examples/demo/run.ts')];
    const out = execFileSync(process.execPath, args, { encoding: 'utf8' });
    expect(out).toContain('exit code 1: the gate is not met, the step is red, as expected.');
    expect(out).toContain('Both runs ended as expected.');
    expect(out).not.toMatch(/^::/mu);
  });
});
