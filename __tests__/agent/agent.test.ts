import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ProviderError, SandboxError } from '../../src/errors.ts';
import type { RunEvent } from '../../src/reporters/report-types.ts';
import { call, submit } from '../support/fakes/model/scripted-provider.ts';
import { runScripted } from '../support/worlds/agent-run.ts';

const good = submit({ passed: true, summary: 'all well' });
const look = { calls: [call('read_file', { path: 'a.txt' })] };
const files = { 'a.txt': 'hello\n' };
const limits = { maxTurns: 30, maxTotalTokens: null, maxCostUsd: null };

describe('plain text', () => {
  it('E1 two turns of plain text end the run with the text after one forced request', async () => {
    const run = await runScripted([{ text: 'first' }, { text: 'All good.' }]);
    expect(run.outcome).toEqual({ kind: 'plain_text', text: 'All good.', empty: false, truncated: false });
    expect(run.record.totals.turns).toBe(2);
    expect(run.provider.requests.map((request) => request.toolChoice)).toEqual([
      'auto',
      { tool: 'structured_output' },
    ]);
    expect(run.provider.requests[1]?.messages.at(-1)?.role).toBe('user');
  });

  it('E2 empty and truncated turns count as plain text, and nothing is forced on the last permitted turn', async () => {
    const empty = await runScripted([{}, { stopReason: 'length' }]);
    expect(empty.outcome).toEqual({ kind: 'plain_text', text: '', empty: true, truncated: true });
    const last = await runScripted([look, { text: 'done' }], { files, limits: { ...limits, maxTurns: 2 } });
    expect(last.outcome).toEqual({ kind: 'plain_text', text: 'done', empty: false, truncated: false });
    expect(last.provider.requests).toHaveLength(2);
  });

  it('E2 an empty turn does not hide the text of an earlier turn', async () => {
    const forced = await runScripted([{ text: 'The tests need a network.' }, { text: ' \n' }]);
    expect(forced.outcome).toEqual({
      kind: 'plain_text',
      text: 'The tests need a network.',
      empty: true,
      truncated: false,
    });
    const beside = await runScripted([{ ...look, text: 'I look at a.txt first.' }, {}, {}], { files });
    expect(beside.outcome).toMatchObject({ text: 'I look at a.txt first.', empty: true });
  });

  it('is truncated to 2 MiB in the outcome and in every event', async () => {
    const run = await runScripted([{ text: 'x'.repeat(3 * 1024 ** 2) }, {}]);
    const texts = run.events.flatMap((event) =>
      event.type === 'turn_completed' ? [event.message.text.length] : [],
    );
    expect(texts).toEqual([2 * 1024 ** 2, 0]);
    expect(run.outcome).toMatchObject({ text: `${'x'.repeat(2 * 1024 ** 2 - 1)}…` });
  });

  it('E3 a valid call after the forced request is accepted', async () => {
    const run = await runScripted([{ text: 'done' }, { calls: [good] }]);
    expect(run.outcome.kind).toBe('submitted');
    expect(run.record.turns.map((turn) => turn.forced)).toEqual([false, true]);
  });

  it('E4 a provider that rejects the forced tool choice gets the request again with auto, in the same turn', async () => {
    const run = await runScripted((request) => {
      if (request.toolChoice !== 'auto')
        throw new ProviderError('tool_choice', 'no forced choice here', { status: 400 });
      return request.messages.length === 1 ? { text: 'done' } : { calls: [good] };
    });
    expect(run.outcome.kind).toBe('submitted');
    expect(run.record.totals.turns).toBe(2);
    expect(run.provider.requests.map((request) => request.toolChoice)).toEqual([
      'auto',
      { tool: 'structured_output' },
      'auto',
    ]);
  });

  it('E4 the tool choice is forced for one request only, even if later calls are rejected', async () => {
    const garbled = { calls: [submit({ passed: 1, summary: '' })] };
    const tools = await runScripted(
      (request, index) => {
        if (request.toolChoice !== 'auto') throw new ProviderError('tool_choice', 'no', { status: 400 });
        return index === 0 ? { text: 'done' } : garbled;
      },
      { limits: { ...limits, maxTurns: 4 } },
    );
    const forcedRequests = tools.provider.requests.filter((request) => request.toolChoice !== 'auto');
    expect(forcedRequests).toHaveLength(1);
    expect(tools.record.totals.turns).toBe(4);
  });

  it('E4 any other error of a forced request is not retried', async () => {
    const seen: unknown[] = [];
    const failing = runScripted((request) => {
      seen.push(request.toolChoice);
      if (request.toolChoice !== 'auto') throw new ProviderError('error', 'no', { status: 400 });
      return { text: 'done' };
    });
    await expect(failing).rejects.toMatchObject({ failure: 'error' });
    expect(seen).toEqual(['auto', { tool: 'structured_output' }]);
  });

  it('E5 plain text ends the run after one request when force-output is off', async () => {
    const run = await runScripted([{ text: 'done' }], { forceOutput: false });
    expect(run.outcome.kind).toBe('plain_text');
    expect(run.provider.requests).toHaveLength(1);
  });

  it('forces the tool choice only once, even when tool turns follow', async () => {
    const run = await runScripted([{ text: 'done' }, look, { text: 'really done' }], { files });
    expect(run.outcome).toMatchObject({ kind: 'plain_text', text: 'really done' });
    expect(run.provider.requests.map((request) => request.toolChoice)).toEqual([
      'auto',
      { tool: 'structured_output' },
      'auto',
    ]);
  });

  it('E13 an excluded structured_output is not offered, never forced, and an unknown tool when called', async () => {
    const plain = await runScripted([{ text: 'done' }], { exclude: ['structured_output'] });
    expect(plain.outcome.kind).toBe('plain_text');
    expect(plain.provider.requests).toHaveLength(1);
    expect(plain.provider.requests[0]?.tools.map((tool) => tool.name)).toEqual([
      'read_file',
      'edit',
      'shell',
    ]);
    const loop = await runScripted([{ calls: [good] }], {
      exclude: ['structured_output'],
      limits: { ...limits, maxTurns: 2 },
    });
    expect(loop.outcome).toEqual({ kind: 'exhausted', limit: 'turns', lastIssues: [] });
    expect(loop.provider.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      results: [
        { isError: true, content: expect.stringContaining('There is no tool named "structured_output"') },
      ],
    });
    expect(JSON.stringify(loop.events)).not.toContain('all well');
  });
});

describe('limits', () => {
  it('E6 a run without a submission makes exactly max-turns requests', async () => {
    const run = await runScripted([look], { files, limits: { ...limits, maxTurns: 3 } });
    expect(run.outcome).toEqual({ kind: 'exhausted', limit: 'turns', lastIssues: [] });
    expect(run.provider.requests).toHaveLength(3);
  });

  it('E7 a valid call on the last permitted turn is accepted', async () => {
    const run = await runScripted([look, look, { calls: [good] }], {
      files,
      limits: { ...limits, maxTurns: 3 },
    });
    expect(run.outcome.kind).toBe('submitted');
  });

  it('E8 max-turns 0 ends the run without a request', async () => {
    const run = await runScripted([{ calls: [good] }], { limits: { ...limits, maxTurns: 0 } });
    expect(run.outcome).toEqual({ kind: 'exhausted', limit: 'turns', lastIssues: [] });
    expect(run.provider.requests).toHaveLength(0);
  });

  it('E9 a run whose calls are all rejected ends with the issues of the last rejection', async () => {
    const run = await runScripted([{ calls: [submit({ passed: 1, summary: '' })] }], {
      limits: { ...limits, maxTurns: 2 },
    });
    expect(run.outcome).toMatchObject({
      kind: 'exhausted',
      limit: 'turns',
      lastIssues: [{ path: '/passed', keyword: 'type' }],
    });
    expect(run.record.rejections).toBe(2);
  });

  it('E9 the issues are those of the last rejection, however many turns and calls ago', async () => {
    const first = submit({ passed: 1, summary: 's' });
    const last = submit({ passed: true, summary: 2 });
    const issues = [{ path: '/summary', keyword: 'type' }];
    const turns = await runScripted([{ calls: [first, last] }, look, look], {
      files,
      limits: { ...limits, maxTurns: 3 },
    });
    expect(turns.outcome).toMatchObject({ limit: 'turns', lastIssues: issues });
    const stop = new AbortController();
    const time = await runScripted(
      (_, index) => {
        if (index === 0) return { calls: [first, last] };
        stop.abort({ stop: 'timeout' });
        return new Promise(() => undefined);
      },
      { signal: stop.signal },
    );
    expect(time.outcome).toMatchObject({ limit: 'time', lastIssues: issues });
  });

  it('a token limit ends the run when the provider reports no usage, and a notice gives the reason', async () => {
    const silent = { ...look, usage: null };
    const limited = await runScripted([silent], { files, limits: { ...limits, maxTotalTokens: 1_000_000 } });
    expect(limited.outcome).toMatchObject({ kind: 'exhausted', limit: 'tokens' });
    const warned = (run: typeof limited) =>
      run.events.filter((event) => event.type === 'notice' && event.text.includes('reports no usage'));
    expect(warned(limited)).toHaveLength(1);
    expect(warned(await runScripted([silent, { calls: [good] }], { files }))).toEqual([]);
  });

  it('enforces token and cost limits after each turn, but never against an accepted payload', async () => {
    const tokens = await runScripted([look], { files, limits: { ...limits, maxTotalTokens: 200 } });
    expect(tokens.outcome).toMatchObject({ kind: 'exhausted', limit: 'tokens' });
    expect(tokens.provider.requests).toHaveLength(2);
    const price = async () => 0.75;
    const cost = await runScripted([look], { files, price, limits: { ...limits, maxCostUsd: 1 } });
    expect(cost.outcome).toMatchObject({ kind: 'exhausted', limit: 'cost' });
    expect(cost.record.totals).toMatchObject({ turns: 2, costUsd: 1.5 });
    const accepted = await runScripted([{ calls: [good] }], {
      price,
      limits: { ...limits, maxTotalTokens: 1, maxCostUsd: 0.1 },
    });
    expect(accepted.outcome.kind).toBe('submitted');
  });
});

describe('aborts', () => {
  it('E12 a timeout during a request ends the run at once', async () => {
    const stop = new AbortController();
    const run = await runScripted(
      () => {
        stop.abort({ stop: 'timeout' });
        return new Promise(() => undefined);
      },
      { signal: stop.signal },
    );
    expect(run.outcome).toEqual({ kind: 'exhausted', limit: 'time', lastIssues: [] });
  });

  it('E12 a timeout during a command ends the run, and no other tool call starts', async () => {
    const stop = new AbortController();
    const calls = [
      call('shell', { command: 'sleep 20' }),
      call('edit', { path: 'late.txt', old_string: '', new_string: 'x' }),
    ];
    let started = 0;
    const emit = (event: RunEvent) => {
      if (event.type !== 'tool_started') return;
      started += 1;
      setTimeout(() => stop.abort({ stop: 'timeout' }), 200);
    };
    const run = await runScripted([{ calls }], { signal: stop.signal, emit });
    expect(run.outcome).toMatchObject({ kind: 'exhausted', limit: 'time' });
    expect(started).toBe(1);
    expect(run.record.turns.map((turn) => turn.calls.map((each) => [each.name, each.decision]))).toEqual([
      [['shell', 'error']],
    ]);
  });

  it('E10 a signal during a request cancels the run', async () => {
    const stop = new AbortController();
    const run = await runScripted(
      () => {
        stop.abort({ stop: 'signal', signal: 'SIGTERM' });
        return new Promise(() => undefined);
      },
      { signal: stop.signal },
    );
    expect(run.outcome).toEqual({ kind: 'cancelled', signal: 'SIGTERM' });
  });

  it('a payload accepted before the timeout stays accepted while the self-test is still running', async () => {
    const stop = new AbortController();
    // The loop waits for it after the payload has been validated.
    const ready = async () => {
      setTimeout(() => stop.abort({ stop: 'timeout' }), 20);
      await once(stop.signal, 'abort');
      await sleep(20);
    };
    const run = await runScripted([{ calls: [good] }], { ready, signal: stop.signal });
    expect(run.outcome.kind).toBe('submitted');
  });

  it('a self-test failure after the timeout is reported, and so is a signal received meanwhile', async () => {
    const broken = new SandboxError('no sandbox');
    const stop = new AbortController();
    const failing = async () => {
      setTimeout(() => stop.abort({ stop: 'timeout' }), 20);
      await once(stop.signal, 'abort');
      await sleep(20);
      throw broken;
    };
    await expect(runScripted([{ calls: [good] }], { ready: failing, signal: stop.signal })).rejects.toBe(
      broken,
    );
    const later = new AbortController();
    const interrupt = new AbortController();
    const hanging = () => {
      setTimeout(() => later.abort({ stop: 'timeout' }), 20);
      later.signal.addEventListener('abort', () => setTimeout(() => interrupt.abort('SIGTERM'), 20));
      return new Promise<void>(() => undefined);
    };
    const run = await runScripted([{ calls: [good] }], {
      ready: hanging,
      signal: later.signal,
      interrupt: interrupt.signal,
    });
    expect(run.outcome).toEqual({ kind: 'cancelled', signal: 'SIGTERM' });
  });

  it('S9 payloads with slow patterns do not delay a signal: it is handled between two calls', async () => {
    const stop = new AbortController();
    const evil = submit({ a: `${'a'.repeat(40)}!` });
    setTimeout(() => stop.abort({ stop: 'signal', signal: 'SIGTERM' }), 50);
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const run = await runScripted([{ calls: [evil, evil, evil, evil] }], { schema, signal: stop.signal });
    expect(run.outcome).toEqual({ kind: 'cancelled', signal: 'SIGTERM' });
    expect(run.record.rejections).toBe(0);
  });

  it('a signal does not wait for a self-test that hangs', async () => {
    const stop = new AbortController();
    const ready = () => new Promise<void>(() => undefined);
    setTimeout(() => stop.abort({ stop: 'signal', signal: 'SIGINT' }), 50);
    const run = await runScripted([{ calls: [good] }], { ready, signal: stop.signal });
    expect(run.outcome).toEqual({ kind: 'cancelled', signal: 'SIGINT' });
  });

  it('a sandbox failure ends the run during a request, and no payload is accepted after it', async () => {
    const broken = new SandboxError('no sandbox');
    const stop = new AbortController();
    const waiting = runScripted(
      () => {
        stop.abort(broken);
        return new Promise(() => undefined);
      },
      { signal: stop.signal },
    );
    await expect(waiting).rejects.toBe(broken);
    await expect(runScripted([{ calls: [good] }], { ready: () => Promise.reject(broken) })).rejects.toBe(
      broken,
    );
  });
});

describe('a conversation', () => {
  it('E14 only grows: each request begins with the messages of the previous one', async () => {
    const run = await runScripted([look, { text: 'hm' }, look, { calls: [good] }], {
      files,
      tools: ['read_file'],
    });
    const { requests } = run.provider;
    expect(requests[0]?.tools.map((tool) => tool.name)).toEqual(['read_file', 'structured_output']);
    for (const [at, request] of requests.entries()) {
      const before = requests[at - 1]?.messages ?? [];
      expect(request.messages.slice(0, before.length)).toEqual(before);
      expect(request.tools).toBe(requests[0]?.tools);
    }
  });

  it('sends the provider’s native message back', async () => {
    const run = await runScripted([look, { calls: [good] }], { files });
    expect(run.provider.requests[1]?.messages[1]).toMatchObject({ role: 'assistant', native: { index: 0 } });
  });

  it('E18 a refusal ends the run, and its calls are not executed', async () => {
    const run = await runScripted([{ text: 'I cannot', calls: [good], stopReason: 'refusal' }]);
    expect(run.outcome).toEqual({ kind: 'refused', text: 'I cannot' });
  });

  it('P3 events carry no arguments of structured_output, valid or not, and keep those of other calls', async () => {
    const canary = 'CANARY-7f3a';
    const run = await runScripted(
      [
        { calls: [call('read_file', { path: 'a.txt' })] },
        {
          calls: [
            submit({ passed: canary, summary: canary, [canary]: 1 }),
            call('shell', { command: 'true' }),
          ],
        },
        { calls: [submit({ passed: true, summary: canary })] },
      ],
      { files },
    );
    expect(run.outcome).toMatchObject({ kind: 'submitted', payload: { summary: canary } });
    const recorded = JSON.stringify(run.events);
    expect(recorded).not.toContain('"passed":');
    expect(recorded).not.toContain(canary);
    expect(recorded).toContain('a.txt');
    expect(recorded).toContain('these arguments are not recorded');
  });

  it('P3 events carry no arguments of tools that were not offered, but keep name, decision and result', async () => {
    const canary = 'CANARY-2b9e';
    const names = ['StructuredOutput', 'struct_output', 'functions.structured_output', 'json', 'shell'];
    const run = await runScripted(
      [
        { calls: names.map((name) => call(name, { passed: true, summary: canary, command: canary })) },
        {
          calls: [{ name: 'StructuredOutput', rawArguments: `{"summary":"${canary}`, status: 'malformed' }],
        },
        { calls: [call('read_file', { path: 'a.txt' })] },
        { calls: [good] },
      ],
      { files, exclude: ['shell'] },
    );
    expect(run.outcome).toMatchObject({ kind: 'submitted' });
    const recorded = JSON.stringify(run.events);
    expect(recorded).not.toContain(canary);
    expect(recorded).toContain('{\\"path\\":\\"a.txt\\"}');
    const finished = run.events.filter((event) => event.type === 'tool_finished');
    expect(finished.slice(0, names.length).map(({ call, decision }) => [call.name, decision])).toEqual(
      names.map((name) => [name, 'error']),
    );
    expect(finished[0]?.result.content).toContain('There is no tool named "StructuredOutput"');
    // The model’s own message is sent back to it unchanged.
    expect(JSON.stringify(run.provider.requests.at(-1)?.messages)).toContain(canary);
  });

  it('P3 a rejected key that the schema does not declare is * outside of the conversation', async () => {
    const email = 'alice@example.com';
    const schema = {
      type: 'object',
      properties: {
        scores: { additionalProperties: { type: 'object', properties: { points: { type: 'number' } } } },
        labels: { patternProperties: { '@': { type: 'number' } } },
        list: { type: 'array', items: { type: 'object', additionalProperties: { type: 'number' } } },
        closed: {
          type: 'object',
          properties: { a: {} },
          required: ['a'],
          additionalProperties: false,
          propertyNames: { maxLength: 3 },
          dependentRequired: { [email]: ['b'] },
        },
        open: { unevaluatedProperties: false },
      },
      $schema: 'https://json-schema.org/draft/2020-12/schema',
    };
    const payload = {
      scores: { [email]: { points: 'x' }, '4915112345678': 1 },
      labels: { [email]: 'x' },
      list: [{}, { [email]: 'x' }],
      closed: { [email]: 1 },
      open: { [email]: 1 },
    };
    const run = await runScripted([{ calls: [submit(payload)] }], {
      schema,
      limits: { ...limits, maxTurns: 1 },
    });
    const recorded = JSON.stringify([run.events, run.outcome, run.record]);
    expect(recorded).not.toContain('alice');
    expect(recorded).not.toContain('4915');
    for (const issue of [
      '/scores/*/points (type)',
      '/scores/* (type)',
      '/labels/* (type)',
      '/list/1/* (type)',
      '/closed (required)',
      '/closed (additionalProperties)',
      '/closed (propertyNames)',
      '/closed (dependentRequired)',
      '/open (unevaluatedProperties)',
    ])
      expect(recorded).toContain(issue);
    expect(run.outcome).toMatchObject({ kind: 'exhausted', limit: 'turns' });
    const again = await runScripted([{ calls: [submit(payload)] }, { calls: [submit({})] }], { schema });
    const seen = JSON.stringify(again.provider.requests[1]?.messages);
    expect(seen).toContain(`/scores/${email}/points`);
    expect(seen.replaceAll('\\', '')).toContain(`the keys here are "${email}"`);
  });

  it('P3 events carry no arguments of an excluded structured_output', async () => {
    const run = await runScripted([{ calls: [submit({ passed: true, summary: 'CANARY-51' })] }, {}, {}], {
      exclude: ['structured_output'],
    });
    expect(run.outcome).toMatchObject({ kind: 'plain_text' });
    expect(JSON.stringify(run.events)).not.toContain('CANARY');
  });
});
