import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedFilesText, dollars, duration, floorShare } from '../../src/reporters/format.ts';
import { counted, grouped } from '../../src/text/messages.ts';

it('formats durations with their unit', () => {
  const durations = [-1, 0, 12.4, 99, 100, 1234, 9949, 9950, 59_400, 59_600, 185_000, 3_600_000].map(
    duration,
  );
  const wanted =
    '0 ms, 0 ms, 12 ms, 99 ms, 0.1 s, 1.2 s, 9.9 s, 10 s, 59 s, 1 min 00 s, 3 min 05 s, 60 min 00 s';
  expect(durations.join(', ')).toBe(wanted);
});

it('formats counts and costs', () => {
  expect([0, 999, 1234567].map(grouped)).toEqual(['0', '999', '1,234,567']);
  expect([counted(1, 'turn'), counted(2000, 'turn')]).toEqual(['1 turn', '2,000 turns']);
  expect([dollars(0.00421), dollars(12.345)]).toEqual(['$0.0042', '$12.35']);
});

it.each([
  [{ changedFiles: 10 }, "10 files changed in the agent's scratch layer"],
  [{ changedFiles: 1 }, "1 file changed in the agent's scratch layer"],
  [{ changedFiles: 0 }, null],
  [{ changedFiles: null }, null],
] as const)('describes changed files for %o', (changes, text) => {
  expect(changedFilesText(changes)).toBe(text);
});

describe('floorShare', () => {
  it('never rounds up, is 1 only for 1, and keeps a decimal that is exact', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1e6 }),
        fc.nat(1e6),
        fc.constantFrom(100, 10_000),
        (all, some, steps) => {
          const shown = some % (all + 1);
          const units = Math.round(floorShare(shown / all, steps) * steps);
          // In whole numbers, which are exact.
          expect(units).toBe(Math.floor((shown * steps) / all));
          expect(units === steps).toBe(shown === all);
        },
      ),
    );
  });
});
