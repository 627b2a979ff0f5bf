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
import { beforeEach, describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { findRunnerFiles, findSecrets, keepFiles, requireOutputFile } from '../../src/github/runner.ts';
import { makeFolder } from '../support/surroundings.ts';

const folders = makeFolder();
let folder = '';
const at = (name: string) => path.join(folder, name);

beforeEach(() => {
  folder = mkdtempSync(path.join(folders, 'runner-'));
});

describe('the runner’s files', () => {
  it('are all that the runner names for this step', () => {
    const commands = { GITHUB_ENV: '/f/env', GITHUB_PATH: '/f/path', GITHUB_STATE: '/f/state' };
    const environment = { GITHUB_OUTPUT: '/f/output', GITHUB_STEP_SUMMARY: '/f/summary', ...commands };
    const all = Object.values(environment);
    expect(findRunnerFiles(environment)).toEqual({ output: '/f/output', summary: '/f/summary', all });
    const few = findRunnerFiles({ GITHUB_OUTPUT: '', GITHUB_ENV: '/f/env' });
    expect(few).toEqual({ output: null, summary: null, all: ['/f/env'] });
  });

  it('must include a regular file for outputs', () => {
    writeFileSync(at('output'), '');
    const require = (file: string) => () => requireOutputFile(findRunnerFiles({ GITHUB_OUTPUT: file }));
    expect(require(at('output'))).not.toThrow();
    for (const file of ['', at('missing'), folder, '/dev/null']) expect(require(file)).toThrow(InputError);
  });
});

describe('keepFiles', () => {
  it('restores the content of files, whatever replaced them', () => {
    const names = ['same', 'longer', 'gone', 'folder', 'linked'];
    for (const name of names) writeFileSync(at(name), `${name} before`);
    const inode = lstatSync(at('same')).ino;
    const restore = keepFiles(names.map(at));
    writeFileSync(at('longer'), 'longer before\nPATH=/evil\n');
    for (const name of ['gone', 'folder', 'linked']) rmSync(at(name));
    mkdirSync(path.join(at('folder'), 'deep'), { recursive: true });
    writeFileSync(at('victim'), 'mine');
    symlinkSync(at('victim'), at('linked'));
    restore();
    expect(names.map((name) => readFileSync(at(name), 'utf8'))).toEqual(
      names.map((name) => `${name} before`),
    );
    expect(lstatSync(at('linked')).isSymbolicLink()).toBe(false);
    expect(readFileSync(at('victim'), 'utf8')).toBe('mine');
    expect(lstatSync(at('same')).ino).toBe(inode);
  });

  it('leaves a missing file missing', () => {
    const restore = keepFiles([at('new')]);
    restore();
    expect(existsSync(at('new'))).toBe(false);
  });
});

describe('findSecrets', () => {
  it('finds the variables that contain keys and tokens', () => {
    const names =
      'INPUT_API-KEY INPUT_GITHUB-TOKEN OPENAI_API_KEY Mistral_Api_Key ACTIONS_RUNTIME_TOKEN ACTIONS_ID_TOKEN_REQUEST_TOKEN GITHUB_TOKEN GH_TOKEN ANTHROPIC_AUTH_TOKEN AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN NODE_AUTH_TOKEN NPM_TOKEN';
    for (const name of names.split(' '))
      expect(findSecrets({ [name]: 'value-1' }), name).toEqual(['value-1']);
  });

  it('ignores plain words and page URLs in headers', () => {
    const headers =
      'x-provider: openai\nHTTP-Referer: https://github.com/acme/shop\nx-flag: true\nX-Team: a1-payments';
    expect(findSecrets({ INPUT_HEADERS: headers })).toEqual(['a1-payments']);
  });

  it('finds values of headers with and without their scheme, in valid and invalid lines', () => {
    const headers =
      'Authorization: Bearer tok:en-1\r\nX-Team:blue\n x-flag: true\nno-colon-here\nbad name: value-2\n:v3';
    const found = ['Bearer tok:en-1', 'tok:en-1', 'no-colon-here', 'value-2', ':v3'];
    expect(findSecrets({ INPUT_HEADERS: headers })).toEqual(found);
  });

  it('finds values as given and trimmed, without duplicates and empty ones', () => {
    const tokens = { OPENAI_API_KEY: ' k1\n', GITHUB_TOKEN: 'k2', GH_TOKEN: 'k2', NPM_TOKEN: '' };
    const environment = { ...tokens, GITHUB_SHA: 'abc', INPUT_PROMPT: 'Judge.' };
    expect(findSecrets(environment)).toEqual([' k1\n', 'k1', 'k2']);
  });
});
