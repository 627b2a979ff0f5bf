import { cp } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ActionOptions, runAction } from '../support/fakes/runner/action.ts';

const DEMO = path.join(import.meta.dirname, '../../examples/demo/repository');

/** The action in the demo's repository with its recording, without a usable model. */
function replay(inputs: Readonly<Record<string, string>> = {}, more: Partial<ActionOptions> = {}) {
  return runAction({
    prepare: ({ workspace }) => cp(DEMO, workspace, { recursive: true }),
    ...more,
    inputs: {
      prompt: 'Run the test suite of this repository and say whether it may be released.',
      schema: '@.github/verdict.schema.json',
      gate: 'passed',
      replay: 'recordings/released.jsonl',
      provider: '',
      model: '',
      'base-url': '',
      'api-key': '',
      ...inputs,
    },
  });
}

describe('a replay through the bundle', () => {
  it('needs no model and no key, gives the outputs, and says everywhere that no model judged', async () => {
    const { exitCode, outputs, envelope, summary, log, requests } = await replay();
    expect([exitCode, outputs.get('passed'), outputs.get('run-reason')]).toEqual([0, 'true', 'accepted']);
    expect(outputs.get('run-cost-usd')).toBe('0');
    expect(envelope).toMatchObject({ replayed: true, model: 'replay of claude-sonnet-5-5' });
    expect(summary).toMatch(/^## 🔁 .*passed \(a replay, judged by no model\)/u);
    expect(summary).toContain('Replayed: no model judged this.');
    expect(log).toMatch(/::warning [^\n]*Replayed: no model judged this\./u);
    expect(log).toContain('passed (a replay, judged by no model)');
    expect(log).toContain('npm test');
    expect(requests).toEqual([]);
  });

  it.each(['/etc/passwd', 'README.md'])('of %s ends with 52, and shows nothing of the file', async (file) => {
    const { exitCode, outputs, log } = await replay({ replay: file });
    expect([exitCode, outputs.get('run-reason')]).toEqual([52, 'config']);
    expect(log).not.toMatch(/root:|cart/u);
  });

  it('is refused on a trigger with the rights of the repository', async () => {
    const variables = { GITHUB_EVENT_NAME: 'pull_request_target' };
    const { exitCode, log } = await replay({}, { variables });
    expect(exitCode).toBe(52);
    expect(log).toContain('replay: It is refused on pull_request_target');
  });
});
