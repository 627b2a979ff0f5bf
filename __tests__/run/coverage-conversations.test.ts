/** Coverage by what the model received: over each wire, in shortened conversations, and in replays. */
import { describe, expect, it } from 'vitest';
import type { Reply } from '../support/fakes/model/server.ts';
import {
  coverageOf,
  endOf,
  judge,
  listedFiles,
  onPullRequest,
  readDiff,
  submit,
} from '../support/worlds/change.ts';

const review = { schema: 'code-review' };
const submits = submit('code-review');
const world = onPullRequest(listedFiles(40));
const [half, rest] = [readDiff(0, 20), readDiff(20, 20)];
const ALL = 'measured, 40 of 40 files, 80 of 80 lines';
const HALF = 'measured, 20 of 40 files, 40 of 80 lines';

describe('the coverage of a run', () => {
  it.each([
    ['openai-compatible', 'on'],
    ['openai-compatible', 'off'],
    ['anthropic', 'on'],
    ['anthropic', 'off'],
  ])('is the same with %s, streamed: %s', async (provider, stream) => {
    const inputs = { ...review, provider, stream, ...(provider === 'anthropic' ? { 'api-key': 'key' } : {}) };
    const judged = await judge([half, submits, rest, submits], inputs, world);
    expect([endOf(judged), judged.report.rejections, coverageOf(judged)]).toEqual([
      'success accepted 0',
      1,
      ALL,
    ]);
    expect(judged.asked[0]?.streamed).toBe(stream === 'on');
    expect(judged.asked[0]?.endpoint).toBe(provider === 'anthropic' ? 'anthropic' : 'chat');
  });

  it('counts the results of several calls in one turn, each by its own path', async () => {
    const both: Reply = { calls: [...(half.calls ?? []), ...(rest.calls ?? [])] };
    expect(coverageOf(await judge([both, submits], review, world))).toBe(ALL);
  });

  it('counts no result of the last turn, which the model never answered', async () => {
    const judged = await judge([half, rest], { 'max-turns': '2' }, world);
    expect([endOf(judged), coverageOf(judged)]).toEqual(['inconclusive max_turns 53', HALF]);
  });
});

describe('in a shortened conversation', () => {
  const tooLong: Reply = {
    status: 400,
    error: { message: 'This model has a maximum context length.', code: 'context_length_exceeded' },
  };

  it('what was received before it was dropped counts', async () => {
    const judged = await judge([half, rest, tooLong, submits], review, world);
    const results = judged.asked
      .at(-1)
      ?.messages.flatMap((each) => (each.role === 'tool' ? [each.text] : []));
    expect(results?.[0]).toMatch(/^This result was dropped/u);
    expect(results?.[1]).toContain('new_file039');
    expect([endOf(judged), coverageOf(judged)]).toEqual(['success accepted 0', ALL]);
  });

  it('what was dropped before it was received does not', async () => {
    const judged = await judge([half, tooLong, rest, submits], review, world);
    const results = judged.asked
      .at(-1)
      ?.messages.flatMap((each) => (each.role === 'tool' ? [each.text] : []));
    expect(results?.[0]).toMatch(/^This result was dropped/u);
    expect([endOf(judged), judged.report.rejections, coverageOf(judged)]).toEqual([
      'inconclusive unread 1',
      1,
      HALF,
    ]);
    const again = await judge([half, tooLong, rest, submits, readDiff(0, 20), submits], review, world);
    expect([endOf(again), coverageOf(again)]).toEqual(['success accepted 0', ALL]);
  });
});
