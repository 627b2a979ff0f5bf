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
import { InputError } from '../../src/errors.ts';
import { findRunnerFiles, findSecrets, keepFiles, requireOutputFile } from '../../src/github/runner.ts';
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

it('the runner’s files must include a regular file for outputs', () => {
  writeFileSync(at('output'), '');
  const require = (file: string) => () => requireOutputFile(findRunnerFiles({ GITHUB_OUTPUT: file }));
  expect(require(at('output'))).not.toThrow();
  for (const file of ['', at('missing'), folder, '/dev/null']) expect(require(file)).toThrow(InputError);
});

it('kept files get their content back, whatever replaced them, and a missing file stays missing', () => {
  const before = mkdtempSync(at('kept-'));
  const kept = (name: string) => path.join(before, name);
  const names = ['same', 'longer', 'gone', 'folder', 'linked'];
  for (const name of names) writeFileSync(kept(name), `${name} before`);
  const inode = lstatSync(kept('same')).ino;
  const restore = keepFiles([...names, 'new'].map(kept));
  writeFileSync(kept('longer'), 'longer before\nPATH=/evil\n');
  for (const name of ['gone', 'folder', 'linked']) rmSync(kept(name));
  mkdirSync(path.join(kept('folder'), 'deep'), { recursive: true });
  writeFileSync(kept('victim'), 'mine');
  symlinkSync(kept('victim'), kept('linked'));
  restore();
  expect(names.map((name) => readFileSync(kept(name), 'utf8'))).toEqual(
    names.map((name) => `${name} before`),
  );
  expect([existsSync(kept('new')), lstatSync(kept('linked')).isSymbolicLink()]).toEqual([false, false]);
  expect(readFileSync(kept('victim'), 'utf8')).toBe('mine');
  expect(lstatSync(kept('same')).ino).toBe(inode);
});

const tokens =
  'INPUT_API-KEY INPUT_GITHUB-TOKEN INPUT_SIGNING-KEY OPENAI_API_KEY Mistral_Api_Key ACTIONS_RUNTIME_TOKEN ACTIONS_ID_TOKEN_REQUEST_TOKEN GITHUB_TOKEN GH_TOKEN ANTHROPIC_AUTH_TOKEN AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN NODE_AUTH_TOKEN NPM_TOKEN';
it.each(tokens.split(' '))('the value of %s is a secret', (name) => {
  expect(findSecrets({ [name]: 'value-1' })).toEqual(['value-1']);
});

it.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
  [
    'values as given and trimmed, once',
    { OPENAI_API_KEY: ' k1\n', GITHUB_TOKEN: 'k2', GH_TOKEN: 'k2', NPM_TOKEN: '', GITHUB_SHA: 'abc' },
    [' k1\n', 'k1', 'k2'],
  ],
  [
    'headers without plain words and pages',
    { INPUT_HEADERS: 'x-provider: openai\nReferer: https://github.com/a\nx-flag: true\nX-Team: a1-payments' },
    ['a1-payments'],
  ],
  [
    'headers with and without their scheme, in valid and invalid lines',
    { INPUT_HEADERS: 'Authorization: Bearer tok:en-1\r\nX-Team:blue\nno-colon-here\nbad name: value-2\n:v3' },
    ['Bearer tok:en-1', 'tok:en-1', 'no-colon-here', 'value-2', ':v3'],
  ],
  ['addresses with a password', { INPUT_HEADERS: 'x-proxy: https://me:pw@host' }, ['https://me:pw@host']],
])('secrets are %s', (_, environment, secrets) => {
  expect(findSecrets(environment)).toEqual(secrets);
});
