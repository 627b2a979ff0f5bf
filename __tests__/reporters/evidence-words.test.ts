import { describe, expect, it } from 'vitest';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import { createLog } from '../../src/reporters/log.ts';
import { summaryMarkdown } from '../../src/reporters/summary.ts';
import { evidenceWarnings } from '../../src/reporters/verdict-text.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { ContextStatus } from '../../src/types.ts';
import { writeCommands } from '../support/fakes/runner/commands.ts';
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
