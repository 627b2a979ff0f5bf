/** The coverage of a replay is measured again, by what the tools of the replay return. */
import { expect, it } from 'vitest';
import { coverageOf, endOf, listedFiles, onPullRequest, readDiff, submit } from '../support/worlds/change.ts';
import { record, replay } from '../support/worlds/recorded-run.ts';

// With sandbox: off the context files are in another folder in each run.
const inputs = { schema: 'code-review', sandbox: 'required', 'min-coverage': 'auto' };
const [half, rest, submits] = [readDiff(0, 20), readDiff(20, 20), submit('code-review')];

it('a replay ends as the run did, and is judged by its own files', async () => {
  const world = onPullRequest(listedFiles(40));
  for (const each of [
    await record([half, submits, rest, submits], inputs, world),
    await replay(inputs, world),
  ])
    expect([endOf(each), coverageOf(each), each.report.rejections]).toEqual([
      'success accepted 0',
      'measured, 40 of 40 files',
      1,
    ]);
  const others = await replay(inputs, onPullRequest(listedFiles(41)));
  expect(coverageOf(others)).toBe('measured, 40 of 41 files');
  expect(others.report.payload).toBeNull();
});
