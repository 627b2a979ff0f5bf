import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChangedFile } from '../../src/github/changed-files.ts';
import { findJudgeChanges, type JudgeChangesOptions } from '../../src/github/judge-changes.ts';

const changed = (path: string, previous = ''): ChangedFile => ({
  path,
  previous,
  status: 'modified',
  additions: 1,
  deletions: 1,
  patch: null,
});
const options = (more: Partial<JudgeChangesOptions> = {}): JudgeChangesOptions => ({
  event: { repository: 'o/r', name: 'pull_request', sha: '', ref: '', payload: null },
  changed: async () => [
    changed('schema.json'),
    changed('renamed.md', 'task.md'),
    changed('.github/workflows/ci.yml'),
  ],
  workspace: '/nowhere/workspace',
  trusted: 'workspace',
  workflowRef: 'o/r/.github/workflows/ci.yml@refs/pull/7/merge',
  ...more,
});
const files = [
  { what: 'schema', path: './schema.json' },
  { what: 'gate', path: 'gate.json' },
  { what: 'prompt-file', path: 'task.md' },
] as const;

describe('a pull request that changes its judge', () => {
  it('is found out: the schema, a task that was renamed, the workflow', async () => {
    expect(await findJudgeChanges(files, options())).toEqual([
      { what: 'schema', path: 'schema.json', applied: true },
      { what: 'prompt-file', path: 'task.md', applied: true },
      { what: 'workflow', path: '.github/workflows/ci.yml', applied: true },
    ]);
  });

  it('is found out where it changes what a link leads to', async () => {
    const workspace = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'judge-')));
    writeFileSync(path.join(workspace, 'schema.json'), '{}');
    symlinkSync('schema.json', path.join(workspace, 'gate.json'));
    const found = await findJudgeChanges(files, options({ workspace }));
    rmSync(workspace, { recursive: true });
    expect(found).toContainEqual({ what: 'gate', path: 'schema.json', applied: true });
  });

  it('has changed in vain what the base keeps, but not its workflow', async () => {
    const found = await findJudgeChanges(files, options({ trusted: 'base' }));
    expect(found.map(({ what, applied }) => [what, applied])).toEqual([
      ['schema', false],
      ['prompt-file', false],
      ['workflow', true],
    ]);
  });

  it.each<[string, Partial<JudgeChangesOptions>]>([
    [
      "on pull_request_target the workflow is the base's",
      { event: { ...options().event, name: 'pull_request_target' } },
    ],
    [
      'a workflow of another repository is not in it',
      { workflowRef: 'o/other/.github/workflows/ci.yml@main' },
    ],
  ])('%s', async (_, more) => {
    const found = await findJudgeChanges(files, options(more));
    expect(found.map(({ what }) => what)).toEqual(['schema', 'prompt-file']);
  });

  it.each<[string, Partial<JudgeChangesOptions>]>([
    ['without a token', { changed: null }],
    ['where there is no pull request', { changed: async () => null }],
    ['where GitHub does not answer', { changed: () => Promise.reject(new Error('no')) }],
  ])('%s nothing is said', async (_, more) => {
    expect(await findJudgeChanges(files, options(more))).toEqual([]);
  });
});
