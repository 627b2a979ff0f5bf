/** Which examples the script that runs them on act knows. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { CASES } from '../support/act/cases.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const cases = [...new Set(CASES.map(({ workflow }) => workflow))].toSorted();

it('every example has a case, and so has every example that the README says CI runs with act', () => {
  const examples = readdirSync(path.join(ROOT, 'examples')).filter((name) => name.endsWith('.yml'));
  expect(cases).toEqual(examples.toSorted());
  const [, table = ''] = readFileSync(path.join(ROOT, 'README.md'), 'utf8').split('CI runs them with [act]');
  const [named = ''] = table.split('\n\n|').slice(1);
  const [rows = ''] = named.split('\n\n');
  const files = [...rows.matchAll(/\(examples\/([\w-]+\.yml)\)/gu)].map(([, file]) => file);
  expect(files.toSorted()).toEqual(cases);
});

it('a workflow without a case is an error that names those with one', () => {
  const script = path.join(ROOT, '__tests__/support/act/run.ts');
  // With an act that cannot be started: the names are checked before anything is run.
  const args = [script, path.join(ROOT, 'no-act'), 'gate.yml', 'nosuch.yml'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^No case runs nosuch\.yml\. Use: gate\.yml, .*many-legs\.yml\.\n$/u);
});
