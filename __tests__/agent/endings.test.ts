import { describe, expect, it } from 'vitest';
import { ProviderError, SandboxError } from '../../src/errors.ts';
import type { CompletionRequest } from '../../src/providers/provider.ts';
import type { RunEvent } from '../../src/reporters/report-types.ts';
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
const type = (path: string) => ({ path, keyword: 'type' });
const auto = 'auto';
const forced = 'forced';

/** A provider that refuses a forced tool choice. */
const refusing =
  (answer: (request: CompletionRequest, index: number) => Answer): Script =>
  (request, index) => {
    if (request.toolChoice !== 'auto') throw new ProviderError('tool_choice', 'no', { status: 400 });
    return answer(request, index);
  };

interface Row {
  readonly script: Script;
  readonly options?: AgentRunOptions;
  readonly ends: object;
  /** The tool choice of each request. */
  readonly asked: readonly string[];
}

const rows: Readonly<Record<string, Row>> = {
  'E1 two turns of plain text, after one forced request': {
    script: [{ text: 'first' }, { text: 'All good.' }],
    ends: plain('All good.'),
    asked: [auto, forced],
  },
  'E2 empty and truncated turns count as plain text': {
    script: [{}, { stopReason: 'length' }],
    ends: plain('', true, true),
    asked: [auto, forced],
  },
  'E2 nothing is forced on the last permitted turn': {
    script: [look, { text: 'done' }],
    options: limits({ maxTurns: 2 }),
    ends: plain('done'),
    asked: [auto, auto],
  },
  'E2 an empty turn does not hide the text of an earlier turn': {
    script: [{ ...look, text: 'I look at a.txt first.' }, {}, { text: ' \n' }],
    ends: plain('I look at a.txt first.', true),
    asked: [auto, auto, forced],
  },
  'E3 a valid call after the forced request': {
    script: [{ text: 'done' }, good],
    ends: submitted,
    asked: [auto, forced],
  },
  'E4 a refused forced choice is asked again with auto': {
    script: refusing(({ messages }) => (messages.length === 1 ? { text: 'done' } : good)),
    ends: submitted,
    asked: [auto, forced, auto],
  },
  'E4 the tool choice is forced for one request only': {
    script: [{ text: 'done' }, look, { text: 'really done' }],
    ends: plain('really done'),
    asked: [auto, forced, auto],
  },
  'E5 plain text without force-output': {
    script: [{ text: 'done' }],
    options: { forceOutput: false },
    ends: plain('done'),
    asked: [auto],
  },
  'E6 a run without a submission makes exactly max-turns requests': {
    script: [look],
    options: limits({ maxTurns: 3 }),
    ends: noTurns,
    asked: [auto, auto, auto],
  },
  'E7 a valid call on the last permitted turn': {
    script: [look, look, good],
    options: limits({ maxTurns: 3 }),
    ends: submitted,
    asked: [auto, auto, auto],
  },
  'E8 max-turns 0 makes no request': {
    script: [good],
    options: limits({ maxTurns: 0 }),
    ends: noTurns,
    asked: [],
  },
  'E9 calls that are all rejected, with the issues of the last': {
    script: [bad, { calls: [submit({ passed: true, summary: 2 })] }],
    options: limits({ maxTurns: 2 }),
    ends: { ...noTurns, lastIssues: [type('/summary')] },
    asked: [auto, auto],
  },
  'E9 the issues are those of the last rejection, however many turns ago': {
    script: [{ calls: [...without.calls, ...bad.calls] }, look, look],
    options: limits({ maxTurns: 3 }),
    ends: { ...noTurns, lastIssues: [type('/passed')] },
    asked: [auto, auto, auto],
  },
  'E13 an excluded structured_output is never forced': {
    script: [{ text: 'done' }],
    options: { exclude: ['structured_output'] },
    ends: plain('done'),
    asked: [auto],
  },
  'E13 a model that loops on other tools without structured_output': {
    script: [look],
    options: { exclude: ['structured_output'], ...limits({ maxTurns: 4 }) },
    ends: noTurns,
    asked: [auto, auto, auto, auto],
  },
  'E18 a refusal, whose calls are not executed': {
    script: [{ text: 'I cannot', ...good, stopReason: 'refusal' }],
    ends: { kind: 'refused', text: 'I cannot' },
    asked: [auto],
  },
  'a limit on tokens': {
    script: [look],
    options: limits({ maxTotalTokens: 200 }),
    ends: { kind: 'exhausted', limit: 'tokens', lastIssues: [] },
    asked: [auto, auto],
  },
  'a limit on cost': {
    script: [look],
    options: { price, ...limits({ maxCostUsd: 1 }) },
    ends: { kind: 'exhausted', limit: 'cost', lastIssues: [] },
    asked: [auto, auto],
  },
  'no limit counts against an accepted payload': {
    script: [good],
    options: { price, ...limits({ maxTotalTokens: 1, maxCostUsd: 0.1 }) },
    ends: submitted,
    asked: [auto],
  },
};

describe('a run ends with', () => {
  it.each(Object.entries(rows))('%s', async (_, { script, options, ends, asked }) => {
    const run = await runScripted(script, { files, ...options });
    expect(run.outcome).toEqual(ends);
    const { requests } = run.provider;
    expect(requests.map(({ toolChoice }) => (toolChoice === 'auto' ? auto : forced))).toEqual(asked);
    expect(run.record.turns).toHaveLength(run.record.totals.turns);
    // The conversation only grows, and each forced request ends with a message of ours.
    for (const [at, { messages, tools, toolChoice }] of requests.entries()) {
      const before = requests[at - 1]?.messages ?? [];
      expect(messages.slice(0, before.length)).toEqual(before);
      expect(tools).toBe(requests[0]?.tools);
      if (toolChoice !== 'auto') expect(messages.at(-1)?.role).toBe('user');
    }
  });
});

describe('a model that repeats a rejected call', () => {
  const stuck = { kind: 'exhausted', limit: 'turns', repeated: true };
  const missing = { path: '', keyword: 'required', missing: 'summary' };
  const twice = { calls: [...bad.calls, ...bad.calls] };
  const unknown = { exclude: ['structured_output'] };

  it.each<[string, readonly Answer[], AgentRunOptions, number, object]>([
    ['ends after three turns, with what was wrong', [without], {}, 3, { ...stuck, lastIssues: [missing] }],
    ['ends after three turns of an unknown tool', [good], unknown, 3, { ...stuck, lastIssues: [] }],
    ['that is counted by turns, not by calls', [twice], {}, 3, { ...stuck, lastIssues: [type('/passed')] }],
    ['is not stopped by the turns of other tools between', [bad, look, bad, look, bad], {}, 5, stuck],
    ['goes on with other arguments', [bad, bad, without, bad, bad, good], {}, 6, submitted],
    [
      'succeeds with a valid call in the same turn',
      [bad, bad, { calls: [...bad.calls, ...good.calls] }],
      {},
      3,
      submitted,
    ],
  ])('%s', async (_, script, options, turns, ends) => {
    const run = await runScripted(script, { files, ...options });
    expect(run.outcome).toMatchObject(ends);
    expect(run.record.totals.turns).toBe(turns);
  });

  it('goes on when evidence sent the call back, which is not a rejection', async () => {
    const evidence = async () => ({
      observe: () => undefined,
      review: async () => ({ kind: 'rejected' as const, text: 'Read first.', issues: [missing] }),
      giveUp: async () => null,
    });
    const run = await runScripted([good], { evidence, ...limits({ maxTurns: 5 }) });
    expect(run.outcome).toEqual({ kind: 'exhausted', limit: 'turns', lastIssues: [missing] });
    expect(run.record.totals.turns).toBe(5);
  });
});

describe('a run that is stopped', () => {
  const signal = { stop: 'signal', signal: 'SIGTERM' };
  const cancelled = { kind: 'cancelled', signal: 'SIGTERM' };
  const broken = new SandboxError('no sandbox');
  const never = () => new Promise<never>(() => undefined);

  /** Runs a script in which `ready` or the request with this index aborts the run. */
  async function stop(
    reason: unknown,
    at: number | 'ready',
    options: AgentRunOptions = {},
  ): Promise<unknown> {
    const controller = new AbortController();
    let now = 0;
    const script: Script = (_, index) => {
      if (index !== at) return index === 0 && at !== 'ready' ? bad : good;
      now += 90_000;
      controller.abort(reason);
      return never();
    };
    const ready = async () => {
      controller.abort(reason);
      await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const more = at === 'ready' ? { ready } : {};
    const run = runScripted(script, { signal: controller.signal, now: () => now, ...more, ...options });
    return run.then(
      ({ outcome }) => outcome,
      (error: unknown) => error,
    );
  }

  const timeout = { stop: 'timeout' };
  const pending = { to: 'scripted', seconds: 90 };
  const late = { kind: 'exhausted', limit: 'time', lastIssues: [], pending };
  const lastIssues = [type('/passed')];
  it.each<[string, unknown, number | 'ready', object]>([
    ['E12 by a timeout during a request says how long it had no answer', timeout, 0, late],
    ['E12 by a timeout after a rejection keeps its issues', timeout, 1, { ...late, lastIssues }],
    ['E10 by a signal during a request is cancelled', signal, 0, cancelled],
    ['by a timeout while the self-test runs keeps its payload', timeout, 'ready', submitted],
    ['E10 by a signal does not wait for the self-test', signal, 'ready', cancelled],
    ['by a broken sandbox throws its error', broken, 0, broken],
  ])('%s', async (_, reason, at, ends) => {
    expect(await stop(reason, at)).toEqual(ends);
  });

  it('accepts nothing if the self-test fails, even after the timeout', async () => {
    expect(await stop({ stop: 'timeout' }, 'ready', { ready: () => Promise.reject(broken) })).toBe(broken);
    const controller = new AbortController();
    const ready = async () => {
      controller.abort({ stop: 'timeout' });
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw broken;
    };
    await expect(runScripted([good], { ready, signal: controller.signal })).rejects.toBe(broken);
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

  it('E12 by a timeout during a command starts no other call', async () => {
    const controller = new AbortController();
    const calls = [
      call('shell', { command: 'sleep 20' }),
      call('edit', { path: 'late.txt', old_string: '', new_string: 'x' }),
    ];
    let started = 0;
    const emit = (event: RunEvent) => {
      if (event.type !== 'tool_started') return;
      started += 1;
      setTimeout(() => controller.abort({ stop: 'timeout' }), 200);
    };
    const run = await runScripted([{ calls }], { signal: controller.signal, emit });
    expect(run.outcome).toEqual({ kind: 'exhausted', limit: 'time', lastIssues: [] });
    expect(started).toBe(1);
    expect(run.record.turns.map((turn) => turn.calls.map((each) => [each.name, each.decision]))).toEqual([
      [['shell', 'error']],
    ]);
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
    const seen: unknown[] = [];
    const failing = runScripted(({ toolChoice }) => {
      seen.push(toolChoice);
      if (toolChoice !== 'auto') throw new ProviderError('error', 'no', { status: 400 });
      return { text: 'done' };
    });
    await expect(failing).rejects.toMatchObject({ failure: 'error' });
    expect(seen).toEqual(['auto', { tool: 'structured_output' }]);
  });
});

it('a limit that cannot be measured counts as reached, and a warning says why', async () => {
  const silent = { ...look, usage: null };
  const { outcome, events } = await runScripted([silent], {
    files,
    ...limits({ maxTotalTokens: 1_000_000 }),
  });
  expect(outcome.kind).toBe('exhausted');
  const said = events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  expect(said).toEqual([expect.stringContaining('reports no usage')]);
  const unlimited = await runScripted([silent, good], { files });
  expect(unlimited.events.filter(({ type }) => type === 'notice')).toEqual([]);
});
