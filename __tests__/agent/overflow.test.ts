import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { largeResult, type Shortened, shortened } from '../../src/agent/agent.ts';
import { DROPPED } from '../../src/agent/prompt.ts';
import { ProviderError } from '../../src/errors.ts';
import type { Message, ToolMessage } from '../../src/types.ts';
import { call, type Script, submit } from '../support/fakes/model/scripted-provider.ts';
import { runScripted } from '../support/worlds/agent-run.ts';

const user = (text: string): Message => ({ role: 'user', text });

/** A turn with one result for each length. */
function turn(n: number, lengths: readonly number[]): readonly Message[] {
  const results = lengths.map((length, at) => ({
    callId: `call_${n}_${at}`,
    content: String(at % 10).repeat(length),
    isError: at % 2 === 1,
  }));
  const toolCalls = results.map(({ callId: id }) => ({
    id,
    name: 'shell',
    rawArguments: '{}',
    status: 'complete' as const,
  }));
  return [
    { role: 'assistant', text: '', toolCalls, native: null },
    { role: 'tool', results },
  ];
}

const conversation = (turns: readonly (readonly number[])[]): readonly Message[] => [
  user('Judge.'),
  ...turns.flatMap((lengths, n) => turn(n, lengths)),
];

const batches = (messages: readonly Message[]): readonly ToolMessage[] =>
  messages.filter((message) => message.role === 'tool');
const contents = (messages: readonly Message[]): string[][] =>
  batches(messages).map((batch) => batch.results.map((result) => result.content));
const size = (messages: readonly Message[]): number =>
  contents(messages)
    .flat()
    .reduce((sum, content) => sum + content.length, 0);

/** All rounds until nothing is left to drop. */
function rounds(messages: readonly Message[]): readonly Shortened[] {
  const all: Shortened[] = [];
  for (let next = shortened(messages); next !== null; next = shortened(next.messages)) {
    all.push(next);
    if (all.length > 1000) throw new Error('no end');
  }
  return all;
}

const conversations = fc
  .array(fc.array(fc.oneof(fc.nat(20_000), fc.nat(2 * largeResult)), { maxLength: 5 }), { maxLength: 12 })
  .map(conversation);

describe('shortened', () => {
  it('drops the oldest half of the large results and keeps the other messages as the same objects', () => {
    const messages = conversation([[5000, 10], [5000], [5000], [5000], [9000]]);
    const short = shortened(messages);
    expect(short?.dropped).toBe(2);
    expect(short?.characters).toBe(2 * (5000 - DROPPED.length));
    expect(contents(short?.messages ?? [])).toEqual([
      [DROPPED, '1'.repeat(10)],
      [DROPPED],
      ['0'.repeat(5000)],
      ['0'.repeat(5000)],
      ['0'.repeat(9000)],
    ]);
    const changed = messages.flatMap((message, at) => (message === short?.messages[at] ? [] : [at]));
    expect(changed).toEqual([2, 4]);
  });

  it('drops results of the newest batch only when no other result is large', () => {
    const messages = conversation([[10], [5000, 5000]]);
    expect(contents(shortened(messages)?.messages ?? [])).toEqual([
      ['0'.repeat(10)],
      [DROPPED, '1'.repeat(5000)],
    ]);
    expect(contents(shortened(conversation([[5000], [9000]]))?.messages ?? [])[1]).toEqual([
      '0'.repeat(9000),
    ]);
  });

  it('returns null when nothing is large', () => {
    expect(shortened([user('x'.repeat(1_000_000))])).toBeNull();
    expect(shortened(conversation([[largeResult], [10]]))).toBeNull();
  });

  it('keeps every call with its one result, and ends within a few rounds', () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const all = rounds(messages);
        let before = size(messages);
        for (const { messages: short, dropped, characters } of all) {
          expect(dropped).toBeGreaterThan(0);
          expect(characters).toBeGreaterThan(0);
          expect(size(short)).toBe(before - characters);
          before = size(short);
          const keys = (list: readonly Message[]) =>
            batches(list).map(({ results }) => results.map(({ callId, isError }) => [callId, isError]));
          expect(keys(short)).toEqual(keys(messages));
          const others = (list: readonly Message[]) => list.filter(({ role }) => role !== 'tool');
          expect(others(short)).toEqual(others(messages));
        }
        const isLarge = (content: string) => content.length > largeResult;
        const large = contents(messages).flat().filter(isLarge).length;
        // Half of the old results in each round, then the newest batch in the same way.
        expect(all.length).toBeLessThanOrEqual(Math.min(large, 2 * Math.ceil(Math.log2(large + 1) + 5)));
        expect(
          contents(all.at(-1)?.messages ?? messages)
            .flat()
            .filter(isLarge),
        ).toEqual([]);
      }),
    );
  });
});

const tooLong = new ProviderError('context_overflow', 'The conversation is too long.', { status: 400 });
const files = { 'a.txt': `${'line of text\n'.repeat(1500)}` };
const look = { calls: [call('read_file', { path: 'a.txt' })] };
const good = { calls: [submit({ passed: true, summary: 'ok' })] };

describe('a conversation that is too long', () => {
  it('drops its oldest results, continues in the same turn, and emits a notice', async () => {
    const script: Script = ({ messages }) => {
      if (size(messages) > 60_000) throw tooLong;
      return batches(messages).length < 5 ? look : good;
    };
    const run = await runScripted(script, { files });
    expect(run.outcome.kind).toBe('submitted');
    expect(run.record.totals.turns).toBe(6);
    expect(run.record.turns).toHaveLength(6);
    const sent = run.provider.requests.map(({ messages }) =>
      contents(messages).map(([content]) => content === DROPPED),
    );
    expect(sent.at(-1)).toEqual([true, true, true, false, false]);
    const lost = sent.map((results) => results.filter(Boolean).length);
    // A dropped result is never sent again.
    expect(lost).toEqual([...lost].sort((a, b) => a - b));
    const [first] = run.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
    expect(first).toMatch(
      /^the conversation is too long for scripted: dropped the oldest large tool result \([\d,]+ characters\) and asking again$/,
    );
    expect(run.events.filter((event) => event.type === 'turn_started')).toHaveLength(6);
  });

  it.each([
    ['drops nothing after any other failure', 'overloaded', 2, 3],
    ['fails at once if there is nothing to drop', 'context_overflow', 0, 1],
    // Two turns, then the third one unchanged, without the first result, and without the second.
    ['drops results that the model has not seen last of all', 'context_overflow', 2, 5],
  ] as const)('%s', async (_, failure, looks, requests) => {
    let count = 0;
    const script: Script = ({ messages }) => {
      count += 1;
      if (batches(messages).length < looks) return look;
      throw new ProviderError(failure, 'no');
    };
    const failing = runScripted(script, { files });
    await expect(failing).rejects.toMatchObject({ failure });
    expect(count).toBe(requests);
  });
});
