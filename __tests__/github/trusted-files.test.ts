import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { GitHubError } from '../../src/errors.ts';
import type { EventFacts } from '../../src/github/event.ts';
import { createPullRequestFinder } from '../../src/github/pull-request.ts';
import {
  createPolicyFiles,
  type PolicyFilesOptions,
  repositoryPath,
} from '../../src/github/trusted-files.ts';
import { type Answers, answering } from '../support/fakes/github/answers.ts';
import { makeFolder } from '../support/surroundings.ts';

const workspace = makeFolder();
mkdirSync(path.join(workspace, 'sub', '.git'), { recursive: true });
mkdirSync(path.join(workspace, 'sub', 'judges', '.git'), { recursive: true });
/** The commit of the event, and another one that an earlier step checked out. */
const [own, other] = ['c'.repeat(40), 'd'.repeat(40)];
for (const [name, sha] of Object.entries({ own, other })) {
  mkdirSync(path.join(workspace, name, '.git'), { recursive: true });
  writeFileSync(path.join(workspace, name, '.git', 'HEAD'), `${sha}\n`);
}

const pull = {
  number: 7,
  base: { ref: 'main', sha: 'b1', repo: { full_name: 'o/r' } },
  head: { ref: 'topic', sha: 'a1', repo: null },
};
const tip = { '/repos/o/r/commits/heads/main': { sha: 'tip1' } };
const at = (file: string, ref = 'tip1') => `/repos/o/r/contents/${file}?ref=${ref}`;

function open(
  answers: Answers,
  { event = {}, ...more }: Partial<Omit<PolicyFilesOptions, 'event'>> & { event?: Partial<EventFacts> } = {},
) {
  const { github, asked } = answering(answers);
  const ofPull = { name: 'pull_request', payload: { pull_request: pull } };
  const facts = { repository: 'o/r', sha: 'm', ref: '', ...ofPull, ...event };
  const client = more.github === undefined ? github : more.github;
  const files = createPolicyFiles({
    trusted: 'base',
    event: facts,
    finder: createPullRequestFinder(facts, client),
    github: client,
    anonymous: github,
    workspace,
    readLocal: async (file) => ({ ok: true, text: `local ${file}` }),
    maxBytes: 4 * 1024 * 1024,
    ...more,
  });
  return { files, asked };
}

describe('with trusted-files: base', () => {
  it('reads a file at the tip of the base branch, which is looked up once', async () => {
    const { files, asked } = open({ ...tip, [at('a/judge.json')]: '\xef\xbb\xbf{}', [at('b.json')]: '[]' });
    expect(await files.readFile('a/judge.json')).toEqual({ ok: true, text: '{}' });
    expect(await files.readFile('./b.json')).toEqual({ ok: true, text: '[]' });
    expect(asked).toEqual(['/repos/o/r/commits/heads/main', at('a/judge.json'), at('b.json')]);
  });

  it('reads a file of a checkout in a folder from that repository’s root', async () => {
    const { files } = open({ ...tip, [at('x.json')]: '{}' });
    expect(await files.readFile('sub/x.json')).toEqual({ ok: true, text: '{}' });
  });

  it('uses the commit of the group in a merge queue', async () => {
    const event = {
      name: 'merge_group',
      ref: 'refs/heads/gh-readonly-queue/main/pr-7-abc',
      payload: { merge_group: { head_sha: 'g', base_sha: 'm1' } },
    };
    const { files } = open({ '/repos/o/r/pulls/7': pull, [at('x.json', 'm1')]: '{}' }, { event });
    expect(await files.readFile('x.json')).toEqual({ ok: true, text: '{}' });
  });

  it.each([
    ['push', {}, `/repos/o/r/commits/${own}/pulls`],
    ['issue_comment', { issue: { number: 3 } }, null],
    ['check_suite', { check_suite: { head_sha: other } }, null],
    [
      'workflow_run',
      { workflow_run: { event: 'push', head_sha: other } },
      `/repos/o/r/commits/${other}/pulls`,
    ],
  ])(
    '%s without a pull request uses the commit of the event, whatever is checked out',
    async (name, payload, request) => {
      const event = { name, payload, sha: own };
      const found = request === null ? {} : { [request]: [] };
      const { files, asked } = open({ ...found, [at('x.json', own)]: '{"judge":"own"}' }, { event });
      expect(await files.readFile('own/x.json')).toEqual({ ok: true, text: 'local own/x.json' });
      expect(asked).toEqual(request === null ? [] : [request]);
      for (const file of ['other/x.json', 'x.json'])
        expect(await files.readFile(file)).toEqual({ ok: true, text: '{"judge":"own"}' });
      expect(await open(found, { event }).files.readFile('other/x.json')).toMatchObject({
        ok: false,
        problem: expect.stringContaining(`at the commit of the event (${own.slice(0, 12)})`),
      });
    },
  );

  it.each([
    ['push', {}, 'm'],
    ['workflow_run', { workflow_run: { event: 'push', head_sha: 'a1' } }, 'a1'],
    ['workflow_run', { workflow_run: { event: 'pull_request_review', head_sha: 'a1' } }, 'a1'],
  ])('uses the base for %s of a pull request’s commit %j', async (name, payload, sha) => {
    const open7 = { ...pull, state: 'open', head: { ...pull.head, sha } };
    const { files } = open(
      { [`/repos/o/r/commits/${sha}/pulls`]: [open7], ...tip, [at('x.json')]: '{}' },
      { event: { name, payload } },
    );
    expect(await files.readFile('x.json')).toEqual({ ok: true, text: '{}' });
  });

  const tooLarge = new GitHubError('too_large', 'Too large.');
  it.each<[string, string, Answers, RegExp, boolean]>([
    ['a missing file', 'x.json', tip, /^could not read "x\.json" at the pull request's base \(tip1\)/u, true],
    ['a file outside the repository', '../x.json', tip, /leaves the repository/u, false],
    ['invalid UTF-8', 'x.json', { ...tip, [at('x.json')]: '\xff' }, /not valid UTF-8/u, false],
    ['a large file', 'x.json', { ...tip, [at('x.json')]: tooLarge }, /larger than 4 MiB/u, false],
  ])('refuses %s, and never reads it from the checkout', async (_, file, answers, says, isMissing) => {
    const problem = expect.stringMatching(says);
    const expected = { ok: false, problem, ...(isMissing ? { isMissing } : {}) };
    expect(await open(answers).files.readFile(file)).toEqual(expected);
  });

  it.each([
    ['a missing token', {}, { github: null }, /^It is empty, and trusted-files: base needs it\./u],
    [
      'an unknown base',
      {},
      {},
      /^The value is base, but .* base could not be read: GitHub knows no such thing/u,
    ],
  ])('%s ends the run', async (_, answers, more, says) => {
    await expect(open(answers, more).files.readFile('x.json')).rejects.toMatchObject({
      name: 'InputError',
      message: expect.stringMatching(says),
    });
  });

  it.each(['pull_request', 'pull_request_review', 'pull_request_review_comment', 'merge_group'])(
    'ends the run after %s when the pull request is not found',
    async (name) => {
      const event = { name: 'workflow_run', payload: { workflow_run: { event: name, head_sha: 'a1' } } };
      const { files } = open({ '/repos/o/r/commits/a1/pulls': [] }, { event });
      await expect(files.readFile('x.json')).rejects.toMatchObject({
        name: 'InputError',
        message: expect.stringMatching(
          /^The value is base, but the pull request of this run could not be found/u,
        ),
      });
    },
  );
});

it('trusted-files: workspace sends no requests', async () => {
  const { files, asked } = open({}, { trusted: 'workspace' });
  expect(await files.readFile('x.json')).toEqual({ ok: true, text: 'local x.json' });
  expect(asked).toEqual([]);
});

describe('a file of another repository', () => {
  const place = { owner: 'org', repo: 'judges', path: 'a/x.json', ref: 'v1' };
  const answers = { '/repos/org/judges/contents/a/x.json?ref=v1': '{}' };

  it.each([{}, { github: null }])('is read with or without a token: %j', async (more) => {
    expect(await open(answers, more).files.readElsewhere(place)).toEqual({ ok: true, text: '{}' });
  });

  it('is refused with the possible causes when it is missing', async () => {
    const reading = await open({}).files.readElsewhere(place);
    expect(reading).toEqual({
      ok: false,
      problem:
        'could not read "a/x.json" in org/judges at v1: there is no such file, or the token may not read that repository.',
      isMissing: true,
    });
  });
});

it.each([
  ['a/b.json', 'a/b.json'],
  ['sub/a/../b.json', 'b.json'],
  ['sub/judges/b.json', 'judges/b.json'],
  ['../b.json', null],
  ['.', null],
])('maps the workspace’s %s to the repository’s %s', (file, expected) => {
  expect(repositoryPath(file, workspace)).toBe(expected);
});
