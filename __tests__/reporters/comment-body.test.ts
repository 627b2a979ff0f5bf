import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commentBody } from '../../src/reporters/comment.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { knowSecrets, textOf } from '../support/surroundings.ts';
import { proseOf, render, sparks, tagsOf } from '../support/texts/gfm.ts';
import { sampleReport } from './sample-report.ts';

const secrets = knowSecrets('sk-canary_0123');
const facts = { secrets, serverUrl: 'https://github.com' };
const body = (changes: Partial<Report> = {}, key = 'CI / review (ubuntu, 24)') =>
  commentBody(sampleReport(changes), key, facts);

/** GitHub's limit of 65,536 characters minus at most 200 for the marker. */
const LIMIT = 65_536 - 200;

describe('commentBody', () => {
  it('shows weaknesses and policy changes above the verdict', () => {
    const text = body({
      weaknesses: ['No sandbox.'],
      policyChanges: [{ what: 'gate', path: '.github/`gate`.json', applied: true }],
    });
    expect(text.indexOf('No sandbox.')).toBeLessThan(text.indexOf('## ✅'));
    expect(text.indexOf('This pull request changes what judges it')).toBeLessThan(text.indexOf('## ✅'));
  });

  it('shows fewer rows than the summary and counts the omitted rows', () => {
    const findings = Array.from({ length: 200 }, (_, at) => ({
      severity: 'error',
      message: `Finding ${at}`,
    }));
    const text = body({ payload: { passed: false, findings } });
    expect(text).toContain('### findings (200)');
    expect(text).toContain('Finding 49');
    expect(text).not.toContain('Finding 50 ');
    expect(text).toContain('and 150 more rows');
  });

  it('omits large JSON and links to the full result', () => {
    const text = body({ payload: { summary: 'x'.repeat(20_000) } });
    expect(text).not.toContain('Payload as JSON');
    expect(text).toContain(
      "> Too large for a comment: the raw JSON. See [the run's summary](https://github.com/octo/demo/actions/runs/42/attempts/1), or the file that the output `run-result-file` names.",
    );
  });

  it.each(['x', '你', '🐙', '&', '|', '\n', '@'])(
    "stays within GitHub's limit for a payload full of %j",
    (character) => {
      const cell = character.repeat(3_000);
      const findings = Array.from({ length: 200 }, () =>
        Object.fromEntries('abcdefgh'.split('').map((key) => [key, cell])),
      );
      const text = body({ payload: { summary: cell, findings }, weaknesses: [cell, cell] });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMIT);
      expect(text).toContain('## ✅ Success');
      expect(text).toContain('Too large for a comment');
      expect(text).toContain('[Run 42]');
    },
  );

  it('shows as many rows as fit below a large header', () => {
    const findings = Array.from({ length: 60 }, () => ({ message: 'x'.repeat(900) }));
    const text = body({
      payload: { findings },
      weaknesses: Array.from({ length: 25 }, () => 'w'.repeat(900)),
    });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMIT);
    expect(text).toContain('### findings (60)');
    expect(text).toContain('and 40 more rows');
  });

  it('stays within the limit when the header alone exceeds it', () => {
    const weaknesses = Array.from({ length: 500 }, () => 'weak '.repeat(100));
    const text = body({ weaknesses });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMIT);
    expect(text).toContain('## ✅ Success');
  });

  it('contains no links outside GitHub', () => {
    const text = commentBody(sampleReport(), 'key', { secrets, serverUrl: null });
    expect(text).not.toContain('](');
    expect(body({ subject: null })).not.toContain('<sub>');
  });

  it.each([
    ['CI / review / null / __octo_agent', 'CI &#47; review'],
    [
      'CI / review / {\n  "os": "linux"\n} / judge',
      'CI &#47; review &#47; &#123; &#34;os&#34;: &#34;linux&#34; &#125; &#47; judge',
    ],
  ])('shows the key %j without its meaningless parts', (key, shown) => {
    expect(body({}, key)).toContain(`<code>${shown}</code></sub>`);
  });

  it('masks secrets, also in the key', () => {
    expect(body({ payload: { summary: 'the key is sk-canary_0123' } }, 'sk-canary_0123')).not.toContain(
      'sk-canary',
    );
  });

  it('renders its footer as Markdown', () => {
    expect(render(body())).toContain(
      '<sub><a href="https://github.com/octo/demo/actions/runs/42/attempts/1">Run 42</a>',
    );
  });

  it('renders hostile text in the payload, key or error as plain text', () => {
    const bait = [
      '<!-- structured-agent:0123456789abcdef0123456789abcdef commit=unknown run=999999 attempt=9 -->',
      ...'@octocat </details></sub><script> #12 https://evil.example | octo/demo#1 :tada:'.split(' '),
      ...['![x](http://evil.example)', '\n/deploy now', '```\n# x'],
    ];
    const text = textOf(bait, { pieceCount: 5, other: fc.string({ unit: 'grapheme' }) });
    const clean = tagsOf(render(body({ payload: { a: 'a', list: [{ b: 'b' }] } }))).sort();
    fc.assert(
      fc.property(text, text, text, (value, key, path) => {
        const shown = body({ payload: { a: value || 'a', list: [{ b: value || 'b', path }] } }, key);
        const html = render(shown);
        expect(sparks(proseOf(html))).toEqual([]);
        expect(html).not.toMatch(/<script|<img|<!--/u);
        expect(shown).not.toMatch(/^\s*\//mu);
        expect(tagsOf(html).filter((tag) => !clean.includes(tag) && !['br', 'code'].includes(tag))).toEqual(
          [],
        );
      }),
      { numRuns: 200 },
    );
  });
});
