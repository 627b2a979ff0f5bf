import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCheck } from '../../../src/commands/check/check.ts';
import { runInit } from '../../../src/commands/init/init.ts';
import { SCHEMA_FILE, WORKFLOW_FILE } from '../../../src/commands/init/template.ts';
import { presets } from '../../../src/contract/presets.ts';
import { PROVIDERS } from '../../../src/providers/registry.ts';
import { configFrom } from '../../support/fakes/runner/inputs.ts';
import { makeFolder } from '../../support/surroundings.ts';

const all = makeFolder();
const fresh = () => mkdtempSync(path.join(all, 'x-'));

/** Runs init in a folder; `answers` are the lines typed on a terminal, null for no terminal. */
async function init(cwd: string, argv: readonly string[], answers: readonly string[] | null = null) {
  const written = { out: '', err: '' };
  const code = await runInit(argv, {
    cwd,
    stdout: { write: (text) => (written.out += text) },
    stderr: { write: (text) => (written.err += text) },
    stdin: Readable.from((answers ?? []).map((line) => `${line}\n`)),
    isTerminal: answers !== null,
  });
  return { code, ...written };
}

async function checked(cwd: string, argv: readonly string[] = []): Promise<string> {
  let out = '';
  const code = await runCheck(argv, {
    cwd,
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (out += text) },
  });
  return `${code} ${out.trimEnd().split('\n').at(-1)}`;
}

const read = (folder: string, name: string) => readFileSync(path.join(folder, name), 'utf8');
const triggers = ['pull_request', 'push', 'merge_group'] as const;
const plans = [...presets.keys()].flatMap((preset) =>
  PROVIDERS.flatMap((provider) =>
    triggers.flatMap((trigger) =>
      ['--comment', '--no-comment'].map((comment) => ({ preset, provider, trigger, comment })),
    ),
  ),
);

describe('the files that init writes', () => {
  it.each(plans)(
    'are valid with $preset, $provider, $trigger, $comment',
    async ({ preset, provider, trigger, comment }) => {
      const folder = fresh();
      const flags = ['--preset', preset, '--provider', provider, '--trigger', trigger, comment, '--yes'];
      expect((await init(folder, flags)).code).toBe(0);
      expect(await checked(folder)).toBe('0 no errors, no warnings in 1 workflow');
      expect(JSON.parse(read(folder, SCHEMA_FILE))).toEqual(presets.get(preset)?.schema);
      const text = read(folder, WORKFLOW_FILE);
      const { on, permissions, jobs } = parse(text);
      expect(Object.keys(on)).toContain(trigger);
      const pulls = comment === '--comment' ? 'write' : trigger === 'push' ? undefined : 'read';
      expect(permissions).toEqual({ contents: 'read', 'pull-requests': pulls });
      const [checkout, agent, say] = jobs.verdict.steps;
      expect(checkout.uses).toMatch(/^actions\/checkout@[0-9a-f]{40}$/u);
      expect(checkout.with).toEqual({ 'persist-credentials': false });
      expect(agent.uses).toBe('org/structured-agent@v1');
      expect(say.run).not.toContain('${{');
      expect(text).not.toMatch(/outputs\.[\w-]+ *!=/u);
      // With the values from the runner, the inputs are a valid configuration.
      const inputs = Object.entries<unknown>(agent.with).map(([name, value]) => [
        name,
        String(value).replace(/\$\{\{ (\S+) \}\}/gu, (_, name_) =>
          name_.includes('URL') ? 'https://x.test' : 'known',
        ),
      ]);
      const config = configFrom(Object.fromEntries(inputs));
      expect(config.model.provider).toBe(provider);
      expect(config.maxTotalTokens).not.toBeNull();
    },
  );

  it('keep the gate of the preset', async () => {
    for (const preset of presets.keys()) {
      const folder = fresh();
      await init(folder, ['--preset', preset, '--yes']);
      const { gate } = parse(read(folder, WORKFLOW_FILE)).jobs.verdict.steps[1].with;
      const own = presets.get(preset)?.gate;
      expect(own?.kind === 'schema' ? JSON.parse(gate) : gate).toEqual(
        own?.kind === 'schema' ? own.schema : 'passed',
      );
    }
  });

  it.each(["my model: 'x' # y", 'a"b', '- x', 'no', '12', '{a}', 'x\ty', '@x', 'mörk', 'a: b'])(
    'keep a model named %j',
    async (model) => {
      const folder = fresh();
      await init(folder, ['--provider', 'openai', '--model', model, '--yes']);
      expect(parse(read(folder, WORKFLOW_FILE)).jobs.verdict.steps[1].with.model).toBe(model);
    },
  );

  it.each([
    [
      [],
      'org/structured-agent@v1 # org/ is a placeholder until the first release: name your copy, by commit',
    ],
    [['--action', 'acme/structured-agent@v2'], 'acme/structured-agent@v2 # pin it to a commit'],
    [['--action', `acme/judge@${'0a'.repeat(20)}`], `acme/judge@${'0a'.repeat(20)}`],
    [['--action', 'acme/tools/judge@main'], 'acme/tools/judge@main # pin it to a commit'],
    [['--action', './.github/actions/judge'], './.github/actions/judge'],
  ])('with %j use the action %s', async (flags, uses) => {
    const folder = fresh();
    const { code, out } = await init(folder, [...flags, '--yes']);
    expect(code).toBe(0);
    const text = read(folder, WORKFLOW_FILE);
    expect(text).toContain(`        uses: ${uses}\n`);
    const action = uses.split(' ')[0] ?? '';
    expect(parse(text).jobs.verdict.steps[1].uses).toBe(action);
    expect(out.includes('placeholder')).toBe(flags.length === 0);
    // The command that init names finds the step.
    const command = /structured-agent check(.*)/u.exec(out)?.[1]?.trim().split(' ') ?? [];
    if (action.startsWith('./')) return;
    expect(await checked(folder, command.filter(Boolean))).toBe('0 no errors, no warnings in 1 workflow');
  });

  it('are listed with the remaining steps', async () => {
    const { out } = await init(fresh(), ['--provider', 'azure-openai', '--yes']);
    expect(out).toContain(`Written: ${WORKFLOW_FILE}, ${SCHEMA_FILE}`);
    for (const step of [
      'secret set AZURE_OPENAI_API_KEY',
      'variable set MODEL_NAME',
      'variable set MODEL_BASE_URL',
    ])
      expect(out).toContain(`gh ${step}`);
  });
});

describe('questions', () => {
  it('cover what the flags leave open, and an empty answer selects the default in brackets', async () => {
    const folder = fresh();
    const { code, err } = await init(folder, ['--preset', 'code-review'], ['opnai', 'openai', '', 'PUSH']);
    expect(code).toBe(0);
    expect(err).toContain(
      'Whose model? (openai, anthropic, gemini, azure-openai, openai-compatible) [anthropic] ',
    );
    expect(err).toContain('Did you mean openai');
    expect(err).not.toContain('What shall be judged');
    const workflow = parse(read(folder, WORKFLOW_FILE));
    expect(Object.keys(workflow.on)).toEqual(['push']);
    expect(workflow.jobs.verdict.steps[1].with.model).toBe('gpt-5');
  });

  it('are skipped when the flags cover everything, or with --yes', async () => {
    const allFlags = ['--preset', 'verdict', '--model', 'claude-x', '--trigger', 'push'];
    for (const argv of [allFlags, ['--yes']]) {
      for (const answers of [null, []])
        expect(await init(fresh(), argv, answers)).toMatchObject({ code: 0, err: '' });
    }
  });

  it('accept y and n for yes and no', async () => {
    for (const [answer, comment] of Object.entries({ y: 'always', N: undefined, Yes: 'always' })) {
      const folder = fresh();
      const argv = ['--preset', 'verdict', '--model', 'claude-x', '--trigger', 'pull_request'];
      expect((await init(folder, argv, [answer])).code).toBe(0);
      expect(parse(read(folder, WORKFLOW_FILE)).jobs.verdict.steps[1].with.comment).toBe(comment);
    }
  });

  it('have no default for the provider of an unknown model', async () => {
    const folder = fresh();
    const argv = ['--preset', 'verdict', '--model', 'foo', '--trigger', 'push'];
    const { code, err } = await init(folder, argv, ['', 'gemini']);
    expect(code).toBe(0);
    expect(err).toContain('Whose model? (openai, anthropic, gemini, azure-openai, openai-compatible) ');
    expect(err).not.toContain('[anthropic]');
    expect(parse(read(folder, WORKFLOW_FILE)).jobs.verdict.steps[1].with.provider).toBe('gemini');
  });

  it('come after all errors that are already known', async () => {
    const folder = fresh();
    writeFileSync(path.join(folder, '.github'), 'a file');
    const wrong = await init(folder, ['--preset', 'nosuch'], []);
    expect(wrong).toMatchObject({ code: 52, err: expect.stringMatching(/^.*--preset is "nosuch".*\n$/u) });
    const unasked = await init(fresh(), ['--preset', 'nosuch']);
    expect(unasked.err).toContain('--preset is "nosuch"');
    const there = fresh();
    await init(there, ['--yes']);
    const { code, err } = await init(there, [], ['verdict']);
    expect([code, err]).toEqual([52, expect.stringContaining('--force')]);
    expect(err).not.toContain('?');
  });

  it('fail with the flags to use when nobody can answer', async () => {
    const folder = fresh();
    const { code, err } = await init(folder, ['--model', 'claude-x']);
    expect(code).toBe(52);
    expect(err).toContain('--preset, --trigger, --comment or --no-comment');
    const closed = await init(folder, [], ['verdict']);
    expect([closed.code, closed.err]).toEqual([52, expect.stringContaining('No answer came')]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('existing files', () => {
  it('are kept without --force, and nothing else is written', async () => {
    for (const name of [WORKFLOW_FILE, SCHEMA_FILE]) {
      const folder = fresh();
      mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      writeFileSync(path.join(folder, name), 'mine');
      const { code, err } = await init(folder, ['--yes']);
      expect([code, err]).toEqual([52, expect.stringContaining('--force')]);
      expect(read(folder, name)).toBe('mine');
      expect(
        readdirSync(folder, { recursive: true }).filter((each) => /\.(?:yml|json)$/u.test(String(each))),
      ).toHaveLength(1);
      expect((await init(folder, ['--yes', '--force'])).code).toBe(0);
      expect(read(folder, name)).not.toBe('mine');
    }
  });

  it.each(['--force', '--yes'])('are never written through a symbolic link (%s)', async (flag) => {
    const [folder, outside] = [fresh(), fresh()];
    writeFileSync(path.join(outside, 'precious'), 'mine');
    mkdirSync(path.join(folder, '.github/workflows'), { recursive: true });
    symlinkSync(path.join(outside, 'precious'), path.join(folder, WORKFLOW_FILE));
    expect((await init(folder, ['--yes', ...(flag === '--yes' ? [] : [flag])])).code).toBe(52);
    expect(read(outside, 'precious')).toBe('mine');
    const other = fresh();
    symlinkSync(outside, path.join(other, '.github'));
    const { code, err } = await init(other, ['--yes', ...(flag === '--yes' ? [] : [flag])]);
    expect([code, err]).toEqual([52, expect.stringContaining('leads out of the repository')]);
    const hooked = fresh();
    mkdirSync(path.join(hooked, '.git/hooks'), { recursive: true });
    mkdirSync(path.join(hooked, '.github'));
    symlinkSync('../.git/hooks', path.join(hooked, '.github/workflows'));
    const third = await init(hooked, ['--yes', ...(flag === '--yes' ? [] : [flag])]);
    expect([third.code, third.err]).toEqual([52, expect.stringContaining('leads into .git')]);
    expect(readdirSync(outside)).toEqual(['precious']);
  });

  it('are reported when a file has the name of a folder', async () => {
    const folder = fresh();
    writeFileSync(path.join(folder, '.github'), 'a file');
    const { code, err } = await init(folder, ['--yes']);
    expect([code, err]).toEqual([52, expect.stringContaining('cannot be written')]);
  });
});

describe('invalid arguments', () => {
  it.each([
    [['--preset', 'verdit'], 'Did you mean verdict?'],
    [['--provider', 'acme'], 'Use openai'],
    [['--trigger', 'pull-request'], 'Did you mean pull_request'],
    [['--comment', '--no-comment'], 'Keep one'],
    [['--comment=yes'], 'takes no value'],
    [['somewhere'], '--dir'],
    [['--dir', '/nowhere/at/all'], '--dir'],
    [['--modle', 'x'], '--model'],
    [['--model', 'foo'], '--provider'],
    [['--model', '${{ vars.MODEL }}'], '--provider'],
    [['--action', 'acme/judge'], 'acme/judge@COMMIT'],
    [['--action', 'judge'], 'OWNER/REPOSITORY@COMMIT'],
    [['--action', 'acme/judge@v1\n- run: x'], 'OWNER/REPOSITORY@COMMIT'],
    [['--action', 'acme/judge@${{ x }}'], 'OWNER/REPOSITORY@COMMIT'],
  ])('%j fails with a one-line fix', async (argv, fix) => {
    const { code, out, err } = await init(fresh(), [...argv, '--yes']);
    expect([code, out]).toEqual([52, '']);
    expect(err).toContain(fix);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('-h shows the help', async () => {
    expect((await init(fresh(), ['-h'])).out).toContain('Usage: structured-agent init');
  });
});
