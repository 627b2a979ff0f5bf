import { describe, expect, it } from 'vitest';
import { GitHubError } from '../../src/errors.ts';
import { type CommentOptions, commentBody, createComment } from '../../src/reporters/comment.ts';
import type { CommentText, Report, WrittenComment } from '../../src/reporters/report-types.ts';
import type { Conclusion } from '../../src/types.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { sampleReport } from './sample-report.ts';

const facts = { secrets: knowSecrets('sk-canary_0123'), serverUrl: 'https://github.com' };
const body = (changes: Partial<Report> = {}, key = 'CI / review (ubuntu, 24)') =>
  commentBody(sampleReport(changes), key, facts);
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
    ...facts,
    mode: 'always',
    key: 'CI / review',
    async write(comment) {
      comments.push(comment);
      return written;
    },
    notice: (text) => void notices.push(text),
    ...options,
  });
  expect(reporter).toMatchObject({ name: 'comment', network: true, repeatable: true });
  const result = await reporter.report?.(sampleReport(changes), new AbortController().signal);
  return { result, comments, notices };
}

describe('the pull request comment', () => {
  it('contains the key, the commit and the run', async () => {
    const { comments, notices } = await reportComment();
    expect(notices).toEqual([]);
    const { sha } = sampleReport().subject ?? {};
    const text = { key: 'CI / review', commit: sha, runId: '42', attempt: 1, create: true };
    expect(comments).toEqual([{ ...text, body: body({}, 'CI / review') }]);
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
    [{ outcome: 'no_pull_request', url: null }, ['No comment: this run is about no open pull request.']],
    [
      { ...CREATED, outcome: 'superseded' },
      ['A newer run has already commented; its comment stays as it is.'],
    ],
    [{ outcome: 'none', url: null }, []],
  ])('reports the outcome %j once', async (written, said) => {
    const { notices } = await reportComment({}, {}, written);
    expect(notices).toEqual(said);
  });

  it('is not written outside GitHub', async () => {
    expect((await reportComment({}, { subject: null })).comments).toEqual([]);
  });

  it('is a warning with a fix when GitHub rejects it', async () => {
    const fix = 'Give the job `permissions: pull-requests: write`.';
    const write = () => Promise.reject(new GitHubError('forbidden', fix, { status: 403 }));
    await expect(reportComment({ write })).rejects.toMatchObject({
      name: 'ReportError',
      message: `The pull request comment could not be written. ${fix}`,
    });
  });
});

// What a comment shows is in `golden/comment/`.
describe('the text of a comment', () => {
  /** GitHub's limit of 65,536 characters minus at most 200 for the marker. */
  const LIMIT = 65_536 - 200;
  const rows = (count: number, message: string) => Array.from({ length: count }, () => ({ message }));

  it('shows fewer rows than the summary, no large JSON, and links to the full result', () => {
    const text = body({ payload: { text: 'x'.repeat(20_000), findings: rows(200, 'y') } });
    expect(text).toContain('and 150 more rows');
    expect(text).not.toContain('Payload as JSON');
    expect(text).toContain(
      "> Too large for a comment: the raw JSON. See [the run's summary](https://github.com/octo/demo/actions/runs/42/attempts/1), or the file that the output `run-result-file` names.",
    );
  });

  const cells = (cell: string) => Object.fromEntries('abcdefgh'.split('').map((key) => [key, cell]));
  const full = (character: string): [string, Partial<Report>] => {
    const cell = character.repeat(3_000);
    const findings = Array.from({ length: 200 }, () => cells(cell));
    return [`a payload full of ${JSON.stringify(character)}`, { payload: { summary: cell, findings } }];
  };
  it.each<[string, Partial<Report>]>([
    ...['x', '你', '🐙', '&', '|', '\n', '@'].map(full),
    ['a large header', { weaknesses: Array(25).fill('w'.repeat(900)) }],
    ['a header that exceeds it', { weaknesses: Array(500).fill('weak '.repeat(100)) }],
  ])("stays within GitHub's limit with %s", (_, changes) => {
    const text = body(changes);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMIT);
    expect(text).toContain('## ✅ Success');
  });

  it('contains no links outside GitHub', () => {
    expect(commentBody(sampleReport(), 'key', { ...facts, serverUrl: null })).not.toContain('](');
    expect(body({ subject: null })).not.toContain('<sub>');
  });

  it.each([
    ['CI / review / null / __octo_agent', 'CI &#47; review'],
    [
      'CI / {\n  "os": "linux"\n} / judge',
      'CI &#47; &#123; &#34;os&#34;: &#34;linux&#34; &#125; &#47; judge',
    ],
    ['a sk-canary_0123', 'a &#42;&#42;&#42;'],
  ])('shows the key %j without its meaningless parts', (key, shown) => {
    expect(body({}, key)).toContain(`<code>${shown}</code></sub>`);
  });
});
