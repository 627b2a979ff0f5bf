import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const program = path.join(import.meta.dirname, '../.ci/test-report.jq');

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

/** What `.ci/run` reads from a report of these files. */
function read(print: 'counts' | 'failures' | 'again', ...testResults: ReturnType<typeof file>[]): string {
  const args = ['-r', '-f', program, '--arg', 'print', print, '--arg', 'root', process.cwd()];
  const input = JSON.stringify({ numPassedTests: 5, numFailedTests: 2, testResults });
  return execFileSync('jq', args, { input, encoding: 'utf8' });
}

describe('the report of a CI test run', () => {
  it('has counts, and each failure with its file and a bounded message', () => {
    const seen = [
      file('a.test.ts', [test('a passes'), test('a fails', 'Error: one', `two${'!'.repeat(9_000)}`)]),
      file('b.test.ts', [], 'Cannot find module'),
      file('c.test.ts', [test('c passes')]),
    ];
    expect(read('counts', ...seen)).toBe('5 2\n');
    const text = read('failures', ...seen);
    expect(text).toContain('=== FAILED: __tests__/a.test.ts\na fails\nError: one\ntwo!!!');
    expect(text).toContain('=== FAILED: __tests__/b.test.ts\nCannot find module\n');
    expect(text).not.toMatch(/passes|c\.test/u);
    expect(text.length).toBeLessThan(2_500);
  });

  const failed = file('a.test.ts', [test('a', 'Error: one')]);

  it('lists the files of failed tests to run again', () => {
    const seen = [failed, file('b.test.ts', [test('b')]), file('c.test.ts', [test('c', 'Error: two')])];
    expect(read('again', ...seen)).toBe('__tests__/a.test.ts\n__tests__/c.test.ts\n');
  });

  it.each([
    ['a property with a counterexample', [test('b', 'Error: Property failed after 3 tests')], ''],
    ['a file that cannot be loaded', [], 'Cannot find module'],
  ])('lists nothing to run again when there is %s', (_, tests, message) => {
    expect(read('again', failed, file('b.test.ts', tests, message))).toBe('\n');
  });
});
