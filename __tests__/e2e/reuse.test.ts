import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ScriptedModel, startModel } from '../support/fakes/model/server.ts';
import { type ActionRun, HAS_BWRAP, runAction, submits } from '../support/fakes/runner/action.ts';

const PAYLOAD = { passed: true, summary: 'all well', findings: [] };
const FILES = { 'api/a.txt': 'one\n', 'web/b.txt': 'two\n' };

const commit = (workspace: string, message: string) =>
  execFileSync(
    'sh',
    [
      '-c',
      `git init -q . && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm "${message}" --allow-empty`,
    ],
    { cwd: workspace },
  );

/** One server for all runs, because another address is another model. */
let model: ScriptedModel;
let requestCount = 0;
beforeAll(async () => {
  model = await startModel(() => submits(PAYLOAD));
});
afterAll(() => model.close());
beforeEach(() => {
  requestCount = model.requests.length;
});

/** A run on a fresh checkout, with the envelopes of earlier runs in RUNNER_TEMP. */
async function runLeg(options: {
  readonly run: string;
  readonly event?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly earlier?: readonly ActionRun['envelope'][];
}): Promise<ActionRun & { readonly requestCount: number }> {
  const { run, event = 'pull_request', files = FILES, inputs = {}, earlier = [] } = options;
  // RUNNER_TEMP is another folder in each run, and is known only after it is created.
  const link = `/tmp/reuse-e2e-${process.pid}-${run}`;
  const ended = await runAction({
    files,
    inputs: {
      'base-url': `${model.url}/v1`,
      leg: 'api',
      'subject-paths': 'api',
      'reuse-from': link,
      ...inputs,
    },
    variables: { GITHUB_RUN_ID: run, GITHUB_EVENT_NAME: event, GITHUB_REF: `refs/heads/${event}` },
    prepare: async ({ workspace, temp }) => {
      commit(workspace, run);
      for (const [index, envelope] of earlier.entries()) {
        const folder = path.join(temp, 'verdicts', `verdict-${index}`);
        await mkdir(folder, { recursive: true });
        await writeFile(path.join(folder, 'result.json'), JSON.stringify(envelope));
      }
      await mkdir(path.join(temp, 'verdicts'), { recursive: true });
      execFileSync('ln', ['-sfn', path.join(temp, 'verdicts'), link]);
    },
  }).finally(() => execFileSync('rm', ['-f', link]));
  const before = requestCount;
  requestCount = model.requests.length;
  return { ...ended, requestCount: requestCount - before };
}

describe.runIf(HAS_BWRAP)('reuse', () => {
  it('the merge queue reuses the verdict of the pull request without a request to the model', async () => {
    const first = await runLeg({ run: '100' });
    expect(first.exitCode).toBe(0);
    expect(first.requestCount).toBe(1);
    expect(first.outputs.get('run-reused')).toBe('false');
    expect(first.envelope).toMatchObject({ leg: 'api', reuse: { from: null } });

    const queue = await runLeg({
      run: '200',
      event: 'merge_group',
      files: { ...FILES, 'web/b.txt': 'of another pull request in the queue\n' },
      earlier: [first.envelope],
    });
    expect(queue.requestCount).toBe(0);
    expect(queue.exitCode).toBe(0);
    expect(queue.outputs.get('run-reused')).toBe('true');
    expect(queue.outputs.get('passed')).toBe('true');
    expect(queue.outputs.get('run-cost-usd')).toBe('0');
    expect(queue.outputs.get('run-turns')).toBe('0');
    expect(queue.log).toContain('Reused the verdict of run 100 (attempt 1)');
    expect(queue.envelope).toMatchObject({
      structured_output: PAYLOAD,
      num_turns: 0,
      reuse: {
        key: Object(first.envelope?.['reuse']).key,
        from: { run_id: '100', run_attempt: 1, session_id: first.envelope?.['session_id'] },
      },
    });
    expect(queue.leftovers).toEqual(['verdicts']);
    expect(queue.survivors).toEqual([]);
  });
});
