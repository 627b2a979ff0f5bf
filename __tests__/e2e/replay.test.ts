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

  it('is inconclusive when the recording does not fit, and says what differs', async () => {
    const { exitCode, outputs, envelope, log } = await replay({ prompt: 'Judge kindly.' });
    expect([exitCode, outputs.get('passed'), outputs.get('run-reason')]).toEqual([
      1,
      undefined,
      'replay_mismatch',
    ]);
    expect(envelope).toMatchObject({ subtype: 'error_replay', replayed: true });
    expect(log).toMatch(/::error [^\n]*The recording does not fit: it was recorded for another task/u);
  });

  it.each(['../elsewhere.jsonl', '/etc/passwd', '.', 'missing.jsonl', 'README.md'])(
    'of %s ends with 52, and shows nothing of the file',
    async (file) => {
      const { exitCode, outputs, log } = await replay({ replay: file });
      expect([exitCode, outputs.get('run-reason')]).toEqual([52, 'config']);
      expect(log).not.toMatch(/root:|cart/u);
    },
  );

  it.each(['pull_request_target', 'workflow_run', 'issue_comment'])('is refused on %s', async (event) => {
    const { exitCode, log } = await replay({}, { variables: { GITHUB_EVENT_NAME: event } });
    expect(exitCode).toBe(52);
    expect(log).toContain(`replay: It is refused on ${event}`);
  });
});
