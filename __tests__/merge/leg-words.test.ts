import { describe, expect, it } from 'vitest';
import { legTables, voteTable } from '../../src/merge/tables.ts';
import type { MergedVote } from '../../src/merge/types.ts';
import {
  gravestLegs,
  legReasons,
  legWord,
  runWords,
  tallyWords,
  voteWarnings,
} from '../../src/merge/words.ts';
import { createMarkdownSanitizer } from '../../src/reporters/markdown.ts';
import { evidenceWarnings } from '../../src/reporters/verdict-text.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { ContextStatus, Coverage } from '../../src/types.ts';
import { sampleLeg, sampleMerged, sampleMergedReport, sampleVote } from './sample-merged.ts';

const cutOff = sampleVote('abstain', {
  conclusion: 'inconclusive',
  reason: 'max_turns',
  why: 'Out of turns.',
});
const half = [sampleVote('pass', { vote: '1' }), sampleVote('fail', { vote: '2' }), sampleVote('abstain')];

describe('tallyWords', () => {
  it.each([
    [['pass'], '1 of 1 leg passes'],
    [['pass', 'pass'], '2 of 2 legs pass'],
    [['fail', 'fail', 'fail'], '0 of 3 legs pass, 3 fail'],
    [['pass', 'fail'], '1 of 2 legs passes, 1 fails'],
    [['pass', 'pass', 'abstain'], '2 of 3 legs pass, 1 is missing'],
    [['abstain', 'abstain'], '0 of 2 legs pass, 2 are missing'],
  ] as const)('describes %j as %j', (outcomes, words) => {
    const legs = outcomes.map((outcome, at) => sampleLeg(`leg ${at}`, outcome));
    expect(tallyWords(sampleMerged({ legs }))).toBe(words);
  });

  it('distinguishes missing legs from undecided legs', () => {
    const legs = [
      sampleLeg('a', 'abstain'),
      sampleLeg('b', 'abstain', [cutOff]),
      sampleLeg('c', 'abstain', half),
    ];
    expect(tallyWords(sampleMerged({ legs }))).toBe('0 of 3 legs pass, 1 is missing, 2 are undecided');
    expect(legs.map(legWord)).toEqual(['missing', 'undecided', 'undecided']);
  });
});

describe('gravestLegs', () => {
  it('sorts the legs that prevent a pass first', () => {
    const legs = [
      sampleLeg('a', 'pass'),
      sampleLeg('b', 'abstain'),
      sampleLeg('c', 'fail'),
      sampleLeg('d', 'pass'),
    ];
    const order = (outcome: 'fail' | 'abstain') => gravestLegs({ outcome, legs }).map(({ leg }) => leg);
    expect([order('fail'), order('abstain')]).toEqual([
      ['c', 'b', 'a', 'd'],
      ['b', 'c', 'a', 'd'],
    ]);
  });
});

describe('legReasons', () => {
  it('lists the reasons of the votes with the outcome of the leg, with their names', () => {
    const fail = (vote: string, why: string) => sampleVote('fail', { vote, why });
    const votes = [fail('1', 'A.'), sampleVote('pass', { vote: '2', why: 'not told' }), fail('3', 'A.')];
    expect(legReasons(sampleLeg('x', 'fail', votes))).toEqual(['votes 1, 3: A.']);
    expect(legReasons(sampleLeg('x', 'fail', [fail('1', 'A.'), fail('2', 'B.'), fail('3', 'C.')]))).toEqual([
      'vote 1: A.',
      'vote 2: B.',
    ]);
    expect(legReasons(sampleLeg('x', 'fail', [fail('1', 'A.'), fail('2', 'A.')]))).toEqual(['A.']);
    expect(legReasons(sampleLeg('x', 'pass', votes))).toEqual([]);
    const missing = sampleVote('abstain', { vote: null, why: 'Not there.' });
    expect(legReasons(sampleLeg('x', 'abstain', [sampleVote('pass'), missing, missing]))).toEqual([
      '2 of 3 votes: Not there.',
    ]);
    expect(legReasons(sampleLeg('x', 'abstain', [missing]))).toEqual(['Not there.']);
  });
});

describe('runWords', () => {
  it('counts the runs that exist, and those that were reused', () => {
    const legs = [sampleLeg('a', 'pass', [sampleVote('pass', { reused: true })]), sampleLeg('b', 'abstain')];
    expect([runWords(sampleMerged()), runWords({ legs })]).toEqual(['9 runs', '1 run, 1 of them reused']);
  });
});

describe('evidence warnings', () => {
  const vote = (context: ContextStatus, toolCalls: number, changes: Partial<MergedVote> = {}) =>
    sampleVote('pass', { evidence: { context, toolCalls }, ...changes });
  const legs = [
    sampleLeg('api', 'pass', [vote('missing', 0, { vote: '1' }), vote('complete', 2, { vote: '2' })]),
    sampleLeg('web', 'pass', [vote('missing', 3, { vote: '1' }), vote('missing', 1, { vote: '2' })]),
    sampleLeg('ui', 'pass', [vote('truncated', 1, { vote: '1' }), sampleVote('pass', { evidence: null })]),
    sampleLeg('docs', 'abstain', [
      vote('none', 0, { outcome: 'abstain', conclusion: 'inconclusive', reason: 'timeout' }),
      sampleVote('abstain'),
    ]),
  ];

  it('count the runs, and name their legs', () => {
    expect(evidenceWarnings(sampleMergedReport(sampleMerged({ legs })))).toEqual([
      '3 of 7 runs judged the change without its diff: api, web.',
      '1 of 7 runs judged the change with a part of its diff: ui.',
      '1 of 7 runs had a payload accepted without a single tool call: api.',
    ]);
    const many = Array.from({ length: 7 }, (_, at) => sampleLeg(`leg ${at}`, 'pass', [vote('none', 0)]));
    expect(evidenceWarnings(sampleMergedReport(sampleMerged({ legs: many })))).toEqual([
      '7 of 7 runs had a payload accepted without a single tool call: leg 0, leg 1, leg 2, leg 3, leg 4 and 2 more legs.',
    ]);
    expect(evidenceWarnings(sampleMergedReport())).toEqual([]);
  });

  it('count the runs that were not shown every changed file', () => {
    const seen = (shown: number, status: Coverage['status'] = 'measured') =>
      sampleVote('pass', {
        evidence: {
          context: 'none',
          toolCalls: 1,
          coverage: { status, files: { required: 12, shown } },
        },
      });
    const unseen = [
      sampleLeg('api', 'pass', [seen(11), seen(12)]),
      sampleLeg('web', 'pass', [seen(10), seen(9)]),
      sampleLeg('ui', 'pass', [seen(0, 'unknown'), seen(12, 'partial')]),
    ];
    expect(evidenceWarnings(sampleMergedReport(sampleMerged({ legs: unseen })))).toEqual([
      '3 of 6 runs were not shown every changed file: api, web.',
      '1 of 6 runs was shown an amount of the change that is known in part only: ui.',
    ]);
    expect(unseen.map(({ votes }) => voteWarnings(votes))).toEqual([
      ['1 of 2 votes: Shown 11 of 12 changed files.'],
      ['Not shown every changed file.'],
      ['1 of 2 votes: What it was shown of the change is known in part only.'],
    ]);
    expect(
      evidenceWarnings(sampleMergedReport(sampleMerged({ legs: [sampleLeg('a', 'pass', [seen(1)])] }))),
    ).toEqual(['1 of 1 run was not shown every changed file: a.']);
  });

  it('apply to all votes of a leg, or to a number of them', () => {
    const [api, web, ui, docs] = legs.map(({ votes }) => voteWarnings(votes));
    expect([api, web, ui, docs]).toEqual([
      [
        '1 of 2 votes: Judged without the diff of the change.',
        '1 of 2 votes: Accepted without a single tool call.',
      ],
      ['Judged without the diff of the change.'],
      ['1 of 2 votes: Judged with a part of the diff of the change.'],
      [],
    ]);
  });

  it('have a mark and a line in the tables of legs and votes', () => {
    const sanitizer = createMarkdownSanitizer(createSecrets());
    const merged = sampleMerged({ legs, votes: 'all of 2' });
    const table = legTables(merged, { maxReason: 400, maxLegs: 500, passing: true }, sanitizer);
    expect(table).toMatch(/✅⚠️&nbsp;\*\*web\*\* \|.*\| Judged without the diff of the change\. \|/u);
    expect(table.match(/⚠️/gu)).toHaveLength(3);
    expect(voteTable(merged, 'all', 400, sanitizer).match(/⚠️/gu)).toHaveLength(4);
  });
});
