import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runInit, SCHEMA_FILE, WORKFLOW_FILE } from '../../../src/commands/init/init.ts';
import { presets } from '../../../src/contract/presets.ts';
import { checkIn, repository, runIn } from '../check/world.ts';

const fresh = () => repository({});
const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(path.join(folder, name)).isFile(),
  );
const read = (folder: string, name: string) => readFileSync(path.join(folder, name), 'utf8');
const agentOf = (folder: string) => parse(read(folder, WORKFLOW_FILE)).jobs.verdict.steps[1];

const CLEAN = /\n0 errors, 0 warnings in 1 workflow\n$/u;
const init = (cwd: string, ...argv: readonly string[]) => runIn(runInit, cwd, argv);

describe('what init writes', () => {
  const models = ['claude-x', 'gpt-x', 'gemini-x', 'my-model'];
  it.each([...presets.keys()].flatMap((preset) => models.map((model) => [preset, model])))(
    'names the preset %s and the model %s, and check has nothing to say about it',
    async (preset, model) => {
      const folder = fresh();
      expect(await init(folder, '--preset', preset, '--model', model)).toMatchObject({ code: 0, err: '' });
      expect(filesIn(folder)).toEqual([WORKFLOW_FILE]);
      expect((await checkIn(folder)).out).toMatch(CLEAN);
      const inputs = agentOf(folder).with;
      const url = model === 'my-model' ? '${{ vars.MODEL_BASE_URL }}' : undefined;
      expect([inputs.schema, inputs.model, inputs.gate, inputs['base-url']]).toEqual([
        preset,
        model,
        undefined,
        url,
      ]);
      expect(inputs.prompt).toMatch(/\w{4}/u);
    },
  );

  it('is a workflow that pins the checkout and keeps nothing of the token', async () => {
    const folder = fresh();
    const { out } = await init(folder);
    const { permissions, jobs } = parse(read(folder, WORKFLOW_FILE));
    expect(permissions).toEqual({ contents: 'read', 'pull-requests': 'read' });
    const uses = expect.stringMatching(/^actions\/checkout@[0-9a-f]{40}$/u);
    expect(jobs.verdict.steps[0]).toEqual({ uses, with: { 'persist-credentials': false } });
    expect(jobs.verdict.steps[2].run).not.toContain('${{');
    expect(out).toContain(`Written: ${WORKFLOW_FILE}\n`);
    expect(out).toContain('gh secret set ANTHROPIC_API_KEY');
  });

  it('is a schema too if one is asked for, with its gate', async () => {
    const folder = fresh();
    expect((await init(folder, '--schema')).out).toContain(`Written: ${WORKFLOW_FILE}, ${SCHEMA_FILE}\n`);
    expect(agentOf(folder).with).toMatchObject({ schema: `./${SCHEMA_FILE}`, gate: 'passed' });
    expect((await checkIn(folder)).out).toMatch(CLEAN);
  });

  it.each(["my model: 'x' # y", 'a"b', '- x', '12', '{a}', '@x', 'mörk', 'a: b', '${{ vars.MODEL }}', '$&'])(
    'keeps a model named %j',
    async (model) => {
      const folder = fresh();
      await init(folder, '--model', model);
      expect(agentOf(folder).with.model).toBe(model);
    },
  );

  it.each([
    [['--action', 'acme/structured-agent@v2'], 'acme/structured-agent@v2 # name it by its commit', ''],
    [['--action', `acme/judge@${'0a'.repeat(20)}`], `acme/judge@${'0a'.repeat(20)}`, ' --action acme/judge'],
    [['--action', './.github/actions/judge'], './.github/actions/judge', ''],
    [[], 'org/structured-agent@v1 # name it by its commit', ''],
  ])('%j uses the action %s', async (argv, line, flag) => {
    const folder = fresh();
    const { out } = await init(folder, ...argv);
    expect(read(folder, WORKFLOW_FILE)).toContain(`        uses: ${line}\n`);
    expect(agentOf(folder).uses).toBe(line.split(' ')[0]);
    expect(out).toContain(`structured-agent check${flag}\n`);
  });
});

describe('files that are there', () => {
  it.each([WORKFLOW_FILE, SCHEMA_FILE])(
    'are kept without --force, and nothing else is written: %s',
    async (name) => {
      const folder = repository({ [name]: 'mine' });
      const { code, err } = await init(folder, '--schema');
      expect([code, err]).toEqual([52, expect.stringContaining(`${name} is there already`)]);
      expect([read(folder, name), filesIn(folder)]).toEqual(['mine', [name]]);
    },
  );

  it('are replaced with --force', async () => {
    const folder = repository({ [WORKFLOW_FILE]: 'mine', [SCHEMA_FILE]: 'mine' });
    expect((await init(folder, '--schema', '--force')).code).toBe(0);
    for (const name of [WORKFLOW_FILE, SCHEMA_FILE]) expect(read(folder, name)).not.toBe('mine');
  });

  const folders = path.dirname(WORKFLOW_FILE);
  it.each([
    [`${SCHEMA_FILE} cannot be written: EISDIR`, { [WORKFLOW_FILE]: 'mine', [`${SCHEMA_FILE}/x`]: '' }],
    [`${WORKFLOW_FILE} cannot be written: EEXIST: file already exists, mkdir`, { [folders]: 'mine' }],
  ])('are all as they were if %s', async (reason, files) => {
    const folder = repository(files);
    const { code, err } = await init(folder, '--schema', '--force');
    expect([code, err]).toEqual([52, expect.stringContaining(reason)]);
    const kept = filesIn(folder).map((name) => [name, read(folder, name)]);
    expect(Object.fromEntries(kept)).toEqual(files);
  });
});

describe('arguments', () => {
  it.each([
    [['--preset', 'verdit'], 'init: --preset: "verdit" is not a preset. Did you mean verdict?'],
    [['--preset', 'verdict', '--schema'], 'init: --schema: --preset is given too. Keep one of them.'],
    [['somewhere'], 'takes no "somewhere"'],
    [['--action', 'acme/judge'], 'init: --action: "acme/judge" does not name an action. Write OWNER'],
    [['--action', 'acme/judge@v1\n- run: x'], 'OWNER/REPOSITORY@COMMIT'],
    [['--action', 'acme/judge@${{ x }}'], 'OWNER/REPOSITORY@COMMIT'],
  ])('%j are refused with a fix in one line, and nothing is written', async (argv, fix) => {
    const folder = fresh();
    const { code, out, err } = await init(folder, ...argv);
    expect([code, out, err.split('\n').slice(1)]).toEqual([52, '', ['']]);
    expect(err).toContain(fix);
    expect(filesIn(folder)).toEqual([]);
  });
});
