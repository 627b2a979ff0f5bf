import { expect, it } from 'vitest';
import { createChangedFiles, findPolicyChanges, LaterPushError } from '../../src/github/changed-files.ts';
import type { JudgedCommit } from '../../src/github/checked-out.ts';
import { createPullRequestFinder } from '../../src/github/pull-request.ts';
import { createContextFinder } from '../../src/github/pull-request-context.ts';
import { answering } from '../support/fakes/github/answers.ts';

const [judged, later] = ['a'.repeat(40), 'b'.repeat(40)];
const [base, merge] = ['c'.repeat(40), 'd'.repeat(40)];
const pullAt = (sha: string) => ({ number: 7, base: { ref: 'main', sha: base }, head: { ref: 't', sha } });
const file = (head: string, status = 'modified') => ({
  ...{ filename: 'a.js', status, additions: 1, deletions: 0, patch: '+a' },
  contents_url: `https://api.github.com/repos/o/r/contents/a.js?ref=${head}`,
});

function open(name: string, payload: object, files: readonly object[], checkedOut: JudgedCommit | null) {
  const event = { repository: 'o/r', name, sha: base, ref: '', payload };
  const { github } = answering({ '/repos/o/r/pulls/7/files': files, '/repos/o/r/pulls/7': pullAt(later) });
  const finder = createPullRequestFinder(event, github, checkedOut);
  return { event, finder, list: createChangedFiles(event, finder, github, checkedOut) };
}

const ofPull = { pull_request: pullAt(judged) };
const ofComment = { issue: { number: 7, pull_request: {} } };
const alone = { sha: judged, parents: [later] };

it.each([
  ['pull_request', ofPull, alone],
  ['pull_request', ofPull, null],
  ['pull_request_target', ofPull, { sha: base, parents: [] }],
  ['issue_comment', ofComment, alone],
  ['issue_comment', ofComment, { sha: merge, parents: [base, judged] }],
])('the files of a push after the checkout are not used: %s', async (name, payload, checkout) => {
  const { event, finder, list } = open(name, payload, [file(later, 'removed'), file(later)], checkout);
  await expect(list()).rejects.toThrow(LaterPushError);
  const context = await createContextFinder(event, finder, list, () => undefined)();
  if (context === null || context === 'unknown') throw new Error('no context');
  expect(await context.load()).toMatchObject({
    diff: 'missing',
    range: { base, head: name === 'issue_comment' ? '' : judged },
    notes: [
      expect.stringContaining(`GitHub lists the files of ${later.slice(0, 12)}, which was pushed later`),
    ],
  });
  const changes = await findPolicyChanges([{ what: 'schema', path: 'schema.json' }], {
    ...{ event, changed: list, workspace: '/nowhere', trusted: 'workspace', workflowRef: '' },
  });
  expect(changes).toEqual([{ what: 'schema', path: 'schema.json', applied: true, unlisted: true }]);
});

it.each([
  ['nothing but deletions', [file(later, 'removed')]],
  ['nothing', []],
])('a push after the checkout is detected when its list has no head, because it has %s', async (_, files) => {
  await expect(open('pull_request', ofPull, files, alone).list()).rejects.toThrow(LaterPushError);
  const { list } = open('issue_comment', ofComment, files, { ...alone, sha: later });
  expect(await list()).toHaveLength(files.length);
});

it.each([
  ['pull_request', ofPull, alone, judged],
  ['issue_comment', ofComment, alone, judged],
  ['issue_comment', ofComment, { sha: merge, parents: [base, judged] }, judged],
  ['issue_comment', ofComment, { sha: base, parents: [] }, later],
  ['issue_comment', ofComment, null, later],
  ['merge_group', { ...ofComment, merge_group: { head_sha: merge, base_sha: base } }, alone, later],
])('lists the files of the judged commit: %s', async (name, payload, checkout, head) => {
  const { list } = open(name, payload, [file(base, 'removed'), file(head)], checkout);
  expect(await list()).toHaveLength(2);
});
