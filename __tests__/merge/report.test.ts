import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Merged, Outcome } from '../../src/merge/types.ts';
import { commentBody } from '../../src/reporters/comment.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { summaryMarkdown } from '../../src/reporters/summary.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import { proseOf, render, sparks, tagsOf } from '../support/texts/gfm.ts';
import {
  sampleFailedMerge,
  sampleLeg,
  sampleMerged,
  sampleMergedReport,
  sampleVote,
} from './sample-merged.ts';

const MIB = 1024 * 1024;
const facts = { secrets: createSecrets(), serverUrl: 'https://github.com' };
const summary = (merged: Merged, changes: Partial<Report> = {}) =>
  summaryMarkdown(sampleMergedReport(merged, changes), facts, MIB);
const comment = (merged: Merged) => commentBody(sampleMergedReport(merged), 'key', facts);
const EVIL =
  '</details></td><script>1</script>\n\n# ✅ pass\n```\n| @octocat #1 https://x.y [x](http://a) <!-- structured-agent:sticky --> /merge';

/** Where every text is `text`. */
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

/** As many legs and votes as a matrix has, all of their texts as long as they may be. */
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
  it('tells the verdict, the legs, the findings and what they took', () => {
    const legs = [sampleLeg('api', 'pass'), sampleLeg('web', 'fail'), sampleLeg('ui', 'abstain')];
    const text = summary(sampleMerged({ legs, summary: 'One of three.' }));
    expect(text.slice(0, text.indexOf('<details>'))).toMatchInlineSnapshot(`
      "## ❌ Failure: 1 of 3 legs passes, 1 fails, 1 is missing

      > [!CAUTION]
      > The gate is not met: it wants every leg to pass &#40;rule: all&#41;, and 1 of 3 passes, 1 fails &#40;&#34;web&#34;&#41;; what is open cannot change it.

      conclusion \`failure\` · reason \`gate_not_met\` · rule <code>all</code> · exit code \`1\`

      | Leg | Says | Why | Turns | Cost | Attempt |
      | :--- | :--- | :--- | ---: | ---: | :--- |
      | ❌&nbsp;**web** | fails | The gate is not met: it wants <code>passed</code> to be true; the payload says false. | 2 | $0.0200 | [1](https://github.com/octo/demo/actions/runs/42/attempts/1) |
      | ⬜&nbsp;**ui** | missing | No envelope of it is there. | 0 | – | – |
      | ✅&nbsp;**api** | passes |  | 2 | $0.0200 | [1](https://github.com/octo/demo/actions/runs/42/attempts/1) |

      ### findings (2)

      | severity | path | rule | message | found by |
      | :--- | :--- | :--- | :--- | :--- |
      | 🔴&nbsp;error | [src/billing/invoice.ts:118](https://github.com/octo/demo/blob/0123456789abcdef0123456789abcdef01234567/src/billing/invoice.ts#L118) | rounding | The total is rounded too early<br>Round once, after <code>applyTax&#40;&#41;</code>. | api, billing · 4 runs |
      | 🔵&nbsp;note |  |  | The changelog says nothing of it. | docs |

      **claude-sonnet-4-5** · 2 runs · 4 turns · 6,420 tokens (6,000 in, 420 out) · $0.0400 · merged in 0.3 s

      "
    `);
  });

  it('says a title once, and a range of lines only where it is one', () => {
    const finding = { severity: 'error', path: 'a.ts', line: 7, endLine: 7, rule: null } as const;
    const one = {
      ...finding,
      title: 'It leaks',
      message: 'It leaks: close it.',
      legs: ['api'],
      votes: 1,
      outvoted: false,
    };
    const text = summary(sampleMerged({ findings: [one, { ...one, endLine: 9 }] }));
    expect(text).toContain('[a.ts:7](');
    expect(text).toContain('[a.ts:7-9](');
    expect(text).not.toContain('a.ts:7-7');
    expect(text).toContain('| It leaks: close it. |');
  });

  it.each([
    [3, false],
    [4, true],
  ])('folds the files that did not count where there are more than three: %i', (count, folded) => {
    const refused = Array.from({ length: count }, (_, at) => ({
      file: `${at}.json`,
      why: 'it is not signed',
    }));
    const text = summary(sampleMerged({ refused }));
    expect(text.includes(`<summary>${count} files did not count</summary>`)).toBe(folded);
    expect(text).toContain(`${count} files did not count`);
  });

  it('shows the legs and the findings so far where it is undecided', () => {
    const legs = [sampleLeg('api', 'pass'), sampleLeg('web', 'abstain')];
    const text = summary(sampleMerged({ legs }));
    expect(text).toContain('## ⚠️ Undecided: 1 of 2 legs passes, 1 is missing\n\n> [!WARNING]\n');
    expect(text).toContain('Re-run failed jobs');
    expect(text).toContain('| ⬜&nbsp;**web** | missing |');
    expect(text).toContain('### findings so far (2)');
    expect(text).not.toContain('Payload as JSON');
  });

  it.each(['pass', 'fail', 'abstain'] as const)('says nothing of an agent’s own run: %s', (outcome) => {
    const legs = [sampleLeg('api', outcome), sampleLeg('web', 'pass')];
    const merged = sampleMerged({ legs });
    for (const text of [summary(merged), comment(merged)])
      expect(text).not.toMatch(/sandbox|timeline|no gate|gate `|0 turns|the model/i);
  });

  it('that failed before it could count tells its error and nothing more', () => {
    const failed = sampleFailedMerge('verdicts: no file is there.', { reason: 'config', exitCode: 52 });
    const text = summaryMarkdown(failed, facts, MIB);
    expect(text).toBe(
      '## ⚠️ Inconclusive: nothing was merged\n\n> [!WARNING]\n> verdicts: no file is there.\n\n' +
        'conclusion `inconclusive` · reason `config` · exit code `52`\n\n',
    );
  });

  it('names the files that did not count, few of them openly', () => {
    const refused = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ file: `f${at}.json`, why: 'It is no JSON.' }));
    expect(summary(sampleMerged({ refused: refused(1) }))).toContain(
      '**1 file did not count:**\n\n- <code>f0.json</code>: It is no JSON.\n\n',
    );
    const many = summary(sampleMerged({ refused: refused(120) }));
    expect(many).toContain('<details><summary>120 files did not count</summary>\n\n- <code>f0.json</code>');
    expect(many).toContain('- … and 20 more files\n');
  });

  it('links a finding to its lines, says who agrees, and counts those that are left out', () => {
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

  it('says of a finding that was outvoted that it was, and what that means once', () => {
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

  it.each(['pass', 'fail', 'abstain'] as const)('every text of a hostile merge is inert: %s', (outcome) => {
    const merged = saying(EVIL, outcome);
    for (const markdown of [summary(merged), comment(merged)]) {
      const html = render(markdown);
      expect(html).not.toMatch(/<script|<img|<!--/u);
      expect(tagsOf(html).filter((tag) => tag === 'h2' || tag === 'h1' || tag === 'h3')).toEqual([
        'h2',
        'h3',
      ]);
      expect(html.match(/<details>/g)?.length).toBe(html.match(/<\/details>/g)?.length);
      expect(sparks(proseOf(html))).toEqual([]);
      expect(markdown).not.toContain('<!--');
      expect(markdown).not.toMatch(/^\s*\//mu);
    }
  });

  it('any text keeps the shape of the page', () => {
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

  it.each(['pass', 'fail', 'abstain'] as const)('of 256 legs of 3 votes fits, legs first: %s', (outcome) => {
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
  });
});
