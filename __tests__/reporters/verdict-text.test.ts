import { describe, expect, it } from 'vitest';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import { createMarkdownSanitizer } from '../../src/reporters/markdown.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { summaryMarkdown } from '../../src/reporters/summary.ts';
import {
  coverageSentence,
  evidenceWarnings,
  gateParagraph,
  gateReasons,
  verdictTitle,
} from '../../src/reporters/verdict-text.ts';
import { DISPLAY } from '../../src/text/limits.ts';
import type { ContextStatus, Coverage, Subject } from '../../src/types.ts';
import { sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';
import { partialCoverage, sampleCoverage, unknownCoverage, unseenCoverage } from './sample-coverage.ts';
import { sampleReport, sampleReusedReport, unpublished } from './sample-report.ts';

// The other titles are in `golden/summary/`.
describe('verdictTitle', () => {
  const mismatch = unpublished('x', { reason: 'replay_mismatch' });
  it.each<[string, Report]>([
    ['🔁 Replay, judged by no model. Success: the gate is met', sampleReport({ replayed: true })],
    [
      '🔁 Replay, judged by no model. Inconclusive: the recording does not fit',
      sampleReport({ ...mismatch, replayed: true }),
    ],
    [
      '⚠️ Inconclusive: cancelled',
      sampleMergedReport(sampleMerged(), unpublished('x', { reason: 'cancelled' })),
    ],
    [
      '☑️ Accepted (reused): no gate was asked for',
      sampleReusedReport({ gate: { status: 'none', issues: [] } }),
    ],
    ['⚠️ Inconclusive: the model gave no verdict', sampleReusedReport(unpublished('x'))],
  ])('is %s', (title, report) => {
    expect(verdictTitle(report)).toBe(title);
  });
});

const secrets = knowSecrets('sk-canary_0123');
const sanitizer = createMarkdownSanitizer(secrets);
const verdictWith = (reason: Report['verdict']['reason'], words?: readonly string[]) => ({
  verdict: { ...sampleReport().verdict, reason },
  gate: { status: 'not_met', issues: [], ...(words === undefined ? {} : { words }) } as const,
});

describe('the descriptions of a gate', () => {
  it('are a list when there are several, and omitted when the message contains them', () => {
    expect(
      gateReasons(verdictWith('gate_not_met', ['wants `a` to be 1', 'wants `b` to be 2']), sanitizer),
    ).toEqual([
      'The gate is not met:',
      '',
      '- It wants <code>a</code> to be 1.',
      '- It wants <code>b</code> to be 2.',
    ]);
    expect(gateReasons(verdictWith('gate_not_met', ['wants `a` to be 1']), sanitizer)).toEqual([]);
    expect(gateReasons(verdictWith('gate_not_met'), sanitizer)).toEqual([]);
    expect(gateReasons(verdictWith('accepted', ['a', 'b']), sanitizer)).toEqual([]);
  });

  it('are a separate paragraph when a signal followed the payload', () => {
    const words = ['wants `passed` to be true; the payload agrees'];
    expect(gateParagraph(verdictWith('cancelled', words), sanitizer)).toContain('The gate wants');
    expect(gateParagraph({ ...verdictWith('accepted'), gate: null }, sanitizer)).toBe('');
  });

  it('are escaped and contain no secret', () => {
    const words = ['wants `<b>` @octocat sk-canary_0123\n::error::x', 'wants [a](http://b)'];
    const text = gateReasons(verdictWith('gate_not_met', words), sanitizer).join('\n');
    for (const sign of ['<b>', '@octocat', 'sk-canary', '[a]', 'http://b', '\n::'])
      expect(text).not.toContain(sign);
  });
});

describe('coverageSentence', () => {
  const file = (path: string, shownHunks = 0) => ({ path, hunks: 4, shownHunks });
  const seven = 'abcdefg'.split('').map((name) => file(name));
  it.each<[Coverage | null, string | null]>([
    [null, null],
    [unknownCoverage, null],
    [sampleCoverage({ files: { changed: 0, required: 0, shown: 0 } }), null],
    [sampleCoverage(), 'All 43 changed files were shown to the model.'],
    [
      sampleCoverage({ files: { changed: 1, required: 1, shown: 0, unseen: [file('a')] } }),
      '0 of 1 changed file was shown to the model; never shown: <a>.',
    ],
    [
      sampleCoverage({
        files: { changed: 2, required: 1, shown: 1, notRequired: [{ path: 'x', why: 'binary' }] },
      }),
      '1 of 1 changed file was shown to the model, 1 other needs not be (binary files).',
    ],
    [
      sampleCoverage({
        files: {
          changed: 3,
          required: 0,
          shown: 0,
          notRequired: [{ path: 'x', why: 'not_in_subject_paths' }],
        },
      }),
      'No changed file had to be shown to the model, 3 files need not be (files outside subject-paths).',
    ],
    [
      sampleCoverage({ files: { shown: 35, unseen: [file('p', 3), ...seven] } }),
      '35 of 43 changed files were shown to the model; never shown: <a>, <b>, <c>, <d>, <e> and 2 more; shown in part: <p> (3 of 4 hunks).',
    ],
    [
      sampleCoverage({ status: 'partial', why: 'Too much. ', files: { shown: 1 } }),
      '1 of 43 changed files was shown to the model; 42 files not shown in whole. This is known in part only: {Too much}.',
    ],
  ])('of %j is %j', (coverage, sentence) => {
    const shows = { path: (path: string) => `<${path}>`, sentence: (text: string) => `{${text}}` };
    expect(coverageSentence(coverage, shows)).toBe(sentence);
  });
});

const of = (context: ContextStatus, toolCalls: number) => ({ context, toolCalls, findings: [] });
const firstWords = (texts: readonly string[]) => texts.map((text) => text.split(/[:.]/u, 1)[0]);

describe('evidenceWarnings', () => {
  it.each([
    [of('complete', 1), []],
    [of('none', 1), []],
    [of('missing', 1), ['The model was not given the diff of this push']],
    [of('truncated', 1), ['The model was given only a part of the diff of this push']],
    [of('none', 0), ['The payload was accepted without a single tool call']],
    [
      of('missing', 0),
      [
        'The model was not given the diff of this push',
        'The payload was accepted without a single tool call',
      ],
    ],
  ])('for %j returns %j', (evidence, expected) => {
    expect(firstWords(evidenceWarnings(sampleReport({ evidence })))).toEqual(expected);
  });

  const subjectOf = (event: string): Subject => ({
    ...{ repository: 'octo/demo', sha: 'a'.repeat(40), ref: '', event, pull_request: null },
    ...{ run_id: '1', run_attempt: 1 },
  });
  const depth = 'A checkout with fetch-depth: 0 provides it';
  it.each<readonly [string, Subject | null, string, string]>([
    ['this pull request', subjectOf('pull_request'), 'github-token with pull-requests: read', depth],
    ['this pull request', subjectOf('issue_comment'), 'github-token with pull-requests: read', depth],
    ['this merge group', subjectOf('merge_group'), depth, depth],
    [
      'this push',
      subjectOf('push'),
      `${depth}, unless the push was forced`,
      'large or binary. Split the change',
    ],
    ['the change since its base', null, 'a sandbox with a shell', 'large or binary. Split the change'],
  ])('names %s, and how to get its diff: %#', (name, subject, ofMissing, ofPart) => {
    const says = (context: ContextStatus) =>
      evidenceWarnings(sampleReport({ subject, evidence: of(context, 1) })).join('\n');
    expect(says('missing')).toContain(`the diff of ${name}: `);
    expect(says('missing')).toContain(ofMissing);
    expect(says('truncated')).toContain(`a part of the diff of ${name}: `);
    expect(says('truncated')).toContain(ofPart);
    const isPullRequest = name === 'this pull request';
    for (const text of [says('missing'), says('truncated')]) {
      expect(text.includes('pull request') || text.includes('github-token')).toBe(isPullRequest);
      expect(text.length).toBeLessThan(DISPLAY.reason);
    }
  });

  it.each([
    [sampleCoverage(), 0],
    [unseenCoverage, 1],
    [partialCoverage, 2],
    [unknownCoverage, 0],
    [{ ...unseenCoverage, status: 'unknown' }, 0],
  ] as const)('says what was not shown: %#', (coverage, count) => {
    const evidence = { ...of('complete', 1), coverage };
    expect(evidenceWarnings(sampleReport({ evidence }))).toHaveLength(count);
    expect(evidenceWarnings(sampleReport({ ...unpublished('No.'), evidence }))).toEqual([]);
  });

  it('returns nothing for unknown evidence, and nothing about tool calls without a payload', () => {
    expect(evidenceWarnings(sampleReport({ evidence: null }))).toEqual([]);
    expect(evidenceWarnings(sampleReport())).toEqual([]);
    expect(evidenceWarnings(sampleReport({ ...unpublished('No.'), evidence: of('none', 0) }))).toEqual([]);
    expect(
      evidenceWarnings(sampleReport({ ...unpublished('No.'), evidence: of('missing', 0) })),
    ).toHaveLength(1);
  });

  it('is shown in the warning box of the summary and at the end of the log', async () => {
    const report = sampleReport({ evidence: of('missing', 0), weaknesses: ['No sandbox.'] });
    const [, box = ''] = summaryMarkdown(report, { secrets, serverUrl: null }, 1e6).split('> [!WARNING]\n');
    expect(
      box
        .split('\n\n', 1)[0]
        ?.split('\n')
        .map((line) => line.slice(0, 40)),
    ).toEqual([
      '> **This run was weaker than it could be',
      '> - The model was not given the diff of ',
      '> - The payload was accepted without a s',
      '> - No sandbox.',
    ]);
    const { log, text } = captureLog();
    await createLiveLog({ log, level: 'summary' }).report?.(report, new AbortController().signal);
    expect(text()).toContain('  weaker than it could be: The model was not given the diff of this push:');
    expect(text()).toContain(
      '  weaker than it could be: The payload was accepted without a single tool call:',
    );
  });
});
