import { expect, it } from 'vitest';
import { LaterPushError } from '../../src/github/changed-files.ts';
import type { EventFacts } from '../../src/github/event.ts';
import { eventOf, ofComment, openHub, pullAs } from './world.ts';

const [judged, later, base, merge] = ['judged', 'later', 'merge1', 'group'];
const row = (more: object = {}) => ({
  ...{ filename: 'a.js', status: 'modified', additions: 1, deletions: 0, patch: '+a', sha: 'f1' },
  ...more,
});
const at = (sha: string, changed_files = 1) =>
  pullAs(7, { head: { ref: 'topic', sha, repo: null }, changed_files });
const ofPull = { pull_request: at(judged) };

function list(
  name: string,
  payload: EventFacts['payload'],
  checkedOut: string | null,
  pull: object,
  rows = [row()],
) {
  const answers = { '/repos/o/r/pulls/7/files': rows, '/repos/o/r/pulls/7': pull };
  return openHub(eventOf(name, payload), answers, checkedOut).hub.listChangedFiles();
}

it('a listed file has its status, names, counts, blob and patch', async () => {
  const moved = {
    filename: 'b.js',
    status: 'renamed',
    previous_filename: 'c.js',
    patch: undefined,
    sha: null,
  };
  const listed = await list('pull_request', ofPull, null, at(judged, 2), [row(), row(moved)]);
  const counts = { additions: 1, deletions: 0 };
  expect(listed).toEqual({
    files: [
      { path: 'a.js', previous: '', status: 'modified', ...counts, patch: '+a', blob: 'f1' },
      { path: 'b.js', previous: 'c.js', status: 'renamed', ...counts, patch: null, blob: '' },
    ],
    more: null,
  });
});

it.each([
  ['pull_request', ofPull, judged, later, 'which was pushed later'],
  ['pull_request', ofPull, null, later, 'which was pushed later'],
  ['pull_request_target', ofPull, base, later, 'which was pushed later'],
  ['issue_comment', ofComment, judged, later, 'which is not checked out'],
  ['pull_request', ofPull, judged, judged, null],
  ['issue_comment', ofComment, judged, judged, null],
  ['issue_comment', ofComment, base, later, null],
  ['issue_comment', ofComment, null, later, null],
  ['merge_group', { ...ofComment, merge_group: { head_sha: merge, base_sha: base } }, judged, later, null],
])(
  'the files of a push after the judged commit are not used: %s',
  async (name, payload, checkout, head, why) => {
    const listing = list(name, payload, checkout, at(head));
    if (why === null) expect((await listing)?.files.length).toBe(1);
    else {
      await expect(listing).rejects.toBeInstanceOf(LaterPushError);
      await expect(listing).rejects.toThrow(`GitHub lists the files of later, ${why}`);
    }
  },
);

const many = (count: number) => Array.from({ length: count }, () => row());
const large = row({ patch: `+${'x'.repeat(2_500_000)}` });
it.each([
  ['fewer files than changed', many(1), 5, 'GitHub lists 1 of 5 changed files.'],
  ['no file', [], 1, 'GitHub lists 0 of 1 changed files.'],
  ['no file of none', [], 0, null],
  ['all files', many(2_999), 2_999, null],
  ['the first files', many(3_000), 3_001, 'GitHub lists 3000 of 3001 changed files.'],
  ['as many as it can', many(3_000), 3_000, 'GitHub lists 3000 of 3000 changed files.'],
  ['a diff of 5 MB', [large, large], 2, 'Of the diff, 4 MB are known.'],
])('says what is missing if GitHub lists %s', async (_, rows, count, more) => {
  const listed = await list('pull_request', ofPull, null, at(judged, count), rows);
  expect(listed?.more).toBe(more);
  if (rows[0] === large) expect(listed?.files.map(({ patch }) => patch === null)).toEqual([false, true]);
});

it.each([403, 422])('status %i of the list is an error', async (status) => {
  const answers = { '/repos/o/r/pulls/7/files': status, '/repos/o/r/pulls/7': at(judged) };
  const { hub } = openHub(eventOf('pull_request', ofPull), answers);
  await expect(hub.listChangedFiles()).rejects.toMatchObject({ name: 'GitHubError', status });
});

it('without a pull request there are none', async () => {
  expect(await openHub(eventOf('schedule')).hub.listChangedFiles()).toBeNull();
});
