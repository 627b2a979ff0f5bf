/** The log of the action and the progress of the command line, which show the same events. */
import { describe, expect, it } from 'vitest';
import { createLiveLog } from '../../src/reporters/live-log.ts';
import { createProgress, type ProgressOptions } from '../../src/reporters/progress.ts';
import type { RunEvent } from '../../src/reporters/report-types.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport, unpublished, VIEW } from './sample-report.ts';

const secrets = knowSecrets('sk-canary-1');

function logged(level: 'summary' | 'full', events: readonly RunEvent[]): string {
  const { log, text } = captureLog(secrets);
  const live = createLiveLog({ ...VIEW, log, level });
  for (const event of events) live.event?.(event);
  return text();
}

// The last lines for each kind of ending are in `golden/log/`.
describe('the log of a run', () => {
  it('shows each turn and tool call as it starts and ends, and at level full the texts', async () => {
    await expect(logged('summary', sampleEvents)).toMatchFileSnapshot('../golden/log/a-run.txt');
    await expect(logged('full', sampleEvents)).toMatchFileSnapshot('../golden/log/a-run-in-full.txt');
  });

  const [failed] = sampleEvents.filter((event) => event.type === 'tool_finished');
  if (failed?.type !== 'tool_finished') throw new Error('There is no such event.');

  it.each([
    ['all well\n[exit code 0]', '✓ shell npm test · exit code 0 · 5 ms'],
    ['[exit code 7]', '• shell npm test · exit code 7 · 5 ms'],
    ['x\n[killed by SIGKILL]', '• shell npm test · killed by SIGKILL · 5 ms'],
    ['[timed out after 3 s and was killed. If it …]', '• shell npm test · timed out after 3 s · 5 ms'],
    ['[exit code 7]\n[exit code 0]x', '✓ shell npm test · 5 ms'],
    ['[exit code ::error::]', '✓ shell npm test · 5 ms'],
  ])('shows how a command with the result %j ended', (content, line) => {
    const call = { id: 'c', name: 'shell', target: 'npm test' };
    const result = { ...failed.result, content };
    expect(logged('summary', [{ ...failed, call, decision: 'ok', durationMs: 5, result }])).toBe(
      `  ${line}\n`,
    );
  });

  it('shows a one-line error once, also at level full', () => {
    const result = { ...failed.result, content: 'There is no such file.\n' };
    expect(logged('full', [{ ...failed, result }])).toMatch(/^ {2}✗ read_file .* There is no such file\.\n$/);
  });
});

describe('progress', () => {
  function open(changes: Partial<Pick<ProgressOptions, 'quiet' | 'level'>> = {}) {
    let text = '';
    const write = (part: string) => {
      text += part;
    };
    const progress = createProgress({ write, secrets, quiet: false, level: 'summary', ...changes });
    for (const event of sampleEvents) progress.reporter.event?.(event);
    return { progress, text: () => text };
  }

  it('is a line for each turn, and the verdict', async () => {
    const { progress, text } = open();
    await progress.conclude(sampleReport({ gate: { status: 'none', issues: [] } }));
    await expect(text()).toMatchFileSnapshot('../golden/log/progress.txt');
  });

  it('has text and tool output line by line at level full, masked', () => {
    expect(open({ level: 'full' }).text()).toContain(
      'output of shell\n  | OUTPUT-CANARY ***\n  | : :endgroup: :\n  | [exit code 1]\n',
    );
  });

  it('in quiet mode is the sentence of a failure only, in one line', async () => {
    const { progress, text } = open({ quiet: true });
    progress.warn('a warning');
    await progress.conclude(sampleReport());
    expect(text()).toBe('');
    await progress.conclude(sampleReport(unpublished('The model\ngave up.')));
    expect(text()).toBe('structured-agent: The model gave up.\n');
  });

  it('keeps the line breaks of a stack trace', () => {
    const { progress, text } = open();
    progress.warn('TypeError: x\n    at y\n');
    expect(text()).toContain('warning: TypeError: x\nwarning:     at y\n');
  });
});
