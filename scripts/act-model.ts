/** The demo's scripted model, which knows the preset `verdict` alone, with what the other presets ask for beside that. */
import type { ModelRequest, Reply } from '../__tests__/support/fakes/model/server.ts';
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

/** How a vote goes; one that is killed asks its model and is never heard of again. */
export type Vote = 'pass' | 'fail' | 'killed';

/** Of each leg its votes, in the order in which they ask. */
export type Votes = Readonly<Record<string, readonly Vote[]>>;

/** Answers the example with many legs: each request is a vote of the leg that its task names. */
export function createVoter(votes: Votes, kill: () => void): (request: ModelRequest) => Reply {
  const asked = new Map<string, number>();
  return ({ messages }) => {
    const tasks = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
    const leg = Object.keys(votes).find((each) =>
      tasks.some((text) => text.includes(`Review the ${each} of`)),
    );
    if (leg === undefined) throw new Error('No leg is known that would ask this.');
    const index = asked.get(leg) ?? 0;
    asked.set(leg, index + 1);
    const vote = votes[leg]?.[index];
    if (vote === undefined) throw new Error(`The leg ${leg} asks once more than it has votes.`);
    if (vote === 'killed') kill();
    const payload = {
      passed: vote === 'pass',
      summary: `The ${leg} of this change is ${vote === 'pass' ? 'in order' : 'not in order'}.`,
      findings:
        vote === 'pass'
          ? []
          : [{ severity: 'error', path: 'src/discount.js', line: 3, message: `The ${leg} suffers here.` }],
    };
    return { calls: [{ name: 'structured_output', arguments: JSON.stringify(payload) }] };
  };
}
