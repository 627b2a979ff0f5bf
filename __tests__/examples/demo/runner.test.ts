import { describe, expect, it } from 'vitest';
import { readOutputs } from '../../../examples/demo/runner.ts';

describe('readOutputs', () => {
  it('reads single-line and multi-line values', () => {
    expect(readOutputs('a<<X\n1\nX\nb<<Y\n2\n\n3\nY\nc=4\n')).toEqual(
      new Map([
        ['a', '1'],
        ['b', '2\n\n3'],
        ['c', '4'],
      ]),
    );
  });

  it('treats a line that looks like another entry as part of the value', () => {
    expect(readOutputs('a<<X\nb<<Y\nc=1\nX\n')).toEqual(new Map([['a', 'b<<Y\nc=1']]));
  });

  it('refuses a value without an end, like the runner', () => {
    expect(() => readOutputs('a<<X\n1\n')).toThrow('The output a has no end.');
  });
});
