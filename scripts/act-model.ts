/** The demo's scripted model, which knows the preset `verdict` alone, with what the other presets ask for beside that. */
import type { ModelRequest, Reply } from '../__tests__/support/model-server.ts';
import { answer } from '../examples/demo/model.ts';

/** Answers in the schema that was offered, from the same tests. */
export function answerPreset(request: ModelRequest): Reply {
  const reply = answer(request);
  const offered = request.tools.find(({ name }) => name === 'structured_output');
  const schema = JSON.stringify(offered?.parameters ?? {});
  const calls = reply.calls?.map((call) =>
    call.name === 'structured_output' ? { ...call, arguments: complete(call.arguments, schema) } : call,
  );
  return calls === undefined ? reply : { ...reply, calls };
}

function complete(argumentText: string, schema: string): string {
  const payload: Readonly<Record<string, unknown>> = JSON.parse(argumentText);
  const wants = (name: string) => schema.includes(`"${name}":{`);
  const findings = Array.isArray(payload['findings']) ? payload['findings'] : [];
  const knows = findings.length > 0 || payload['passed'] === true;
  const failures = Number(payload['failure_count'] ?? 0);
  const tests = Number(/(?:of|All) (\d+) tests/u.exec(String(payload['summary']))?.[1] ?? 0);
  return JSON.stringify({
    ...payload,
    ...(wants('complete') ? { complete: knows } : {}),
    ...(wants('complete') && findings.length > 0
      ? { findings: findings.map((row) => ({ ...row, category: 'tests', title: 'A test fails' })) }
      : {}),
    ...(wants('test_count')
      ? {
          command: 'npm test',
          test_count: tests,
          skipped_count: 0,
          failures: failures === 0 ? [] : [{ test: 'the discount', message: String(payload['summary']) }],
        }
      : {}),
  });
}
