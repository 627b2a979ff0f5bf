import { describe, expect, it } from 'vitest';
import { GitHubError } from '../../src/errors.ts';
import { type CommentOptions, commentBody, createComment } from '../../src/reporters/comment.ts';
import type { CommentText, Report, WrittenComment } from '../../src/reporters/report-types.ts';
import type { Conclusion } from '../../src/types.ts';
import { sampleReport, VIEW } from './sample-report.ts';

const body = (changes: Partial<Report> = {}) => commentBody(sampleReport(changes), VIEW);
const CREATED: WrittenComment = 'created';

/** Reports once and returns the written comments and notices. */
async function reportComment(
  options: Partial<CommentOptions> = {},
  changes: Partial<Report> = {},
  written = CREATED,
) {
  const comments: CommentText[] = [];
  const notices: string[] = [];
  const reporter = createComment({
    ...VIEW,
    mode: 'always',
    key: 'CI / review',
    async write(comment) {
      comments.push(comment);
      return written;
    },
    notice: (text) => void notices.push(text),
    ...options,
  });
  expect(reporter).toMatchObject({ name: 'comment', network: true });
  const result = await reporter.report?.(sampleReport(changes), new AbortController().signal);
  return { result, comments, notices };
}

describe('the pull request comment', () => {
  it('contains the key, the commit and the run', async () => {
    const { comments, notices } = await reportComment();
    expect(notices).toEqual([]);
    const { sha } = sampleReport().subject ?? {};
    const text = { key: 'CI / review', commit: sha, runId: '42', attempt: 1, create: true };
    expect(comments).toEqual([{ ...text, body: body() }]);
  });

  it.each<['always' | 'on-failure', Conclusion, boolean]>([
    ['always', 'success', true],
    ['on-failure', 'success', false],
    ['on-failure', 'failure', true],
    ['on-failure', 'inconclusive', true],
    ['on-failure', 'skipped', true],
  ])('with mode %s and conclusion %s, creates a new comment: %s', async (mode, conclusion, create) => {
    const { comments } = await reportComment(
      { mode },
      { verdict: { ...sampleReport().verdict, conclusion } },
    );
    expect(comments.map((comment) => comment.create)).toEqual([create]);
  });

  it.each<[WrittenComment, readonly string[]]>([
    ['no_pull_request', ['No comment: this run is about no open pull request.']],
    ['superseded', ['A newer run has already commented; its comment stays as it is.']],
    ['none', []],
  ])('reports the outcome %j once', async (written, said) => {
    const { notices } = await reportComment({}, {}, written);
    expect(notices).toEqual(said);
  });

  it('is not written outside GitHub', async () => {
    expect((await reportComment({}, { subject: null })).comments).toEqual([]);
  });

  it('is a warning with a fix when GitHub rejects it', async () => {
    const fix = 'Give the job `permissions: pull-requests: write`.';
    const write = () => Promise.reject(new GitHubError(fix, { status: 403 }));
    await expect(reportComment({ write })).rejects.toMatchObject({
      name: 'ReportError',
      message: `The pull request comment could not be written. ${fix}`,
    });
  });
});

// What a comment shows is in `golden/comment/`, and what it leaves out in `page.test.ts`.
it('contains no links outside GitHub, and its last line only there', () => {
  expect(commentBody(sampleReport(), { ...VIEW, serverUrl: null })).not.toContain('](');
  expect(body({ subject: null })).not.toContain('<sub>');
});
