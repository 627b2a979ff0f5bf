import { expect, it } from 'vitest';
import { LaterPushError } from '../../src/github/changed-files.ts';
import type { EventFacts } from '../../src/github/event.ts';
import { eventOf, ofComment, ofGroup, openHub, pullAs } from './world.ts';

const row = (more: object = {}) => ({
  ...{ filename: 'a.js', status: 'modified', additions: 1, deletions: 0, patch: '+a', sha: 'f1' },
  ...more,
});
const at = (sha: string, changed_files = 1) =>
  pullAs(7, { head: { ref: 'topic', sha, repo: null }, changed_files });
const ofPull = { pull_request: at('judged') };

function list(
  name: string,
  payload: EventFacts['payload'],
  checkedOut: string | null,
  pull: object,
  rows: unknown,
) {
  const answers = { '/repos/o/r/pulls/7/files': rows, '/repos/o/r/pulls/7': pull };
  return openHub(eventOf(name, payload), answers, checkedOut).hub.listChangedFiles();
}

it('a listed file has its status, names, counts, blob and patch', async () => {
  const names = { filename: 'b.js', status: 'renamed', previous_filename: 'c.js' };
  const rows = [row(), row({ ...names, patch: undefined, sha: null })];
  const counts = { additions: 1, deletions: 0 };
  expect(await list('pull_request', ofPull, null, at('judged', 2), rows)).toEqual({
    files: [
      { path: 'a.js', previous: '', status: 'modified', ...counts, patch: '+a', blob: 'f1' },
      { path: 'b.js', previous: 'c.js', status: 'renamed', ...counts, patch: null, blob: '' },
    ],
    more: null,
  });
});

it.each([
  ['pull_request', ofPull, 'judged', 'later', 'which was pushed later'],
  ['pull_request', ofPull, null, 'later', 'which was pushed later'],
  ['pull_request_target', ofPull, 'merge1', 'later', 'which was pushed later'],
  ['issue_comment', ofComment, 'judged', 'later', 'which is not checked out'],
  ['pull_request', ofPull, 'judged', 'judged', null],
  ['issue_comment', ofComment, 'judged', 'judged', null],
  ['issue_comment', ofComment, 'merge1', 'later', null],
  ['issue_comment', ofComment, null, 'later', null],
  ['merge_group', { ...ofComment, ...ofGroup }, 'judged', 'later', null],
])(
  'the files of a push after the judged commit are not used: %s',
  async (name, payload, checkout, head, why) => {
    const failure = await list(name, payload, checkout, at(head), [row()]).catch((error: unknown) => error);
    if (why === null) expect(failure).toMatchObject({ files: [{ path: 'a.js' }] });
    else expect(String(failure)).toContain(`GitHub lists the files of later, ${why}`);
    expect(failure instanceof LaterPushError).toBe(why !== null);
  },
);

const many = (count: number) => Array.from({ length: count }, () => row());
const large = row({ patch: `+${'x'.repeat(2_500_000)}` });
it.each([
  ['fewer files than changed', many(1), 5, 'GitHub lists 1 of 5 changed files.'],
  ['no file of none', [], 0, null],
  ['all files', many(2_999), 2_999, null],
  ['as many as it can', many(3_000), 3_000, 'GitHub lists 3000 of 3000 changed files.'],
  ['a diff of 5 MB', [large, large], 2, 'Of the diff, 4 MB are known.'],
])('says what is missing if GitHub lists %s', async (_, rows, count, more) => {
  const listed = await list('pull_request', ofPull, null, at('judged', count), rows);
  expect(listed?.more).toBe(more);
  if (rows[0] === large) expect(listed?.files.map(({ patch }) => patch === null)).toEqual([false, true]);
});

it('a refusal is an error, and without a pull request there are no files', async () => {
  expect(await openHub(eventOf('schedule')).hub.listChangedFiles()).toBeNull();
  await expect(list('pull_request', ofPull, null, at('judged'), 422)).rejects.toMatchObject({ status: 422 });
});
