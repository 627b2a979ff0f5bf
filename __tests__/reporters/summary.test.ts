import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReportError } from '../../src/errors.ts';
import { commentBody } from '../../src/reporters/comment.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createSummary, summaryMarkdown } from '../../src/reporters/summary.ts';
import type { JsonObject } from '../../src/types.ts';
import { knowSecrets, makeFolder } from '../support/surroundings.ts';
import { render, tagsOf } from '../support/texts/gfm.ts';
import { sampleReport } from './sample-report.ts';

const MIB = 1024 * 1024;
const secrets = knowSecrets('sk-canary_0123');
const facts = { secrets, serverUrl: 'https://github.com' };
const summary = (changes: Partial<Report> = {}, max = MIB) =>
  summaryMarkdown(sampleReport(changes), facts, max);
const signal = new AbortController().signal;

const folder = makeFolder();

describe('summaryMarkdown', () => {
  it('D08 keeps the structure of the page for any payload', () => {
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
  ])('does not link a finding at %j line %j', (file, line) => {
    expect(summary({ payload: { findings: [{ path: file, line }] } })).not.toContain('](http');
  });

  it('limits rows, columns, properties, turns and calls, and counts the omitted ones', () => {
    const row = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`c${at}`, at]));
    const call = { name: 'shell', target: 'x', decision: 'ok', durationMs: 1 } as const;
    const calls = Array.from({ length: 30 }, () => call);
    const turn = { turn: 1, forced: false, durationMs: 1, usage: null, calls };
    const text = summary({
      payload: {
        ...Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`p${at}`, at])),
        list: Array.from({ length: 520 }, () => row),
      },
      turns: Array.from({ length: 150 }, () => turn),
    });
    for (const more of ['20 more values', '20 more rows', '4 more columns', '50 more turns', '10 more calls'])
      expect(text).toContain(`… and ${more}`);
    expect(text).toContain('<summary>475 more</summary>');
  });

  it('shows the most severe findings first and collapses those after the 25th', () => {
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

  it('shows short lists in one cell and longer ones as sections', () => {
    const text = summary({ payload: { names: ['a', 1, null], empty: [], texts: ['x'.repeat(61)] } });
    expect(text).toContain('| **names** | a<br>1<br>null |\n');
    expect(text).toContain(`### texts (1)\n\n- ${'x'.repeat(61)}\n`);
  });

  it('P5 stays within its limit, drops the least important sections first and names the full result', () => {
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

describe('a payload that cannot be rendered', () => {
  it('of 2 MB with deep nesting still gives the verdict in summary and comment', () => {
    const payload: JsonObject = JSON.parse(
      `{"list":${'['.repeat(490)}${'1,'.repeat(1_000_000)}1${']'.repeat(490)}}`,
    );
    for (const text of [summary({ payload }), commentBody(sampleReport({ payload }), 'key', facts)]) {
      expect(text).toContain('## ✅ Success');
      expect(text).toContain('run-result-file');
      expect(text).not.toContain('could not be made');
    }
  });

  it('leaves the verdict and the reason when rendering throws', async () => {
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
  it('appends to the file within the size limit of the runner', async () => {
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

  it('throws a ReportError for a directory or a pipe without a reader, without waiting', async () => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const file of [folder, pipe])
      await expect(createSummary({ ...facts, file }).report?.(sampleReport(), signal)).rejects.toThrow(
        ReportError,
      );
  });
});
