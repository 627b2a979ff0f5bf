import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ActionOptions, type ActionRun, runAction, submits } from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';

const good = submits({ passed: true, summary: 'all well' });

/** An invalid input: exit 52, no request, one annotation with the input and the fix, no stack trace, outputs. */
function expectConfigError(run: ActionRun, says: RegExp): void {
  const errors = parseLog(run.log).filter((command) => command.name === 'error');
  expect(errors).toHaveLength(1);
  expect(errors[0]?.data).toMatch(says);
  expect(run.exitCode).toBe(52);
  expect(run.log).not.toMatch(/^\s+at .*\(/mu);
  expect(run.requests).toHaveLength(0);
  expect(run.outputs.get('run-reason')).toBe('config');
  expect(run.envelope).toMatchObject({ subtype: 'error_config', exit_code: 52 });
  expect(run.summary).toContain('config');
  expect(run.leftovers).toEqual([]);
}

/** Some of each kind. config/parse-config.test.ts covers every input, action/setup.test.ts every output file. */
const cases: readonly [
  title: string,
  inputs: Readonly<Record<string, string>>,
  says: RegExp,
  more?: ActionOptions,
][] = [
  ['no prompt', { prompt: '' }, /prompt/u],
  ['a missing prompt file', { prompt: '', 'prompt-file': 'p.md' }, /prompt-file.*p\.md/u],
  ['a model without a provider', { provider: '', 'base-url': '' }, /provider/u],
  ['a base URL with a password', { 'base-url': 'http://u:p4ssw0rd@127.0.0.1/v1' }, /base-url.*api-key/u],
  ['no key', { provider: 'anthropic', 'api-key': '' }, /api-key.*ANTHROPIC_API_KEY/u],
  [
    'a working directory outside the workspace',
    { 'working-directory': '..' },
    /working-directory.*leaves the workspace/u,
  ],
  ['a result file outside the workspace', { 'result-file': '../../x.json' }, /result-file.*outside/u],
  ['A4 a blank schema', { schema: '   ' }, /schema cannot be empty/u],
  ['A5 a schema that is not JSON', { schema: '{not json}' }, /schema.*JSON/u],
  ['A6 a schema that is not an object', { schema: '[]' }, /object/u],
  ['A7 a missing schema file', { schema: '@none.json' }, /none\.json/u],
  [
    'A8 a folder as the schema',
    { schema: '@folder' },
    /regular file/u,
    { prepare: ({ workspace }) => mkdir(path.join(workspace, 'folder')).then(() => undefined) },
  ],
  [
    'A11 a symlink to a schema outside the workspace',
    { schema: '@link.json' },
    /leaves the workspace/u,
    { prepare: ({ workspace }) => symlink('/etc/hostname', path.join(workspace, 'link.json')) },
  ],
  ['a root schema that admits no object', { schema: '{"type":"array"}' }, /object/u],
  ['S12 $async', { schema: '{"$async":true,"type":"object"}' }, /\$async/u],
  [
    'S12 a remote $ref',
    { schema: '{"type":"object","properties":{"a":{"$ref":"https://example.com/x.json"}}}' },
    /\$ref|reference/u,
  ],
  ['a gate that is not JSON', { gate: '{"properties":' }, /gate/u],
];

describe('invalid input', () => {
  it.each(cases)('%s ends with 52 and one annotation', async (_title, inputs, says, more) => {
    expectConfigError(await runAction({ script: [good], ...more, inputs }), says);
  });

  it('names three invalid inputs in one annotation, in the summary and in the envelope', async () => {
    const inputs = { 'max-turns': 'many', sandbox: 'none', tools: 'shel', leg: 'api' };
    const run = await runAction({ script: [good], inputs });
    const named = /3 problems to fix: .*max-turns.*tools.*shel.*sandbox/u;
    expectConfigError(run, named);
    expect(run.envelope?.['error']).toMatch(named);
    expect(run.envelope).toMatchObject({ leg: 'api', model: 'scripted-1' });
    for (const name of ['max-turns', 'sandbox', 'tools']) expect(run.summary).toContain(name);
  });

  it('A10 shows nothing of a schema file that contains secrets', async () => {
    const run = await runAction({
      script: [good],
      inputs: { schema: '@secret.json' },
      files: { 'secret.json': 'AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI' },
    });
    expectConfigError(run, /secret\.json.*not valid JSON/u);
    expect(run.log + run.summary + JSON.stringify(run.envelope)).not.toMatch(/AWS_SECRET|wJalr/u);
  });

  it('A1 A2 A3 A12 accepts an absent schema, an inline schema and a schema file with a BOM', async () => {
    const own = '{"type":"object","properties":{"grade":{"type":"integer"}},"required":["grade"]}';
    const absent = await runAction({ script: [submits({ passed: true, summary: 's', findings: [] })] });
    expect([absent.exitCode, absent.outputs.get('run-gate')]).toEqual([0, 'met']);
    const inline = await runAction({ script: [submits({ grade: 3 })], inputs: { schema: own } });
    expect([inline.exitCode, inline.outputs.get('grade'), inline.outputs.get('run-gate')]).toEqual([
      0,
      '3',
      'none',
    ]);
    const fromFile = await runAction({
      script: [submits({ grade: 4 })],
      inputs: { schema: '@s.json' },
      files: { 's.json': `\uFEFF${own}` },
    });
    expect([fromFile.exitCode, fromFile.outputs.get('grade')]).toEqual([0, '4']);
    expect(fromFile.envelope?.['judge']).toEqual(inline.envelope?.['judge']);
  });

  it('reads a prompt file', async () => {
    const run = await runAction({
      script: [good],
      inputs: { prompt: '', 'prompt-file': 'task.md' },
      files: { 'task.md': 'Judge the UNIQUE-TASK.' },
    });
    expect(run.exitCode).toBe(0);
    expect(run.requests[0]?.raw).toContain('UNIQUE-TASK');
  });

  it('refuses sandbox: off on a privileged trigger', async () => {
    const run = await runAction({
      script: [good],
      inputs: { sandbox: 'off' },
      variables: { GITHUB_EVENT_NAME: 'pull_request_target' },
    });
    expectConfigError(run, /sandbox: off is refused on pull_request_target/u);
  });

  it('asks an unreachable endpoint for as long as the run may take, and names its address', async () => {
    const inputs = { 'base-url': 'http://127.0.0.1:9/v1', 'timeout-minutes': '0.05' };
    const run = await runAction({ script: [good], inputs });
    expect(run.exitCode).toBe(55);
    expect(run.log).toContain('no answer from 127.0.0.1:9: try 2 of 11 follows');
    expect(run.envelope?.['error']).toMatch(
      /127\.0\.0\.1:9 had given no answer .*Check that the server is up/u,
    );
  });

  it('ends with 52 when the outputs cannot be written, and the envelope says so', async () => {
    const run = await runAction({
      script: [good],
      prepare: async ({ temp }) => {
        await mkdir(path.join(temp, '_runner_file_commands'), { recursive: true });
        await writeFile(path.join(temp, 'marker'), '');
      },
      variables: { GITHUB_OUTPUT: '/dev/full' },
    });
    expect(run.exitCode).toBe(52);
    expect(run.envelope).toMatchObject({ reason: 'config', exit_code: 52 });
  });

  it('refuses to overwrite the runner’s own files', async () => {
    const run = await runAction({
      script: [good],
      inputs: { 'result-file': '../../temp/_runner_file_commands/set_env' },
    });
    expectConfigError(run, /result-file.*runner/u);
  });

  it('ends with 52 and outputs when the workspace is missing', async () => {
    const run = await runAction({ script: [good], variables: { GITHUB_WORKSPACE: '/nonexistent/repo' } });
    expectConfigError(run, /GITHUB_WORKSPACE/u);
  });
});
