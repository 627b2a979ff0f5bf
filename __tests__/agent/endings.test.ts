import { describe, expect, it, vi } from 'vitest';
import { createBudget } from '../../src/agent/budget.ts';
import { DROPPED } from '../../src/agent/prompt.ts';
import { ProviderError, SandboxError } from '../../src/errors.ts';
import type { FinalDecision } from '../../src/evidence/review.ts';
import type { RunEvent } from '../../src/reporters/report-types.ts';
import type { Message } from '../../src/types.ts';
import { type Answer, call, type Script, submit } from '../support/fakes/model/scripted-provider.ts';
import { type AgentRunOptions, runScripted } from '../support/worlds/agent-run.ts';

const good = { calls: [submit({ passed: true, summary: 'all well' })] };
const bad = { calls: [submit({ passed: 1, summary: '' })] };
const without = { calls: [submit({ passed: true })] };
const look = { calls: [call('read_file', { path: 'a.txt' })] };
const files = { 'a.txt': 'hello\n' };
const none = { maxTurns: 30, maxTotalTokens: null, maxCostUsd: null };
const limits = (some: Partial<Record<keyof typeof none, number>>) => ({ limits: { ...none, ...some } });
const price = async () => 0.75;

const submitted = { kind: 'submitted', payload: { passed: true, summary: 'all well' }, repaired: null };
const plain = (text: string, empty = false, truncated = false) => ({
  kind: 'plain_text',
  text,
  empty,
  truncated,
});
const noTurns = { kind: 'exhausted', limit: 'turns', lastIssues: [] };
const type = (path: string) => ({ path: expect.stringMatching(`${path}$`), keyword: 'type' });
const noTurnsBut = (path: string) => ({ ...noTurns, lastIssues: [type(path)] });

const refusing: Script = ({ toolChoice, messages }) => {
  if (toolChoice !== 'auto') throw new ProviderError('tool_choice', 'no', { status: 400 });
  return messages.length === 1 ? { text: 'done' } : good;
};
const excluded = { exclude: ['structured_output'] };
const upTo = (maxTurns: number) => limits({ maxTurns });
const tokens = limits({ maxTotalTokens: 220 });
const unpriced = limits({ maxCostUsd: 9 });
const cost = { price, ...limits({ maxCostUsd: 1.5 }) };
const spent = { price, ...limits({ maxTotalTokens: 1, maxCostUsd: 0.1 }) };
const done = { text: 'done' };
const talk = { ...look, ...done };
const wrong = { calls: [submit({ passed: true, summary: 2 })] };
const twoWrong = { calls: [...without.calls, ...bad.calls] };
const stuck = { kind: 'exhausted', limit: 'turns', repeated: true };
const stuckAt = (path: string) => ({ ...stuck, lastIssues: [type(path)] });
const missing = { path: expect.any(String), keyword: 'required', missing: 'summary' };
const twice = { calls: [...bad.calls, ...bad.calls] };
const badAndGood = { calls: [...bad.calls, ...good.calls] };
const three = 'auto auto auto';
const six = `${three} ${three}`;
const refusal: Answer = { text: 'I cannot', ...good, stopReason: 'refusal' };

describe('a run ends with', () => {
  // The last text is the tool choice of each request.
  it.each<[string, Script, object, string, AgentRunOptions?]>([
    ['E1 plain text after one forced request', [{ text: 'a' }, done], plain('done'), 'auto forced'],
    ['E2 empty and truncated turns', [{}, { stopReason: 'length' }], plain('', true, true), 'auto forced'],
    ['E2 plain text, unforced on the last turn', [look, done], plain('done'), 'auto auto', upTo(2)],
    ['E2 an earlier text before an empty one', [talk, {}], plain('done', true), 'auto auto forced'],
    ['E3 a valid call after the forced request', [done, good], submitted, 'auto forced'],
    ['E4 a valid call after a refused forced choice', refusing, submitted, 'auto forced auto'],
    ['E4 plain text after the forced turn', [done, look, { text: 'b' }], plain('b'), 'auto forced auto'],
    ['E5 plain text without force-output', [done], plain('done'), 'auto', { forceOutput: false }],
    ['E6 its limit of turns after as many requests', [look], noTurns, 'auto auto auto', upTo(3)],
    ['E7 a valid call on the last turn', [look, look, good], submitted, 'auto auto auto', upTo(3)],
    ['E8 no request with max-turns 0', [good], noTurns, '', upTo(0)],
    ['E9 what was wrong last', [bad, wrong], noTurnsBut('/summary'), 'auto auto', upTo(2)],
    ['E9 the same some turns later', [twoWrong, look], noTurnsBut('/passed'), 'auto auto', upTo(2)],
    ['E13 plain text without the tool, unforced', [done], plain('done'), 'auto', excluded],
    ['E13 its limit of turns without the tool', [look], noTurns, 'auto auto', { ...excluded, ...upTo(2) }],
    ['E18 a refusal, whose calls do not run', [refusal], { kind: 'refused', text: 'I cannot' }, 'auto'],
    ['its limit of tokens', [look], { ...noTurns, limit: 'tokens' }, 'auto auto', tokens],
    ['its limit of cost', [look], { ...noTurns, limit: 'cost' }, 'auto auto', cost],
    ['its limit of cost without a price', [look], { ...noTurns, limit: 'cost' }, 'auto', unpriced],
    ['an accepted payload, whatever it cost', [good], submitted, 'auto', spent],
    ['a call that is rejected in three turns', [without], { ...stuck, lastIssues: [missing] }, three],
    ['an unknown tool in three turns', [good], { ...stuck, lastIssues: [] }, three, excluded],
    ['the same call in three turns, of which one repeats it', [bad, twice, bad], stuckAt('/passed'), three],
    ['a valid call in the third turn', [bad, bad, badAndGood], submitted, three],
    ['a valid call after other tools', [bad, bad, look, bad, bad, good], submitted, six],
    ['a valid call after other arguments', [bad, bad, without, bad, bad, good], submitted, six],
  ])('%s', async (_, script, ends, asked, options = {}) => {
    const run = await runScripted(script, { files, ...options });
    expect(run.outcome).toEqual(ends);
    const { requests } = run.provider;
    const choices = requests.map(({ toolChoice }) => (toolChoice === 'auto' ? 'auto' : 'forced'));
    expect(choices.join(' ')).toBe(asked);
    // The conversation only grows, and each forced request ends with a message of ours.
    for (const [at, { messages, tools, toolChoice }] of requests.entries()) {
      const before = requests[at - 1]?.messages ?? [];
      expect(messages.slice(0, before.length)).toEqual(before);
      expect(tools).toBe(requests[0]?.tools);
      if (toolChoice !== 'auto') expect(messages.at(-1)?.role).toBe('user');
    }
  });
});

const held = { payload: { passed: true, summary: 'held' }, repaired: null };
const unseen = { path: '', keyword: 'quote' };

const sendBack = (decision: FinalDecision | null) => async () => ({
  observe: () => undefined,
  review: async () => ({ kind: 'rejected' as const, text: 'Read first.', issues: [unseen] }),
  giveUp: async () => decision,
});

describe('a payload that evidence sent back', () => {
  const taken = { kind: 'taken', submission: held } as const;
  const weak = { kind: 'ended', text: 'Too little.' } as const;
  const unseenToTheEnd = { ...noTurns, lastIssues: [unseen] };
  const heldOutcome = { kind: 'submitted', ...held };
  const failing: Script = (_, index) => {
    if (index === 0) return good;
    throw new ProviderError('error', 'gone', { status: 500 });
  };

  it.each<[string, FinalDecision | null, Script, object, AgentRunOptions?]>([
    ['is taken if the model goes on in plain text', taken, [good, done], heldOutcome],
    ['is taken if the model refuses to go on', taken, [good, refusal], heldOutcome],
    ['is taken if the provider fails', taken, failing, heldOutcome],
    ['is taken at the limit of tokens', taken, [good], heldOutcome, tokens],
    ['is taken at the limit of turns', taken, [good], heldOutcome, upTo(2)],
    ['is not taken without a decision, nor a rejection', null, [good], unseenToTheEnd, upTo(5)],
    ['is too weak at the limit of turns', weak, [good], { kind: 'weak', text: 'Too little.' }, upTo(2)],
    ['is not named if the model goes on in plain text', weak, [good, done], plain('done')],
  ])('%s', async (_, decision, script, ends, options = {}) => {
    const run = await runScripted(script, { evidence: sendBack(decision), ...options });
    expect(run.outcome).toEqual(ends);
  });

  it('is taken if time is up, and not after a signal', async () => {
    for (const name of ['signal', 'interrupt'] as const) {
      const stop = new AbortController();
      const script: Script = (_, index) => {
        if (index > 0) stop.abort(name === 'signal' ? { stop: 'timeout' } : 'SIGTERM');
        return failing(_, index);
      };
      const options = { evidence: sendBack(taken), [name]: stop.signal };
      const ends = name === 'signal' ? heldOutcome : { kind: 'cancelled', signal: 'SIGTERM' };
      expect((await runScripted(script, options)).outcome).toEqual(ends);
    }
  });

  it('is judged, and decided about, only once the sandbox is ready', async () => {
    let isReady = false;
    const ready = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      isReady = true;
    };
    const evidence = async () => {
      expect(isReady).toBe(true);
      return sendBack(null)();
    };
    const run = await runScripted([bad, done], { ready, evidence, forceOutput: false });
    expect([run.outcome.kind, isReady]).toEqual(['plain_text', true]);
  });
});

describe('a run that is stopped', () => {
  const signal = { stop: 'signal', signal: 'SIGTERM' };
  const cancelled = { kind: 'cancelled', signal: 'SIGTERM' };
  const broken = new SandboxError('no sandbox');
  const never = () => new Promise<never>(() => undefined);

  /** Runs a script in which `ready` or the request with this index aborts the run; then `ready` settles as given. */
  async function stop(reason: unknown, at: number | 'ready', settle = async () => {}): Promise<unknown> {
    const controller = new AbortController();
    let now = 0;
    const script: Script = ({ notify }, index) => {
      if (index !== at) return index === 0 && at !== 'ready' ? bad : good;
      now += 90_000;
      notify('busy');
      controller.abort(reason);
      return never();
    };
    const ready = async () => {
      controller.abort(reason);
      await new Promise((resolve) => setTimeout(resolve, 20));
      await settle();
    };
    const more = at === 'ready' ? { ready } : {};
    const run = runScripted(script, { signal: controller.signal, now: () => now, ...more });
    return run.then(
      ({ outcome }) => outcome,
      (error: unknown) => error,
    );
  }

  const timeout = { stop: 'timeout' };
  const pending = { to: 'scripted', seconds: 90, notice: 'busy' };
  const late = { kind: 'exhausted', limit: 'time', lastIssues: [], pending };
  const lastIssues = [type('/passed')];
  const fail = () => Promise.reject(broken);
  it.each<[string, unknown, number | 'ready', object, (() => Promise<void>)?]>([
    ['E12 by a timeout during a request says how long it had no answer', timeout, 0, late],
    ['E12 by a timeout after a rejection keeps its issues', timeout, 1, { ...late, lastIssues }],
    ['E10 by a signal during a request is cancelled', signal, 0, cancelled],
    ['by a timeout while the self-test runs keeps its payload', timeout, 'ready', submitted],
    ['E10 by a signal does not wait for the self-test', signal, 'ready', cancelled],
    ['by a broken sandbox throws its error', broken, 0, broken],
    ['by a timeout, and then a self-test that fails, accepts nothing', timeout, 'ready', broken, fail],
  ])('%s', async (_, reason, at, ends, settle) => {
    expect(await stop(reason, at, settle)).toEqual(ends);
  });

  it('notices a signal that comes after the timeout', async () => {
    const [time, interrupt] = [new AbortController(), new AbortController()];
    const ready = () => {
      time.abort({ stop: 'timeout' });
      setTimeout(() => interrupt.abort('SIGTERM'), 20);
      return never();
    };
    const run = await runScripted([good], { ready, signal: time.signal, interrupt: interrupt.signal });
    expect(run.outcome).toEqual(cancelled);
  });

  it('E12 by a timeout between two calls starts no other one', async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    const emit = ({ type }: RunEvent) => {
      seen.push(type);
      if (type === 'tool_finished') controller.abort(timeout);
    };
    const twice = { calls: [...look.calls, ...look.calls] };
    const run = await runScripted([twice], { files, signal: controller.signal, emit });
    expect(run.outcome).toEqual({ kind: 'exhausted', limit: 'time', lastIssues: [] });
    expect([run.record.toolCalls, seen.filter((each) => each === 'tool_started').length]).toEqual([1, 1]);
  });

  it('S9 is stopped between two calls whose patterns are slow', async () => {
    const controller = new AbortController();
    const evil = submit({ a: `${'a'.repeat(40)}!` });
    setTimeout(() => controller.abort(signal), 50);
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const run = await runScripted([{ calls: [evil, evil] }], { schema, signal: controller.signal });
    expect([run.outcome, run.record.rejections]).toEqual([cancelled, 0]);
  });

  it('E4 by any other error of a forced request does not ask again', async () => {
    const script = vi.fn<Exclude<Script, readonly Answer[]>>(({ toolChoice }) => {
      if (toolChoice !== 'auto') throw new ProviderError('error', 'no', { status: 400 });
      return done;
    });
    await expect(runScripted(script)).rejects.toMatchObject({ failure: 'error' });
    const choices = script.mock.calls.map(([{ toolChoice }]) => toolChoice);
    expect(choices).toEqual(['auto', { tool: 'structured_output' }]);
  });
});

it('a limit that cannot be measured counts as reached, and a warning says why', async () => {
  const silent = { ...look, usage: null };
  const { outcome, events } = await runScripted([silent], { files, ...tokens });
  expect(outcome.kind).toBe('exhausted');
  const said = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  expect(said).toEqual([expect.stringContaining('reports no usage')]);
  const unlimited = await runScripted([silent, good], { files });
  expect(unlimited.events.filter(({ type }) => type === 'notice')).toEqual([]);
});

const usage = { inputTokens: 60, outputTokens: 40, cachedInputTokens: 10, cacheWriteTokens: 5 };
const sum = { inputTokens: 120, outputTokens: 80, cachedInputTokens: 20, cacheWriteTokens: 10 };
const paid = [usage, 0.25] as const;

it.each([
  ['sums', [paid, paid], { usage: sum, costUsd: 0.5 }],
  ['knows no cost after an unknown price', [[usage, null], paid], { usage: sum, costUsd: null }],
  ['knows no cost after a turn without usage', [[null, 0], paid], { usage, costUsd: null }],
] as const)('a budget %s', async (_, turns, totals) => {
  const prices = turns.map(([, price]) => price);
  const budget = createBudget(none, async () => prices.shift() ?? null);
  for (const [used] of turns) await budget.add(used);
  expect(budget.totals()).toEqual({ turns: 2, ...totals });
});

/** It is sent again without its older large results. */
describe('a conversation that is too long for the model', () => {
  const tooLong = new ProviderError('context_overflow', 'The conversation is too long.', { status: 400 });
  const files = { large: 'x'.repeat(1100), small: 'x'.repeat(900) };
  const read = (...names: readonly string[]) => ({
    calls: names.map((name) => call('read_file', { path: name })),
  });
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
});
