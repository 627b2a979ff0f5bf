import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { ProviderSettings } from '../../src/providers/registry.ts';
import { createProvider, PROVIDERS } from '../../src/providers/registry.ts';
import { asking } from '../support/fakes/model/wires.ts';

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
  retryPauseMs: 1,
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
    for (const provider of PROVIDERS) {
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
      expect.stringMatching(/^base-url /),
    ]);
  });

  it.each([
    'https://r.openai.azure.com/?api-version=',
    'https://r.openai.azure.com/?api-version=a&api-version=b',
    'https://r.openai.azure.com/?api-version=a&key=b',
    'https://r.openai.azure.com/?api-version=a/b',
    'https://r.openai.azure.com/?key=b',
  ])("Azure's base URL %j is refused by name", async (baseUrl) => {
    expect(await refused({ provider: 'azure-openai', baseUrl })).toEqual([
      'InputError',
      'base-url',
      expect.stringContaining('other than ?api-version='),
    ]);
  });

  it("only Azure's base URL may hold a version", async () => {
    const baseUrl = 'https://r.openai.azure.com/?api-version=2024-10-21';
    for (const provider of PROVIDERS) {
      const told = await refused({ provider, baseUrl });
      expect([provider, told === null]).toEqual([provider, provider === 'azure-openai']);
    }
  });

  it('Azure needs a base URL, and says of which kind', async () => {
    expect(await refused({ provider: 'azure-openai' })).toMatchObject([
      'InputError',
      'base-url',
      expect.stringMatching(/needs base-url.*https:\/\/NAME\.openai\.azure\.com/),
    ]);
  });

  it("streams at the vendors' own endpoints only, unless told otherwise", async () => {
    const sent: string[] = [];
    const send: typeof fetch = async (input, init) => {
      const url = input instanceof Request ? input.url : String(input);
      sent.push(`${new URL(url).host} ${String(init?.body).includes('"stream":true')}`);
      return new Response('{"error":{}}', { status: 400 });
    };
    const ask = async (fields: Partial<ProviderSettings>) => {
      const provider = await createProvider({ ...settings, fetch: send, ...fields });
      await provider.complete(asking()).catch(() => undefined);
    };
    await ask({ provider: 'openai' });
    await ask({ provider: 'anthropic' });
    await ask({ provider: 'gemini' });
    await ask({ provider: 'azure-openai', baseUrl: 'https://r.openai.azure.com' });
    await ask({ provider: 'azure-openai', baseUrl: 'https://r.cognitiveservices.azure.com' });
    await ask({ provider: 'azure-openai', baseUrl: 'https://r.services.ai.azure.com' });
    await ask({ provider: 'azure-openai', baseUrl: 'https://r.openai.azure.us' });
    await ask({ provider: 'azure-openai', baseUrl: 'https://r.openai.azure.com.example' });
    await ask({ provider: 'azure-openai', baseUrl: 'https://gateway.example' });
    await ask({ provider: 'openai', baseUrl: 'https://gateway.example/v1' });
    await ask({ provider: 'openai', baseUrl: 'https://gateway.example/v1', stream: 'on' });
    await ask({ provider: 'gemini', stream: 'off' });
    expect(sent).toEqual([
      'api.openai.com true',
      'api.anthropic.com true',
      'generativelanguage.googleapis.com true',
      'r.openai.azure.com true',
      'r.cognitiveservices.azure.com true',
      'r.services.ai.azure.com true',
      'r.openai.azure.us true',
      'r.openai.azure.com.example false',
      'gateway.example false',
      'gateway.example false',
      'gateway.example true',
      'generativelanguage.googleapis.com false',
    ]);
  });

  it('a name that does not resolve points at base-url, except at an endpoint that nobody typed', async () => {
    const send: typeof fetch = async () => {
      throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ENOTFOUND' }) });
    };
    const ask = async (fields: Partial<ProviderSettings>) => {
      const provider = await createProvider({ ...settings, fetch: send, ...fields });
      const error: unknown = await provider.complete(asking()).catch((thrown: unknown) => thrown);
      return error instanceof Error && error.message.includes('`base-url`');
    };
    const asked = [
      ask({ provider: 'openai' }),
      ask({ provider: 'anthropic' }),
      ask({ provider: 'gemini' }),
      ask({ provider: 'azure-openai', baseUrl: 'https://r.openai.azure.com' }),
      ask({ provider: 'openai', baseUrl: 'https://gateway.example/v1' }),
    ];
    expect(await Promise.all(asked)).toEqual([false, false, false, true, true]);
  });

  it('an openai-compatible provider needs a base URL', async () => {
    expect(await refused({ provider: 'openai-compatible' })).toMatchObject([
      'InputError',
      'base-url',
      expect.stringContaining('needs base-url'),
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
    ['gemini', '/openai/', '/@anthropic-ai/'],
    ['azure-openai', '/openai/', '/@anthropic-ai/'],
    ['anthropic', '/@anthropic-ai/', '/openai/'],
  ])('loads the SDK of %s only', async (provider, loaded, other) => {
    const script = `
      import { registerHooks } from 'node:module';
      const urls = [];
      registerHooks({ resolve: (name, context, next) => { const found = next(name, context); urls.push(found.url); return found; } });
      const { createProvider } = await import(${JSON.stringify(new URL('../../src/providers/registry.ts', import.meta.url).href)});
      const before = urls.filter((url) => url.includes('/node_modules/')).length;
      await createProvider(${JSON.stringify({ ...settings, provider, baseUrl: 'https://localhost:1' })});
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
