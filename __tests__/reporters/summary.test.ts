import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import { commentBody } from '../../src/reporters/comment.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createSummary, summaryMarkdown } from '../../src/reporters/summary.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { JsonObject } from '../../src/types.ts';
import { proseOf, render, sparks, tagsOf } from '../support/texts/gfm.ts';
import { sampleReport, sampleReusedReport, unpublished } from './sample-report.ts';

const MIB = 1024 * 1024;
const secrets = createSecrets();
secrets.add('sk-canary_0123');
const facts = { secrets, serverUrl: 'https://github.com' };
const summary = (changes: Partial<Report> = {}, max = MIB) =>
  summaryMarkdown(sampleReport(changes), facts, max);
const signal = new AbortController().signal;

const folder = mkdtempSync(path.join(tmpdir(), 'summary-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('summaryMarkdown', () => {
  it('tells what the gate wanted and what the payload says', () => {
    const words = [
      'wants `passed` to be true; the payload says false',
      'wants `<b>` to be 0; the payload says 1',
    ];
    const verdict = {
      conclusion: 'failure',
      reason: 'gate_not_met',
      subtype: 'gate_not_met',
      exitCode: 1,
      published: true,
      error: 'One sentence.',
    } as const;
    const text = summary({ verdict, gate: { status: 'not_met', issues: [], words } });
    expect(text.slice(0, text.indexOf('conclusion'))).toMatchInlineSnapshot(`
      "## ❌ Failure: the gate is not met

      > [!CAUTION]
      > The gate is not met:
      >
      > - It wants <code>passed</code> to be true; the payload says false.
      > - It wants <code>&#60;b&#62;</code> to be 0; the payload says 1.

      "
    `);
    const html = render(text);
    expect(html.slice(0, html.indexOf('</blockquote>')).match(/<li>/gu)).toHaveLength(2);
    expect(summary({ verdict, gate: { status: 'not_met', issues: [], words: words.slice(0, 1) } })).toContain(
      '> [!CAUTION]\n> One sentence.\n\nconclusion',
    );
    expect(
      summary({ gate: { status: 'met', issues: [], words: ['wants `a` to be 1; the payload agrees'] } }),
    ).toContain(
      '## ✅ Success: the gate is met\n\nThe gate wants <code>a</code> to be 1; the payload agrees.\n\nconclusion',
    );
  });

  it('D08 D09 D10 every text of a hostile payload is inert', () => {
    const evil =
      '</details></td><script>1</script>\n\n# ✅ pass\n```\n| @octocat #1 https://x.y <!-- structured-agent:sticky -->';
    const html = render(
      summary({
        payload: {
          [evil]: evil,
          list: [{ [evil]: evil, path: evil, line: 1 }],
          mixed: [evil, 1, null],
          deep: { a: [evil] },
        },
        model: evil,
        weaknesses: [evil],
        turns: [
          {
            turn: 1,
            forced: true,
            durationMs: 1,
            usage: null,
            calls: [{ name: evil, target: evil, decision: 'error', durationMs: 1 }],
          },
        ],
        verdict: { ...sampleReport().verdict, error: evil },
        resultFile: evil,
      }),
    );
    const allowed = [
      'blockquote',
      'br',
      'code',
      'details',
      'h2',
      'h3',
      'li',
      'p',
      'pre',
      'strong',
      'summary',
      'table',
      'tbody',
      'td',
      'th',
      'thead',
      'tr',
      'ul',
    ];
    expect([...new Set(tagsOf(html))].filter((tag) => !allowed.includes(tag))).toEqual([]);
    expect(tagsOf(html).filter((tag) => tag === 'h2' || tag === 'details')).toEqual([
      'h2',
      'details',
      'details',
    ]);
    expect(sparks(proseOf(html))).toEqual([]);
    expect(summary({ payload: { a: evil } })).not.toContain('<!--');
  });

  it('D08 any payload keeps the shape of the page', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { maxKeys: 4 }), (value) => {
        const payload: JsonObject = JSON.parse(JSON.stringify(value));
        const html = render(summary({ payload }));
        expect(tagsOf(html).filter((tag) => tag === 'h2' || tag === 'details' || tag === 'a')).toEqual([
          'h2',
          'details',
          'details',
        ]);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ['../x.js', 1],
    ['/etc/passwd', 1],
    ['a//b', 1],
    ['a\\b', 1],
    ['a\nb', 1],
    ['', 1],
    ['a.js', 0],
    ['a.js', 1.5],
    ['a.js', 'one'],
    ['javascript:alert(1)//', 1],
  ])('a finding at %j line %j is no link', (file, line) => {
    expect(summary({ payload: { findings: [{ path: file, line }] } })).not.toContain('](http');
  });

  it('a finding links to its line at the commit, whatever its path holds', () => {
    const markdown = summary({ payload: { findings: [{ file: './a b/(c)#?.js', line: 7 }] } });
    expect(render(markdown)).toContain(
      '<a href="https://github.com/octo/demo/blob/0123456789abcdef0123456789abcdef01234567/a%20b/%28c%29%23%3F.js#L7">',
    );
    expect(summaryMarkdown(sampleReport({ subject: null }), facts, MIB)).not.toContain('](http');
  });

  it('masks secrets before escaping hides them', () => {
    const key = 'key sk-canary_0123';
    const text = summary({
      payload: { a: key, b: { c: key } },
      weaknesses: [key],
      verdict: { ...sampleReport().verdict, error: key },
    });
    expect(text.replaceAll('&#95;', '_')).not.toContain('sk-canary_0123');
  });

  it('caps rows, columns, properties, turns and calls, and says how many more there are', () => {
    const row = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`c${at}`, at]));
    const call = { name: 'shell', target: 'x', decision: 'ok', durationMs: 1 } as const;
    const turn = {
      turn: 1,
      forced: false,
      durationMs: 1,
      usage: null,
      calls: Array.from({ length: 30 }, () => call),
    };
    const text = summary({
      payload: {
        ...Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`p${at}`, at])),
        list: Array.from({ length: 520 }, () => row),
      },
      turns: Array.from({ length: 150 }, () => turn),
    });
    for (const more of [
      '20 more values',
      '20 more rows',
      '4 more columns',
      '50 more turns',
      '10 more calls',
    ]) {
      expect(text).toContain(`… and ${more}`);
    }
    expect(text).toContain('<summary>475 more</summary>');
  });

  it('shows the gravest findings first, and folds those after the 25th', () => {
    const row = (severity: string, at: number) => ({ severity, message: `m${at}` });
    const findings = [row('notice', 0), row('odd', 1), row('error', 2), row('Warning', 3), row('error', 4)];
    const order = (payload: JsonObject) =>
      [...summary({ payload }).matchAll(/\| (m\d+) \|/g)].map(([, text]) => text);
    expect(order({ findings })).toEqual(['m2', 'm4', 'm3', 'm0', 'm1']);
    const many = Array.from({ length: 40 }, (_, at) => row(at < 30 ? 'notice' : 'error', at));
    const [open, folded] = summary({ payload: { many } }).split('<details><summary>15 more</summary>');
    expect(open).toContain('| m39 |');
    expect(open).not.toContain('| m29 |');
    expect(folded).toContain('| m29 |');
  });

  it('shows short lists as one cell and longer ones as sections', () => {
    const text = summary({ payload: { names: ['a', 1, null], empty: [], texts: ['x'.repeat(61)] } });
    expect(text).toContain('| **names** | a<br>1<br>null |\n| **empty** | &#91;&#93; |\n');
    expect(text).toContain(`### texts (1)\n\n- ${'x'.repeat(61)}\n`);
  });

  it('says how a payload was repaired', () => {
    expect(summary({ repaired: { kind: 'unwrapped', key: 'output' } })).toContain(
      'The payload was repaired before it was accepted: it was taken out of a wrapper named <code>output</code>.',
    );
    expect(summary({ repaired: { kind: 'parsed', paths: ['/a', ''] } })).toContain(
      'a JSON string was read as what it holds (at <code>&#47;a</code>, <code>the root</code>).',
    );
  });

  it('says where the agent changed files', () => {
    expect(summary({ changedFiles: 2, workspaceAccess: 'scratch' })).toContain(
      'sandbox bwrap · the agent changed 2 files in its copy; your checkout is as it was\n',
    );
  });

  it('tells no costs of a run that never came to a model', () => {
    const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
    const none = { turns: [], turnCount: 0, usage, costUsd: null, changedFiles: null, model: '' };
    const text = summary({
      ...unpublished('No task.', { reason: 'config', exitCode: 52 }),
      ...none,
      isolation: 'none',
    });
    expect(text).toBe(
      '## ⚠️ Inconclusive: the configuration is wrong\n\n> [!WARNING]\n> No task.\n\n' +
        'conclusion `inconclusive` · reason `config` · exit code `52`\n\n',
    );
  });

  it('tells a reused verdict as what it is, and of no model, turn or sandbox', () => {
    const report = sampleReusedReport({ turns: [], turnCount: 0, isolation: 'none' }, '41', 2);
    const text = summaryMarkdown(report, facts, MIB);
    expect(text).toMatch(
      /^## ✅ Success \(reused\): the gate is met\n\n♻️ \*\*Reused:\*\* this is the verdict of \[run 41\]\(\S+\/runs\/41\/attempts\/2\)\./u,
    );
    expect(text).toContain('\n\nNo model was asked · 4.3 s\n\n');
    expect(text).not.toMatch(/claude|turn|sandbox/);
  });

  it('P5 stays within its limit, gives up the least first, and says where the whole is', () => {
    const text = summary(
      { payload: { list: Array.from({ length: 50 }, () => ({ text: 'é'.repeat(900) })) } },
      110_000,
    );
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(110_000);
    expect(text).toContain(
      '> Too large for a job summary: the raw JSON. The whole result is in <code>&#47;tmp/result.json</code>',
    );
    expect(text).toContain('Timeline');
    const rows = Array.from({ length: 500 }, () => ({ text: 'é'.repeat(900) }));
    expect(summary({ payload: { rows } }, 110_000)).toContain('… and 450 more rows');
    const huge = summary({ payload: { text: 'x'.repeat(300 * 1024) } });
    expect(huge).toContain(
      'The payload is too long to show as JSON here. The whole result is in <code>&#47;tmp/result.json</code>',
    );
  });
});

describe('a payload that is hard to render', () => {
  it('2 MB, whose indented form would be too long for a string: summary and comment tell the verdict', () => {
    const payload: JsonObject = JSON.parse(
      `{"list":${'['.repeat(490)}${'1,'.repeat(1_000_000)}1${']'.repeat(490)}}`,
    );
    for (const text of [summary({ payload }), commentBody(sampleReport({ payload }), 'key', facts)]) {
      expect(text).toContain('## ✅ Success');
      expect(text).toContain('run-result-file');
      expect(text).not.toContain('could not be made');
    }
  });

  it('a payload that cannot be rendered at all leaves the verdict, and why there is no more', async () => {
    const payload: JsonObject = {
      get broken(): string {
        throw new RangeError('Invalid string length');
      },
    };
    const file = path.join(folder, 'broken.md');
    await createSummary({ ...facts, file }).report?.(sampleReport({ payload }), signal);
    for (const text of [readFileSync(file, 'utf8'), commentBody(sampleReport({ payload }), 'key', facts)]) {
      expect(text).toContain('## ✅ Success');
      expect(text).toContain('The rest of this report could not be made (Invalid string length).');
      expect(text).toContain('run-result-file');
    }
  });
});

describe('createSummary', () => {
  it('appends to what is there, within what the runner takes in all', async () => {
    const file = path.join(folder, 'summary.md');
    writeFileSync(file, 'before\n\n');
    await createSummary({ ...facts, file }).report?.(sampleReport(), signal);
    expect(readFileSync(file, 'utf8')).toBe(`before\n\n${summary()}`);
    writeFileSync(file, 'x'.repeat(MIB));
    await expect(createSummary({ ...facts, file }).report?.(sampleReport(), signal)).rejects.toThrow(
      'The job summary could not be written: the file has room for 0 bytes only',
    );
    expect(readFileSync(file, 'utf8').length).toBe(MIB);
  });

  it('a file that cannot be written is a ReportError', async () => {
    await expect(createSummary({ ...facts, file: folder }).report?.(sampleReport(), signal)).rejects.toThrow(
      ReportError,
    );
  });

  it('a pipe that nobody reads is a ReportError, and no wait', async () => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await expect(createSummary({ ...facts, file: pipe }).report?.(sampleReport(), signal)).rejects.toThrow(
      ReportError,
    );
  });
});
