import { describe, expect, it } from 'vitest';
import {
  countedMerge,
  gravestLegs,
  isMerge,
  legReasons,
  legWord,
  runWords,
  tallyWords,
} from '../../src/reporters/merge-words.ts';
import { sampleLeg, sampleMerged, sampleMergedReport, sampleVote } from './sample-merged.ts';
import { sampleReport, unpublished } from './sample-report.ts';

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
  ] as const)('of %j is %j', (ballots, words) => {
    const legs = ballots.map((ballot, at) => sampleLeg(`leg ${at}`, ballot));
    expect(tallyWords(sampleMerged({ legs }))).toBe(words);
  });

  it('tells legs of which nothing came from those that came to nothing', () => {
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
  it('has first what holds the verdict up', () => {
    const legs = [
      sampleLeg('a', 'pass'),
      sampleLeg('b', 'abstain'),
      sampleLeg('c', 'fail'),
      sampleLeg('d', 'pass'),
    ];
    const order = (ballot: 'fail' | 'abstain') => gravestLegs({ ballot, legs }).map(({ leg }) => leg);
    expect([order('fail'), order('abstain')]).toEqual([
      ['c', 'b', 'a', 'd'],
      ['b', 'c', 'a', 'd'],
    ]);
  });
});

describe('legReasons', () => {
  it('are those of the votes that say what the leg says, with the names of those votes', () => {
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

describe('a merge', () => {
  it('is told from the run of an agent, also where it failed before it could count', () => {
    expect([sampleReport(), sampleReport({ merged: null }), sampleMergedReport()].map(isMerge)).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('has its tally for its verdict, but where something else ended it', () => {
    const merged = sampleMerged();
    expect(countedMerge(sampleMergedReport(merged))).toBe(merged);
    expect(countedMerge(sampleMergedReport(merged, unpublished('x', { reason: 'cancelled' })))).toBe(null);
    expect(countedMerge(sampleReport())).toBe(null);
  });

  it('counts the runs that were there, and those that asked no model', () => {
    const legs = [sampleLeg('a', 'pass', [sampleVote('pass', { reused: true })]), sampleLeg('b', 'abstain')];
    expect([runWords(sampleMerged()), runWords({ legs })]).toEqual(['9 runs', '1 run, 1 of them reused']);
  });
});
