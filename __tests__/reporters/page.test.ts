import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderPage } from '../../src/reporters/page.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { createTimeline } from '../../src/reporters/timeline.ts';
import { viewOf } from '../../src/reporters/view.ts';
import type { JsonObject } from '../../src/types.ts';
import { render, tagsOf } from '../support/texts/gfm.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport, VIEW } from './sample-report.ts';

const page = (changes: Partial<Report> = {}, bytes = 1024 * 1024, openRows = 25) =>
  renderPage(viewOf(sampleReport(changes), VIEW), { bytes, openRows });

// What a page shows is in `golden/summary/` and `golden/comment/`.
describe('a page', () => {
  it('has the same structure for any payload', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), { maxKeys: 4 }), (value) => {
        const html = render(page({ payload: JSON.parse(JSON.stringify(value)) }));
        const tags = tagsOf(html).filter((tag) => ['h2', 'details', 'a'].includes(tag));
        expect(tags).toEqual(['h2', 'details', 'details']);
      }),
      { numRuns: 60 },
    );
  });

  it('limits rows, columns and values, and counts those left out', () => {
    const row = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`c${at}`, at]));
    const values = Object.fromEntries(Array.from({ length: 120 }, (_, at) => [`p${at}`, at]));
    const text = page({ payload: { ...values, list: Array.from({ length: 70 }, () => row) } });
    for (const more of ['20 more values', '20 more rows', '4 more columns'])
      expect(text).toContain(`… and ${more}`);
    expect(text).toContain('<summary>25 more</summary>');
  });

  it('shows the most severe findings first, and folds those after the limit', () => {
    const row = (severity: string, at: number) => ({ severity, message: `m${at}` });
    const many = Array.from({ length: 40 }, (_, at) => row(at < 30 ? 'notice' : 'error', at));
    const [open, folded] = page({ payload: { many } }, 1e6, 10).split('<details><summary>30 more</summary>');
    expect(open).toContain('| m39 |');
    expect(open).not.toContain('| m29 |');
    expect(folded).toContain('| m29 |');
  });

  it('leaves out the JSON, then rows, then the tables, and names the result file', () => {
    const rows = Array.from({ length: 50 }, (_, at) => ({ at, text: 'é'.repeat(400) }));
    const parts = (bytes: number) => {
      const text = page({ payload: { rows } }, bytes);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes);
      const found = ['Payload as JSON', '| 49 |', '| 9 |', '/results/result.json', 'CI &#47; review'];
      return found.map((part) => text.includes(part));
    };
    expect(parts(200_000)).toEqual([true, true, true, false, true]);
    expect(parts(50_000)).toEqual([false, true, true, true, true]);
    expect(parts(20_000)).toEqual([false, false, true, true, true]);
    expect(parts(2_000)).toEqual([false, false, false, true, true]);
  });

  it('of a payload of 2 MB with deep nesting has the verdict', () => {
    const list = `${'['.repeat(490)}${'1,'.repeat(1_000_000)}1${']'.repeat(490)}`;
    const payload: JsonObject = JSON.parse(`{"list":${list}}`);
    const text = page({ payload });
    expect(text).toContain('## ✅ CI &#47; review: passed');
    expect(text.length).toBeLessThan(5_000);
  });

  const cells = (cell: string) => Object.fromEntries('abcdefgh'.split('').map((key) => [key, cell]));
  const full = (character: string): [string, Partial<Report>] => {
    const cell = character.repeat(3_000);
    const findings = Array.from({ length: 200 }, () => cells(cell));
    return [`a payload full of ${JSON.stringify(character)}`, { payload: { summary: cell, findings } }];
  };
  it.each<[string, Partial<Report>]>([
    ...['x', '你', '🐙', '&', '|', '\n', '@'].map(full),
    ['many warnings', { weaknesses: Array(500).fill('weak '.repeat(100)) }],
  ])('stays within its limit with %s', (_, changes) => {
    const text = page(changes, 65_000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_000);
    expect(text).toContain('## ✅ CI &#47; review: passed');
  });
});

describe('a timeline', () => {
  const timelineOf = (events: typeof sampleEvents) => {
    const timeline = createTimeline(VIEW.secrets);
    for (const event of events) timeline.event(event);
    return timeline.render();
  };

  it('lists turns and calls, each command with its exit code', async () => {
    await expect(timelineOf(sampleEvents)).toMatchFileSnapshot('../golden/timeline.md');
    expect(timelineOf([])).toBe('');
  });

  it('shows a call that did not end, and counts turns and calls that it leaves out', () => {
    const [, , started, completed, call] = sampleEvents;
    if (started === undefined || completed === undefined || call === undefined) throw new Error('No events.');
    expect(timelineOf([started, completed, call])).toContain(' · not finished |');
    const calls = Array.from({ length: 30 }, () => call);
    const turns = Array.from({ length: 150 }, () => completed);
    const text = timelineOf([completed, ...calls, ...turns]);
    expect(text).toContain('<br>… |');
    expect(text).toContain('… and 51 more turns.');
  });
});
