import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Merged, Outcome } from '../../src/merge/types.ts';
import { commentBody } from '../../src/reporters/comment.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { summaryMarkdown } from '../../src/reporters/summary.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';
import { render, tagsOf } from '../support/texts/gfm.ts';
import { sampleLeg, sampleMerged, sampleMergedReport, sampleVote } from './sample-merged.ts';

const MIB = 1024 * 1024;
const facts = { secrets: createSecrets(), serverUrl: 'https://github.com' };
const summary = (merged: Merged, changes: Partial<Report> = {}) =>
  summaryMarkdown(sampleMergedReport(merged, changes), facts, MIB);
const comment = (merged: Merged) => commentBody(sampleMergedReport(merged), 'key', facts);

/** A merge in which every text is `text`. */
function saying(text: string, outcome: Outcome): Merged {
  const vote = (said: Outcome) =>
    sampleVote(said, { vote: text, why: text, model: text, url: text, reused: true });
  return sampleMerged({
    outcome,
    legs: [sampleLeg(text, outcome, [vote(outcome), vote('abstain')]), sampleLeg(text, 'pass')],
    rule: text,
    votes: text,
    summary: text,
    models: [text, text],
    refused: Array.from({ length: 5 }, () => ({ file: text, why: text })),
    findings: [
      {
        severity: 'error',
        path: text,
        line: 3,
        endLine: 4,
        rule: text,
        title: text,
        message: text,
        legs: [text, text],
        votes: 3,
        outvoted: true,
      },
    ],
  });
}

/** The largest number of legs and votes of a matrix, with the longest texts. */
function huge(text: string, outcome: Outcome): Merged {
  const votes = [1, 2, 3].map((vote) =>
    sampleVote(outcome, { vote: `${vote}${text}`, why: `${vote}${text}` }),
  );
  return sampleMerged({
    legs: Array.from({ length: 256 }, (_, at) => sampleLeg(`${at}${text}`, outcome, votes)),
    votes: 'majority of 3',
    findings: Array.from({ length: 500 }, (_, at) => ({
      severity: 'error',
      path: `${text}${at}`,
      line: at + 1,
      endLine: null,
      rule: text,
      title: text,
      message: text,
      legs: [text],
      votes: 1,
      outvoted: at % 2 === 0,
    })),
  });
}

describe('a merge in the job summary', () => {
  it('shows a title once, and a line range only for several lines', () => {
    const finding = { severity: 'error', path: 'a.ts', line: 7, endLine: 7, rule: null } as const;
    const texts = { title: 'It leaks', message: 'It leaks: close it.' };
    const one = { ...finding, ...texts, legs: ['api'], votes: 1, outvoted: false };
    const text = summary(sampleMerged({ findings: [one, { ...one, endLine: 9 }] }));
    expect(text).toContain('[a.ts:7](');
    expect(text).toContain('[a.ts:7-9](');
    expect(text).not.toContain('a.ts:7-7');
    expect(text).toContain('| It leaks: close it. |');
  });

  it.each(['pass', 'fail', 'abstain'] as const)('contains nothing about an agent run: %s', (outcome) => {
    const legs = [sampleLeg('api', outcome), sampleLeg('web', 'pass')];
    const merged = sampleMerged({ legs });
    for (const text of [summary(merged), comment(merged)])
      expect(text).not.toMatch(/sandbox|timeline|no gate|gate `|0 turns|the model/i);
  });

  it('lists the files that did not count, and collapses a long list', () => {
    const refused = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ file: `f${at}.json`, why: 'It is no JSON.' }));
    expect(summary(sampleMerged({ refused: refused(1) }))).toContain(
      '**1 file did not count:**\n\n- <code>f0.json</code>: It is no JSON.\n\n',
    );
    expect(summary(sampleMerged({ refused: refused(3) }))).toContain('**3 files did not count:**');
    expect(summary(sampleMerged({ refused: refused(4) }))).toContain(
      '<summary>4 files did not count</summary>',
    );
    const many = summary(sampleMerged({ refused: refused(120) }));
    expect(many).toContain('<details><summary>120 files did not count</summary>\n\n- <code>f0.json</code>');
    expect(many).toContain('- … and 20 more files\n');
  });

  it('links a finding to its lines, names the agreeing legs, and counts omitted findings', () => {
    const [finding] = sampleMerged().findings;
    if (finding === undefined) throw new Error('no finding');
    const legs = ['a', 'b', 'c', 'd', 'e'];
    const text = summary(
      sampleMerged({ findings: [{ ...finding, endLine: 120, legs, votes: 9 }], findingsLeftOut: 12 }),
    );
    expect(text).toContain('/src/billing/invoice.ts#L118-L120)');
    expect(text).toContain('| a, b, c and 2 more · 9 runs |');
    expect(text).toContain('… and 12 more findings: the envelopes of the legs hold them all.');
  });

  it('marks an outvoted finding, and explains it once', () => {
    const [finding] = sampleMerged().findings;
    if (finding === undefined) throw new Error('no finding');
    const outvoted = { ...finding, legs: ['api'], votes: 1, outvoted: true };
    const words = 'Outvoted: only failing runs have the finding, and the vote passes all the same.';
    for (const page of [summary, comment]) {
      const text = page(sampleMerged({ findings: [outvoted, { ...outvoted, line: 9 }, finding] }));
      expect(text).toContain('| api · outvoted |');
      expect(text).toContain('| api, billing · 4 runs |');
      expect(text.split(words)).toHaveLength(2);
      expect(page(sampleMerged())).not.toContain('utvoted');
    }
  });

  it('keeps its page structure with any text', () => {
    const shape = (text: string) =>
      tagsOf(render(summary(saying(text, 'abstain')))).filter((tag) =>
        ['h2', 'h3', 'table', 'tr', 'td', 'details', 'li'].includes(tag),
      );
    const plain = shape('a b');
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 30 }), (text) => {
        expect(shape(`x ${text}`)).toEqual(plain);
      }),
      { numRuns: 100 },
    );
  });

  it.each(['pass', 'fail', 'abstain'] as const)(
    'fits with 256 legs of 3 votes, and keeps the legs: %s',
    (outcome) => {
      for (const text of ['', '&'.repeat(400), '界'.repeat(400)]) {
        const merged = huge(text, outcome);
        const whole = summary(merged);
        const short = comment(merged);
        expect(Buffer.byteLength(whole)).toBeLessThanOrEqual(MIB);
        expect(Buffer.byteLength(short)).toBeLessThanOrEqual(65_000);
        for (const page of [whole, short]) {
          expect(page).toMatch(/^## /);
          expect(page).not.toMatch(/Too large[^\n]*the legs/);
          expect(page).toMatch(outcome === 'pass' ? /256 legs pass/ : /\*\*0/);
        }
      }
    },
  );
});

const { log } = captureLog(knowSecrets('sk-canary-1'));
const lines = (merged: Merged): readonly string[] => {
  const report = sampleMergedReport(merged);
  return report.view?.logLines?.(report, log.excerpt) ?? [];
};

describe('the log lines of a merge', () => {
  it('contain the tally, each leg that does not pass, ignored files and the usage', () => {
    const legs = [
      sampleLeg('api', 'pass'),
      sampleLeg('ui', 'abstain'),
      sampleLeg(null, 'abstain', [sampleVote('abstain', { conclusion: 'inconclusive', why: null })]),
      sampleLeg('web', 'fail'),
    ];
    const refused = [{ file: 'a/b.json', why: 'It is no JSON.' }];
    expect(lines(sampleMerged({ legs, refused, votes: 'any of 1' }))).toEqual([
      '1 of 4 legs passes, 1 fails, 1 is missing, 1 is undecided (rule all, votes any of 1)',
      '✗ web fails: The gate is not met: it wants `passed` to be true; the payload says false.',
      '– ui is missing: No envelope of it is there.',
      '? (no name) is undecided',
      '• a/b.json did not count: It is no JSON.',
      '3 runs · 4 turns · 6,420 tokens · $0.0400 · 0.3 s',
    ]);
  });

  it('are few, however many legs and files there are', () => {
    const legs = Array.from({ length: 256 }, (_, at) => sampleLeg(`leg-${at}`, 'fail'));
    const refused = Array.from({ length: 30 }, () => ({ file: 'f', why: 'w' }));
    const shown = lines(sampleMerged({ legs, refused }));
    expect(shown).toHaveLength(1 + 21 + 21 + 1);
    expect(shown).toContain('… and 236 more legs');
    expect(shown).toContain('… and 10 more files');
  });

  it('contain no secret and no line break of other jobs', () => {
    const evil = 'a\n::error::sk-canary-1\u001b[31m';
    const legs = [sampleLeg(evil, 'fail', [sampleVote('fail', { why: evil })])];
    const text = lines(sampleMerged({ legs, refused: [{ file: evil, why: evil }], rule: evil })).join('|');
    expect(text).not.toMatch(/sk-canary|\n|::error|\u001b/);
  });
});
