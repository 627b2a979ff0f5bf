import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ChangedFile,
  findPolicyChanges,
  type PolicyChangesOptions,
} from '../../src/github/changed-files.ts';
import { makeFolder } from '../support/surroundings.ts';

const folders = makeFolder();
const makeWorkspace = () => mkdtempSync(path.join(folders, 'judge-'));

const changed = (path: string, previous = ''): ChangedFile => ({
  ...{ path, previous, status: 'modified', additions: 1, deletions: 1, patch: null, blob: '' },
});
const options = (more: Partial<PolicyChangesOptions> = {}): PolicyChangesOptions => ({
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

describe('a pull request that changes its policy', () => {
  it('is detected: the schema, a renamed prompt file, the workflow', async () => {
    expect(await findPolicyChanges(files, options())).toEqual([
      { what: 'schema', path: 'schema.json', applied: true },
      { what: 'prompt-file', path: 'task.md', applied: true },
      { what: 'workflow', path: '.github/workflows/ci.yml', applied: true },
    ]);
  });

  it('is detected when it changes the target of a symlink', async () => {
    const workspace = makeWorkspace();
    writeFileSync(path.join(workspace, 'schema.json'), '{}');
    symlinkSync('schema.json', path.join(workspace, 'gate.json'));
    const found = await findPolicyChanges(files, options({ workspace }));
    expect(found).toContainEqual({ what: 'gate', path: 'schema.json', applied: true });
  });

  it('is detected when it changes a symlink on the path of a policy file', async () => {
    const workspace = makeWorkspace();
    for (const folder of ['strict', 'mild/deep']) {
      mkdirSync(path.join(workspace, folder), { recursive: true });
      writeFileSync(path.join(workspace, folder, 'gate.json'), '{}');
    }
    symlinkSync('second', path.join(workspace, 'policy'));
    symlinkSync('./mild/deep', path.join(workspace, 'second'));
    const gate = [{ what: 'gate', path: 'policy/gate.json' }] as const;
    const found = async (...names: readonly string[]) => {
      const list = async () => names.map((name) => changed(name));
      const changes = await findPolicyChanges(gate, options({ workspace, changed: list }));
      return changes.map((change) => change.path);
    };
    for (const name of ['policy', 'second', 'mild/deep/gate.json', 'policy/gate.json', 'mild'])
      expect(await found(name)).toEqual([name]);
    expect(await found('strict/gate.json', 'polic', 'gate.json', 'mild/deep/other.json')).toEqual([]);
    symlinkSync('loop', path.join(workspace, 'loop'));
    const loop = [{ what: 'gate', path: 'loop/x' }] as const;
    expect(await findPolicyChanges(loop, options({ workspace }))).toEqual([
      { what: 'workflow', path: '.github/workflows/ci.yml', applied: true },
    ]);
  });

  it('is assumed when GitHub does not list all of its files', async () => {
    const many = (count: number) =>
      options({
        changed: async () => [
          changed('task.md'),
          ...Array.from({ length: count - 1 }, (_, at) => changed(`${at}`)),
        ],
      });
    expect(await findPolicyChanges(files, many(2_999))).toEqual([
      { what: 'prompt-file', path: 'task.md', applied: true },
    ]);
    expect(await findPolicyChanges(files, many(3_000))).toEqual([
      { what: 'schema', path: 'schema.json', applied: true, unlisted: true },
      { what: 'gate', path: 'gate.json', applied: true, unlisted: true },
      { what: 'prompt-file', path: 'task.md', applied: true },
      { what: 'workflow', path: '.github/workflows/ci.yml', applied: true, unlisted: true },
    ]);
  });

  it('has no effect with trusted-files: base, except for its workflow', async () => {
    const found = await findPolicyChanges(files, options({ trusted: 'base' }));
    expect(found.map(({ what, applied }) => [what, applied])).toEqual([
      ['schema', false],
      ['prompt-file', false],
      ['workflow', true],
    ]);
  });

  it.each<[string, Partial<PolicyChangesOptions>]>([
    [
      'on pull_request_target the workflow comes from the base',
      { event: { ...options().event, name: 'pull_request_target' } },
    ],
    [
      'a workflow of another repository is not part of it',
      { workflowRef: 'o/other/.github/workflows/ci.yml@main' },
    ],
  ])('%s', async (_, more) => {
    const found = await findPolicyChanges(files, options(more));
    expect(found.map(({ what }) => what)).toEqual(['schema', 'prompt-file']);
  });

  it.each<[string, Partial<PolicyChangesOptions>]>([
    ['without a token', { changed: null }],
    ['without a pull request', { changed: async () => null }],
    ['when GitHub does not respond', { changed: () => Promise.reject(new Error('no')) }],
  ])('%s no changes are reported', async (_, more) => {
    expect(await findPolicyChanges(files, options(more))).toEqual([]);
  });
});
