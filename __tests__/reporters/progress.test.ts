import { describe, expect, it } from 'vitest';
import { createProgress, type ProgressOptions } from '../../src/reporters/progress.ts';
import type { RunEvent } from '../../src/reporters/report-types.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { eventsSaying, sampleEvents } from './sample-events.ts';
import { sampleReport, unpublished } from './sample-report.ts';

/** Characters that progress text never contains: controls but line breaks, bidi, zero-width. */
const ACTIVE = /[^\P{Cc}\n]|\p{Cf}/u;

function open(changes: Partial<Pick<ProgressOptions, 'quiet' | 'level'>> = {}) {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  const options = { quiet: false, level: 'summary', ...changes } as const;
  const progress = createProgress({ write, secrets: knowSecrets('sk-canary-1'), ...options });
  const emit = (events: readonly RunEvent[]) => {
    for (const event of events) progress.reporter.event?.(event);
  };
  return { progress, emit, text: () => text };
}

describe('progress', () => {
  it('is a line for each turn, and the verdict', async () => {
    const { progress, emit, text } = open();
    emit(sampleEvents);
    await progress.conclude(sampleReport({ gate: { status: 'none', issues: [] } }));
    await expect(text()).toMatchFileSnapshot('../golden/log/progress.txt');
  });

  it('has text and tool output line by line at level full, masked', () => {
    const { emit, text } = open({ level: 'full' });
    const content = 'one sk-canary-1\n::error::two\x1b[2J\n';
    emit(
      sampleEvents.map((event) =>
        event.type === 'tool_finished' ? { ...event, result: { ...event.result, content } } : event,
      ),
    );
    expect(text()).toMatch(/^output of shell\n {2}one \*\*\*\n/mu);
    expect(text()).not.toMatch(/sk-canary-1|^::|\x1b/mu);
  });

  it('in quiet mode is the sentence of a failure only, in one line', async () => {
    const { progress, emit, text } = open({ quiet: true });
    emit(sampleEvents);
    progress.warn('a warning');
    await progress.conclude(sampleReport());
    expect(text()).toBe('');
    await progress.conclude(sampleReport(unpublished('The model\ngave up.')));
    expect(text()).toBe('structured-agent: The model gave up.\n');
  });

  it('keeps the line breaks of a stack trace', () => {
    const { progress, text } = open();
    progress.warn('TypeError: x\n    at y\n');
    expect(text()).toBe('warning: TypeError: x\nwarning: at y\n');
  });

  it.each(['summary', 'full'] as const)('at level %s makes hostile text inert', async (level) => {
    const evil = 'a\x1b[2J\x1b]0;title\x07\r\n::error::x\n##[error]y\u202e\u200d\x9b1A👨‍👩‍👧漢';
    const { progress, emit, text } = open({ level });
    emit(eventsSaying(evil));
    progress.warn(evil);
    await progress.conclude(sampleReport({ ...unpublished(evil), model: evil, results: evil }));
    expect(text()).not.toMatch(ACTIVE);
    expect(text()).not.toMatch(/^\s*::|##\[/mu);
    expect(text().match(/^structured-agent: a/gmu)).toHaveLength(1);
  });
});
