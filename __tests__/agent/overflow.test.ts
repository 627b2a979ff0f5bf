/** A conversation that is too long for the model is sent again without its older large results. */
import { expect, it, vi } from 'vitest';
import { DROPPED } from '../../src/agent/prompt.ts';
import { ProviderError } from '../../src/errors.ts';
import type { Message } from '../../src/types.ts';
import { call, type Script, submit } from '../support/fakes/model/scripted-provider.ts';
import { runScripted } from '../support/worlds/agent-run.ts';

const tooLong = new ProviderError('context_overflow', 'The conversation is too long.', { status: 400 });
const files = { large: 'x'.repeat(1100), small: 'x'.repeat(900) };
const read = (...names: readonly string[]) => ({
  calls: names.map((name) => call('read_file', { path: name })),
});
const good = { calls: [submit({ passed: true, summary: 'ok' })] };

const batches = (messages: readonly Message[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? [message.results] : []));

it('drops the older half of the large results for good, and goes on in the same turn', async () => {
  const turns = [read('large', 'small'), read('large', 'missing'), read('large')];
  const script: Script = (_, index) => {
    if (index === 3) throw tooLong;
    return turns[index] ?? (index === 4 ? read('small') : good);
  };
  const run = await runScripted(script, { files });
  expect(run.outcome.kind).toBe('submitted');
  expect(run.record.totals.turns).toBe(5);
  const [whole, shortened, later] = run.provider.requests.slice(3).map(({ messages }) => messages);
  const drop = (at: number) =>
    batches(whole ?? [])[at]?.map((result, n) => ({ ...result, ...(n === 0 ? { content: DROPPED } : {}) }));
  expect(batches(shortened ?? [])).toEqual([drop(0), drop(1), batches(whole ?? [])[2]]);
  // Everything else is as it was, and the beginning of what is sent from now on.
  const others = (messages: readonly Message[] = []) => messages.filter(({ role }) => role !== 'tool');
  expect(others(shortened)).toEqual(others(whole));
  expect(later?.slice(0, shortened?.length)).toEqual(shortened);
  const notices = run.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  expect(notices).toEqual([
    'the conversation is too long for scripted: dropped 2 old tool results, asking again',
  ]);
});

it('does not count a result as shown that was dropped before the model saw it', async () => {
  const observe = vi.fn();
  const evidence = async () => ({ observe, review: vi.fn(), giveUp: async () => null });
  const script: Script = (_, index) => {
    if (index === 1) throw tooLong;
    return index === 0 ? read('large', 'small') : { text: 'Done.' };
  };
  await runScripted(script, { files, evidence });
  expect(observe.mock.calls).toMatchObject([[{ tool: 'read_file', target: 'small' }]]);
});

it.each([
  ['nothing after any other failure', 'overloaded', 2, 3],
  ['nothing if no result is large', 'context_overflow', 0, 1],
  // Four turns, then the fifth one unchanged, without two results, without three, and without any.
  ['results until none is large', 'context_overflow', 4, 8],
] as const)('drops %s, and fails', async (_, failure, looks, requests) => {
  let count = 0;
  const script: Script = ({ messages }) => {
    count += 1;
    if (batches(messages).length < looks) return read('large');
    throw new ProviderError(failure, 'no');
  };
  await expect(runScripted(script, { files })).rejects.toMatchObject({ failure });
  expect(count).toBe(requests);
});
