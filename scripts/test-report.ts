/**
 * What a JSON report of vitest comes to, for `.ci/run`: `node scripts/test-report.ts REPORT counts` prints how many tests
 * passed and failed, `failures` what failed and why, `again` the files that deserve a second try, a line each.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The part of the report that is read. */
export interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

/** Characters of one failure; the rest stands further up in the log. */
const MAX_TEXT = 2_000;

/** How many tests passed and failed. */
export function countsOf({ numPassedTests, numFailedTests }: TestReport): string {
  return `${numPassedTests} ${numFailedTests}`;
}

/** Each failed test with its messages, and each file that failed without one. */
export function failuresOf({ testResults }: TestReport): string {
  const texts = testResults.flatMap((file) => {
    const failed = failedIn(file).map((test) => `${test.fullName}\n${messagesOf(test).slice(0, MAX_TEXT)}`);
    const whole = file.status === 'failed' && failed.length === 0 ? [file.message.slice(0, MAX_TEXT)] : [];
    return [...failed, ...whole].map((text) => `=== FAILED: ${relative(file.name)}\n${text}\n`);
  });
  return texts.join('\n');
}

/**
 * The files with failed tests, or none where a second try would hide what the first one found: a property that found a
 * counterexample would be asked with other values, and a file that cannot be loaded is broken.
 */
export function againOf({ testResults }: TestReport): readonly string[] {
  const failed = testResults.filter(({ status }) => status === 'failed');
  const isHopeless = failed.some((file) => {
    const tests = failedIn(file);
    return (
      tests.length === 0 ||
      tests.some((test) => /Property failed after|Counterexample/u.test(messagesOf(test)))
    );
  });
  return isHopeless ? [] : failed.map(({ name }) => relative(name));
}

function failedIn({ assertionResults }: TestReport['testResults'][number]) {
  return assertionResults.filter(({ status }) => status === 'failed');
}

function messagesOf({ failureMessages }: { readonly failureMessages?: readonly string[] | null }): string {
  return (failureMessages ?? []).join('\n');
}

function relative(file: string): string {
  return path.relative(process.cwd(), file);
}

if (import.meta.main) {
  const [file = '', what = ''] = process.argv.slice(2);
  const report: TestReport = JSON.parse(readFileSync(file, 'utf8'));
  const wanted = {
    counts: () => countsOf(report),
    failures: () => failuresOf(report),
    again: () => againOf(report).join('\n'),
  }[what];
  if (wanted === undefined)
    throw new Error(`Say counts, failures or again, and not ${JSON.stringify(what)}.`);
  console.log(wanted());
}
