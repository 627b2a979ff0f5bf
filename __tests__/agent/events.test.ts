/** What the events of a run, from which log and transcript are made, hold of the model's words. */
import { describe, expect, it } from 'vitest';
import { call, type Script, submit } from '../support/fakes/model/scripted-provider.ts';
import { runScripted } from '../support/worlds/agent-run.ts';

const canary = 'CANARY-7f3a';
const files = { 'a.txt': 'hello\n' };
const look = call('read_file', { path: 'a.txt' });
const good = submit({ passed: true, summary: canary });

describe('events', () => {
  const secret = { summary: canary, command: canary };
  const others = ['StructuredOutput', 'functions.structured_output', 'json', 'shell'];
  const unknown = { calls: others.map((name) => call(name, secret)) };
  const broken = { ...call('StructuredOutput', {}), rawArguments: `{"summary":"${canary}` };
  const wrong = { calls: [submit({ passed: canary, [canary]: 1 }), look] };

  it.each<[string, Script, string]>([
    ['of tools not offered', [unknown, { calls: [broken, look] }, wrong, { calls: [good] }], 'shell'],
    ['of an excluded structured_output', [{ calls: [good, look] }, {}], 'structured_output'],
  ])('P3 carry no arguments of structured_output, or %s, and keep others', async (_, script, excluded) => {
    const run = await runScripted(script, { files, exclude: [excluded] });
    const recorded = JSON.stringify(run.events);
    expect(recorded).not.toContain(canary);
    expect(recorded).toContain('these arguments are not recorded');
    expect(recorded).toContain('{\\"path\\":\\"a.txt\\"}');
    expect(recorded).not.toContain('"native":{');
    // The model's own message is sent back to it unchanged.
    expect(JSON.stringify(run.provider.requests.at(-1)?.messages)).toContain(canary);
  });

  it('P3 of a rejection have keywords and missing properties, and no key that the schema does not declare', async () => {
    const email = 'alice@example.com';
    const points = { type: 'object', properties: { points: { type: 'number' } }, required: ['name'] };
    const schema = { type: 'object', properties: { scores: { additionalProperties: points } } };
    const payload = { scores: { [email]: { points: 'x' } } };
    const run = await runScripted([{ calls: [submit(payload)] }, { calls: [submit({})] }], { schema });
    const recorded = JSON.stringify([run.events, run.outcome, run.record]);
    expect(recorded).not.toContain('alice');
    expect(recorded).toMatch(/"Rejected: \S+ \(required: name\), \S+ \(type\)"/u);
    expect(JSON.stringify(run.provider.requests[1]?.messages)).toContain(`/scores/${email}/points`);
  });

  it('P7 have at most 2 MiB of prose in each turn', async () => {
    const run = await runScripted([{ text: 'x'.repeat(3 * 1024 ** 2) }, {}]);
    const texts = run.events.flatMap((event) =>
      event.type === 'turn_completed' ? [event.message.text.length] : [],
    );
    expect(texts).toEqual([2 * 1024 ** 2, 0]);
    expect(run.outcome).toMatchObject({ text: `${'x'.repeat(2 * 1024 ** 2 - 1)}…` });
  });
});
