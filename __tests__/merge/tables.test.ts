import { describe, expect, it } from 'vitest';
import { legTables, voteTable } from '../../src/merge/tables.ts';
import type { Merged, MergedLeg } from '../../src/merge/types.ts';
import { createMarkdownSanitizer } from '../../src/reporters/markdown.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { sampleLeg, sampleMerged, sampleVote } from './sample-merged.ts';

const sanitizer = createMarkdownSanitizer(knowSecrets('sk-canary_0123'));
const FULL = { maxReason: 400, maxLegs: 500, passing: true };
const tables = (merged: Merged, options = FULL) => legTables(merged, options, sanitizer);
const named = (name: string) => sampleVote('pass', { vote: name });
const many = (count: number, leg: (at: number) => MergedLeg) =>
  Array.from({ length: count }, (_, at) => leg(at));

describe('legTables', () => {
  it('shows counts instead of marks for many votes', () => {
    const votes = Array.from({ length: 12 }, (_, at) => sampleVote(at < 10 ? 'pass' : 'fail'));
    const text = tables(sampleMerged({ legs: [sampleLeg('a', 'pass', votes)], votes: 'majority of 12' }));
    expect(text).toContain('| passes | ✅&nbsp;10 ❌&nbsp;2 |');
  });

  it('shows a mark for each of nine votes, and twelve legs in one table', () => {
    const votes = Array.from({ length: 9 }, (_, at) => sampleVote(at < 8 ? 'pass' : 'fail'));
    const marked = tables(sampleMerged({ legs: [sampleLeg('a', 'pass', votes)], votes: 'majority of 9' }));
    expect(marked).toContain('| ✅✅✅✅✅✅✅✅❌ |');
    const passing = (count: number) =>
      tables(sampleMerged({ legs: many(count, (at) => sampleLeg(`l${at}`, 'pass')) }));
    expect([passing(12).includes('<details>'), passing(13).includes('<details>')]).toEqual([false, true]);
  });

  it('collapses many passing legs, and the others after the 25th', () => {
    const legs = many(256, (at) => sampleLeg(`leg-${at}`, at < 40 ? 'fail' : 'pass'));
    const text = tables(sampleMerged({ legs }));
    const folds = [...text.matchAll(/<summary>(.*?)<\/summary>/g)].map(([, title]) => title);
    expect(folds).toEqual(['15 more that do not pass', '✅ 216 legs pass']);
    expect(text.slice(0, text.indexOf('<details>')).match(/❌/g)).toHaveLength(25);
    expect(text.match(/\*\*leg-\d+\*\*/g)).toHaveLength(256);
  });

  it('shows the number of legs when there is no space for their rows', () => {
    const legs = many(256, (at) => sampleLeg(`leg-${at}`, at < 40 ? 'fail' : 'pass'));
    const text = tables(sampleMerged({ legs }), { maxReason: 10, maxLegs: 10, passing: false });
    expect(text).toContain('… and 30 more legs that do not pass.\n\n✅ 216 legs pass.\n\n');
    expect(text.match(/\*\*leg-\d+\*\*/g)).toHaveLength(10);
    expect(text).toContain('The gate …');
    const one = tables(sampleMerged({ legs }), { maxReason: 10, maxLegs: 39, passing: false });
    expect(one).toContain('… and 1 more leg that does not pass.\n\n');
  });

  it('links an attempt only to a plain URL', () => {
    const evil = ['javascript:alert(1)', 'https://x/a) ![i](https://y', 'https://x', 'https://a b/c'];
    const legs = evil.map((url) => sampleLeg('a', 'pass', [sampleVote('pass', { url })]));
    expect(tables(sampleMerged({ legs }))).not.toContain('](');
  });

  it('shows reused votes, and an unknown cost', () => {
    const legs = [
      sampleLeg('a', 'pass', [sampleVote('pass', { reused: true, costUsd: 0 })]),
      sampleLeg('b', 'pass', [sampleVote('pass', { reused: true }), sampleVote('pass', { costUsd: null })]),
    ];
    const text = tables(sampleMerged({ legs }));
    expect(text).toContain('| Reused: no model was asked. | 2 | – |');
    expect(text).toContain('| 1 of 2 reused: no model was asked for them. | 4 | unknown |');
  });
});

describe('voteTable', () => {
  const legs = [
    sampleLeg('agrees', 'pass', [named('1'), named('2')]),
    sampleLeg('splits', 'pass', [named('1'), sampleVote('fail', { vote: '2' })]),
    sampleLeg('fails', 'fail', [sampleVote('fail', { vote: '1' }), sampleVote('fail', { vote: '2' })]),
  ];

  it('lists each vote with its reason, collapsed', () => {
    const text = voteTable(sampleMerged({ legs, votes: 'any of 2' }), 'all', 400, sanitizer);
    expect(text).toMatch(/^<details><summary>Each vote \(6\)<\/summary>\n\n\| Leg \| Vote \| Why \| Turns/);
    expect(text).toContain('| **splits** | ❌&nbsp;2 | The gate is not met');
  });

  it('lists only legs that do not pass or do not agree, with the option grave', () => {
    const text = voteTable(sampleMerged({ legs, votes: 'any of 2' }), 'grave', 400, sanitizer);
    expect(text).toContain('(4)</summary>');
    expect(text).not.toContain('agrees**');
  });
});
