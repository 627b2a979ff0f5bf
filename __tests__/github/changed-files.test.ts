import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type ChangedFile,
  createChangedFiles,
  findPolicyChanges,
  LaterPushError,
  type PolicyChangesOptions,
  type PolicyFile,
  type ReadChange,
} from '../../src/github/changed-files.ts';
import { createPullRequestFinder } from '../../src/github/pull-request.ts';
import { createContextFinder } from '../../src/github/pull-request-context.ts';
import { answering } from '../support/fakes/github/answers.ts';
import { makeFolder } from '../support/surroundings.ts';

const folders = makeFolder();

const [judged, later] = ['a'.repeat(40), 'b'.repeat(40)];
const [base, merge] = ['c'.repeat(40), 'd'.repeat(40)];
const pullAt = (sha: string) => ({ number: 7, base: { ref: 'main', sha: base }, head: { ref: 't', sha } });
const file = (head: string, status = 'modified') => ({
  ...{ filename: 'a.js', status, additions: 1, deletions: 0, patch: '+a' },
  contents_url: `https://api.github.com/repos/o/r/contents/a.js?ref=${head}`,
});

function open(name: string, payload: object, files: readonly object[], checkedOut: string | null) {
  const event = { repository: 'o/r', name, sha: base, ref: '', payload };
  const { github } = answering({ '/repos/o/r/pulls/7/files': files, '/repos/o/r/pulls/7': pullAt(later) });
  const finder = createPullRequestFinder(event, github, checkedOut);
  return { event, finder, list: createChangedFiles(event, finder, github, checkedOut) };
}

const ofPull = { pull_request: pullAt(judged) };
const ofComment = { issue: { number: 7, pull_request: {} } };

it.each([
  ['pull_request', ofPull, judged],
  ['pull_request', ofPull, null],
  ['pull_request_target', ofPull, base],
  ['issue_comment', ofComment, judged],
])('the files of a push after the checkout are not used: %s', async (name, payload, checkout) => {
  const { event, finder, list } = open(name, payload, [file(later, 'removed'), file(later)], checkout);
  await expect(list()).rejects.toThrow(LaterPushError);
  const context = await createContextFinder(event, finder, list, () => undefined)();
  if (context === null || context === 'unknown') throw new Error('no context');
  expect(await context.load()).toMatchObject({
    diff: 'missing',
    range: { base, head: name === 'issue_comment' ? '' : judged },
    notes: [expect.stringContaining(`GitHub lists the files of ${later.slice(0, 12)}`)],
  });
});

it.each([
  ['nothing but deletions', [file(later, 'removed')]],
  ['nothing', []],
])('a push after the checkout is detected when its list has no head, because it has %s', async (_, files) => {
  await expect(open('pull_request', ofPull, files, judged).list()).rejects.toThrow(LaterPushError);
  const { list } = open('issue_comment', ofComment, files, later);
  expect(await list()).toHaveLength(files.length);
});

it.each([
  ['pull_request', ofPull, judged, judged],
  ['issue_comment', ofComment, judged, judged],
  ['issue_comment', ofComment, base, later],
  ['issue_comment', ofComment, null, later],
  ['merge_group', { ...ofComment, merge_group: { head_sha: merge, base_sha: base } }, judged, later],
])('lists the files of the judged commit: %s', async (name, payload, checkout, head) => {
  const { list } = open(name, payload, [file(base, 'removed'), file(head)], checkout);
  expect(await list()).toHaveLength(2);
});

describe('a pull request that changes its policy', () => {
  const files = [
    { what: 'schema', path: './schema.json' },
    { what: 'gate', path: 'gate.json' },
    { what: 'prompt-file', path: 'task.md' },
  ] as const;
  const changed = (path: string, previous = ''): ChangedFile => ({
    path,
    previous,
    status: 'modified',
    additions: 1,
    deletions: 1,
    patch: null,
    blob: '',
  });
  const three = [
    changed('schema.json'),
    changed('renamed.md', 'task.md'),
    changed('.github/workflows/ci.yml'),
  ];
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => changed(at === 0 ? 'task.md' : `${at}`));
  const event = { repository: 'o/r', name: 'pull_request', sha: '', ref: '', payload: null };
  const ALL = ['schema schema.json', 'prompt-file task.md', 'workflow .github/workflows/ci.yml'];
  const UNLISTED = [
    'schema schema.json unlisted',
    'gate gate.json unlisted',
    'prompt-file task.md unlisted',
    'workflow .github/workflows/ci.yml unlisted',
  ];

  const GATE = ['gate gate.json', 'prompt-file task.md'];
  const unlistedBut = (name: string) => UNLISTED.map((each) => each.replace(`${name} unlisted`, name));

  /** What is found if GitHub lists these files, or fails, and the run has read that change. */
  async function find(
    listed: readonly ChangedFile[] | Error | null,
    read: ReadChange | null = null,
    more: Partial<PolicyChangesOptions> = {},
    policy: readonly PolicyFile[] = files,
  ) {
    const options: PolicyChangesOptions = {
      event,
      changed: () => (listed instanceof Error ? Promise.reject(listed) : Promise.resolve(listed)),
      workspace: '/nowhere/workspace',
      trusted: 'workspace',
      workflowRef: 'o/r/.github/workflows/ci.yml@refs/pull/7/merge',
      ...more,
    };
    const found = await findPolicyChanges(policy, options, Promise.resolve(read));
    return found.map(({ what, path, applied, unlisted }) =>
      [what, path, ...(applied ? [] : ['not applied']), ...(unlisted === true ? ['unlisted'] : [])].join(' '),
    );
  }

  const git = (incomplete: string | null, ...paths: readonly string[]): ReadChange => ({
    files: paths.map((path) => ({ path, previous: null })),
    incomplete,
  });
  const fromGit: ReadChange = { files: three, incomplete: null };
  const lateList = new LaterPushError('later');
  const forbidden = new Error('403');
  it.each<[string, readonly ChangedFile[] | Error | null, ReadChange | null, readonly string[]]>([
    ['GitHub lists it', three, null, ALL],
    ['GitHub refuses, and git knows it', forbidden, fromGit, ALL],
    ['GitHub refuses, and git knows a part', forbidden, git('cut', 'gate.json'), unlistedBut('gate.json')],
    ['neither knows it', forbidden, null, []],
    ['GitHub lists a later push, and git knows the change', lateList, fromGit, ALL],
    ['GitHub lists a later push', lateList, null, UNLISTED],
    ['GitHub lists other files, and all of them', [changed('a.js')], fromGit, []],
    ['GitHub lists nearly too many files', many(2_999), null, ['prompt-file task.md']],
    ['GitHub lists the first files only', many(3_000), null, unlistedBut('task.md')],
    ['GitHub lists the first files only, and git knows all', many(3_000), git(null, 'gate.json'), GATE],
    ['there is no pull request', null, fromGit, []],
  ])('is found if %s', async (_, listed, read, expected) => {
    expect(await find(listed, read)).toEqual(expected);
  });

  const ofTarget = { ...event, name: 'pull_request_target' };
  it.each<[string, Partial<PolicyChangesOptions>, readonly string[]]>([
    ['without a token from git', { changed: null }, ALL],
    ['not from the change of a push', { changed: null, event: { ...event, name: 'push' } }, []],
    ['on pull_request_target except for the workflow', { event: ofTarget }, ALL.slice(0, 2)],
    ['except for the workflow of another repository', { workflowRef: 'o/other/x.yml@main' }, ALL.slice(0, 2)],
    [
      'without effect with trusted-files: base, except for the workflow',
      { trusted: 'base' },
      ['schema schema.json not applied', 'prompt-file task.md not applied', ...ALL.slice(2)],
    ],
  ])('is found %s', async (_, more, expected) => {
    expect(await find(three, fromGit, more)).toEqual(expected);
  });

  it('is found if it changes a symlink on the path of a policy file, or its target', async () => {
    const workspace = mkdtempSync(path.join(folders, 'judge-'));
    for (const folder of ['strict', 'mild/deep']) {
      mkdirSync(path.join(workspace, folder), { recursive: true });
      writeFileSync(path.join(workspace, folder, 'gate.json'), '{}');
    }
    symlinkSync('second', path.join(workspace, 'policy'));
    symlinkSync('./mild/deep', path.join(workspace, 'second'));
    symlinkSync('loop', path.join(workspace, 'loop'));
    const gate = [{ what: 'gate', path: 'policy/gate.json' }] as const;
    const among = (...names: readonly string[]) => {
      const listed = names.map((name) => changed(name));
      return find(listed, null, { workspace }, gate);
    };
    for (const name of ['policy', 'second', 'mild/deep/gate.json', 'policy/gate.json', 'mild'])
      expect(await among(name)).toEqual([`gate ${name}`]);
    expect(await among('strict/gate.json', 'polic', 'gate.json', 'mild/deep/other.json')).toEqual([]);
    expect(await find(three, null, { workspace }, [{ what: 'gate', path: 'loop/x' }])).toEqual(ALL.slice(2));
  });
});
