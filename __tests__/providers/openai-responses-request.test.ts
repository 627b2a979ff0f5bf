import { describe, expect, it } from 'vitest';
import { asking } from '../support/fakes/model/wires.ts';
import { response, sent, serving } from './responses-server.ts';

describe('a request', () => {
  it('sets store to false, includes encrypted reasoning and sets no strict mode', async () => {
    const { provider, server } = await serving([response()], { model: 'gpt-5.5', maxOutputTokens: 9 });
    await provider.complete(asking({ toolChoice: { tool: 'shell' } }));
    const { tools, ...rest } = sent(server, 0);
    expect(rest).toEqual({
      model: 'gpt-5.5',
      store: false,
      include: ['reasoning.encrypted_content'],
      max_output_tokens: 9,
      instructions: 'Be good.',
      input: [{ role: 'user', content: 'Go.' }],
      tool_choice: { type: 'function', name: 'shell' },
    });
    expect(tools).toEqual([
      expect.objectContaining({ type: 'function', name: 'shell', strict: false }),
      expect.objectContaining({ type: 'function', name: 'structured_output', strict: false }),
    ]);
  });

  it.each([
    ['gpt-4o-mini', false],
    ['gpt-4.1-2025-04-14', false],
    ['ft:gpt-4o-2024-08-06:acme::x1', false],
    ['openai/gpt-4.1', false],
    ['chatgpt-4o-latest', false],
    ['gpt-5-chat-latest', false],
    ['gpt-5.2-chat-latest', false],
    ['gpt-5', true],
    ['gpt-5.6-sol', true],
    ['o4-mini', true],
    ['gpt-oss-120b', true],
  ])('for %s includes encrypted reasoning: %s', async (model, asked) => {
    const { provider, server } = await serving([response()], { model });
    await provider.complete(asking());
    expect('include' in sent(server, 0)).toBe(asked);
  });

  it('retries without encrypted reasoning when the server rejects it, and leaves it out from then on', async () => {
    const message = 'Encrypted content is not supported with this model.';
    const error = { message, type: 'invalid_request_error', param: 'include', code: null };
    const { provider, server } = await serving([{ status: 400, error }, response()], { model: 'my-alias' });
    const notices: string[] = [];
    const notify = (text: string) => void notices.push(text);
    expect((await provider.complete(asking({ notify }))).message.text).toBe('Prose.');
    await provider.complete(asking({ notify }));
    expect(notices).toEqual([
      expect.stringMatching(
        /^127\.0\.0\.1:\d+ has no encrypted reasoning for my-alias: asking again without$/,
      ),
    ]);
    expect(server.requests.map((_, n) => 'include' in sent(server, n))).toEqual([true, false, false]);
  });
});
