import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { checkIn, foundIn, repository, workflowOf } from './world.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

const namesIn = (folder: string, end: string) =>
  readdirSync(path.join(ROOT, folder)).filter((name) => name.endsWith(end));

/** Checks a workflow with these inputs. */
const withInputs = (inputs: string, ...argv: readonly string[]) =>
  checkIn(repository({ 'w.yml': workflowOf({ inputs }) }), 'w.yml', ...argv);

it('lists the outputs of a schema, and its size', async () => {
  const { code, out } = await withInputs('schema: verdict');
  expect(code).toBe(0);
  expect(out).toMatch(
    /^schema verdict, \d+ bytes in every request; .*\n {4}passed \(boolean\)\n {4}summary \(string\)\n {4}findings \(array\)\n {4}structured_output \(object\)\n\n0 errors, 0 warnings in 1 workflow\n$/u,
  );
});

it.each([
  [{ safe: { type: 'boolean' }, why: { type: 'string' } }, 'gate: safe '],
  [{ many: { type: 'boolean' }, ok: { type: 'boolean' } }, 'gate: ok '],
  [{ verdict: { enum: ['fail', 'PASS'] } }, `gate: '{"properties":{"verdict":{"const":"PASS"}}}' `],
  [{ verdict: { enum: ['approve', 'reject'] } }, `gate: '{"properties":{"verdict":{"const":"approve"}}}' `],
  [{ grade: { enum: ['a', 'b'] } }, 'Set gate to a JSON Schema'],
])('shows a gate to paste for the properties %j', async (properties, gate) => {
  const schema = `schema: '${JSON.stringify({ type: 'object', required: Object.keys(properties), properties })}'`;
  const { out } = await withInputs(schema);
  expect(out).toContain('[no-gate]');
  expect(out).toContain(gate);
  const [, pasted] = /(gate: \S+) \(or/u.exec(out) ?? [];
  if (pasted !== undefined) expect((await withInputs(`${schema}\n${pasted}`)).out).not.toContain('error:');
});

it.each(['text', 'json'])(
  'prints no key that is written out, and nothing that a terminal or a runner takes for a command, as %s',
  async (format) => {
    const name = '::error::##[add-mask]true.yml';
    const hostile = '"##[set-output name=passed]true": 1\n"::stop\\e[2J::x": 1';
    const text = workflowOf({ inputs: `${hostile}\napi-key: sk-very-secret` });
    const { out } = await checkIn(repository({ [name]: text }), name, '--output-format', format);
    expect(out).toMatch(/unknown-input[\s\S]*secret-in-file/u);
    expect(out).not.toMatch(/sk-very-secret|##\[|^\s*::|[^\P{Cc}\n]/mu);
  },
);

it.each(namesIn('examples', '.yml'))('examples/%s has no error', async (name) => {
  const { code, out } = await checkIn(path.join(ROOT, 'examples/demo/repository'), `../../${name}`);
  expect([code, out]).toEqual([0, expect.not.stringContaining(': error: ')]);
});

it.each(['README.md', ...namesIn('docs', '.md').map((name) => `docs/${name}`)])(
  'in %s lets nothing pass without a verdict',
  async (name) => {
    const blocks = readFileSync(path.join(ROOT, name), 'utf8').matchAll(/^```yaml\n(.*?)^```$/gmsu);
    for (const [, block = ''] of blocks) {
      const isSteps = block.startsWith('- ');
      if (!/^ *uses: org\/structured-agent/mu.test(block) || !(isSteps || /^jobs:/mu.test(block))) continue;
      const head = 'on: push\njobs:\n  job:\n    runs-on: x\n    steps:\n';
      const text = isSteps ? `${head}${block.replaceAll(/^/gmu, '      ')}` : block;
      const wrong = /yaml|unreadable|fails-open|text-|never-green|merge-skipped/u;
      expect(await foundIn(text)).not.toMatch(wrong);
    }
  },
);

it('looks at .github/workflows and .github/actions, and leaves out what does not use the action', async () => {
  const step = '- uses: a/structured-agent@v1\n    with: { promt: x }';
  const folder = repository({
    '.github/workflows/a.yml': workflowOf({ inputs: 'promt: x' }),
    '.github/workflows/b.yaml': 'on: push\njobs: { a: { steps: [{ run: echo }] } }',
    '.github/workflows/notes.txt': 'no workflow',
    '.github/actions/judge/action.yml': `runs:\n  using: composite\n  steps:\n  ${step}`,
  });
  const { code, out } = await checkIn(folder);
  const found = out.matchAll(/^(\S+): error: There is no input "promt"/gmu);
  const places = ['.github/actions/judge/action.yml:5:13', '.github/workflows/a.yml:16:11'];
  expect([code, [...found].map(([, place]) => place)]).toEqual([52, places]);
  expect(out).toMatch(/errors, 0 warnings in 3 workflows\n$/u);
});

it.each([
  [{}, [], 0, 'There is no workflow in .github/workflows.\n'],
  [{ 'a.yml': '', 'b.yml': '- a' }, ['a.yml', 'b.yml'], 0, 'No step uses the action in 2 workflows.'],
  [{ w: 'jobs: { a: { steps: 3 }, b: 4, c: { steps: [1, null, {}] } }' }, ['w'], 0, 'No step'],
  [{ w: 'a: &a [*a, *a]' }, ['w'], 0, 'No step'],
  [{ w: 'a: 1\na: 2\n' }, ['w'], 52, 'w:2:1: error: This is not YAML: Map keys must be unique.'],
  [{ w: 's: @.github/v.json' }, ['w'], 52, 'fix: Put the value into quotes: s: "@.github/v.json"'],
  [{ w: 'a:\n  - b: c\n   d: e' }, ['w'], 52, 'fix: Compare the indentation of this line'],
  [{}, ['n'], 52, 'n:1:1: error: There is no file "n". [unreadable]\n    fix: Check the path'],
  [{}, ['--output-format', 'xml'], 52, ' check: --output-format: "xml" is not a format. Use text or json.\n'],
])('a check of the files %j with %j ends with %i', async (files, argv, expected, text) => {
  const { code, out, err } = await checkIn(repository(files), ...argv);
  expect([code, out + err]).toEqual([expected, expect.stringContaining(text)]);
});

it.each([
  ['./here', [], true],
  ['$/here', [], true],
  ['my/verdict@v2', ['--action', 'my/verdict'], true],
  ['me/Structured-Agent@0123', [], true],
  ['./other', [], false],
  ['my/verdict@v2', [], false],
  ['a/structured-agent/other@v1', [], false],
])('takes uses: %s with %j for the action: %s', async (name, argv, isOurs) => {
  const text = workflowOf({ inputs: 'promt: x' }).replace('org/structured-agent@v1', () => name);
  const own = { 'here/action.yml': 'name: structured-agent\n', 'other/action.yml': 'name: other\n' };
  const { out } = await checkIn(repository({ 'w.yml': text, ...own }), 'w.yml', ...argv);
  expect(out).toContain(isOurs ? 'unknown-input' : 'No step uses the action');
});

it('gives one JSON object with --output-format json', async () => {
  const report = JSON.parse((await withInputs('promtp: x', '--output-format', 'json')).out);
  expect(report).toMatchObject({ ok: false, errors: 1, warnings: 0, files: ['w.yml'] });
  const finding = {
    ...{ file: 'w.yml', line: 16, column: 11, severity: 'error', rule: 'unknown-input' },
    ...{ message: 'There is no input "promtp".', fix: expect.stringMatching(/^Did you mean prompt/u) },
  };
  expect(report.findings).toEqual([finding]);
  expect(report.schemas[0].outputs[0]).toEqual({ name: 'passed', type: 'boolean' });
});
