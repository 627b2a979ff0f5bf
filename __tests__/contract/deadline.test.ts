import { describe, expect, it } from 'vitest';
import { underDeadline } from '../../src/contract/deadline.ts';

describe('underDeadline', () => {
  it('gives what the task gave, undefined too', () => {
    expect(underDeadline(() => 3, 1_000)).toEqual({ kind: 'done', value: 3 });
    expect(underDeadline(() => undefined, 1_000)).toEqual({ kind: 'done', value: undefined });
  });

  it('gives what the task threw', () => {
    const error = new TypeError('x');
    const task = (): never => {
      throw error;
    };
    expect(underDeadline(task, 1_000)).toEqual({ kind: 'threw', error });
  });

  it('a stack overflow is something thrown', () => {
    const endless = (): number => endless() + 1;
    const timed = underDeadline(endless, 5_000);
    expect(timed.kind === 'threw' && timed.error instanceof RangeError).toBe(true);
  });

  it('stops an endless loop, also one that catches, and works again after it', () => {
    const loop = (): never => {
      for (;;) {
        try {
          for (;;);
        } catch {}
      }
    };
    expect(underDeadline(loop, 50)).toEqual({ kind: 'timeout' });
    expect(underDeadline(() => /^(a+)+$/.test(`${'a'.repeat(40)}b`), 50)).toEqual({ kind: 'timeout' });
    expect(underDeadline(() => 'fine', 1_000)).toEqual({ kind: 'done', value: 'fine' });
  });
});
