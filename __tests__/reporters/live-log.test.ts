import { describe, expect, it } from 'vitest';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport, unpublished, VIEW } from './sample-report.ts';

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0 };

const open = (level: 'summary' | 'full') => {
  const { log, text } = captureLog(knowSecrets('sk-canary-1'));
  return { live: createLiveLog({ ...VIEW, log, level }), text };
};

async function logRun(level: 'summary' | 'full', report: Report | null): Promise<string> {
  const { live, text } = open(level);
  if (report === null) for (const event of sampleEvents) live.event?.(event);
  else await live.report?.(report, new AbortController().signal);
  return text();
}

describe('the log of a run', () => {
  it('shows each turn and tool call as it starts and ends', async () => {
    await expect(await logRun('summary', null)).toMatchFileSnapshot('../golden/log/a-run.txt');
  });

  it('shows text, prompts and tool output in groups at level full', async () => {
    await expect(await logRun('full', null)).toMatchFileSnapshot('../golden/log/a-run-in-full.txt');
  });

  it.each([
    ['all well\n[exit code 0]', '✓ shell npm test · exit code 0 · 5 ms'],
    ['[exit code 7]', '• shell npm test · exit code 7 · 5 ms'],
    ['x\n[killed by SIGKILL]', '• shell npm test · killed by SIGKILL · 5 ms'],
    ['[timed out after 3 s and was killed. If it …]', '• shell npm test · timed out after 3 s · 5 ms'],
    ['[exit code 7]\n[exit code 0]x', '✓ shell npm test · 5 ms'],
    ['[exit code ::error::]', '✓ shell npm test · 5 ms'],
  ])('shows how a command with the result %j ended', (content, line) => {
    const { live, text } = open('summary');
    live.event?.({
      type: 'tool_finished',
      turn: 1,
      call: { id: 'c', name: 'shell', target: 'npm test' },
      decision: 'ok',
      durationMs: 5,
      result: { callId: 'c', content, isError: false },
      totals: { turns: 1, usage, costUsd: null },
    });
    expect(text()).toBe(`  ${line} · 2 tokens\n`);
  });

  it('shows a one-line error once, also at level full', async () => {
    const { live, text } = open('full');
    const [failed] = sampleEvents.filter((event) => event.type === 'tool_finished');
    if (failed?.type !== 'tool_finished') throw new Error('There is no such event.');
    const result = { ...failed.result, content: 'There is no such file.\n' };
    live.event?.({ ...failed, result });
    expect(text()).toMatch(/^ {2}✗ read_file .* There is no such file\.\n$/);
  });
});

// The lines for each kind of ending are in `golden/log/`.
describe('the verdict at the end of the log', () => {
  it('names only existing files', async () => {
    const report = sampleReport({ ...unpublished('No.'), results: null, patchFile: '/tmp/changes.patch' });
    const text = await logRun('summary', report);
    expect(text).toContain('  patch: /tmp/changes.patch\n');
    expect(text).not.toContain('result:');
  });

  it("names the price list's name of the model", async () => {
    const text = await logRun('summary', sampleReport({ costUsd: 1.5, pricedAs: 'claude-sonnet-5' }));
    expect(text).toContain(' · $1.50 (priced as claude-sonnet-5) · ');
  });

  it('says how the payload was repaired, and names none of its keys', async () => {
    const parsed = sampleReport({ repaired: { kind: 'parsed', paths: ['/a', ''] } });
    expect(await logRun('summary', parsed)).toContain(
      '  The payload was repaired before it was accepted: 2 JSON strings in it were parsed.\n',
    );
  });
});
