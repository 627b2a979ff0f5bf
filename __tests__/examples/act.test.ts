/** The examples that the act script runs. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { CASES } from '../support/act/cases.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const cases = [...new Set(CASES.map(({ workflow }) => workflow))].toSorted();

it('every example, and every one that the README lists as run with act, has a case', () => {
  const examples = readdirSync(path.join(ROOT, 'examples')).filter((name) => name.endsWith('.yml'));
  expect(cases).toEqual(examples.toSorted());
  const [, table = ''] = readFileSync(path.join(ROOT, 'README.md'), 'utf8').split('CI runs them with [act]');
  const [named = ''] = table.split('\n\n|').slice(1);
  const [rows = ''] = named.split('\n\n');
  const files = [...rows.matchAll(/\(examples\/([\w-]+\.yml)\)/gu)].map(([, file]) => file);
  expect(files.toSorted()).toEqual(cases);
});

it('a workflow without a case is an error that lists those with one', () => {
  const script = path.join(ROOT, '__tests__/support/act/run.ts');
  // With an act that cannot start, because the names are checked before anything runs.
  const args = [script, path.join(ROOT, 'no-act'), 'gate.yml', 'nosuch.yml'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^No case runs nosuch\.yml\. Use: gate\.yml, .*many-legs\.yml\.\n$/u);
});
