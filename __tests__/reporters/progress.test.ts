import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createProgress, type ProgressOptions } from '../../src/reporters/progress.ts';
import type { RunEvent } from '../../src/reporters/report-types.ts';
import { knowSecrets } from '../support/surroundings.ts';
import { eventsSaying, sampleEvents } from './sample-events.ts';
import { sampleReport, unpublished } from './sample-report.ts';

const signal = new AbortController().signal;
const COLUMNS = 60;
/** Characters that progress text never contains: controls but line breaks, bidi, zero-width. */
const ACTIVE = /[^\P{Cc}\n]|\p{Cf}/u;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(
  changes: Partial<ProgressOptions['style']> & Partial<Pick<ProgressOptions, 'quiet' | 'level'>> = {},
) {
  let text = '';
  const { quiet = false, level = 'summary', ...style } = changes;
  const progress = createProgress({
    sink: {
      write(part) {
        text += part;
      },
      flush: async () => undefined,
    },
    style: { live: false, color: false, columns: () => COLUMNS, ...style },
    quiet,
    level,
    secrets: knowSecrets('sk-canary-1'),
    now: () => performance.now(),
  });
  const emit = (events: readonly RunEvent[]) => {
    for (const event of events) progress.reporter.event?.(event);
  };
  /** The row of the terminal below all output. */
  const line = () => (text.split('\r\x1b[2K').at(-1) ?? '').replaceAll(/\x1b\[\?7[lh]|^[\s\S]*\n/gu, '');
  return { progress, emit, text: () => text, line };
}

describe('plain progress', () => {
  it('writes a line as each turn and call starts and ends, and the verdict', async () => {
    const { progress, emit, text } = open();
    emit(sampleEvents.slice(0, 4));
    vi.advanceTimersByTime(62_000);
    emit(sampleEvents.slice(4));
    await progress.reporter.report?.(sampleReport(), signal);
    await progress.conclude(sampleReport({ gate: { status: 'none', issues: [] } }));
    await expect(text()).toMatchFileSnapshot('../golden/log/progress.txt');
  });

  it('writes text and tool output line by line at level full, masked', () => {
    const { emit, text } = open({ level: 'full' });
    const content = 'one sk-canary-1\n::error::two\x1b[2J\n';
    emit(
      sampleEvents.map((event) =>
        event.type === 'tool_finished' ? { ...event, result: { ...event.result, content } } : event,
      ),
    );
    expect(text()).toMatch(/\] output of shell\n[\s\S]*\] {3}one \*\*\*\n/u);
    expect(text()).not.toMatch(/sk-canary-1|^::|\x1b/mu);
  });

  it('ends with the lines about additional files', async () => {
    const { progress, text } = open();
    await progress.conclude(sampleReport(), ['report page: /w/sk-canary-1.html', 'no patch: a\nb']);
    expect(text().split('\n').slice(-3)).toEqual(['  report page: /w/***.html', '  no patch: a b', '']);
    const quiet = open({ quiet: true });
    await quiet.progress.conclude(sampleReport(), ['report page: /w/r.html']);
    expect(quiet.text()).toBe('');
  });

  it('explains a failed run once, in one sentence', async () => {
    const { progress, text } = open();
    const report = sampleReport(unpublished('The model\ngave up.'));
    await progress.reporter.report?.(report, signal);
    await progress.conclude(report);
    expect(text().match(/The model gave up\./g)?.length).toBe(1);
    expect(text()).toContain('structured-agent: The model gave up.\n');
  });

  it('writes only that sentence in quiet mode', async () => {
    const { progress, emit, text } = open({ quiet: true, live: true });
    emit(sampleEvents);
    vi.advanceTimersByTime(5_000);
    progress.warn('a warning');
    await progress.conclude(sampleReport());
    expect(text()).toBe('');
    await progress.conclude(sampleReport(unpublished('No.')));
    expect(text()).toBe('structured-agent: No.\n');
  });

  it('keeps the line breaks of a stack trace', () => {
    const { progress, text } = open();
    progress.warn('TypeError: x\n    at y\n');
    expect(text()).toBe('warning: TypeError: x\nwarning: at y\n');
  });

  it('uses colours when enabled and no other escape sequences', async () => {
    const { progress, emit, text } = open({ color: true });
    emit(sampleEvents);
    await progress.conclude(sampleReport(unpublished('No.')));
    expect(text()).toContain('\x1b[31mstructured-agent:\x1b[0m No.');
    expect(text().replace(/\x1b\[(?:\d|3[123])m/g, '')).not.toMatch(ACTIVE);
  });
});

describe('hostile text', () => {
  const evil = 'a\x1b[2J\x1b]0;title\x07\r\n::error::x\n##[error]y\u202e\u200d\x9b1A👨‍👩‍👧漢';
  it.each([
    ['plain', false],
    ['live', true],
  ])('is escaped in %s progress', async (_, live) => {
    const { progress, emit, text } = open({ live });
    emit(eventsSaying(evil));
    progress.warn(evil);
    await progress.conclude(sampleReport({ ...unpublished(evil), model: evil, results: evil }));
    progress.fail(evil);
    const rest = text()
      .replaceAll('\r\x1b[2K', '')
      .replaceAll(/\x1b\[\?7[lh]/g, '');
    expect(rest).not.toMatch(ACTIVE);
    expect(rest).not.toMatch(/^\s*::|##\[/m);
  });
});

describe('the live line', () => {
  it('shows turn, time, tokens, cost and call on one row, and is removed at the end', async () => {
    const { progress, emit, line } = open({ live: true });
    emit(sampleEvents.slice(1, 3));
    expect(line()).toBe('turn 1 · 0 s · waiting for the model');
    vi.advanceTimersByTime(61_000);
    expect(line()).toBe('turn 1 · 1 min 01 s · waiting for the model');
    emit(sampleEvents.slice(3, 7));
    expect(line()).toBe('turn 1 · 1 min 01 s · 3,210 tokens · $0.0042 · shell npm …');
    await progress.reporter.report?.(sampleReport(), signal);
    expect(line()).toBe('');
    vi.advanceTimersByTime(5_000);
    emit(sampleEvents.slice(3, 7));
    expect([line(), vi.getTimerCount()]).toEqual(['', 0]);
  });

  it('moves below other output', () => {
    const { progress, emit, line, text } = open({ live: true });
    emit(sampleEvents.slice(1, 3));
    progress.warn('first');
    expect(text()).toContain('\r\x1b[2Kwarning: first\n');
    expect(line()).toBe('turn 1 · 0 s · waiting for the model');
    progress.fail('No.');
    expect(text().endsWith('\r\x1b[2Kstructured-agent: No.\n')).toBe(true);
  });

  it('is written only when it changes', () => {
    const { emit, text } = open({ live: true });
    emit(sampleEvents.slice(1, 3));
    vi.advanceTimersByTime(999);
    const before = text();
    vi.advanceTimersByTime(250);
    expect([before, text()].map((each) => each.split('\r').length)).toEqual([3, 4]);
  });
});
