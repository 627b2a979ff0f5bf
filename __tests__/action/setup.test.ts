import { mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { findFolders, readSetup } from '../../src/action/setup.ts';
import { InputError, messageOf } from '../../src/errors.ts';
import { findRunnerFiles } from '../../src/github/runner.ts';
import { makeFolder } from '../support/surroundings.ts';

const folders = makeFolder();
let base = '';
const at = (...names: readonly string[]) => path.join(base, ...names);

beforeEach(() => {
  base = mkdtempSync(path.join(folders, 'setup-'));
  for (const name of ['workspace', 'temp']) mkdirSync(at(name));
  writeFileSync(at('temp', 'output'), '');
});
afterEach(() => void vi.unstubAllEnvs());

function environment(more: Readonly<Record<string, string>> = {}) {
  return {
    GITHUB_WORKSPACE: at('workspace'),
    RUNNER_TEMP: at('temp'),
    GITHUB_OUTPUT: at('temp', 'output'),
    INPUT_PROMPT: 'Judge.',
    INPUT_MODEL: 'claude-3',
    'INPUT_API-KEY': 'sk-1',
    ...more,
  };
}

/** Reads the setup; the inputs are the process's own variables. */
function setUp(more: Readonly<Record<string, string>> = {}) {
  const variables = environment(more);
  for (const [name, value] of Object.entries(variables)) if (/^INPUT_/u.test(name)) vi.stubEnv(name, value);
  return readSetup(variables, findRunnerFiles(variables));
}

it('resolves folders to real paths and gives each run a private results folder', async () => {
  const first = findFolders(environment());
  const second = findFolders(environment());
  expect(first).toMatchObject({ workspace: at('workspace'), temp: at('temp') });
  expect(path.dirname(first.results)).toBe(at('temp'));
  expect(statSync(first.results).mode & 0o777).toBe(0o700);
  expect(second.results).not.toBe(first.results);
});

it.each(['GITHUB_WORKSPACE', 'RUNNER_TEMP'])('refuses a runner whose %s is not a folder', async (name) => {
  for (const folder of [at('nowhere'), '']) {
    const find = () => findFolders(environment({ [name]: folder }));
    expect(find).toThrow(InputError);
    expect(find).toThrow(`${name} must name a folder`);
  }
});

it('collects every problem, and keeps the settings for reporting that are valid', () => {
  const { problems, config } = setUp({
    'INPUT_MAX-TURNS': 'x',
    INPUT_SUMMARY: 'false',
    INPUT_SANDBOX: 'maybe',
    'INPUT_RESULT-FILE': 'r.json',
    INPUT_COMMENT: 'always',
    'INPUT_COMMIT-STATUS': 'verdict',
    'INPUT_GITHUB-TOKEN': 'ghs_0',
    GITHUB_OUTPUT: '',
  });
  expect(problems.map(messageOf)).toEqual([
    expect.stringMatching(/^result-file: There is no such input\. Did you mean prompt-file/u),
    expect.stringMatching(/^max-turns: "x" is not a whole number/u),
    expect.stringMatching(/^sandbox: "maybe" is not valid. Use required, auto or off/u),
    expect.stringMatching(/GITHUB_OUTPUT/u),
  ]);
  expect(config).toMatchObject({
    summary: false,
    comment: 'always',
    commitStatus: 'verdict',
    githubToken: 'ghs_0',
  });
});

it('says that a fork gets no secrets if its key is missing', () => {
  const event = { pull_request: { head: { repo: { full_name: 'somebody/repo' } } } };
  writeFileSync(at('temp', 'event.json'), JSON.stringify(event));
  const { problems } = setUp({
    'INPUT_API-KEY': '',
    GITHUB_REPOSITORY: 'org/repo',
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_EVENT_PATH: at('temp', 'event.json'),
  });
  expect(problems.map(messageOf)).toEqual([
    expect.stringMatching(
      /^api-key: No key for the provider anthropic\. This pull request comes from a fork/u,
    ),
  ]);
});
