/** Invalid inputs through the bundle: config/ and contract/ cover every input and every schema. */
import { expect, it } from 'vitest';
import { runAction, submits } from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';

it('all invalid inputs end a run with 52, one annotation and no request', async () => {
  const run = await runAction({
    inputs: { 'max-turns': 'many', sandbox: 'none', tools: 'shel', leg: 'api' },
  });
  const says = expect.stringMatching(/3 problems to fix: .*tools.*shel.*max-turns.*sandbox/u);
  const errors = parseLog(run.log).filter((command) => command.name === 'error');
  expect(errors.map(({ data }) => data)).toEqual([says]);
  expect([run.exitCode, run.outputs.get('run-reason'), run.requests]).toEqual([52, 'config', []]);
  expect(run.envelope).toMatchObject({ subtype: 'error_config', exit_code: 52, error: says });
  expect(run.summary).toContain('config');
  expect(run.log).not.toMatch(/^\s+at .*\(/mu);
  expect(run.leftovers).toEqual([]);
});

it('a runner without a workspace ends the step with 52 and one line in the log', async () => {
  const run = await runAction({ variables: { GITHUB_WORKSPACE: '/nonexistent/repo' } });
  expect([run.exitCode, run.outputs.size, run.requests]).toEqual([52, 0, []]);
  expect(run.log).toMatch(/^::error::[^\n]*could not start: GITHUB_WORKSPACE must name a folder[^\n]*$/mu);
});

it('A10 nothing of a schema file that contains secrets is shown', async () => {
  const files = { 'secret.json': 'AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI' };
  const run = await runAction({ inputs: { schema: '@secret.json' }, files });
  expect(run.envelope?.['error']).toMatch(/secret\.json.*not valid JSON/u);
  expect(run.log + run.summary + JSON.stringify(run.envelope)).not.toMatch(/AWS_SECRET|wJalr/u);
});

it('A3 A12 a schema file with a BOM and a prompt file are read', async () => {
  const schema = '{"type":"object","properties":{"grade":{"type":"integer"}},"required":["grade"]}';
  const run = await runAction({
    script: [submits({ grade: 4 })],
    inputs: { schema: '@s.json', prompt: '', 'prompt-file': 'task.md' },
    files: { 's.json': `\uFEFF${schema}`, 'task.md': 'Judge the UNIQUE-TASK.' },
  });
  expect([run.exitCode, run.outputs.get('structured_output')]).toEqual([0, '{"grade":4}']);
  expect(run.requests[0]?.raw).toContain('UNIQUE-TASK');
});
