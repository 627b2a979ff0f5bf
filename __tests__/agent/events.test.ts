/** What the events of a run, from which log and transcript are made, hold of the model's words. */
import { describe, expect, it } from 'vitest';
import { REDACTED_ARGUMENTS, redactMessage } from '../../src/agent/batch.ts';
import { call, type Script, submit } from '../support/fakes/model/scripted-provider.ts';
import { type AgentRunOptions, runScripted } from '../support/worlds/agent-run.ts';

const canary = 'CANARY-7f3a';
const files = { 'a.txt': 'hello\n' };
const look = call('read_file', { path: 'a.txt' });
const good = submit({ passed: true, summary: canary });

describe('events', () => {
  it.each<[string, Script, AgentRunOptions]>([
    [
      'P3 carry no arguments of structured_output, valid or not, and keep those of other calls',
      [
        { calls: [look] },
        { calls: [submit({ passed: canary, [canary]: 1 }), call('shell', { command: 'true' })] },
        { calls: [good] },
      ],
      {},
    ],
    [
      'P3 carry no arguments of tools that were not offered',
      [
        {
          calls: ['StructuredOutput', 'functions.structured_output', 'json', 'shell'].map((name) =>
            call(name, { summary: canary, command: canary }),
          ),
        },
        {
          calls: [{ name: 'StructuredOutput', rawArguments: `{"summary":"${canary}`, status: 'malformed' }],
        },
        { calls: [look] },
        { calls: [good] },
      ],
      { exclude: ['shell'] },
    ],
    [
      'P3 carry no arguments of an excluded structured_output',
      [{ calls: [good, look] }, {}],
      { exclude: ['structured_output'] },
    ],
  ])('%s', async (_, script, options) => {
    const run = await runScripted(script, { files, ...options });
    const recorded = JSON.stringify(run.events);
    expect(recorded).not.toContain(canary);
    expect(recorded).toContain('these arguments are not recorded');
    expect(recorded).toContain('{\\"path\\":\\"a.txt\\"}');
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

  it('of a message have no native form, and other calls unchanged', () => {
    const other = { id: 'b', name: 'shell', rawArguments: '{"command":"true"}', status: 'complete' } as const;
    const cut = { id: 'a', name: 'structured_output', rawArguments: '{"pas', status: 'truncated' } as const;
    const said = { role: 'assistant', text: 'prose', toolCalls: [cut, other], native: { a: 1 } } as const;
    expect(redactMessage(said, (name) => name !== 'json')).toEqual({
      ...said,
      toolCalls: [{ ...cut, rawArguments: REDACTED_ARGUMENTS }, other],
      native: null,
    });
    expect(JSON.parse(REDACTED_ARGUMENTS)).toBeTypeOf('object');
  });
});
