import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { runInit, SCHEMA_FILE, WORKFLOW_FILE } from '../../../src/commands/init/init.ts';
import { presets } from '../../../src/contract/presets.ts';
import { checkIn, repository, runIn } from '../check/world.ts';

/** Runs init in a repository: what it prints, all files then, and the workflow if it is one. */
async function init(argv: readonly string[], before: Readonly<Record<string, string>> = {}) {
  const folder = repository(before);
  const printed = await runIn(runInit, folder, argv);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const found = names.filter((name) => statSync(path.join(folder, name)).isFile());
  const read = (name: string) => readFileSync(path.join(folder, name), 'utf8');
  const files = Object.fromEntries(found.map((name) => [name, read(name)]));
  const workflow = parse(files[WORKFLOW_FILE] ?? '');
  return { ...printed, folder, files, workflow, agent: workflow?.jobs?.verdict.steps[1] };
}

const CLEAN = /\n0 errors, 0 warnings in 1 workflow\n$/u;
const BOTH = { [WORKFLOW_FILE]: 'mine', [SCHEMA_FILE]: 'mine' };

const models = ['claude-x', 'gpt-x', 'gemini-x', 'my-model'];
it.each([...presets.keys()].flatMap((schema) => models.map((model) => [schema, model])))(
  'init names the preset %s and the model %s, and check has nothing to say about it',
  async (schema, model) => {
    const { code, err, files, agent, folder } = await init(['--preset', schema, '--model', model]);
    expect([code, err, Object.keys(files)]).toEqual([0, '', [WORKFLOW_FILE]]);
    expect((await checkIn(folder)).out).toMatch(CLEAN);
    const url = model === 'my-model' ? { 'base-url': '${{ vars.MODEL_BASE_URL }}' } : {};
    const key = expect.stringMatching(/^\$\{\{ secrets\.[A-Z]+_API_KEY \}\}$/u);
    const usual = { prompt: expect.stringMatching(/\w{4}/u), 'api-key': key, 'max-total-tokens': 1e6 };
    expect(agent.with).toEqual({ ...usual, schema, model, ...url });
  },
);

it('init writes a workflow that pins the checkout and keeps nothing of the token', async () => {
  const { out, workflow } = await init([]);
  expect(workflow.permissions).toEqual({ contents: 'read', 'pull-requests': 'read' });
  const uses = expect.stringMatching(/^actions\/checkout@[0-9a-f]{40}$/u);
  expect(workflow.jobs.verdict.steps[0]).toEqual({ uses, with: { 'persist-credentials': false } });
  expect(workflow.jobs.verdict.steps[2].run).not.toContain('${{');
  expect(out).toContain(`Written: ${WORKFLOW_FILE}\n`);
  expect(out).toContain('gh secret set ANTHROPIC_API_KEY');
});

it('init writes a schema too if one is asked for, with its gate; --force replaces what is there', async () => {
  const { out, agent, folder } = await init(['--schema', '--force'], BOTH);
  expect(out).toContain(`Written: ${WORKFLOW_FILE}, ${SCHEMA_FILE}\n`);
  expect(agent.with).toMatchObject({ schema: `./${SCHEMA_FILE}`, gate: 'passed' });
  expect((await checkIn(folder)).out).toMatch(CLEAN);
});

it.each(["my model: 'x' # y", 'a"b', '- x', '12', '{a}', '@x', 'mörk', 'a: b', '${{ vars.MODEL }}', '$&'])(
  'init keeps a model named %j',
  async (model) => expect((await init(['--model', model])).agent.with.model).toBe(model),
);

it.each([
  [['--action', 'acme/structured-agent@v2'], 'acme/structured-agent@v2 # name it by its commit', ''],
  [['--action', `acme/judge@${'0a'.repeat(20)}`], `acme/judge@${'0a'.repeat(20)}`, ' --action acme/judge'],
  [['--action', './.github/actions/judge'], './.github/actions/judge', ''],
  [[], 'org/structured-agent@v1 # name it by its commit', ''],
])('%j uses the action %s', async (argv, line, flag) => {
  const { out, agent, files } = await init(argv);
  expect(files[WORKFLOW_FILE]).toContain(`        uses: ${line}\n`);
  expect(agent.uses).toBe(line.split(' ')[0]);
  expect(out).toContain(`structured-agent check${flag}\n`);
});

const FORCE = ['--schema', '--force'];
it.each<[readonly string[], Readonly<Record<string, string>>, string]>([
  [['--schema'], { [WORKFLOW_FILE]: 'mine' }, `${WORKFLOW_FILE} is there already`],
  [['--schema'], { [SCHEMA_FILE]: 'mine' }, `${SCHEMA_FILE} is there already`],
  [FORCE, { [`${SCHEMA_FILE}/x`]: '', [WORKFLOW_FILE]: 'mine' }, `${SCHEMA_FILE} cannot be written: EISDIR`],
  [
    FORCE,
    { '.github/workflows': '' },
    `${WORKFLOW_FILE} cannot be written: EEXIST: file already exists, mkdir`,
  ],
  [['--preset', 'verdit'], {}, 'init: --preset: "verdit" is not a preset. Did you mean verdict?'],
  [['--preset', 'verdict', '--schema'], {}, 'init: --schema: --preset is given too. Keep one of them.'],
  [['somewhere'], {}, 'takes no "somewhere"'],
  [['--action', 'acme/judge'], {}, 'init: --action: "acme/judge" does not name an action. Write OWNER'],
  [['--action', 'acme/judge@v1\n- run: x'], {}, 'OWNER/REPOSITORY@COMMIT'],
  [['--action', 'acme/judge@${{ x }}'], {}, 'OWNER/REPOSITORY@COMMIT'],
])(
  '%j with the files %j is refused in one line, and all files are as they were',
  async (argv, before, says) => {
    const { code, out, err, files } = await init(argv, before);
    expect([code, out, err.split('\n').slice(1)]).toEqual([52, '', ['']]);
    expect(err).toContain(says);
    expect(files).toEqual(before);
  },
);
