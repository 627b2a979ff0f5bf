import { describe, expect, it } from 'vitest';
import type { Merged } from '../../src/merge/types.ts';
import { createLog } from '../../src/reporters/log.ts';
import { createSecrets } from '../../src/text/secrets.ts';

import { writeCommands } from '../support/fakes/runner/commands.ts';
import { sampleLeg, sampleMerged, sampleMergedReport, sampleVote } from './sample-merged.ts';

const secrets = createSecrets();
secrets.add('sk-canary-1');
const log = createLog({ core: writeCommands(() => undefined), secrets, token: () => 'tok' });
const lines = (merged: Merged): readonly string[] => {
  const report = sampleMergedReport(merged);
  return report.view?.logLines?.(report, log.excerpt) ?? [];
};

describe('the lines of the log', () => {
  it('tell the tally, every leg that does not pass, what did not count and what it took', () => {
    const legs = [
      sampleLeg('api', 'pass'),
      sampleLeg('ui', 'abstain'),
      sampleLeg(null, 'abstain', [sampleVote('abstain', { conclusion: 'inconclusive', why: null })]),
      sampleLeg('web', 'fail'),
    ];
    const refused = [{ file: 'a/b.json', why: 'It is no JSON.' }];
    expect(lines(sampleMerged({ legs, refused, votes: 'any of 1' }))).toEqual([
      '1 of 4 legs passes, 1 fails, 1 is missing, 1 is undecided (rule all, votes any of 1)',
      '✗ web fails: The gate is not met: it wants `passed` to be true; the payload says false.',
      '– ui is missing: No envelope of it is there.',
      '? (no name) is undecided',
      '• a/b.json did not count: It is no JSON.',
      '3 runs · 4 turns · 6,420 tokens · $0.0400 · 0.3 s',
    ]);
  });

  it('are few, however many legs and files there are', () => {
    const legs = Array.from({ length: 256 }, (_, at) => sampleLeg(`leg-${at}`, 'fail'));
    const refused = Array.from({ length: 30 }, () => ({ file: 'f', why: 'w' }));
    const told = lines(sampleMerged({ legs, refused }));
    expect(told).toHaveLength(1 + 21 + 21 + 1);
    expect(told).toContain('… and 236 more legs');
    expect(told).toContain('… and 10 more files');
  });

  it('hold no secret and no line break of other jobs', () => {
    const evil = 'a\n::error::sk-canary-1\u001b[31m';
    const legs = [sampleLeg(evil, 'fail', [sampleVote('fail', { why: evil })])];
    const text = lines(sampleMerged({ legs, refused: [{ file: evil, why: evil }], rule: evil })).join('|');
    expect(text).not.toMatch(/sk-canary|\n|::error|\u001b/);
  });
});
