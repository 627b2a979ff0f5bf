import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { DROPPED } from '../../src/agent/prompt.ts';
import { beginningOf, type Wire, type WireAnswer, wires } from '../support/fakes/model/wires.ts';
import { counting, delivery, runOverWire } from './wire-run.ts';

/** Sends the answers in order and repeats the last one. */
const script =
  (wire: Wire, answers: readonly WireAnswer[]) =>
  (response: ServerResponse, _: unknown, index: number): void =>
    wire.answer(response, answers[Math.min(index, answers.length - 1)] ?? {});

const done = { calls: [delivery] };

describe.each(wires)('$name', (wire) => {
  it('executes no call of an interrupted response, and executes the call of the retry once', async () => {
    const cut = await beginningOf(wire, { calls: [counting('one', 'a')] });
    expect(cut.text).toContain('shell');
    const run = await runOverWire(wire, (response, _, index) => {
      if (index === 0 || index === 2) {
        response.writeHead(200, { 'content-type': cut.type });
        response.write(cut.text, () => response.destroy());
      } else wire.answer(response, index === 1 ? { calls: [counting('one', 'a')] } : done);
    });
    expect(run).toMatchObject({ reason: 'accepted', exitCode: 0, executed: { one: 1 } });
    expect(run.requests).toHaveLength(4);
    expect(run.record.totals.turns).toBe(2);
  });

  it('accepts no result from an interrupted response', async () => {
    const cut = await beginningOf(wire, done);
    const run = await runOverWire(wire, (response) => {
      response.writeHead(200, { 'content-type': cut.type });
      response.end(cut.text);
    });
    expect(run).toMatchObject({ reason: 'provider_error', exitCode: 1 });
  });

  it('S8 a call cut off by the output limit is neither executed nor accepted, and the model gets an error', async () => {
    const stop = wire.words.length;
    const run = await runOverWire(
      wire,
      script(wire, [
        { calls: [counting('one', 'a'), counting('two', 'b')], stop },
        { calls: [delivery], stop },
        { calls: [{ ...delivery, id: 'again' }] },
      ]),
    );
    expect(run).toMatchObject({ reason: 'accepted', executed: {}, record: { rejections: 1 } });
    expect(run.record.turns.map((turn) => turn.calls.map((call) => call.decision))).toEqual([
      ['error', 'error'],
      ['rejected'],
      ['accepted'],
    ]);
    expect(run.requests[1]?.raw).toContain('cut off by the output limit, so it did not run');
    expect(run.requests[2]?.raw).toContain('Rejected: ');
  });

  it('malformed arguments, an unknown tool and non-object arguments get error results and are not executed', async () => {
    // Anthropic's non-streamed input is part of the response body: malformed, it would make the whole body invalid.
    const broken =
      wire.provider === 'anthropic' && !wire.stream ? '"text"' : '{"command":"echo x >> trace.txt"';
    const run = await runOverWire(
      wire,
      script(wire, [
        {
          calls: [
            { id: 'a', name: 'shell', arguments: broken },
            { id: 'b', name: 'no_such_tool', arguments: '{}' },
            { id: 'c', name: 'shell', arguments: '["echo x >> trace.txt"]' },
            { id: 'd', name: 'shell', arguments: '{"command":"echo x >> trace.txt","command":"true"}' },
          ],
        },
        done,
      ]),
    );
    expect(run).toMatchObject({ reason: 'accepted', executed: {} });
    expect(run.record.turns[0]?.calls.map((call) => call.decision)).toEqual(Array(4).fill('error'));
    expect(run.requests[1]?.raw).toContain('There is no tool named');
  });

  it('two calls with the same id are each executed once and answered', async () => {
    const run = await runOverWire(
      wire,
      script(wire, [{ calls: [counting('one', 'same'), counting('two', 'same')] }, done]),
    );
    expect(run).toMatchObject({ reason: 'accepted', executed: { one: 1, two: 1 } });
  });

  it('drops the oldest tool results of a conversation that is too long, and continues', async () => {
    const long = (id: string) => ({ id, name: 'shell', arguments: '{"command":"seq 4000"}' });
    const run = await runOverWire(wire, (response, request, index) => {
      if (request.raw.length > 45_000)
        return wire.error(response, 400, { code: 'context_length_exceeded', message: 'too long' });
      const turns = request.raw.split('3999').length + request.raw.split(DROPPED).length - 2;
      return wire.answer(response, turns < 4 ? { calls: [long(`call_${index}`)] } : done);
    });
    expect(run).toMatchObject({ reason: 'accepted', exitCode: 0 });
    expect(run.record.totals.turns).toBe(5);
    expect(run.notices.filter((text) => text.includes('too long for asked'))).not.toEqual([]);
    expect(run.requests.at(-1)?.raw).toContain(DROPPED);
  });

  it('E4 a rejected forced tool choice is retried without it, in the same turn', async () => {
    const run = await runOverWire(
      wire,
      (response, request, index) => {
        if (index === 0) return wire.answer(response, { text: 'Prose.' });
        return request.raw.includes('"tool_choice"')
          ? wire.error(response, 400, { type: 'invalid_request_error', message: 'tool_choice may not force' })
          : wire.answer(response, done);
      },
      { forceOutput: true },
    );
    expect(run).toMatchObject({ reason: 'accepted', exitCode: 0 });
    expect(run.record.turns.map(({ turn, forced }) => [turn, forced])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(run.requests.map((request) => request.raw.includes('"tool_choice"'))).toEqual([
      false,
      true,
      false,
    ]);
    expect(run.notices).toEqual(['asked refuses a forced tool choice: asking without']);
    // No request ends with an assistant message: several servers reject such a request.
    const conversations = run.requests.map((request) => JSON.parse(request.raw)[wire.conversation]);
    expect(conversations.map((entries) => entries.at(-1).role)).toEqual(['user', 'user', 'user']);
  });

  describe('a wait requested by the server', () => {
    it.each([
      ['E12 a timeout', { stop: 'timeout' } as const, null, 'timeout', 55],
      ['E10 a signal', { stop: 'signal', signal: 'SIGTERM' } as const, 'SIGTERM', 'cancelled', 130],
    ])('is ended at once by %s', async (_, reason, signal, expected, exitCode) => {
      const stop = new AbortController();
      const interrupt = new AbortController();
      const started = performance.now();
      const run = await runOverWire(
        wire,
        (response, __, index) => {
          if (index === 0) return wire.answer(response, { calls: [counting('one', 'a')] });
          setTimeout(() => {
            stop.abort(reason);
            if (signal !== null) interrupt.abort(signal);
          }, 50);
          return wire.error(response, 429, {}, { 'retry-after': '3600' });
        },
        { signal: stop.signal, interrupt: interrupt.signal },
      );
      expect(run).toMatchObject({ reason: expected, exitCode, executed: { one: 1 } });
      expect(performance.now() - started).toBeLessThan(15_000);
      expect(run.requests).toHaveLength(2);
      expect(run.notices.map((text) => text.replace(/^\S+/, 'HOST'))).toEqual([
        'HOST answered 429 and asked to wait 3600 s, waiting 60 s: try 2 of 4 follows',
      ]);
    });
  });
});
