import { describe, expect, it } from 'vitest';
import { outputNames } from '../../src/contract/root.ts';

describe('outputNames', () => {
  it('keeps valid names in order, also those of Object.prototype and run', () => {
    const names = ['b', 'a', '_x-1', 'A2', 'constructor', '__proto__', 'run', 'runs', 'run_x'];
    expect(outputNames(names)).toEqual({ names, warnings: [] });
  });

  it.each([
    ...['', '1a', 'a.b', 'a b', 'ä', 'a\nb', 'a\n', '-a', 'structured_output', 'Structured_Output'],
    ...['run-turns', 'RUN-x'],
  ])('P4 gives %j no output of its own, and a warning', (name) => {
    const { names, warnings } = outputNames(['ok', name]);
    expect(names).toEqual(['ok']);
    expect(warnings.length).toBe(1);
    expect(warnings[0]).toContain(`The property ${JSON.stringify(name)} gets no step output of its own`);
  });

  it('P4 gives no output to names that differ only in case', () => {
    const { names, warnings } = outputNames(['Passed', 'x', 'passed', 'PASSED']);
    expect(names).toEqual(['x']);
    expect(warnings.length).toBe(3);
    expect(warnings[1]).toContain('"Passed" is declared too');
  });
});
