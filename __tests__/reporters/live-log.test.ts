/** The log of the action and the progress of the command line, which show the same events. */
import { expect, it } from 'vitest';
import { createLiveLog, createProgress } from '../../src/reporters/live-log.ts';
import type { Report, RunEvent } from '../../src/reporters/report-types.ts';
import { captureLog, knowSecrets } from '../support/surroundings.ts';
import { sampleEvents } from './sample-events.ts';
import { sampleReport, unpublished, VIEW } from './sample-report.ts';

const secrets = knowSecrets('sk-canary-1');

function logged(level: 'summary' | 'full', events: readonly RunEvent[]): string {
  const { log, text } = captureLog(secrets);
  const live = createLiveLog(log, level, VIEW);
  for (const event of events) live.event?.(event);
  return text();
}

// The last lines for each kind of ending are in `golden/log/`.
it('the log of a run shows each turn and tool call as it starts and ends, and at level full the texts', async () => {
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
])('the log of a run shows how a command with the result %j ended', (content, line) => {
  const call = { id: 'c', name: 'shell', target: 'npm test' };
  const result = { ...failed.result, content };
  expect(logged('summary', [{ ...failed, call, decision: 'ok', durationMs: 5, result }])).toBe(`  ${line}\n`);
});

function open(level: 'turns' | null) {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  const { reporter, warn } = createProgress(write, level, secrets);
  for (const event of sampleEvents) reporter.event?.(event);
  const conclude = (changes: Partial<Report>) =>
    reporter.report?.(sampleReport(changes), new AbortController().signal);
  return { warn, conclude, text: () => text };
}

it('progress is a line for each turn, and the verdict', async () => {
  const { conclude, text } = open('turns');
  await conclude({ gate: { status: 'none', issues: [] } });
  await expect(text()).toMatchFileSnapshot('../golden/log/progress.txt');
});

it('progress in quiet mode is the sentence of a failure only, in one line', async () => {
  const { warn, conclude, text } = open(null);
  warn('a warning');
  await conclude({});
  expect(text()).toBe('');
  await conclude(unpublished('The model\ngave up.'));
  expect(text()).toBe('structured-agent: The model gave up.\n');
});

it('progress keeps the line breaks of a stack trace', () => {
  const { warn, text } = open('turns');
  warn('TypeError: x\n    at y\n');
  expect(text()).toContain('warning: TypeError: x\nwarning:     at y\n');
});
