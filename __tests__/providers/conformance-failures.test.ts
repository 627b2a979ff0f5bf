import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { CompletionRequest } from '../../src/providers/provider.ts';
import type { ProviderSettings } from '../../src/providers/registry.ts';
import type { JsonObject } from '../../src/types.ts';
import { asking, providerAt, testKey, type Wire, wires } from '../support/fakes/model/wires.ts';
import { atOnce, failure, raw } from './conformance-server.ts';

describe.each(wires)('$name', (wire: Wire) => {
  const at = (server: { url: string }, settings: Partial<ProviderSettings> = {}) =>
    providerAt(wire, server.url, settings);

  describe('failures', () => {
    const failing = async (
      status: number,
      error: JsonObject,
      request: Partial<CompletionRequest> = {},
      settings: Partial<ProviderSettings> = {},
    ) => {
      const headers = { ...atOnce, 'x-request-id': 'req_1', 'request-id': 'req_1' };
      const server = await raw((response) => wire.error(response, status, error, headers));
      const thrown = await failure((await at(server, settings)).complete(asking(request)));
      expect(thrown.message).not.toContain(testKey);
      return { ...thrown, tries: server.requests.length };
    };

    it('E16 401 and 403 name the source of the key, the model and the status, but not the key', async () => {
      for (const status of [401, 403]) {
        const thrown = await failing(status, { type: 'authentication_error', message: 'bad key' });
        expect(thrown).toMatchObject({ failure: 'auth', status, requestId: 'req_1', tries: 1 });
        for (const part of ['the input api-key', 'asked', String(status), '"bad key"'])
          expect(thrown.message).toContain(part);
      }
    });

    it('404 and 410 mention model and base-url', async () => {
      for (const status of [404, 410]) {
        const thrown = await failing(status, { type: 'not_found_error', message: 'no such model' });
        expect(thrown).toMatchObject({ failure: 'error', status, tries: 1 });
        expect(thrown.message).toContain('check `model` and `base-url`');
        expect(thrown.message).toContain(status === 410 ? 'retired, for good' : 'not found');
      }
    });

    it('E4 a 400 that names tool choice fails as tool_choice only when the request forced a tool', async () => {
      const toolChoice = { tool: 'structured_output' };
      const said = { message: 'Thinking may not be enabled when tool_choice forces tool use.' };
      expect(await failing(400, said, { toolChoice })).toMatchObject({ failure: 'tool_choice', status: 400 });
      expect(await failing(400, { param: 'tool_choice', message: 'x' }, { toolChoice })).toMatchObject({
        failure: 'tool_choice',
      });
      expect(await failing(400, said)).toMatchObject({ failure: 'error' });
      expect(await failing(400, { message: 'other' }, { toolChoice })).toMatchObject({ failure: 'error' });
    });

    it("shortens the server's message to one line", async () => {
      const { message } = await failing(400, { message: `line\n::error::${'x'.repeat(5000)}` });
      expect(message.length).toBeLessThan(500);
      expect(message).not.toContain('\n');
    });

    it('reads an error at the top level of the body and an error that is a string', async () => {
      for (const text of [
        '{"object":"error","message":"the reason","code":400}',
        '{"error":"the reason"}',
        '{"detail":"the reason"}',
      ]) {
        const server = await raw((response) =>
          response.writeHead(400, { 'content-type': 'application/json' }).end(text),
        );
        expect((await failure((await at(server)).complete(asking()))).message).toContain('"the reason"');
      }
    });

    it('does not follow redirects, so the key reaches no other host', async () => {
      const other = await raw((response) => response.end());
      const server = await raw((response) => response.writeHead(307, { location: `${other.url}/` }).end());
      expect(await failure((await at(server)).complete(asking()))).toMatchObject({
        failure: 'error',
        status: 307,
      });
      expect(other.requests).toEqual([]);
    });
  });

  describe('E10 aborting', () => {
    const reason = { stop: 'timeout' };

    it.each<[string, (response: ServerResponse) => void]>([
      ['while waiting for headers', () => undefined],
      ['in the middle of a response', (response) => wire.begin(response, 'open')],
      [
        'during the longest wait before a retry',
        (response) => wire.error(response, 429, {}, { 'retry-after': '3600' }),
      ],
    ])('%s rejects with the reason at once and sends no further request', async (_, answer) => {
      const controller = new AbortController();
      const server = await raw((response) => {
        answer(response);
        setTimeout(() => controller.abort(reason), 30);
      });
      const work = (await at(server)).complete(asking({ signal: controller.signal }));
      await expect(work).rejects.toBe(reason);
      expect(server.requests).toHaveLength(1);
    });

    it('closes the request in progress', async () => {
      const controller = new AbortController();
      let closed = () => {};
      const closing = new Promise<void>((resolve) => {
        closed = resolve;
      });
      const server = await raw((response) => {
        response.once('close', closed);
        controller.abort(reason);
      });
      await expect((await at(server)).complete(asking({ signal: controller.signal }))).rejects.toBe(reason);
      await closing;
    });

    it('sends no further request when the wait between tries is aborted', async () => {
      const controller = new AbortController();
      const server = await raw((response) => {
        wire.error(response, 500, {}, { 'retry-after': '0.1' });
        setTimeout(() => controller.abort(reason), 10);
      });
      await expect((await at(server)).complete(asking({ signal: controller.signal }))).rejects.toBe(reason);
      await new Promise((resolve) => setTimeout(resolve, 250));
      expect(server.requests).toHaveLength(1);
    });

    it('sends nothing when the signal is already aborted', async () => {
      const server = await raw((response) => wire.answer(response, { text: 'x' }));
      await expect((await at(server)).complete(asking({ signal: AbortSignal.abort(reason) }))).rejects.toBe(
        reason,
      );
      expect(server.requests).toEqual([]);
    });
  });
});
