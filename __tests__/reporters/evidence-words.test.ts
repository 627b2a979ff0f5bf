import { describe, expect, it } from 'vitest';
import type { MergedVote } from '../../src/merge/types.ts';
import { evidenceWarnings, voteWarnings } from '../../src/reporters/evidence-words.ts';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import { createLog } from '../../src/reporters/log.ts';
import { legTables, voteTable } from '../../src/reporters/merge-tables.ts';
import { createSay } from '../../src/reporters/say.ts';
import { summaryMarkdown } from '../../src/reporters/summary.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { ContextStatus } from '../../src/types.ts';
import { writeCommands } from '../support/commands.ts';
import { sampleLeg, sampleMerged, sampleMergedReport, sampleVote } from './sample-merged.ts';
import { sampleReport, unpublished } from './sample-report.ts';

const of = (context: ContextStatus, toolCalls: number) => ({ context, toolCalls, findings: [] });
const firstWords = (texts: readonly string[]) => texts.map((text) => text.split(/[:.]/u, 1)[0]);

describe('what a run is told to rest on', () => {
  it.each([
    [of('complete', 1), []],
    [of('none', 1), []],
    [of('missing', 1), ['The model was not given the diff of this pull request']],
    [of('truncated', 1), ['The model was given only a part of the diff of this pull request']],
    [of('none', 0), ['The payload was accepted without a single tool call']],
    [
      of('missing', 0),
      [
        'The model was not given the diff of this pull request',
        'The payload was accepted without a single tool call',
      ],
    ],
  ])('%j: %j', (evidence, expected) => {
    expect(firstWords(evidenceWarnings(sampleReport({ evidence })))).toEqual(expected);
  });

  it('is nothing where that is not known, and without a payload nothing of tool calls', () => {
    expect(evidenceWarnings(sampleReport({ evidence: null }))).toEqual([]);
    expect(evidenceWarnings(sampleReport())).toEqual([]);
    expect(evidenceWarnings(sampleReport({ ...unpublished('No.'), evidence: of('none', 0) }))).toEqual([]);
    expect(
      evidenceWarnings(sampleReport({ ...unpublished('No.'), evidence: of('missing', 0) })),
    ).toHaveLength(1);
  });

  it('stands in the box of the summary, and among the last lines of the log', async () => {
    const report = sampleReport({ evidence: of('missing', 0), weaknesses: ['No sandbox.'] });
    const secrets = createSecrets();
    const [, box = ''] = summaryMarkdown(report, { secrets, serverUrl: null }, 1e6).split('> [!WARNING]\n');
    expect(
      box
        .split('\n\n', 1)[0]
        ?.split('\n')
        .map((line) => line.slice(0, 40)),
    ).toEqual([
      '> **This run was weaker than it could be',
      '> - The model was not given the diff of ',
      '> - The payload was accepted without a s',
      '> - No sandbox.',
    ]);
    let text = '';
    const log = createLog({ core: writeCommands((part) => (text += part)), secrets, token: () => 'tok' });
    await createLiveLog({ log, level: 'summary' }).report?.(report, new AbortController().signal);
    expect(text).toContain(
      '  weaker than it could be: The model was not given the diff of this pull request:',
    );
    expect(text).toContain('  weaker than it could be: The payload was accepted without a single tool call:');
  });
});

describe('what the runs of a merge are told to rest on', () => {
  const vote = (context: ContextStatus, toolCalls: number, changes: Partial<MergedVote> = {}) =>
    sampleVote('pass', { evidence: { context, toolCalls }, ...changes });
  const legs = [
    sampleLeg('api', 'pass', [vote('missing', 0, { vote: '1' }), vote('complete', 2, { vote: '2' })]),
    sampleLeg('web', 'pass', [vote('missing', 3, { vote: '1' }), vote('missing', 1, { vote: '2' })]),
    sampleLeg('ui', 'pass', [vote('truncated', 1, { vote: '1' }), sampleVote('pass', { evidence: null })]),
    sampleLeg('docs', 'abstain', [
      vote('none', 0, { ballot: 'abstain', conclusion: 'inconclusive', reason: 'timeout' }),
      sampleVote('abstain'),
    ]),
  ];

  it('is how many of them, and of which legs', () => {
    expect(evidenceWarnings(sampleMergedReport(sampleMerged({ legs })))).toEqual([
      '3 of 7 runs judged the pull request without its diff: api, web.',
      '1 of 7 runs judged the pull request with a part of its diff: ui.',
      '1 of 7 runs had a payload accepted without a single tool call: api.',
    ]);
    const many = Array.from({ length: 7 }, (_, at) => sampleLeg(`leg ${at}`, 'pass', [vote('none', 0)]));
    expect(evidenceWarnings(sampleMergedReport(sampleMerged({ legs: many })))).toEqual([
      '7 of 7 runs had a payload accepted without a single tool call: leg 0, leg 1, leg 2, leg 3, leg 4 and 2 more legs.',
    ]);
    expect(evidenceWarnings(sampleMergedReport())).toEqual([]);
  });

  it('is said of all votes of a leg, or of how many', () => {
    const [api, web, ui, docs] = legs.map(({ votes }) => voteWarnings(votes));
    expect([api, web, ui, docs]).toEqual([
      [
        '1 of 2 votes: Judged without the diff of the pull request.',
        '1 of 2 votes: Accepted without a single tool call.',
      ],
      ['Judged without the diff of the pull request.'],
      ['1 of 2 votes: Judged with a part of the diff of the pull request.'],
      [],
    ]);
  });

  it('has a mark and a line in the tables of legs and votes', () => {
    const say = createSay(createSecrets());
    const merged = sampleMerged({ legs, votes: 'all of 2' });
    const table = legTables(merged, { maxReason: 400, maxLegs: 500, passing: true }, say);
    expect(table).toMatch(/✅⚠️&nbsp;\*\*web\*\* \|.*\| Judged without the diff of the pull request\. \|/u);
    expect(table.match(/⚠️/gu)).toHaveLength(3);
    expect(voteTable(merged, 'all', 400, say).match(/⚠️/gu)).toHaveLength(4);
  });
});
