/**
 * The demo's scripted model. It knows no fixed answer: what it calls next follows from what it was sent, and its
 * verdict is counted from the test output that came back.
 */
import type {
  ModelMessage,
  ModelRequest,
  Reply,
  ScriptedCall,
} from '../../__tests__/support/fakes/model/server.ts';

/** A call of the conversation so far with the result that it got. */
interface Step {
  readonly name: string;
  readonly arguments: string;
  readonly result: string;
}

/** What the output of a test runner says: counts, and the names of the tests that failed. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly string[];
  /** Where the first failing test stands, as the runner names it; null where it does not. */
  readonly at: { readonly file: string; readonly line: number } | null;
}

/** The next turn: look at the project, look at its code and tests, run the tests, deliver what they said. */
export function answer(request: ModelRequest): Reply {
  const steps = readSteps(request.messages);
  const calls = nextCalls(steps, request);
  const written = JSON.stringify(calls).length;
  const usage = {
    inputTokens: Math.ceil(JSON.stringify([request.messages, request.tools]).length / 4),
    outputTokens: Math.ceil(written / 4),
  };
  return { calls, usage };
}

function nextCalls(steps: readonly Step[], request: ModelRequest): readonly ScriptedCall[] {
  const manifest = steps.find((step) => step.name === 'read_file' && step.arguments.includes('package.json'));
  if (manifest === undefined)
    return [call('read_file', { path: 'package.json' }), call('read_file', { path: 'README.md' })];
  const main = field(manifest.result, 'main');
  if (main !== null && !steps.some((step) => step.arguments.includes(main))) {
    return [call('read_file', { path: main }), call('read_file', { path: 'test' })];
  }
  const ran = steps.filter((step) => step.name === 'shell');
  const script = field(manifest.result, 'test');
  if (ran.length === 0 && script !== null) return [call('shell', { command: 'npm test' })];
  // 127: the shell knows no npm. What npm would have run stands in package.json.
  if (
    ran.length === 1 &&
    script !== null &&
    /\b127\b/u.test(ran[0]?.result ?? '') &&
    countTests(ran[0]?.result ?? '') === null
  ) {
    return [call('shell', { command: script })];
  }
  return [call('structured_output', verdict(countTests(ran.at(-1)?.result ?? ''), request))];
}

/** Reads what a test runner wrote, in TAP or in Node's own format; null where there are no counts. */
export function countTests(output: string): TestCounts | null {
  const passed = count(output, 'pass');
  const failed = count(output, 'fail');
  if (passed === null || failed === null) return null;
  const names = [...output.matchAll(/^\s*(?:✖|not ok \d+ -) (.+?)(?: \([\d.]+ms\))?$/gmu)].map(
    (match) => match[1] ?? '',
  );
  const place = /test at (\S+?):(\d+):\d+|location: '(\S+?):(\d+):\d+'/u.exec(output);
  const file = place?.[1] ?? place?.[3];
  const line = Number(place?.[2] ?? place?.[4]);
  return {
    passed,
    failed,
    failures: [...new Set(names)].filter((name) => name !== 'failing tests:'),
    at: file === undefined ? null : { file, line },
  };
}

/** The payload, with the properties that the offered tool asks for and no others. */
function verdict(counts: TestCounts | null, request: ModelRequest): Readonly<Record<string, unknown>> {
  const known = {
    passed: counts !== null && counts.failed === 0 && counts.passed > 0,
    summary: summary(counts),
    failure_count: counts?.failed ?? 0,
    findings: findings(counts),
  };
  const offered = request.tools.find((tool) => tool.name === 'structured_output');
  const schema = JSON.stringify(offered?.parameters ?? {});
  return Object.fromEntries(Object.entries(known).filter(([name]) => schema.includes(`"${name}"`)));
}

function summary(counts: TestCounts | null): string {
  if (counts === null) return 'The test suite gave no counts, so nothing is known about it.';
  const total = counts.passed + counts.failed;
  if (counts.failed === 0) return `All ${total} tests pass.`;
  return `${counts.failed} of ${total} tests ${counts.failed === 1 ? 'fails' : 'fail'}: ${counts.failures.join('; ')}.`;
}

function findings(counts: TestCounts | null): readonly unknown[] {
  if (counts === null || counts.failed === 0) return [];
  const place = counts.at === null ? {} : { path: counts.at.file, line: counts.at.line };
  return [{ severity: 'error', message: `Failing: ${counts.failures.join('; ')}`, ...place }];
}

function readSteps(messages: readonly ModelMessage[]): readonly Step[] {
  const results = new Map(
    messages.flatMap((each) => (each.role === 'tool' ? [[each.callId, each.text] as const] : [])),
  );
  return messages.flatMap((each) =>
    each.role === 'assistant'
      ? each.calls.map((made) => ({ ...made, result: results.get(made.id ?? '') ?? '' }))
      : [],
  );
}

function call(name: string, input: Readonly<Record<string, unknown>>): ScriptedCall {
  return { name, arguments: JSON.stringify(input) };
}

/** The value of a string property in a text that shows JSON, with or without line numbers. */
function field(text: string, name: string): string | null {
  return new RegExp(`"${name}":\\s*"([^"]+)"`, 'u').exec(text)?.[1] ?? null;
}

function count(output: string, what: string): number | null {
  const found = new RegExp(`^(?:ℹ|#) ${what} (\\d+)$`, 'mu').exec(output.replaceAll('\r', ''));
  return found === null ? null : Number(found[1]);
}
