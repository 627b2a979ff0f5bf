import { mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findFolders, readSetup } from '../../src/action/setup.ts';
import { InputError } from '../../src/errors.ts';
import { findRunnerFiles } from '../../src/github/runner.ts';
import { readMergeSetup } from '../../src/merge/run.ts';
import { makeFolder } from '../support/surroundings.ts';

const folders = makeFolder();
let base = '';
const at = (...names: readonly string[]) => path.join(base, ...names);

beforeEach(() => {
  base = mkdtempSync(path.join(folders, 'setup-'));
  for (const name of ['workspace', 'temp']) mkdirSync(at(name));
  for (const name of ['output', 'env']) writeFileSync(at('temp', name), '');
});
afterEach(() => void vi.unstubAllEnvs());

function runner() {
  return {
    GITHUB_WORKSPACE: at('workspace'),
    RUNNER_TEMP: at('temp'),
    GITHUB_OUTPUT: at('temp', 'output'),
    GITHUB_ENV: at('temp', 'env'),
  };
}

function environment(more: Readonly<Record<string, string>> = {}) {
  const inputs = { INPUT_PROMPT: 'Judge.', INPUT_MODEL: 'claude-3', 'INPUT_API-KEY': 'sk-1' };
  return { ...runner(), ...inputs, ...more };
}

/** The inputs are the process's own variables. */
function setInputs(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) if (/^INPUT_/u.test(name)) vi.stubEnv(name, value);
}

async function setUp(more: Readonly<Record<string, string>> = {}) {
  const variables = environment(more);
  setInputs(variables);
  const folders = await findFolders(variables);
  return { folders, setup: await readSetup(variables, findRunnerFiles(variables), folders) };
}

/** The messages of the input errors that a setup keeps for the run. */
async function refusal(more: Readonly<Record<string, string>>) {
  const { setup, folders } = await setUp(more);
  expect(setup).toMatchObject({
    resultFile: path.join(folders.results, 'result.json'),
    transcriptFile: path.join(folders.results, 'transcript.jsonl'),
    config: { summary: true, logLevel: 'summary', comment: 'never', commitStatus: null, githubToken: null },
  });
  return setup.problems.map(({ message }) => message).join('\n');
}

describe('the runner’s folders', () => {
  it('creates the results folder beside the usual place when that name is taken by a file', async () => {
    writeFileSync(at('temp/structured-agent'), 'not a folder');
    const { results, problem } = await findFolders(environment());
    expect(problem).toBeNull();
    expect(path.dirname(results)).toBe(at('temp'));
    expect(statSync(results).mode & 0o777).toBe(0o700);
  });

  it('resolves folders to real paths and gives each run a private results folder', async () => {
    const first = await findFolders(environment());
    const second = await findFolders(environment());
    expect(first).toMatchObject({ workspace: at('workspace'), temp: at('temp'), problem: null });
    expect(path.dirname(path.dirname(first.results))).toBe(at('temp'));
    expect(statSync(first.results).mode & 0o777).toBe(0o700);
    expect(second.results).not.toBe(first.results);
  });

  it.each(['GITHUB_WORKSPACE', 'RUNNER_TEMP'])(
    'reports a problem when the folder in %s does not exist',
    async (name) => {
      const folders = await findFolders(environment({ [name]: at('nowhere') }));
      expect(folders.problem).toBeInstanceOf(InputError);
      expect(folders.problem?.message).toContain(name);
      expect(statSync(folders.results).isDirectory()).toBe(true);
    },
  );
});

describe('readSetup', () => {
  it('resolves the files to the paths in the inputs', async () => {
    const { setup } = await setUp({ 'INPUT_RESULT-FILE': 'out/r.json', INPUT_SUMMARY: 'false' });
    expect(setup).toMatchObject({ resultFile: at('workspace', 'out', 'r.json'), config: { summary: false } });
    expect(setup.problems).toEqual([]);
    expect(setup.config.model.model).toBe('claude-3');
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['an invalid input', { 'INPUT_MAX-TURNS': 'x' }, /max-turns/u],
    ['a missing file for outputs', { GITHUB_OUTPUT: '' }, /GITHUB_OUTPUT/u],
    [
      'one file for two purposes',
      { 'INPUT_RESULT-FILE': 'r', 'INPUT_TRANSCRIPT-FILE': './x/../r' },
      /result-file and transcript-file name the same file/u,
    ],
    [
      'a page over the transcript',
      { 'INPUT_TRANSCRIPT-FILE': 'r', 'INPUT_REPORT-FILE': './r' },
      /transcript-file and report-file name the same file/u,
    ],
    [
      'a page in a protected folder',
      { 'INPUT_REPORT-FILE': '.git/report.html' },
      /report-file .*Nothing is written into .git/u,
    ],
    [
      'a result over the runner’s own file',
      { 'INPUT_RESULT-FILE': '../temp/env' },
      /result-file names a file that the runner itself reads/u,
    ],
    [
      'a transcript over the outputs',
      { 'INPUT_TRANSCRIPT-FILE': '../temp/output' },
      /transcript-file names a file that the runner itself reads/u,
    ],
    ['a missing folder', { GITHUB_WORKSPACE: '/nonexistent/x' }, /GITHUB_WORKSPACE/u],
  ])('keeps %s as an input error for the run to report', async (_, more, says) => {
    expect(await refusal(more)).toMatch(says);
  });

  it('keeps every problem: inputs, files, the runner and the proxy', async () => {
    const wrong = await refusal({
      'INPUT_MAX-TURNS': 'x',
      INPUT_SANDBOX: 'maybe',
      INPUT_COMMENT: 'always',
      'INPUT_GITHUB-TOKEN': 'ghs_0',
      'INPUT_RESULT-FILE': '../x.json',
      'INPUT_REPORT-FILE': '.git/report.html',
      GITHUB_OUTPUT: '',
      HTTPS_PROXY: 'http://[bad',
    });
    expect(wrong.split('\n')).toEqual(
      [/^max-turns/u, /^sandbox/u, /PROXY/u, /GITHUB_OUTPUT/u, /^result-file/u, /^report-file/u].map((says) =>
        expect.stringMatching(says),
      ),
    );
  });
});

describe('readMergeSetup', () => {
  async function setUpMerge(more: Readonly<Record<string, string>>) {
    const variables = { ...runner(), INPUT_VERDICTS: 'verdicts', INPUT_EXPECT: 'api, web', ...more };
    setInputs(variables);
    const folders = await findFolders(variables);
    return { folders, setup: await readMergeSetup(variables, findRunnerFiles(variables), folders) };
  }

  it('writes its result to the results folder, without a transcript or a page', async () => {
    const { folders, setup } = await setUpMerge({});
    const resultFile = path.join(folders.results, 'result.json');
    expect(setup).toMatchObject({ resultFile, transcriptFile: null, reportFile: null, problems: [] });
    expect(setup.config).toMatchObject({ verdicts: 'verdicts', expect: ['api', 'web'] });
  });

  it('reads the gate from the checkout, and has no leg or vote of its own', async () => {
    const { setup } = await setUpMerge({});
    const read = { trustedFiles: 'workspace', workingDirectory: '.' };
    expect(setup.config).toMatchObject({ ...read, leg: null, vote: null });
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ['an invalid input', { INPUT_VOTES: 'most' }, /^votes/u],
    ['a missing file for outputs', { GITHUB_OUTPUT: '' }, /GITHUB_OUTPUT/u],
  ])(
    'keeps %s as an input error for the merge to report, and uses the default result file',
    async (_, more, says) => {
      const { folders, setup } = await setUpMerge(more);
      expect(setup).toMatchObject({
        config: { summary: true, comment: 'never' },
        resultFile: path.join(folders.results, 'result.json'),
        transcriptFile: null,
      });
      expect(setup.problems.map(({ message }) => message)).toEqual([expect.stringMatching(says)]);
    },
  );
});
