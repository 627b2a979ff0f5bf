/** The coverage of a replay is measured again, by what the tools of the replay return. */
import { describe, expect, it } from 'vitest';
import { coverageOf, endOf, listedFiles, onPullRequest, readDiff, submit } from '../support/worlds/change.ts';
import { record, replay } from '../support/worlds/recorded-run.ts';

const world = onPullRequest(listedFiles(40));
const inputs = { schema: 'code-review' };
const [half, rest, submits] = [readDiff(0, 20), readDiff(20, 20), submit('code-review')];

describe('a replay', () => {
  it.each([
    ['accepted', [half, submits, rest, submits], 'success accepted 0', '40 of 40 files, 80 of 80 lines'],
    ['unread', [half, submits, submits], 'inconclusive unread 1', '20 of 40 files, 40 of 80 lines'],
  ] as const)('of a run that ended %s ends so, too', async (_, replies, end, coverage) => {
    const first = await record(replies, inputs, world);
    const second = await replay(inputs, world);
    for (const each of [first, second]) {
      expect([endOf(each), coverageOf(each)]).toEqual([end, `measured, ${coverage}`]);
      expect(each.report.rejections).toBe(1);
    }
  });

  it('in which the files are others is judged by those', async () => {
    await record([half, rest, submits], inputs, world);
    const second = await replay(inputs, onPullRequest(listedFiles(41)));
    expect(coverageOf(second)).toBe('measured, 40 of 41 files, 80 of 82 lines');
    expect(second.report.payload).toBeNull();
    expect(endOf(second)).not.toContain('accepted');
  });
});
