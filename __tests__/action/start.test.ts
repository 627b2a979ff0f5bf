import { mkdirSync, mkdtempSync, statSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { readRunner } from '../../src/action/start.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { messageOf } from '../../src/errors.ts';
import { makeFolder } from '../support/surroundings.ts';

const folders = makeFolder();
let base = '';
const at = (...names: readonly string[]) => path.join(base, ...names);

beforeEach(() => {
  base = mkdtempSync(path.join(folders, 'start-'));
  for (const name of ['workspace', 'temp']) mkdirSync(at(name));
});

const read = (more: Readonly<Record<string, string>> = {}) =>
  readRunner({ GITHUB_WORKSPACE: at('workspace'), RUNNER_TEMP: at('temp'), ...more });

it('resolves folders to real paths and gives each run a private results folder', () => {
  const first = read();
  expect(first).toMatchObject({ workspace: at('workspace'), temp: at('temp') });
  expect(path.dirname(first.results)).toBe(at('temp'));
  expect(statSync(first.results).mode & 0o777).toBe(0o700);
  expect(read().results).not.toBe(first.results);
});

it.each(['GITHUB_WORKSPACE', 'RUNNER_TEMP'])('refuses a runner whose %s is not a folder', (name) => {
  for (const folder of [at('nowhere'), '']) {
    const refusal = { input: null, message: expect.stringContaining(`${name} must name a folder`) };
    expect(() => read({ [name]: folder })).toThrow(expect.objectContaining(refusal));
  }
});

it('tells a run from a fork that it gets no secrets', () => {
  const raw = new Map([
    ['model', 'claude-3'],
    ['prompt', 'Judge.'],
  ] as const);
  const { problems } = parseConfig(raw, { environment: {}, isFork: true, problems: [] });
  expect(problems.map(messageOf).join()).toMatch(/^api-key: .*This pull request comes from a fork/u);
});
