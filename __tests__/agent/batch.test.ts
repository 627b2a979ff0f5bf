import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Contract, createContract } from '../../src/contract/contract.ts';
import type { Message } from '../../src/types.ts';
import { call, type Script, submit } from '../support/fakes/model/scripted-provider.ts';
import { makeFolder } from '../support/surroundings.ts';
import { runScripted, VERDICT_SCHEMA } from '../support/worlds/agent-run.ts';

const good = submit({ passed: true, summary: 'all well' });
const good2 = submit({ passed: false, summary: 'second' });
const bad = submit({ passed: 'true', summary: 'all well' });
const read = call('read_file', { path: 'a.txt' });
const ran = path.join(makeFolder(), 'ran');
const touch = call('shell', { command: `touch ${ran}` });

function results(messages: readonly Message[]) {
  return messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
}

const accepted = { kind: 'submitted', payload: { passed: true, summary: 'all well' }, repaired: null };

describe('a batch', () => {
  it.each([
    ['N1 structured_output first', [good, touch], ['accepted', 'skipped']],
    ['N2 structured_output last', [touch, good], ['skipped', 'accepted']],
    ['N5 two valid calls, of which the first wins', [good, good2], ['accepted', 'skipped']],
  ])('%s: the other call never runs, and there is one request', async (_, calls, decisions) => {
    const run = await runScripted([{ calls }]);
    expect([run.outcome, existsSync(ran)]).toEqual([accepted, false]);
    expect(run.provider.requests).toHaveLength(1);
    const finished = run.events.filter((event) => event.type === 'tool_finished');
    expect(finished.map(({ decision }) => decision)).toEqual(decisions);
    expect(finished.map(({ result }) => result.content)).toContain(
      "Skipped: this turn's structured_output contract took precedence as the terminal output.",
    );
  });

  it('N3 a valid call after a rejected one is accepted in the same turn', async () => {
    const run = await runScripted([{ calls: [bad, good2] }]);
    expect(run.outcome).toEqual({ ...accepted, payload: { passed: false, summary: 'second' } });
    expect(run.record).toMatchObject({ rejections: 1, totals: { turns: 1 } });
  });

  const rejected = expect.stringMatching(/^Rejected: .*\n- \/passed: /u);
  const skipped =
    "Skipped: this turn's structured_output contract took precedence as the terminal output. Re-issue this call in a separate turn if needed.";
  it.each([
    ['N4 a command beside a rejected call never runs', [bad, touch], [rejected, skipped], 1],
    ['N6 two rejected calls give one retry turn', [bad, bad], [rejected, rejected], 2],
  ])('%s, and both call ids get a result', async (_, calls, contents, rejections) => {
    const run = await runScripted([{ calls }, { calls: [good] }]);
    expect([run.outcome, existsSync(ran), run.record.rejections]).toEqual([accepted, false, rejections]);
    expect(run.provider.requests).toHaveLength(2);
    const given = contents.map((content, at) => ({ callId: `call_0_${at}`, isError: true, content }));
    expect(results(run.provider.requests[1]?.messages ?? [])).toEqual(given);
  });

  it('N7 other tools run in order, a call with wrong arguments does not count, and the run continues', async () => {
    const append = call('shell', { command: 'cat a.txt > b.txt; echo done' });
    const again = call('read_file', { path: 'b.txt' });
    const wrong = call('read_file', {});
    const run = await runScripted([{ calls: [read, append, again, wrong] }, { calls: [good] }], {
      files: { 'a.txt': 'hello\n' },
    });
    const given = results(run.provider.requests[1]?.messages ?? []);
    const ids = ['call_0_0', 'call_0_1', 'call_0_2', 'call_0_3'];
    expect(given).toMatchObject(ids.map((callId, at) => ({ callId, isError: at === 3 })));
    expect(run.record.toolCalls).toBe(3);
    expect(given[0]?.content).toContain('hello');
    expect(given[2]?.content).toContain('hello');
    expect(run.outcome.kind).toBe('submitted');
  });

  it('gives the model whole characters, where a line is cut as well', async () => {
    const files = { 'a.txt': `${'x'.repeat(1999)}😀` };
    const run = await runScripted([{ calls: [read] }, { calls: [good] }], { files });
    expect(results(run.provider.requests[1]?.messages ?? [])[0]?.content).toContain('xx\ufffd [… line cut');
  });

  it('records the validation time as the duration of structured_output, and 0 for a skipped call', async () => {
    let clock = 0;
    const real = await createContract(VERDICT_SCHEMA);
    const slow: Contract = {
      ...real,
      accept(toolCall) {
        clock += 300;
        return real.accept(toolCall);
      },
    };
    // The wait for the sandbox is not the call's.
    const ready = async () => {
      clock += 5000;
    };
    const options = { contract: slow, now: () => clock, ready };
    const run = await runScripted([{ calls: [bad, touch, good] }], options);
    const finished = run.events.flatMap((event) =>
      event.type === 'tool_finished' ? [`${event.decision} ${event.durationMs}`] : [],
    );
    expect(finished).toEqual(['rejected 300', 'skipped 0', 'accepted 300']);
  });
});

describe('the events of a run', () => {
  const canary = 'CANARY-7f3a';
  const files = { 'a.txt': 'hello\n' };
  const secret = { summary: canary, command: canary };
  const told = submit({ passed: true, summary: canary });
  const others = ['StructuredOutput', 'functions.structured_output', 'json', 'shell'];
  const unknown = { calls: others.map((name) => call(name, secret)) };
  const broken = { ...call('StructuredOutput', {}), rawArguments: `{"summary":"${canary}` };
  const wrong = { calls: [submit({ passed: canary, [canary]: 1 }), read] };

  it.each<[string, Script, string]>([
    ['of tools not offered', [unknown, { calls: [broken, read] }, wrong, { calls: [told] }], 'shell'],
    ['of an excluded structured_output', [{ calls: [told, read] }, {}], 'structured_output'],
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

  it('P7 have at most 2 MiB of prose in each turn', async () => {
    const run = await runScripted([{ text: 'x'.repeat(3 * 1024 ** 2) }, {}]);
    const texts = run.events.flatMap((event) =>
      event.type === 'turn_completed' ? [event.message.text.length] : [],
    );
    expect(texts).toEqual([2 * 1024 ** 2, 0]);
    expect(run.outcome).toMatchObject({ text: `${'x'.repeat(2 * 1024 ** 2 - 1)}…` });
  });
});
