/** The demo's scripted model. It knows no answer: what it calls next follows from what came back, and so does its verdict. */
import type {
  ModelMessage,
  ModelRequest,
  Reply,
  ScriptedCall,
} from '../../__tests__/support/fakes/model/server.ts';

/** A call of the conversation so far with its result. */
interface Step extends ScriptedCall {
  readonly result: string;
}

/** What a test runner printed. */
interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  /** The names of the tests that failed. */
  readonly failures: readonly string[];
  /** The place of the first failing test; null if none is printed. */
  readonly at: { readonly path: string; readonly line: number } | null;
}

/** The next turn: look at the project, look at its code and tests, run the tests, deliver what they said. */
export function answer(request: ModelRequest): Reply {
  const calls = nextCalls(readSteps(request.messages), request);
  const usage = {
    inputTokens: Math.ceil(JSON.stringify([request.messages, request.tools]).length / 4),
    outputTokens: Math.ceil(JSON.stringify(calls).length / 4),
  };
  return { calls, usage };
}

function nextCalls(steps: readonly Step[], request: ModelRequest): readonly ScriptedCall[] {
  const manifest = steps.find(({ arguments: text }) => text.includes('package.json'));
  if (manifest === undefined)
    return [call('read_file', { path: 'package.json' }), call('read_file', { path: 'README.md' })];
  const main = /"main":\s*"([^"]+)"/u.exec(manifest.result)?.[1] ?? 'src';
  if (!steps.some(({ arguments: text }) => text.includes(main)))
    return [call('read_file', { path: main }), call('read_file', { path: 'test' })];
  const tests = steps.findLast(({ name }) => name === 'shell');
  if (tests === undefined) return [call('shell', { command: 'npm test' })];
  return [call('structured_output', verdict(countTests(tests.result), request))];
}

/** Reads counts in TAP or in Node's own format; null if there are none. */
function countTests(output: string): TestCounts | null {
  const [passed, failed] = ['pass', 'fail'].map(
    (word) => new RegExp(`^(?:ℹ|#) ${word} (\\d+)\\r?$`, 'mu').exec(output)?.[1],
  );
  if (passed === undefined || failed === undefined) return null;
  const names = [...output.matchAll(/^\s*(?:✖|not ok \d+ -) (.+?)(?: \([\d.]+ms\))?\r?$/gmu)];
  const [, path, line] = /(?:test at |location: ')(\S+?):(\d+):\d+/u.exec(output) ?? [];
  return {
    passed: Number(passed),
    failed: Number(failed),
    failures: [...new Set(names.map(([, name = '']) => name))].filter((name) => name !== 'failing tests:'),
    at: path === undefined ? null : { path, line: Number(line) },
  };
}

/** The payload, with the properties that the offered tool asks for and no others. */
function verdict(counts: TestCounts | null, request: ModelRequest): Readonly<Record<string, unknown>> {
  const { passed, failed, failures, at } = counts ?? { passed: 0, failed: 0, failures: [], at: null };
  const isGreen = passed > 0 && failed === 0;
  const total = passed + failed;
  const known = {
    passed: isGreen,
    summary: isGreen
      ? `All ${total} tests pass.`
      : total === 0
        ? 'The test suite gave no counts, so nothing is known about it.'
        : `${failed} of ${total} tests ${failed === 1 ? 'fails' : 'fail'}: ${failures.join('; ')}.`,
    failure_count: failed,
    findings: failed === 0 ? [] : [{ severity: 'error', message: `Failing: ${failures.join('; ')}`, ...at }],
  };
  const offered = request.tools.find((tool) => tool.name === 'structured_output');
  const schema = JSON.stringify(offered?.parameters ?? {});
  return Object.fromEntries(Object.entries(known).filter(([name]) => schema.includes(`"${name}"`)));
}

function readSteps(messages: readonly ModelMessage[]): readonly Step[] {
  const results = new Map(messages.map(({ callId = '', text }) => [callId, text]));
  return messages
    .flatMap(({ calls = [] }) => calls)
    .map((made) => ({ ...made, result: (made.id && results.get(made.id)) ?? '' }));
}

function call(name: string, input: Readonly<Record<string, unknown>>): ScriptedCall {
  return { name, arguments: JSON.stringify(input) };
}
