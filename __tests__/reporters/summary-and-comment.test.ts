/** What a page shows is in `golden/summary/` and `golden/comment/`; here is what it leaves out, and how it is written. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommentText, Report, WrittenComment } from '../../src/reporters/report-types.ts';
import {
  type CommentOptions,
  createComment,
  createSummary,
  createTimeline,
  renderPage,
} from '../../src/reporters/summary-and-comment.ts';
import { viewOf } from '../../src/reporters/view.ts';
import type { Conclusion } from '../../src/types.ts';
import { makeFolder } from '../support/surroundings.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport, VIEW } from './sample-report.ts';

const MIB = 1024 * 1024;
const folder = makeFolder();
const { signal } = new AbortController();
const page = (changes: Partial<Report> = {}, bytes = MIB, open = 50) =>
  renderPage(viewOf(sampleReport(changes), VIEW), bytes, { open });

it('a page without a name begins with the outcome', () => {
  expect(renderPage(viewOf(sampleReport(), { ...VIEW, name: null }), MIB)).toMatch(/^## ✅ Passed/u);
});

it('a page limits rows and columns, and counts those left out', () => {
  const row = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`c${at}`, at]));
  const text = page({ payload: { list: Array.from({ length: 70 }, () => row) } });
  for (const more of ['20 more rows', '4 more columns']) expect(text).toContain(`… and ${more}`);
});

it('a page folds all but the most severe findings', () => {
  const rows = ['notice', 'error', 'notice'].map((severity, at) => ({ severity, message: `m${at}` }));
  const [open = '', folded] = page({ payload: { rows } }, MIB, 1).split('<summary>2 more rows</summary>');
  const found = [open, folded].map((part) => part?.match(/\| m\d+ \|/gu));
  expect(found).toEqual([['| m1 |'], ['| m0 |', '| m2 |']]);
});

it('a page leaves out the JSON, then rows, then the tables, and names the result file', () => {
  const rows = Array.from({ length: 50 }, (_, at) => ({ at, text: 'é'.repeat(400) }));
  const parts = (bytes: number) => {
    const text = page({ payload: { summary: 'x'.repeat(100), rows } }, bytes);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes);
    const found = ['Payload as JSON', '| 49 |', '| 9 |', '/results/result.json', 'CI &#47; review'];
    return found.map((part) => text.includes(part));
  };
  expect(parts(200_000)).toEqual([true, true, true, false, true]);
  expect(parts(50_000)).toEqual([false, true, true, true, true]);
  expect(parts(20_000)).toEqual([false, false, true, true, true]);
  for (const bytes of [2_000, 200]) expect(parts(bytes)).toEqual([false, false, false, true, true]);
});

const timelineOf = (events: typeof sampleEvents) => {
  const timeline = createTimeline(VIEW.secrets);
  for (const event of events) timeline.event(event);
  return timeline.render();
};

it('a timeline lists turns and calls, each command with its exit code', async () => {
  await expect(timelineOf(sampleEvents)).toMatchFileSnapshot('../golden/timeline.md');
  expect(timelineOf([])).toBe('');
});

it('a timeline shows a call that did not end', () => {
  expect(timelineOf(sampleEvents.slice(0, 5))).toContain(' · not finished |');
});

it('the job summary is appended to the file with the timeline, within the size limit of the runner', async () => {
  const file = path.join(folder, 'summary.md');
  writeFileSync(file, 'before\n\n');
  const summary = createSummary(file, VIEW);
  for (const event of sampleEvents) summary.event?.(event);
  await summary.report?.(sampleReport(), signal);
  expect(readFileSync(file, 'utf8')).toMatch(
    /^before\n\n## ✅ [\s\S]*Timeline: 4 turns[\s\S]*Payload as JSON/u,
  );
  writeFileSync(file, 'x'.repeat(MIB));
  const full = createSummary(file, VIEW).report?.(sampleReport(), signal);
  await expect(full).rejects.toThrow('summary.md has room for 0 bytes only');
  expect(readFileSync(file, 'utf8').length).toBe(MIB);
});

describe('the pull request comment', () => {
  /** Reports once and returns the written comments and notices. */
  async function report(
    options: Partial<CommentOptions> = {},
    changes: Partial<Report> = {},
    written: WrittenComment = 'created',
  ) {
    const comments: CommentText[] = [];
    const notices: string[] = [];
    const reporter = createComment({
      ...VIEW,
      mode: 'always',
      key: 'CI / review',
      write: async (comment) => {
        comments.push(comment);
        return written;
      },
      notice: (text) => void notices.push(text),
      ...options,
    });
    expect(reporter.network).toBe(true);
    await reporter.report?.(sampleReport(changes), signal);
    return { comments, notices };
  }

  it('contains the key, the commit and the run, and folds all but ten rows of a list', async () => {
    const { comments, notices } = await report({}, { payload: { rows: Array(11).fill({ a: 1 }) } });
    expect(notices).toEqual([]);
    const commit = sampleReport().subject?.sha;
    const text = { key: 'CI / review', commit, runId: '42', attempt: 1, create: true };
    const body = expect.stringMatching(/>1 more row<[\s\S]*<sub>\[Run 42\]\(https:/u);
    expect(comments).toEqual([{ ...text, body }]);
  });

  it.each<['always' | 'on-failure', Conclusion, boolean]>([
    ['always', 'success', true],
    ['on-failure', 'success', false],
    ['on-failure', 'failure', true],
    ['on-failure', 'inconclusive', true],
    ['on-failure', 'skipped', true],
  ])('with mode %s and conclusion %s, creates a new comment: %s', async (mode, conclusion, create) => {
    const verdict = { ...sampleReport().verdict, conclusion };
    const { comments } = await report({ mode }, { verdict });
    expect(comments.map((comment) => comment.create)).toEqual([create]);
  });

  it.each<[WrittenComment, readonly string[]]>([
    ['no_pull_request', ['No comment: this run is about no open pull request.']],
    ['superseded', ['A newer run has already commented; its comment stays as it is.']],
    ['none', []],
  ])('reports the outcome %j once', async (written, said) => {
    expect((await report({}, {}, written)).notices).toEqual(said);
  });

  it('is not written outside GitHub, and links to nothing without a server', async () => {
    expect((await report({}, { subject: null })).comments).toEqual([]);
    const { comments } = await report({ serverUrl: null });
    expect(comments[0]?.body).toMatch(/<sub>Run 42 · commit `0123456`<\/sub>\n$/u);
    expect(comments[0]?.body).not.toContain('](');
  });
});
