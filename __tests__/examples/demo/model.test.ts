import { describe, expect, it } from 'vitest';
import { answer, countTests } from '../../../examples/demo/model.ts';
import type { ModelMessage, ModelRequest } from '../../support/fakes/model/server.ts';

const SPEC = `✔ a test (0.4ms)
✖ an order of exactly 100.00 gets the discount (0.59ms)
✖ another one (1.2ms)
ℹ tests 9
ℹ pass 7
ℹ fail 2

✖ failing tests:

test at test/discount.test.js:9:1
✖ an order of exactly 100.00 gets the discount (0.59ms)
`;

const TAP = `TAP version 13
ok 1 - a test
not ok 2 - a broken test
  ---
  location: '/w/test/money.test.js:18:1'
  ...
# tests 2
# pass 1
# fail 1
`;

const VERDICT = { properties: { passed: {}, summary: {}, failure_count: {} } };

/** A conversation in which each call has the given result. */
function request(
  steps: readonly (readonly [name: string, input: unknown, result: string])[],
  schema: unknown = VERDICT,
): ModelRequest {
  const messages = steps.flatMap(([name, input, result], index): readonly ModelMessage[] => [
    { role: 'assistant', text: '', calls: [{ id: `c${index}`, name, arguments: JSON.stringify(input) }] },
    { role: 'tool', callId: `c${index}`, text: result },
  ]);
  return {
    endpoint: 'chat',
    model: 'm',
    streamed: false,
    messages: [{ role: 'user', text: 'task' }, ...messages],
    tools: [{ name: 'structured_output', description: '', parameters: schema }],
    toolResults: [],
    toolChoice: 'auto',
  };
}

function calls(given: ModelRequest): readonly (readonly [string, unknown])[] {
  return (answer(given).calls ?? []).map((call) => [call.name, JSON.parse(call.arguments)]);
}

/** The payload that is submitted. */
function submittedBy(given: ModelRequest): unknown {
  const [[name, payload] = []] = calls(given);
  expect(name).toBe('structured_output');
  return payload;
}

const MANIFEST = [
  'read_file',
  { path: 'package.json' },
  '3\t"main": "lib/a.js",\n4\t"test": "node --test"',
] as const;
const SOURCE = ['read_file', { path: 'lib/a.js' }, 'export {}'] as const;

describe('countTests', () => {
  it("reads Node's own format", () => {
    expect(countTests(SPEC)).toEqual({
      passed: 7,
      failed: 2,
      failures: ['an order of exactly 100.00 gets the discount', 'another one'],
      at: { file: 'test/discount.test.js', line: 9 },
    });
  });

  it('reads TAP', () => {
    expect(countTests(TAP)).toEqual({
      passed: 1,
      failed: 1,
      failures: ['a broken test'],
      at: { file: '/w/test/money.test.js', line: 18 },
    });
  });

  it('returns null when the output has no counts', () => {
    expect(countTests('bash: npm: command not found')).toBeNull();
  });
});

describe('the scripted model', () => {
  it('reads the project first', () => {
    expect(calls(request([]))).toEqual([
      ['read_file', { path: 'package.json' }],
      ['read_file', { path: 'README.md' }],
    ]);
  });

  it('then reads the file that package.json names', () => {
    expect(calls(request([MANIFEST]))).toEqual([
      ['read_file', { path: 'lib/a.js' }],
      ['read_file', { path: 'test' }],
    ]);
  });

  it('then runs the tests', () => {
    expect(calls(request([MANIFEST, SOURCE]))).toEqual([['shell', { command: 'npm test' }]]);
  });

  it('runs the script of package.json when the shell has no npm', () => {
    const failed = ['shell', { command: 'npm test' }, 'npm: command not found\nexit code 127'] as const;
    expect(calls(request([MANIFEST, SOURCE, failed]))).toEqual([['shell', { command: 'node --test' }]]);
  });

  it('submits the results of the test output', () => {
    const summary = '2 of 9 tests fail: an order of exactly 100.00 gets the discount; another one.';
    expect(submittedBy(request([MANIFEST, SOURCE, ['shell', {}, SPEC]]))).toEqual({
      passed: false,
      summary,
      failure_count: 2,
    });
  });

  it('does not report a pass without counts', () => {
    const summary = 'The test suite gave no counts, so nothing is known about it.';
    expect(submittedBy(request([MANIFEST, SOURCE, ['shell', {}, 'exit code 1']]))).toEqual({
      passed: false,
      summary,
      failure_count: 0,
    });
  });

  it('submits the properties that the schema offers', () => {
    const given = request([MANIFEST, SOURCE, ['shell', {}, TAP]], {
      properties: { findings: {}, passed: {} },
    });
    const place = { path: '/w/test/money.test.js', line: 18 };
    const findings = [{ severity: 'error', message: 'Failing: a broken test', ...place }];
    expect(submittedBy(given)).toEqual({ passed: false, findings });
  });
});
