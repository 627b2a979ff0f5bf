import { describe, expect, it } from 'vitest';
import { fitColumns, terminalStyle } from '../../src/reporters/terminal.ts';

describe('terminalStyle', () => {
  it.each([
    [{}, true, true, true],
    [{}, false, false, false],
    [{ TERM: 'dumb' }, true, false, false],
    [{ NO_COLOR: '1' }, true, true, false],
    [{ NO_COLOR: '' }, true, true, true],
    [{ FORCE_COLOR: '1' }, false, false, true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true, true, true],
    [{ FORCE_COLOR: '1', TERM: 'dumb' }, true, false, true],
    [{ FORCE_COLOR: '0' }, true, true, false],
    [{ FORCE_COLOR: 'false' }, true, true, false],
    [{ FORCE_COLOR: '' }, true, true, true],
  ])('with %o and a terminal: %s → live %s, colour %s', (environment, isTTY, live, color) => {
    const style = terminalStyle({ environment, stderr: { isTTY }, stdoutShows: false });
    expect({ live: style.live, color: style.color }).toEqual({ live, color });
  });

  it('has no live line when stdout prints to the same terminal', () => {
    expect(terminalStyle({ environment: {}, stderr: { isTTY: true }, stdoutShows: true }).live).toBe(false);
  });

  it('reads the number of columns each time and defaults to 80', () => {
    const stderr = { isTTY: true, columns: 0 };
    const style = terminalStyle({ environment: {}, stderr, stdoutShows: false });
    expect(style.columns()).toBe(80);
    stderr.columns = 33;
    expect(style.columns()).toBe(33);
  });
});

describe('fitColumns', () => {
  it.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abc…'],
    ['漢字漢字', 8, '漢字漢字'],
    ['漢字漢字', 7, '漢字…'],
    ['a😀b😀c', 7, 'a😀b😀c'],
    ['a😀b😀c', 6, 'a😀b…'],
    ['abc', 2, '…'],
    ['abc', 1, ''],
    ['abc', 0, ''],
    ['', 0, ''],
  ])('fits %j in %i columns as %j', (text, columns, expected) => {
    expect(fitColumns(text, columns)).toBe(expected);
  });
});
