import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createProvider } from '../../src/providers/select.ts';
import type { ProviderSettings } from '../../src/providers/settings.ts';

const settings: ProviderSettings = {
  provider: 'openai',
  model: 'm',
  apiKey: 'sk-secret',
  keySource: 'the variable OPENAI_API_KEY',
  baseUrl: null,
  maxOutputTokens: null,
  stream: 'auto',
  userAgent: 'test',
  headers: {},
  authScheme: 'provider',
  reasoningEffort: null,
  idleTimeoutMs: 60_000,
  fetch,
};

const refused = (fields: Partial<ProviderSettings>) =>
  createProvider({ ...settings, ...fields }).then(
    () => null,
    (error: unknown) =>
      error instanceof Error && 'input' in error ? [error.name, error.input, error.message] : error,
  );

describe('createProvider', () => {
  it('names what it made', async () => {
    for (const provider of ['openai', 'anthropic', 'openai-compatible'] as const) {
      const made = await createProvider({ ...settings, provider, baseUrl: 'http://localhost:1/v1' });
      expect([made.name, made.model]).toEqual([provider, 'm']);
    }
  });

  it.each([
    'ftp://x/v1',
    'localhost:8000',
    '',
    'http://',
    'https://user:pass@x/v1',
    'https://x/v1?key=1',
    'https://x/#f',
  ])('the base URL %j is refused by name', async (baseUrl) => {
    expect(await refused({ provider: 'openai-compatible', baseUrl })).toEqual([
      'InputError',
      'base-url',
      expect.stringContaining('`base-url`'),
    ]);
  });

  it('an openai-compatible provider needs a base URL', async () => {
    expect(await refused({ provider: 'openai-compatible' })).toMatchObject([
      'InputError',
      'base-url',
      expect.stringContaining('needs `base-url`'),
    ]);
  });

  it('E16 a key that no header can carry is refused without showing it, one with blanks around it is trimmed', async () => {
    const told = await refused({ apiKey: 'sk-secret\nsk-other' });
    expect(told).toMatchObject([
      'InputError',
      'api-key',
      expect.stringContaining('the variable OPENAI_API_KEY'),
    ]);
    expect(JSON.stringify(told)).not.toContain('sk-');
    expect(await refused({ apiKey: ' sk-secret\n' })).toBeNull();
  });

  it.each([
    ['openai', '/openai/', '/@anthropic-ai/'],
    ['anthropic', '/@anthropic-ai/', '/openai/'],
  ])('loads the SDK of %s only', async (provider, loaded, other) => {
    const script = `
      import { registerHooks } from 'node:module';
      const urls = [];
      registerHooks({ resolve: (name, context, next) => { const found = next(name, context); urls.push(found.url); return found; } });
      const { createProvider } = await import(${JSON.stringify(new URL('../../src/providers/select.ts', import.meta.url).href)});
      const before = urls.filter((url) => url.includes('/node_modules/')).length;
      await createProvider(${JSON.stringify({ ...settings, provider })});
      console.log(JSON.stringify({ before, urls }));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    const { before, urls }: { before: number; urls: readonly string[] } = JSON.parse(stdout);
    expect(before).toBe(0);
    expect(urls.some((url) => url.includes(`/node_modules${loaded}`))).toBe(true);
    expect(
      urls.filter((url) => url.includes(`/node_modules${other}`) || url.includes('genai-prices')),
    ).toEqual([]);
  });
});
