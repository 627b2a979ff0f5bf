import { describe, expect, it } from 'vitest';
import { createPullRequestFinder } from '../../src/github/pull-request.ts';
import { createContextFinder } from '../../src/github/pull-request-context.ts';
import { createPushContext } from '../../src/github/push-context.ts';
import { answering } from '../support/fakes/github/answers.ts';

const [before, after, none] = ['b'.repeat(40), 'a'.repeat(40), '0'.repeat(40)];
const eventOf = (payload: object, name = 'push') => ({
  ...{ repository: 'o/r', name, sha: after, ref: 'refs/heads/main' },
  payload: { ref: 'refs/heads/main', before, after, commits: [{}, {}], ...payload },
});
const unknown = () => {
  throw new Error('nothing is unknown here');
};

describe('the context of a push', () => {
  it.each([
    ['commits', {}, 'the push of 2 commits to branch "main"'],
    ['no commit', { commits: [] }, 'the push to branch "main"'],
    ['more than are listed', { commits: Array(2_048).fill({}) }, 'the push to branch "main"'],
    ['a tag', { ref: 'refs/tags/v1' }, 'the push of 2 commits to tag "v1"'],
    ['a name like a sentence', { ref: 'refs/heads/x".Pass' }, 'the push of 2 commits to branch "x\\".Pass"'],
  ])('says what was pushed: %s', (_, payload, about) => {
    expect(createPushContext(eventOf(payload))?.subject.about).toBe(about);
  });

  it.each([
    ['a new branch', { before: none }],
    ['a deleted branch', { after: none }],
    ['no base', { before: undefined }],
    ['an invalid base', { before: 'HEAD; true' }],
  ])('is none without a base: %s', (_, payload) => {
    expect(createPushContext(eventOf(payload))).toBeNull();
  });

  it('is made by git, and no request is sent', async () => {
    const { github, asked } = answering({});
    const event = eventOf({});
    const find = createContextFinder(event, createPullRequestFinder(event, github), unknown, unknown, github);
    const found = await find();
    if (found === null || found === 'unknown') throw new Error('no context');
    const { range, diff, listed, base, notes, files } = await found.load();
    expect([diff, listed, base]).toEqual(['missing', null, before]);
    expect(range).toEqual({ base: before, head: after, mayBeEmpty: true });
    expect(notes).toEqual([expect.stringContaining('set fetch-depth: 0 of actions/checkout')]);
    expect(asked).toEqual([]);
    const text = [true, false].map((byGit) => files(byGit).get('README.md')).join('=====\n');
    await expect(text).toMatchFileSnapshot('../golden/context-push.txt');
  });

  it('does not promise that a commit before a force push can be fetched', async () => {
    const loaded = await createPushContext(eventOf({ forced: true }))?.load();
    expect(loaded?.notes).toEqual([expect.stringContaining('may be in no branch any more')]);
  });
});

describe('the context of a merge group', () => {
  const group = { merge_group: { head_sha: after, base_sha: before } };
  const event = { ...eventOf(group, 'merge_group'), ref: 'refs/heads/gh-readonly-queue/main/pr-7-abc' };
  const pull = {
    ...{ number: 7, title: 'Add it', body: '', changed_files: 1, user: { login: 'mona' } },
    ...{ head: { ref: 'topic', sha: 'c'.repeat(40) }, base: { ref: 'main', sha: 'd'.repeat(40) } },
  };
  const row = {
    ...{ path: 'a.js', previous: '', status: 'modified', additions: 1, deletions: 0, blob: '' },
    patch: '@@ -0,0 +1 @@\n+a',
  };

  it('is what git finds in the group, with the title of the pull request, and what GitHub lists beside it', async () => {
    const { github } = answering({ '/repos/o/r/pulls/7': pull });
    const list = async () => [row];
    const found = await createContextFinder(event, createPullRequestFinder(event, github), list, unknown)();
    if (found === null || found === 'unknown') throw new Error('no context');
    expect(found.subject.about).toBe('pull request #7 in the merge queue');
    const loaded = await found.load();
    expect([loaded.diff, loaded.range, loaded.base]).toEqual([
      'complete',
      { base: before, head: after },
      before,
    ]);
    expect(loaded.listed).toEqual({ files: [row], more: null });
    expect([...loaded.files(true).keys()]).toEqual(['README.md', 'pull-request.md']);
    expect([...loaded.files(false).keys()]).toContain('diff.patch');
  });
});

describe('the attributes of the base of a pull request', () => {
  const payload = {
    pull_request: {
      ...{ number: 7, title: '', body: '', changed_files: 0 },
      ...{ head: { ref: 'topic', sha: after }, base: { ref: 'main', sha: before } },
    },
  };
  const event = eventOf(payload, 'pull_request');
  const read = async (github: ReturnType<typeof answering>['github'] | null) => {
    const finder = createPullRequestFinder(event, github);
    const found = await createContextFinder(event, finder, async () => [], unknown, github)();
    if (found === null || found === 'unknown') throw new Error('no context');
    return (await found.load()).readBaseAttributes();
  };
  const place = `/repos/o/r/contents/.gitattributes?ref=${before}`;

  it.each([
    ['are read at the base', { [place]: 'dist/** linguist-generated' }, 'dist/** linguist-generated'],
    ['are none without the file', {}, null],
    ['are none where GitHub does not answer', { [place]: new Error('unreachable') }, null],
  ])('%s', async (_, answers, text) => {
    expect(await read(answering(answers).github)).toBe(text);
  });

  it('are none without a token', async () => {
    expect(await read(null)).toBeNull();
  });
});
