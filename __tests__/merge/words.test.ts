import { describe, expect, it } from 'vitest';
import type { Merged, MergedLeg } from '../../src/merge/types.ts';
import { describeGate, describeUndecided, summarize } from '../../src/merge/words.ts';
import { sampleLeg, sampleMerged, sampleVote } from './sample-merged.ts';

describe('summarize', () => {
  it('states the result of the rule', () => {
    const legs = [sampleLeg('api', 'pass'), sampleLeg('web', 'fail'), sampleLeg('docs', 'abstain')];
    const says = (outcome: 'pass' | 'fail' | 'abstain') => summarize(outcome, sampleMerged({ legs }), 'any');
    expect(says('pass')).toMatch(/^1 of 3 legs passes, .* \(rule: any\): passed\.$/u);
    expect(says('fail')).toMatch(/ \(rule: any\): not passed\.$/u);
    expect(says('abstain')).toMatch(/ \(rule: any\): no verdict\.$/u);
  });
});

describe('describeGate', () => {
  it('states the requirement, the counts, and what cannot change it', () => {
    const tally = { pass: 1, fail: 2, abstain: 1, expected: 4 };
    const legs = [sampleLeg('api', 'pass'), sampleLeg('web', 'fail'), sampleLeg('"\n', 'fail')];
    expect(describeGate({ kind: 'all' }, { tally, legs }, 'all')).toBe(
      String.raw`wants every leg to pass (rule: all), and 1 of 4 passes, 2 fail ("web", "\"\n"); what is open cannot change it`,
    );
    expect(
      describeGate(
        { kind: 'weighted', threshold: 1 },
        { tally: { pass: 2, fail: 0, abstain: 0, expected: 2 }, legs: legs.slice(0, 1) },
        'weighted:1',
      ),
    ).toBe('wants legs to pass that outweigh the threshold (rule: weighted:1), and 2 of 2 pass, 0 fail');
  });

  it('names five failing legs, and counts the others', () => {
    const legs = Array.from({ length: 7 }, (_, at) => sampleLeg(`leg ${at}`, 'fail'));
    const tally = { pass: 0, fail: 7, abstain: 0, expected: 7 };
    expect(describeGate({ kind: 'all' }, { tally, legs }, 'all')).toMatch(
      / 7 fail \("leg 0", "leg 1", "leg 2", "leg 3", "leg 4" and 2 more\)$/u,
    );
  });
});

describe('describeUndecided', () => {
  const undecided = (legs: readonly MergedLeg[], refused: Merged['refused'] = []) =>
    describeUndecided({ summary: 'No verdict.', legs, refused });

  it('names the open legs and votes with their reasons, and a fix', () => {
    const cut = sampleVote('abstain', { vote: '2', conclusion: 'inconclusive', reason: 'timeout' });
    const text = undecided([
      sampleLeg('api', 'pass'),
      sampleLeg('web', 'abstain', [sampleVote('pass', { vote: '1' }), cut]),
      sampleLeg('docs', 'abstain'),
      sampleLeg(null, 'abstain'),
    ]);
    expect(text).toContain('"web" (vote "2": timeout), "docs" (missing), 1 of unknown name.');
    expect(text).toContain('Re-run failed jobs');
  });

  it('gives each reason of a leg once', () => {
    const missing = (vote: string) =>
      sampleVote('abstain', { vote, conclusion: 'missing', reason: 'missing' });
    const replayed = sampleVote('abstain', { vote: '3', conclusion: 'success', reason: 'accepted' });
    const text = undecided([
      sampleLeg('api', 'abstain', [missing('1'), missing('2'), missing('3')]),
      sampleLeg('web', 'abstain', [missing('1'), missing('2'), replayed]),
    ]);
    expect(text).toContain('"api" (missing), "web" (votes "1", "2": missing; vote "3": no judgement).');
  });

  it('lists the files that did not count first, because a missing envelope may be among them', () => {
    const file = { file: 'verdict-api-1/result.json', why: 'it is not signed' };
    const legs = [sampleLeg('api', 'abstain')];
    expect(undecided(legs, [file])).toContain(
      'No verdict. 1 file did not count, "verdict-api-1/result.json": it is not signed. What is open',
    );
    expect(undecided(legs, [file, file])).toContain(
      '2 files did not count, the first of them "verdict-api-1/result.json": it is not signed.',
    );
  });

  it('does not suggest to re-run green jobs when something is missing', () => {
    const cut = sampleVote('abstain', { conclusion: 'inconclusive', reason: 'timeout' });
    expect(undecided([sampleLeg('api', 'abstain', [cut])])).not.toContain('green');
    const legs = [sampleLeg('api', 'abstain'), sampleLeg('web', 'pass')];
    expect(undecided(legs)).toContain('look at what it uploaded');
  });

  it('refers to the folder first when no envelope counts', () => {
    const legs = [sampleLeg('api', 'abstain'), sampleLeg('web', 'abstain')];
    expect(undecided(legs)).toContain(
      '(missing). Not one envelope counts: look at what the legs uploaded, and whether verdicts is the folder into which it was downloaded. "Re-run failed jobs"',
    );
  });

  it('does not suggest a re-run when every job is green and no model judged', () => {
    const skipped = sampleVote('abstain', { conclusion: 'skipped', reason: 'missing_key' });
    const replayed = sampleVote('abstain', { conclusion: 'success', reason: 'accepted' });
    const text = undecided([sampleLeg('api', 'abstain', [skipped, replayed])]);
    expect(text).toMatch(/no judgement\)\. Their jobs are green, .* A leg needs a key, and no replay\.$/u);
    const cut = sampleVote('abstain', { conclusion: 'inconclusive', reason: 'timeout' });
    expect(undecided([sampleLeg('api', 'abstain', [skipped, cut])])).toContain('Re-run');
  });

  it('gives the number of votes with a reason when they have no names', () => {
    const missing = sampleVote('abstain', { vote: null, conclusion: 'missing', reason: 'missing' });
    const legs = [sampleLeg('api', 'abstain', [sampleVote('pass', { vote: '1' }), missing, missing])];
    expect(undecided(legs)).toContain('"api" (2 of 3 votes: missing).');
  });

  it('limits the number of legs, and quotes hostile names', () => {
    const legs = Array.from({ length: 300 }, (_, at) =>
      sampleLeg(`x\n::error::${at}${'y'.repeat(200)}`, 'abstain'),
    );
    const text = undecided(legs);
    expect(text).toContain('280 more');
    expect(text).not.toContain('\n');
    expect(text.length).toBeLessThan(6_000);
  });
});
