/** Invalid inputs through the bundle, some of each kind: config/ and contract/ cover every input and every schema. */
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ActionOptions, runAction, submits } from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';

const good = submits({ passed: true, summary: 'all well' });

type Case = readonly [title: string, says: RegExp, options: ActionOptions];

const cases: readonly Case[] = [
  ['a missing prompt file', /prompt-file.*p\.md/u, { inputs: { prompt: '', 'prompt-file': 'p.md' } }],
  ['no key', /api-key.*ANTHROPIC_API_KEY/u, { inputs: { provider: 'anthropic', 'api-key': '' } }],
  [
    'a working directory outside',
    /working-directory: .*outside the workspace/u,
    { inputs: { 'working-directory': '..' } },
  ],
  [
    'A8 a folder as the schema',
    /regular file/u,
    {
      inputs: { schema: '@folder' },
      prepare: ({ workspace }) => mkdir(path.join(workspace, 'folder')).then(() => undefined),
    },
  ],
  [
    'A11 a symlink to a schema outside the workspace',
    /leaves the workspace/u,
    {
      inputs: { schema: '@link.json' },
      prepare: ({ workspace }) => symlink('/etc/hostname', path.join(workspace, 'link.json')),
    },
  ],
  [
    'sandbox: off on a privileged trigger',
    /sandbox: .*off is refused on pull_request_target/u,
    { inputs: { sandbox: 'off' }, variables: { GITHUB_EVENT_NAME: 'pull_request_target' } },
  ],
  [
    'three invalid inputs',
    /3 problems to fix: .*tools.*shel.*max-turns.*sandbox/u,
    { inputs: { 'max-turns': 'many', sandbox: 'none', tools: 'shel', leg: 'api' } },
  ],
];

describe('invalid input', () => {
  it.each(cases)('%s ends with 52, one annotation and no request', async (_, says, options) => {
    const run = await runAction({ script: [good], ...options });
    const errors = parseLog(run.log).filter((command) => command.name === 'error');
    expect(errors.map(({ data }) => data)).toEqual([expect.stringMatching(says)]);
    expect([run.exitCode, run.outputs.get('run-reason'), run.requests]).toEqual([52, 'config', []]);
    expect(run.envelope).toMatchObject({ subtype: 'error_config', exit_code: 52 });
    expect(run.envelope?.['error']).toMatch(says);
    expect(run.summary).toContain('config');
    expect(run.log).not.toMatch(/^\s+at .*\(/mu);
    expect(run.leftovers).toEqual([]);
  });

  it('a runner without a workspace ends the step with 52 and one line in the log', async () => {
    const run = await runAction({ variables: { GITHUB_WORKSPACE: '/nonexistent/repo' } });
    expect([run.exitCode, run.outputs.size, run.requests]).toEqual([52, 0, []]);
    expect(run.log).toMatch(/^::error ::[^\n]*could not start: GITHUB_WORKSPACE must name a folder[^\n]*$/mu);
  });

  it('A10 nothing of a schema file that contains secrets is shown', async () => {
    const files = { 'secret.json': 'AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI' };
    const run = await runAction({ script: [good], inputs: { schema: '@secret.json' }, files });
    expect(run.envelope?.['error']).toMatch(/secret\.json.*not valid JSON/u);
    expect(run.log + run.summary + JSON.stringify(run.envelope)).not.toMatch(/AWS_SECRET|wJalr/u);
  });
});

const OWN = '{"type":"object","properties":{"grade":{"type":"integer"}},"required":["grade"]}';

describe('valid input', () => {
  it.each<[string, ActionOptions, unknown]>([
    ['A1 no schema', {}, { passed: true, summary: 's', findings: [] }],
    [
      'A3 A12 a schema file with a BOM and a prompt file',
      {
        inputs: { schema: '@s.json', prompt: '', 'prompt-file': 'task.md' },
        files: { 's.json': `\uFEFF${OWN}`, 'task.md': 'Judge the UNIQUE-TASK.' },
      },
      { grade: 4 },
    ],
  ])('%s is accepted', async (_, options, payload) => {
    const run = await runAction({ script: [submits(payload)], ...options });
    expect([run.exitCode, run.outputs.get('structured_output')]).toEqual([0, JSON.stringify(payload)]);
    const task = options.files?.['task.md'] ?? 'Judge.';
    expect(run.requests[0]?.raw).toContain(task);
  });
});
