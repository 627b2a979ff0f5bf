import { describe, expect, it } from 'vitest';
import { chatUsage } from '../../src/providers/openai-chat.ts';

describe('chatUsage', () => {
  it.each([
    ['OpenAI counts thinking in', { prompt_tokens: 10, completion_tokens: 400, total_tokens: 410 }, 400],
    ['Gemini leaves it to the total', { prompt_tokens: 10, completion_tokens: 12, total_tokens: 410 }, 400],
    ['Gemini sends nothing but thoughts', { prompt_tokens: 10, total_tokens: 410 }, 400],
    ['no total', { prompt_tokens: 10, completion_tokens: 12 }, 12],
    ['a total that is too small', { prompt_tokens: 10, completion_tokens: 12, total_tokens: 3 }, 12],
  ])('output tokens where %s', (_, usage, outputTokens) => {
    expect(chatUsage(usage)).toEqual({
      inputTokens: 10,
      outputTokens,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
    });
  });
});
