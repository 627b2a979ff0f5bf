import { describe, expect, it } from 'vitest';
import { againOf, countsOf, failuresOf, type TestReport } from '../scripts/test-report.ts';

const test = (fullName: string, ...failureMessages: string[]) => ({
  fullName,
  status: failureMessages.length === 0 ? 'passed' : 'failed',
  failureMessages,
});

const file = (name: string, tests: ReturnType<typeof test>[], message = '') => ({
  name: `${process.cwd()}/__tests__/${name}`,
  status: message !== '' || tests.some(({ status }) => status === 'failed') ? 'failed' : 'passed',
  message,
  assertionResults: tests,
});

const report = (...testResults: TestReport['testResults'][number][]): TestReport => ({
  numPassedTests: 5,
  numFailedTests: 2,
  testResults,
});

describe('what the tests of a CI run come to', () => {
  it('counts, and each failure with its file and message, bounded', () => {
    const seen = report(
      file('a.test.ts', [test('a passes'), test('a fails', 'Error: one', `two${'!'.repeat(9_000)}`)]),
      file('b.test.ts', [], 'Cannot find module'),
      file('c.test.ts', [test('c passes')]),
    );
    expect(countsOf(seen)).toBe('5 2');
    const text = failuresOf(seen);
    expect(text).toContain('=== FAILED: __tests__/a.test.ts\na fails\nError: one\ntwo!!!');
    expect(text).toContain('=== FAILED: __tests__/b.test.ts\nCannot find module\n');
    expect(text).not.toMatch(/passes|c\.test/u);
    expect(text.length).toBeLessThan(2_500);
  });

  it('the files of failed tests deserve a second try', () => {
    const seen = report(
      file('a.test.ts', [test('a', 'Error: one')]),
      file('b.test.ts', [test('b')]),
      file('c.test.ts', [test('c', 'Error: two')]),
    );
    expect(againOf(seen)).toEqual(['__tests__/a.test.ts', '__tests__/c.test.ts']);
  });

  it.each([
    [
      'a property with a counterexample',
      file('b.test.ts', [test('b', 'Error: Property failed after 3 tests')]),
    ],
    ['a file that cannot be loaded', file('b.test.ts', [], 'Cannot find module')],
  ])('nothing deserves one beside %s', (_, hopeless) => {
    expect(againOf(report(file('a.test.ts', [test('a', 'Error: one')]), hopeless))).toEqual([]);
  });
});
