import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { findRunnerFiles, keepFiles } from '../../src/github/runner.ts';
import { manifest, putFiles } from '../support/local.ts';
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
  putFiles(folder, { longer: 'one', gone: 'two', folder: 'three', linked: 'four', victim: 'mine' });
  const before = manifest(folder, () => false);
  const restore = keepFiles(['longer', 'gone', 'folder', 'linked', 'new', '.'].map(at));
  writeFileSync(at('longer'), 'one\nPATH=/evil\n');
  for (const name of ['gone', 'folder', 'linked']) rmSync(at(name));
  mkdirSync(at('folder/deep'), { recursive: true });
  symlinkSync(at('victim'), at('linked'));
  restore();
  expect(manifest(folder, () => false)).toEqual(before);
});
