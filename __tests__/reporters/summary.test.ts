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
const facts = { secrets: knowSecrets('sk-canary_0123'), serverUrl: 'https://github.com' };
const summary = (changes: Partial<Report> = {}, max = MIB) =>
  summaryMarkdown(sampleReport(changes), facts, max);
const signal = new AbortController().signal;
const folder = makeFolder();

// What a summary shows is in `golden/summary/`.
describe('a job summary', () => {
  it('has the same structure for any payload', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { maxKeys: 4 }), (value) => {
        const html = render(summary({ payload: JSON.parse(JSON.stringify(value)) }));
        const tags = tagsOf(html).filter((tag) => ['h2', 'details', 'a'].includes(tag));
        expect(tags).toEqual(['h2', 'details', 'details']);
      }),
      { numRuns: 60 },
    );
  });

  it("names the price list's name of the model", () => {
    const text = summary({ costUsd: 1.5, pricedAs: 'claude-sonnet-5' });
    expect(text).toContain(' · $1.50 (priced as claude-sonnet-5) · ');
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
    const many = Array.from({ length: 40 }, (_, at) => row(at < 30 ? 'notice' : 'error', at));
    const [open, folded] = summary({ payload: { many } }).split('<details><summary>15 more</summary>');
    expect(open).toContain('| m39 |');
    expect(open).not.toContain('| m29 |');
    expect(folded).toContain('| m29 |');
  });

  it('stays within its limit, drops the least important sections first and names the full result', () => {
    const rowsOf = (count: number) => Array.from({ length: count }, () => ({ text: 'é'.repeat(900) }));
    const text = summary({ payload: { list: rowsOf(50) } }, 110_000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(110_000);
    const result = 'The whole result is in <code>&#47;tmp/results/result.json</code>';
    expect(text).toContain(`> Too large for a job summary: the raw JSON. ${result}`);
    expect(text).toContain('Timeline');
    expect(summary({ payload: { rows: rowsOf(500) } }, 110_000)).toContain('… and 450 more rows');
    const huge = summary({ payload: { text: 'x'.repeat(300 * 1024) } });
    expect(huge).toContain(`The payload is too long to show as JSON here. ${result}`);
  });

  it('of a payload of 2 MB with deep nesting has the verdict, as the comment does', () => {
    const list = `${'['.repeat(490)}${'1,'.repeat(1_000_000)}1${']'.repeat(490)}`;
    const payload: JsonObject = JSON.parse(`{"list":${list}}`);
    for (const text of [summary({ payload }), commentBody(sampleReport({ payload }), 'key', facts)]) {
      expect(text).toContain('## ✅ Success');
      expect(text).toContain('run-result-file');
      expect(text).not.toContain('could not be made');
    }
  });

  it('has the verdict and the reason if rendering throws, as the comment does', async () => {
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
    }
  });

  it('is appended to the file within the size limit of the runner', async () => {
    const file = path.join(folder, 'summary.md');
    writeFileSync(file, 'before\n\n');
    await createSummary({ ...facts, file }).report?.(sampleReport(), signal);
    expect(readFileSync(file, 'utf8')).toBe(`before\n\n${summary()}`);
    writeFileSync(file, 'x'.repeat(MIB));
    const full = createSummary({ ...facts, file }).report?.(sampleReport(), signal);
    await expect(full).rejects.toThrow('could not be written: the file has room for 0 bytes only');
    expect(readFileSync(file, 'utf8').length).toBe(MIB);
  });

  it('is not written to a directory or a pipe without a reader, without waiting', async () => {
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const file of [folder, pipe])
      await expect(createSummary({ ...facts, file }).report?.(sampleReport(), signal)).rejects.toThrow(
        ReportError,
      );
  });
});
