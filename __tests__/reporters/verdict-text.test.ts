import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createMarkdownSanitizer } from '../../src/reporters/markdown.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import {
  coverageSentence,
  evidenceWarnings,
  gateParagraph,
  gateReasons,
  verdictTitle,
} from '../../src/reporters/verdict-text.ts';
import type { Conclusion, ContextStatus, Coverage, NotRequired, Subject } from '../../src/types.ts';
import { sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { partialCoverage, sampleCoverage, unknownCoverage, unseenCoverage } from './sample-coverage.ts';
import { sampleReport, unpublished } from './sample-report.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../schemas/envelope.schema.json', import.meta.url), 'utf8'),
);

const reasons: readonly Report['verdict']['reason'][] = schema.properties.reason.enum;

const CONCLUSIONS: Partial<Record<string, Conclusion>> = {
  accepted: 'success',
  gate_not_met: 'failure',
  missing_key: 'skipped',
};

it('has a title for each reason, and for a replay and a merge', async () => {
  const gate = { status: 'none', issues: [] } as const;
  const titles = reasons.map((reason) => {
    const conclusion = CONCLUSIONS[reason] ?? 'inconclusive';
    const verdict = { ...sampleReport().verdict, conclusion, reason };
    return `${reason}: ${verdictTitle(sampleReport({ verdict }))}`;
  });
  const others = [
    sampleReport({ gate }),
    sampleReport({ replayed: true }),
    sampleReport({ ...unpublished('x', { reason: 'replay_mismatch' }), replayed: true }),
    sampleMergedReport(sampleMerged()),
    sampleMergedReport(sampleMerged(), unpublished('x', { reason: 'cancelled' })),
  ];
  const text = [...titles, ...others.map(verdictTitle)].join('\n');
  await expect(`${text}\n`).toMatchFileSnapshot('../golden/titles.txt');
});

const sanitizer = createMarkdownSanitizer(knowSecrets('sk-canary_0123'));
const verdictWith = (reason: Report['verdict']['reason'], ...messages: readonly string[]) => ({
  verdict: { ...sampleReport().verdict, reason },
  gate: {
    status: 'not_met',
    issues: messages.map((message) => ({ path: '', keyword: 'const', message })),
  } as const,
});

describe('the reasons of a gate', () => {
  it('are a list when there are several, and omitted when the message contains them', () => {
    const two = verdictWith('gate_not_met', '`/a` must be 1, is 2', '`/b` must be 2, is 3');
    expect(gateReasons(two, sanitizer)).toEqual([
      'The gate is not met:',
      '',
      '- <code>&#47;a</code> must be 1, is 2.',
      '- <code>&#47;b</code> must be 2, is 3.',
    ]);
    expect(gateReasons(verdictWith('gate_not_met', 'a'), sanitizer)).toEqual([]);
    expect(gateReasons(verdictWith('accepted', 'a', 'b'), sanitizer)).toEqual([]);
  });

  it('are a separate paragraph when a signal followed the payload', () => {
    expect(gateParagraph(verdictWith('cancelled', 'a', 'b'), sanitizer)).toBe(
      'The gate is not met: a; b.\n\n',
    );
    expect(gateParagraph({ ...verdictWith('accepted'), gate: null }, sanitizer)).toBe('');
  });
});

describe('coverageSentence', () => {
  const file = (path: string, shownHunks = 0) => ({ path, hunks: 4, shownHunks });
  const seven = 'abcdefg'.split('').map((name) => file(name));
  const notRequired = (path: string, why: NotRequired) => [{ path, why }];
  it('say how much of the change was shown, and which files were not', async () => {
    const files: readonly Partial<Coverage['files']>[] = [
      {},
      { shown: 42, unseen: [file('a')] },
      { changed: 1, required: 1, shown: 0, unseen: [file('a')] },
      { changed: 2, required: 1, shown: 1, notRequired: notRequired('x', 'binary') },
      { changed: 3, required: 0, shown: 0, notRequired: notRequired('x', 'lock_file') },
      { shown: 35, unseen: [file('p', 3), ...seven] },
    ];
    const partial = sampleCoverage({ status: 'partial', why: 'Too much. ', files: { shown: 1 } });
    const all = [...files.map((each) => sampleCoverage({ files: each })), partial];
    const shows = { path: (path: string) => `<${path}>`, sentence: (text: string) => `{${text}}` };
    const text = all.map((coverage) => coverageSentence(coverage, shows)).join('\n');
    await expect(`${text}\n`).toMatchFileSnapshot('../golden/coverage-sentences.txt');
    const nothing = sampleCoverage({ files: { changed: 0, required: 0, shown: 0 } });
    for (const coverage of [null, unknownCoverage, nothing])
      expect(coverageSentence(coverage, shows)).toBeNull();
  });
});

const SUBJECT = sampleReport().subject as Subject;
const of = (context: ContextStatus, toolCalls: number) => ({ context, toolCalls, findings: [] });

describe('evidenceWarnings', () => {
  it('say what was not shown of which change, and how to show it', async () => {
    const subjects = ['pull_request', 'issue_comment', 'merge_group', 'push'].map((event) => ({
      ...SUBJECT,
      event,
    }));
    const texts = [...subjects, null].flatMap((subject) =>
      (['missing', 'truncated'] as const).flatMap((context) => [
        `${subject?.event ?? '--base'}, ${context}:`,
        ...evidenceWarnings(sampleReport({ subject, evidence: of(context, 1) })),
      ]),
    );
    const unasked = evidenceWarnings(sampleReport({ evidence: of('none', 0) }));
    const text = [...texts, 'no tool call:', ...unasked].join('\n');
    await expect(`${text}\n`).toMatchFileSnapshot('../golden/evidence-warnings.txt');
  });

  it.each([
    [sampleCoverage(), 0],
    [unseenCoverage, 1],
    [partialCoverage, 2],
    [unknownCoverage, 0],
    [{ ...unseenCoverage, status: 'unknown' }, 0],
  ] as const)('say what was not shown, and nothing without a payload: %#', (coverage, count) => {
    const evidence = { ...of('complete', 1), coverage };
    expect(evidenceWarnings(sampleReport({ evidence }))).toHaveLength(count);
    expect(evidenceWarnings(sampleReport({ ...unpublished('No.'), evidence }))).toEqual([]);
  });

  it('are none for unknown evidence, and none about tool calls without a payload', () => {
    for (const evidence of [null, of('complete', 1), of('none', 1)])
      expect(evidenceWarnings(sampleReport({ evidence }))).toEqual([]);
    const counts = [of('none', 0), of('missing', 0)].map(
      (evidence) => evidenceWarnings(sampleReport({ ...unpublished('No.'), evidence })).length,
    );
    expect(counts).toEqual([0, 1]);
  });
});
