import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createPolicyFiles,
  findPolicyChanges,
  type PolicyOptions,
  type ReadChange,
} from '../../src/github/policy-files.ts';
import type { ChangedFile, ListedChange, PolicyFile } from '../../src/types.ts';
import { type Answers, answering } from '../support/fakes/github/answers.ts';
import { putFiles } from '../support/local.ts';
import { makeFolder } from '../support/surroundings.ts';
import { eventOf, openHub, pullAs, queue } from './world.ts';

const workspace = makeFolder();
for (const folder of ['sub', 'sub/judges'])
  mkdirSync(path.join(workspace, folder, '.git'), { recursive: true });

const tip = { '/repos/o/r/commits/heads/main': { sha: 'tip1' } };
const at = (file: string, ref = 'tip1') => `/repos/o/r/contents/${file}?ref=${ref}`;
const ofPull = eventOf('pull_request', { pull_request: pullAs(7) });

function open(answers: Answers | null, event = ofPull, more: Partial<PolicyOptions> = {}) {
  const { hub, asked } = openHub(event, answers);
  const options: PolicyOptions = {
    ...{ hub, trusted: 'base', workspace, workflowRef: 'o/r/.github/workflows/ci.yml@refs/pull/7/merge' },
    readLocal: async (file) => ({ ok: true, text: `local ${file}` }),
    elsewhere: answering(answers ?? {}).github,
    ...more,
  };
  return { ...createPolicyFiles(options), options, asked };
}

describe('with trusted-files: base', () => {
  it('the tip of the base branch is looked up once, and with trusted-files: workspace not at all', async () => {
    const answers = { ...tip, [at('a/judge.json')]: '\xef\xbb\xbf{}', [at('b.json')]: '[]' };
    const { readFile, asked } = open(answers);
    expect(await readFile('a/judge.json')).toEqual({ ok: true, text: '{}' });
    expect(await readFile('./b.json')).toEqual({ ok: true, text: '[]' });
    expect(asked).toEqual(['/repos/o/r/commits/heads/main', at('a/judge.json'), at('b.json')]);
    const local = open({}, ofPull, { trusted: 'workspace' });
    expect(await local.readFile('x.json')).toEqual({ ok: true, text: 'local x.json' });
    expect(local.asked).toEqual([]);
  });

  it.each([
    ['sub/x.json', 'x.json'],
    ['sub/judges/x.json', 'judges/x.json'],
    ['other/x.json', 'other/x.json'],
  ])('the workspace’s %s is %s of the outermost repository', async (file, name) => {
    expect(await open({ ...tip, [at(name)]: '{}' }).readFile(file)).toEqual({ ok: true, text: '{}' });
  });

  const group = eventOf('merge_group', { merge_group: { head_sha: 'g', base_sha: 'm1' } }, queue);
  const runOf = (event: string) => eventOf('workflow_run', { workflow_run: { event, head_sha: 'a1' } });
  const none = { '/repos/o/r/commits/a1/pulls': [] };
  const one = { '/repos/o/r/commits/a1/pulls': [pullAs(7)], ...tip };
  it.each<[string, string, ReturnType<typeof eventOf>, Answers]>([
    ['a merge group', 'm1', group, { '/repos/o/r/pulls/7': pullAs(7) }],
    ['a push of a pull request', 'tip1', eventOf('push', {}, { sha: 'a1' }), one],
    ['a run after a push of a pull request', 'tip1', runOf('push'), one],
    ['a run after a review', 'tip1', runOf('pull_request_review'), one],
    ['a push without a pull request', 'a1', eventOf('push', {}, { sha: 'a1' }), none],
    ['a run after a push without one', 'merge1', runOf('push'), none],
    ['a comment on an issue', 'merge1', eventOf('issue_comment', { issue: { number: 3 } }), {}],
    ['a check suite', 'merge1', eventOf('check_suite'), {}],
  ])('%s uses the commit %s, whatever is checked out', async (_, sha, event, answers) => {
    const { readFile } = open({ ...answers, [at('x.json', sha)]: '{"judge":"own"}' }, event);
    expect(await readFile('x.json')).toEqual({ ok: true, text: '{"judge":"own"}' });
  });

  const ofFile = (answer: unknown) => ({ ...tip, [at('x.json')]: answer });
  const missing = /^could not read "x\.json" in o\/r at tip1: GitHub answered 404 .*contents: read/u;
  it.each<[string, string, Answers | null, RegExp]>([
    ['a missing file', 'x.json', tip, missing],
    ['a file outside the repository', '../x.json', tip, /leaves the repository/u],
    ['the workspace itself', '.', tip, /leaves the repository/u],
    ['invalid UTF-8', 'x.json', ofFile('\xff'), /not valid UTF-8/u],
    ['a large file', 'x.json', ofFile('x'.repeat(4 * 1024 ** 2 + 1)), /larger than 4 MiB/u],
    ['a refusal', 'x.json', ofFile(403), /permissions: contents: read/u],
  ])('refuses %s, and never reads it from the checkout', async (_, file, answers, says) => {
    const expected = { ok: false, problem: expect.stringMatching(says) };
    expect(await open(answers).readFile(file)).toEqual(expected);
  });

  it.each<readonly [string, ReturnType<typeof eventOf>, Answers | null, string]>([
    ['without a token', ofPull, null, 'could not be read: GitHub was not asked: github-token is empty.'],
    ['for an unknown base', ofPull, {}, 'could not be read: GitHub answered 404'],
    ...['pull_request', 'pull_request_review', 'merge_group'].map(
      (name) => [`after a lost ${name}`, runOf(name), none, 'could not be found. Give'] as const,
    ),
  ])('ends the run %s', async (_, event, answers, says) => {
    await expect(open(answers, event).readFile('x.json')).rejects.toMatchObject({
      name: 'InputError',
      message: expect.stringContaining(`The value is base, but the pull request's base ${says}`),
    });
  });
});

it('a file of another repository is read at its ref, or refused', async () => {
  const place = { owner: 'org', repo: 'judges', path: 'a/x.json', ref: 'v1' };
  const answers = { '/repos/org/judges/contents/a/x.json?ref=v1': '{}' };
  expect(await open(answers).readElsewhere(place)).toEqual({ ok: true, text: '{}' });
  const problem = expect.stringMatching(/^could not read "a\/x\.json" in org\/judges at v1: /u);
  expect(await open({}).readElsewhere(place)).toEqual({ ok: false, problem });
});

describe('a pull request that changes its policy', () => {
  const files = [
    { what: 'schema', path: './schema.json' },
    { what: 'gate', path: 'gate.json' },
    { what: 'prompt-file', path: 'task.md' },
  ] as const;
  const changed = (path: string, previous = ''): ChangedFile => ({
    ...{ path, previous, status: 'modified', additions: 1, deletions: 1, patch: null, blob: '' },
  });
  const listed = (of: readonly ChangedFile[], more: string | null = null) => ({ files: of, more });
  const CI = '.github/workflows/ci.yml';
  const ALL = ['schema.json', 'task.md', CI];
  const three = [changed('schema.json'), changed('renamed.md', 'task.md'), changed(CI)];

  /** What is found if GitHub lists these files, or fails, and the run has read that change. A minus: not applied. */
  async function find(
    list: ListedChange | Error | null,
    read: ReadChange | null,
    more: Partial<PolicyOptions> = {},
    event = ofPull,
    policy: readonly PolicyFile[] = files,
  ) {
    const listChangedFiles = () => (list instanceof Error ? Promise.reject(list) : Promise.resolve(list));
    const hub = { ...openHub(event).hub, listChangedFiles };
    const { options } = open({}, event, { workspace: '/nowhere', trusted: 'workspace', hub, ...more });
    const found = await findPolicyChanges(policy, options, read);
    return found.map(({ path: name, applied }) => `${applied ? '' : '-'}${name}`);
  }

  const fromGit: ReadChange = { files: three };
  const gateOnly: ReadChange = { files: [{ path: 'gate.json', previous: null }] };
  const forbidden = new Error('403');
  const cut = listed([changed('task.md')], 'cut');
  it.each<[string, ListedChange | Error | null, ReadChange | null, readonly string[]]>([
    ['GitHub lists it', listed(three), null, ALL],
    ['GitHub refuses, and git knows it', forbidden, fromGit, ALL],
    ['neither knows it', forbidden, null, []],
    ['GitHub lists other files, and all of them', listed([changed('a.js')]), fromGit, []],
    ['GitHub lists the first files', cut, null, ['task.md']],
    ['GitHub lists a part, and git another', cut, gateOnly, ['gate.json', 'task.md']],
    ['there is no pull request', null, fromGit, []],
  ])('is found if %s', async (_, list, read, expected) => {
    expect(await find(list, read)).toEqual(expected);
  });

  it.each<[string, Partial<PolicyOptions>, ReturnType<typeof eventOf>, readonly string[]]>([
    ['not from the change of a push', {}, eventOf('push'), []],
    ['on pull_request_target except for the workflow', {}, eventOf('pull_request_target'), ALL.slice(0, 2)],
    ['except for another workflow', { workflowRef: 'o/other/x.yml@main' }, ofPull, ALL.slice(0, 2)],
    ['without effect on the base', { trusted: 'base' }, ofPull, ['-schema.json', '-task.md', CI]],
  ])('is found %s', async (_, more, event, expected) => {
    expect(await find(forbidden, fromGit, more, event)).toEqual(expected);
  });

  it('is found if it changes a symlink on the path of a policy file, or its target', async () => {
    const judge = mkdtempSync(path.join(workspace, 'judge-'));
    putFiles(judge, { 'strict/gate.json': '{}', 'mild/deep/gate.json': '{}' });
    symlinkSync('./mild/deep', path.join(judge, 'policy'));
    symlinkSync('loop', path.join(judge, 'loop'));
    const among = (...names: readonly string[]) => {
      const list = listed(names.map((name) => changed(name)));
      return find(list, null, { workspace: judge }, ofPull, [{ what: 'gate', path: 'policy/gate.json' }]);
    };
    for (const name of ['policy', 'mild/deep/gate.json', 'policy/gate.json', 'mild'])
      expect(await among(name)).toEqual([name]);
    expect(await among('strict/gate.json', 'polic', 'gate.json', 'mild/deep/other.json')).toEqual([]);
    const loop = [{ what: 'gate', path: 'loop/x' }] as const;
    expect(await find(listed(three), null, { workspace: judge }, ofPull, loop)).toEqual([CI]);
  });
});
