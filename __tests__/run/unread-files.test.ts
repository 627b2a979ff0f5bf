/** What findings name is looked for in files that the tools may read, too: a verdict must not tell of others. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { createLocator } from '../../src/reporters/source-locations.ts';
import type { World } from '../../src/run/world.ts';
import { judge, submit } from '../support/worlds/change.ts';
import { commitChange } from '../support/worlds/commit-change.ts';
import { base } from '../support/worlds/run.ts';

const SECRET = 'the line that nobody may read';
const SHOWN = 'export const shown = "to everyone";';

it.each<[string, (workspace: string) => string]>([
  ['outside, by ..', () => '../outside.txt'],
  ['outside, by its absolute path', (workspace) => path.join(workspace, '../outside.txt')],
  ['outside, behind a link', () => 'link/outside.txt'],
  ['of git', () => '.git/config.txt'],
  ['of a nested git folder', () => 'nested/.GIT/config.txt'],
  ['of credentials', () => 'gha-creds-1.json'],
  ['that git ignores', () => 'ignored.txt'],
])('a file %s is not looked into', async (_, nameIn) => {
  const workspace = path.join(base, 'workspace');
  commitChange(
    workspace,
    { 'a.ts': 'a\n', '.gitignore': 'ignored*\n', 'link/outside.txt': 'b\n' },
    { 'a.ts': `${SHOWN}\n` },
  );
  renameSync(path.join(workspace, 'link'), path.join(workspace, 'before'));
  symlinkSync('..', path.join(workspace, 'link'));
  mkdirSync(path.join(workspace, 'nested/.GIT'), { recursive: true });
  const files = [
    '../outside.txt',
    '.git/config.txt',
    'nested/.GIT/config.txt',
    'gha-creds-1.json',
    'ignored.txt',
  ];
  for (const name of files) writeFileSync(path.join(workspace, name), `${SECRET}\n`);
  const name = nameIn(workspace);
  const about = { severity: 'warning', message: 'Look.', line: 1 };
  const findings = [
    { ...about, path: 'a.ts', missing: { path: name, text: 'the line' } },
    { ...about, path: name, quote: SECRET },
    { ...about, path: 'a.ts', missing: { path: 'a.ts', text: 'shown' } },
    { ...about, path: 'a.ts', missing: { path: path.join(workspace, 'a.ts'), text: 'shown' } },
    { ...about, path: 'a.ts', quote: SHOWN },
  ];
  const locate = createLocator({ workspace, workingDirectory: '.', repositories: [] });
  const judged = await judge([submit('verdict', { findings })], { grounding: 'mark' }, { locate });
  const [missing, quoted, ...others] =
    judged.report.evidence?.findings.map(({ grounding }) => grounding) ?? [];
  expect(missing).toBe('unproven');
  // No such file is found by some of these paths.
  expect(['unproven', 'ungrounded']).toContain(quoted);
  expect(others).toEqual(['refuted', 'refuted', 'exact']);
});

it('a file that cannot be located, or is behind a link in the change, is not looked into', async () => {
  const workspace = path.join(base, 'workspace');
  const before = { '.gitignore': 'ignored*\n', 'link/outside.txt': 'b\n', 'a.ts': `${SHOWN}\n` };
  commitChange(workspace, before, { 'link/outside.txt': null });
  symlinkSync('..', path.join(workspace, 'link'));
  for (const name of ['../outside.txt', 'ignored.txt'])
    writeFileSync(path.join(workspace, name), `${SECRET}\n`);
  const about = { severity: 'warning', message: 'Look.', path: 'a.ts', line: 1 };
  const names = ['link/outside.txt', 'ignored.txt', 'a.ts'];
  const findings = names.map((name) => ({
    ...about,
    missing: { path: name, text: name === 'a.ts' ? 'shown' : 'the line' },
  }));
  const locate: World['locate'] = ({ path: name, ...lines }) =>
    name === 'a.ts' ? { ...lines, path: name, source: null } : null;
  const judged = await judge(
    [submit('verdict', { findings })],
    { grounding: 'mark' },
    { locate, since: 'main' },
  );
  expect(judged.report.evidence?.coverage?.files.changed).toBe(1);
  expect(judged.report.evidence?.findings.map(({ grounding }) => grounding)).toEqual([
    'unproven',
    'unproven',
    'refuted',
  ]);
});
