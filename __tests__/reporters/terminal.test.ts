import { describe, expect, it } from 'vitest';
import { fitColumns, terminalStyle } from '../../src/reporters/terminal.ts';

describe('terminalStyle', () => {
  it.each([
    [{}, true, true, true],
    [{}, false, false, false],
    [{ TERM: 'dumb' }, true, false, false],
    [{ NO_COLOR: '1' }, true, true, false],
    [{ NO_COLOR: '' }, true, true, true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, false, true],
    [{ FORCE_COLOR: '0' }, true, true, false],
  ])('with %o and a terminal: %s → live %s, colour %s', (environment, isTTY, live, color) => {
    const style = terminalStyle({ environment, stderr: { isTTY }, stdoutShows: false });
    expect({ live: style.live, color: style.color }).toEqual({ live, color });
  });
});

describe('fitColumns', () => {
  it.each([
    ['abcdef', 5, 'abc…'],
    ['漢字漢字', 7, '漢字…'],
    ['a😀b😀c', 6, 'a😀b…'],
    ['abc', 2, '…'],
    ['abc', 0, ''],
  ])('fits %j in %i columns as %j', (text, columns, expected) => {
    expect(fitColumns(text, columns)).toBe(expected);
  });
});
