import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { findRunnerFiles, keepFiles } from '../../src/github/runner.ts';
import { makeFolder } from '../support/surroundings.ts';

const folder = makeFolder();
const at = (name: string) => path.join(folder, name);

it('the runner’s files are all that it names for this step', () => {
  const commands = { GITHUB_ENV: '/f/env', GITHUB_PATH: '/f/path', GITHUB_STATE: '/f/state' };
  const environment = { GITHUB_OUTPUT: '/f/output', GITHUB_STEP_SUMMARY: '/f/summary', ...commands };
  const all = Object.values(environment);
  expect(findRunnerFiles(environment)).toEqual({ output: '/f/output', summary: '/f/summary', all });
  const few = findRunnerFiles({ GITHUB_OUTPUT: '', GITHUB_ENV: '/f/env' });
  expect(few).toEqual({ output: null, summary: null, all: ['/f/env'] });
});

it('kept files get their content back, whatever replaced them, and a missing file stays missing', () => {
  const before = mkdtempSync(at('kept-'));
  const kept = (name: string) => path.join(before, name);
  const names = ['longer', 'gone', 'folder', 'linked'];
  for (const name of names) writeFileSync(kept(name), `${name} before`);
  const restore = keepFiles([...names, 'new', '.'].map(kept));
  writeFileSync(kept('longer'), 'longer before\nPATH=/evil\n');
  for (const name of names.slice(1)) rmSync(kept(name));
  mkdirSync(path.join(kept('folder'), 'deep'), { recursive: true });
  writeFileSync(kept('victim'), 'mine');
  symlinkSync(kept('victim'), kept('linked'));
  restore();
  for (const name of names) expect(readFileSync(kept(name), 'utf8')).toBe(`${name} before`);
  expect([existsSync(kept('new')), lstatSync(kept('linked')).isSymbolicLink()]).toEqual([false, false]);
  expect(readFileSync(kept('victim'), 'utf8')).toBe('mine');
});
