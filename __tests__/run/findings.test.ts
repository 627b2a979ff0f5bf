/** Findings of whole runs: no answer to a bad quote passes, and nothing is looked up in files that prove nothing. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLocator } from '../../src/reporters/places.ts';
import type { World } from '../../src/run/world.ts';
import { describeOpen } from '../sandbox/world.ts';
import { type Reply, submits } from '../support/fakes/model/server.ts';
import { endOf, submit } from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/pull-request.ts';
import { base, command, converse } from '../support/worlds/run.ts';

const workspace = () => path.join(base, 'workspace');
const locator = () => createLocator(workspace(), '.');
const about = { severity: 'warning', message: 'Look.', line: 1 };

describe('after a bad quote', () => {
  const string = { type: 'string' };
  const row = { severity: string, message: string, path: string, quote: string, line: { type: 'integer' } };
  const findings = { type: 'array', items: { type: 'object', properties: row } };
  const SCHEMA = JSON.stringify({ type: 'object', properties: { passed: { type: 'boolean' }, findings } });
  const MET = '{"properties":{"findings":{"maxItems":1}}}';
  const bad = { ...about, path: 'a.ts', quote: 'this is nowhere at all' };
  const payload = (passed: boolean, count: number) => ({ passed, findings: Array(count).fill(bad) });
  const run = (replies: readonly Reply[], more: object) => {
    commitChange(workspace(), {}, { 'a.ts': 'export const a = 1;\n' });
    return converse(replies, { schema: SCHEMA, grounding: 'require', ...more }, { locate: locator() });
  };

  it.each<[string, string, readonly [boolean, number], readonly [boolean, number], 'first' | 'last']>([
    ['passed, fewer that pass', 'passed', [false, 2], [true, 0], 'first'],
    ['passed, fewer in a failed one', 'passed', [false, 2], [false, 1], 'last'],
    ['off, fewer that pass', 'off', [false, 2], [true, 0], 'first'],
    ['a number, fewer, and still too many', MET, [true, 3], [true, 2], 'last'],
    ['a number, fewer, and few enough', MET, [true, 2], [true, 1], 'first'],
  ])('with gate %s', async (_, gate, first, last, kept) => {
    const { report, rejections } = await run([submits(payload(...first)), submits(payload(...last))], {
      gate,
    });
    expect(rejections).toHaveLength(1);
    const { passed, findings: published } = report.payload ?? {};
    expect([passed, Object(published).length]).toEqual(kept === 'first' ? first : last);
  });

  const unproven = { exact: 0, moved: 0, unproven: 1 };
  it.each([
    ['a preset', 'code-review', 1, unproven],
    ["a schema of one's own", SCHEMA, 0, unproven],
    ['a schema without quotes', SCHEMA.replace('"quote"', '"proof"'), 0, null],
  ])('with grounding: auto and %s', async (_, schema, rounds, counts) => {
    const row = { ...bad, category: 'correctness', title: 'Bad' };
    const red = submit('code-review', { passed: false, findings: [row] });
    const { report, rejections } = await run([red], { schema, gate: 'passed', grounding: 'auto' });
    expect([rejections.length, report.evidence?.grounding]).toEqual([rounds, counts]);
  });

  it('the run ends as red as it was if no turn is left', async () => {
    const replies = [submits(payload(false, 1)), command('true')];
    expect(endOf(await run(replies, { gate: 'passed', 'max-turns': '2' }))).toBe('failure gate_not_met 1');
  });
});

const SECRET = 'the line that nobody may read';
const SHOWN = 'export const shown = "to everyone";';

it.each<[string, (workspace: string) => string]>([
  ['outside, by ..', () => '../outside.txt'],
  ['outside, by its absolute path', (folder) => path.join(folder, '../outside.txt')],
  ['outside, behind a link', () => 'link/outside.txt'],
  ['of git', () => '.git/config.txt'],
  ['of a nested git folder', () => 'nested/.GIT/config.txt'],
  ['of credentials', () => 'gha-creds-1.json'],
])('a file %s is not read for a finding', async (_, nameIn) => {
  const folder = workspace();
  commitChange(folder, { 'a.ts': 'a\n', 'link/outside.txt': 'b\n' }, { 'a.ts': `${SHOWN}\n` });
  renameSync(path.join(folder, 'link'), path.join(folder, 'before'));
  symlinkSync('..', path.join(folder, 'link'));
  mkdirSync(path.join(folder, 'nested/.GIT'), { recursive: true });
  for (const name of ['../outside.txt', '.git/config.txt', 'nested/.GIT/config.txt', 'gha-creds-1.json'])
    writeFileSync(path.join(folder, name), `${SECRET}\n`);
  const name = nameIn(folder);
  const findings = [
    { ...about, path: name, quote: SECRET },
    { ...about, path: 'a.ts', quote: SHOWN },
  ];
  const anything: World['locate'] = (written) => written;
  for (const locate of [locator(), anything]) {
    const judged = await converse([submit('verdict', { findings })], { grounding: 'mark' }, { locate });
    expect(judged.report.evidence?.findings.map(({ grounding }) => grounding)).toEqual(['unproven', 'exact']);
  }
});

describeOpen('what the agent writes proves nothing', () => {
  const OWN = 'const invented = "by the agent";';
  const OTHER = 'export const other = "in another file";';
  const LEFT = 'export const left = "as it was";';

  it.each([
    ['a new file', `echo '${OWN}' >new.ts`, 'new.ts', OWN],
    ['a changed file', `echo '${OWN}' >>a.ts`, 'a.ts', OWN],
    ['another file of that name', 'mv -f b.ts a.ts', 'a.ts', OTHER],
    ['a link to another file', 'ln -sf b.ts a.ts', 'a.ts', OTHER],
    ['a temporary file', `echo '${OWN}' >/tmp/t.ts`, '/tmp/t.ts', OWN],
  ])('%s', async (_, line, name, quote) => {
    const files = { 'left.ts': `${LEFT}\n`, 'a.ts': `${SHOWN}\n`, 'b.ts': `${OTHER}\n` };
    commitChange(workspace(), {}, files);
    const findings = [
      { ...about, path: name, quote },
      { ...about, path: 'left.ts', quote: LEFT },
    ];
    const { report } = await converse(
      [command(line), submit('verdict', { findings })],
      { sandbox: 'required', grounding: 'mark' },
      { locate: locator() },
    );
    const [found, left] = report.evidence?.findings ?? [];
    expect(left?.grounding).toBe('exact');
    // A link and a second name lead to the other file itself, which the agent has not written.
    const isThere = found?.grounding === 'exact' && found.path !== name;
    expect(isThere ? 'there' : found?.grounding).toMatch(/^(?:there|unproven)$/u);
  });
});
