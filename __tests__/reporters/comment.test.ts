import { describe, expect, it } from 'vitest';
import { GitHubError, ReportError } from '../../src/errors.ts';
import { type CommentOptions, createComment } from '../../src/reporters/comment.ts';
import type { CommentText, Report, WrittenComment } from '../../src/reporters/report-types.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { Conclusion } from '../../src/types.ts';
import { sampleReport } from './sample-report.ts';

const signal = new AbortController().signal;
const CREATED: WrittenComment = {
  outcome: 'created',
  url: 'https://github.com/octo/demo/pull/7#issuecomment-1',
};

/** Reports once and returns the written comments and notices. */
async function reportComment(
  options: Partial<CommentOptions> = {},
  changes: Partial<Report> = {},
  written = CREATED,
) {
  const comments: CommentText[] = [];
  const notices: string[] = [];
  const reporter = createComment({
    mode: 'always',
    key: 'CI / review',
    secrets: createSecrets(),
    serverUrl: 'https://github.com',
    async write(comment) {
      comments.push(comment);
      return written;
    },
    notice: (text) => void notices.push(text),
    ...options,
  });
  const result = await reporter.report?.(sampleReport(changes), signal);
  return { result, comments, notices };
}

describe('the pull request comment', () => {
  it('contains the key, the commit and the run, and its URL is returned', async () => {
    const { result, comments, notices } = await reportComment();
    expect(result).toEqual({ commentUrl: CREATED.url });
    expect(comments).toEqual([
      {
        key: 'CI / review',
        commit: sampleReport().subject?.sha,
        runId: '42',
        attempt: 1,
        create: true,
        body: expect.stringContaining('## ✅ Success: the gate is met'),
      },
    ]);
    expect(notices).toEqual([]);
  });

  it.each([
    '',
    'javascript:alert(1)',
    ...['$(id)', '`id`', ';id', '\ny', '&'].map((end) => `https://x/${end}`),
  ])('returns no URL when the URL is %j', async (url) => {
    expect((await reportComment({}, {}, { outcome: 'created', url })).result).toBeUndefined();
  });

  it.each([
    ['always', 'success', true],
    ['always', 'skipped', true],
    ['on-failure', 'success', false],
    ['on-failure', 'failure', true],
    ['on-failure', 'inconclusive', true],
    ['on-failure', 'skipped', true],
  ] as const)(
    'with mode %s and conclusion %s, creates a new comment: %s',
    async (mode, conclusion: Conclusion, create) => {
      const { comments } = await reportComment(
        { mode },
        { verdict: { ...sampleReport().verdict, conclusion } },
      );
      expect(comments.map((comment) => comment.create)).toEqual([create]);
    },
  );

  it.each<[WrittenComment, readonly string[]]>([
    [{ outcome: 'no_pull_request', url: null }, ['No comment: this run is about no open pull request.']],
    [
      { ...CREATED, outcome: 'superseded' },
      ['A newer run has already commented; its comment stays as it is.'],
    ],
    [{ outcome: 'none', url: null }, []],
  ])('reports the outcome %j once and returns the existing URL', async (written, said) => {
    const { result, notices } = await reportComment({}, {}, written);
    expect([result, notices]).toEqual([written.url === null ? undefined : { commentUrl: written.url }, said]);
  });

  it('is not written outside GitHub', async () => {
    expect((await reportComment({}, { subject: null })).comments).toEqual([]);
  });

  it('is a warning with a fix when GitHub rejects it', async () => {
    const refused = new GitHubError('forbidden', 'Give the job `permissions: pull-requests: write`.', {
      status: 403,
    });
    const error = await reportComment({ write: () => Promise.reject(refused) }).catch(
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(ReportError);
    expect(error).toMatchObject({
      message:
        'The pull request comment could not be written. Give the job `permissions: pull-requests: write`.',
    });
  });

  it('is a network reporter that can be repeated', () => {
    const reporter = createComment({
      mode: 'always',
      key: '',
      secrets: createSecrets(),
      serverUrl: null,
      write: async () => CREATED,
      notice: () => undefined,
    });
    expect(reporter).toMatchObject({ name: 'comment', network: true, repeatable: true });
  });
});
