/** Which vendor the bundle asks, by a proxy, with which key and SDK, and what it loads before. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../support/fakes/certificates.ts';
import { send, wires } from '../support/fakes/model/wires.ts';
import { startProxy } from '../support/fakes/proxy-server.ts';
import { startRawServer } from '../support/fakes/raw-server.ts';
import { left, runAction, submits } from '../support/fakes/runner/action.ts';
import { makeFolder } from '../support/surroundings.ts';

const good = submits({ passed: true, summary: 'all well' });
const PASSWORD = 'proxy-pass-w0rd';
const HOSTS = ['api.openai.com', 'api.anthropic.com', 'generativelanguage.googleapis.com'];

/** Every variable that a provider or an SDK reads. None of them may select anything. */
const EVERY_KEY = {
  OPENAI_API_KEY: 'key-of-openai-0123',
  ANTHROPIC_API_KEY: 'key-of-anthropic-0123',
  GEMINI_API_KEY: 'key-of-gemini-0123',
  AZURE_OPENAI_API_KEY: 'key-of-azure-0123',
  ANTHROPIC_AUTH_TOKEN: 'token-of-anthropic-0123',
  OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
  ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
  AZURE_OPENAI_ENDPOINT: 'http://127.0.0.1:9',
  OPENAI_CUSTOM_HEADERS: 'x-trap: 1',
  ANTHROPIC_CUSTOM_HEADERS: 'x-trap: 1',
};

const folder = makeFolder();
const authority = createAuthority();
/** All vendors: the path says which API is asked. */
const model = await startRawServer((response, { path }) => {
  const wire = wires.find((each) => each.path === path);
  const calls = (good.calls ?? []).map((call) => ({ id: 'call_1', ...call }));
  const counted = { input_tokens: 1_000, output_tokens: 9, prompt_tokens: 1_000, completion_tokens: 9 };
  send(response, wire?.response({ calls, usage: counted }) ?? {});
}, authority.issue(HOSTS));
const hosts = Object.fromEntries(HOSTS.map((host) => [`${host}:443`, model.url]));
const proxy = await startProxy({ hosts, credentials: `me:${PASSWORD}` });
afterAll(async () => {
  await proxy.close();
  await model.close();
  authority.remove();
});

const dist = path.join(import.meta.dirname, '../../dist');

/** Variables that make the bundle record which of its files it loads, and the SDKs among them. */
function watchLoads() {
  const hooks = path.join(folder, 'hooks.mjs');
  const list = path.join(folder, 'loads.txt');
  writeFileSync(list, '');
  const code = `
    import { subscribe } from 'node:diagnostics_channel';
    import { appendFileSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    const note = (line) => appendFileSync(${JSON.stringify(list)}, line + '\\n');
    subscribe('undici:request:bodySent', () => note('a request was sent'));
    registerHooks({ load(url, context, next) {
      if (url.startsWith(${JSON.stringify(pathToFileURL(dist).href)})) note(new URL(url).pathname);
      return next(url, context);
    } });`;
  writeFileSync(hooks, code);
  const lines = () => readFileSync(list, 'utf8').split('\n').filter(Boolean);
  return {
    variables: { NODE_OPTIONS: `--import ${pathToFileURL(hooks).href}` },
    /** Each SDK reads a variable that no other code names. */
    sdks: () => {
      const loaded = textOf(lines().filter((line) => line !== 'a request was sent'));
      return ['openai', 'anthropic'].filter((sdk) => loaded.includes(`${sdk.toUpperCase()}_BASE_URL`));
    },
    /** The code that was loaded before the first request. */
    early: () => textOf(lines().slice(0, lines().indexOf('a request was sent'))),
  };
}

const textOf = (files: readonly string[]) => files.map((file) => readFileSync(file, 'utf8')).join('\n');

/** What is loaded while the model answers or later, and a text of its code. */
const LATER = {
  'the toolkit': 'Input does not meet YAML 1.2',
  octokit: 'octokit-core.js',
  'proxies: undici': 'EnvHttpProxyAgent',
  prices: 'input_mtok',
  'the sandbox': '--die-with-parent',
  git: 'git write-tree',
  reporters: 'sarif-2.1.0',
  'what finishes a run': 'The patch leaves out',
};

/** The most characters of code that are loaded before the first request: a run starts after they are parsed. */
const MOST_EARLY = 620_000;

/** Empty values for the inputs that every other run has. */
const absent = { provider: '', 'base-url': '', 'api-key': '' };

describe('the bundle', () => {
  const chat = 'generativelanguage.googleapis.com/v1beta/openai/chat/completions';
  it.each([
    ['openai', 'gpt-4.1-mini', 'api.openai.com/v1/responses', 'authorization', 'Bearer key-of-openai-0123'],
    ['anthropic', 'claude-sonnet-5-5', 'api.anthropic.com/v1/messages', 'x-api-key', 'key-of-anthropic-0123'],
    ['gemini', 'gemini-2.5-flash', chat, 'authorization', 'Bearer key-of-gemini-0123'],
  ])(
    'asks %s for its model %s, with its own key and SDK, whatever else is set',
    async (provider, name, address, header, value) => {
      const loads = watchLoads();
      const [models, tunnels] = [model.requests.length, proxy.requests.length];
      const network = {
        HTTPS_PROXY: proxy.url.replace('//', `//me:${PASSWORD}@`),
        SSL_CERT_FILE: authority.file,
      };
      const variables = { ...EVERY_KEY, ...loads.variables, ...network };
      const run = await runAction({ inputs: { ...absent, model: name }, variables });
      expect(run.envelope).toMatchObject({ reason: 'accepted', provider });
      expect(run.log).toContain(`\nprovider ${provider}, chosen by the name of the model ${name}\n`);
      const { host, pathname } = new URL(`https://${address}`);
      expect(new Set(proxy.requests.slice(tunnels))).toEqual(new Set([`CONNECT ${host}:443`]));
      const [request, ...more] = model.requests.slice(models);
      expect([request?.path, more]).toEqual([pathname, []]);
      expect(JSON.parse(request?.raw ?? '{}').stream === true).toBe(provider !== 'gemini');
      const { [header]: key, ...others } = request?.headers ?? {};
      expect(key).toBe(value);
      expect(JSON.stringify(others)).not.toMatch(/key-of|token-of|x-trap/u);
      expect(loads.sdks()).toEqual([provider === 'anthropic' ? 'anthropic' : 'openai']);
      expect(Number(run.outputs.get('run-cost-usd'))).toBeGreaterThan(0);
      expect(run.log).toContain(`::add-mask::${PASSWORD}`);
      expect(`${left(run)}${proxy.seen()}`).not.toMatch(/key-of|token-of|proxy-pass/u);
    },
  );

  it.each(['openai', 'anthropic', 'openai-compatible'])(
    'loads little before its first request to %s: configuration, contract and one SDK',
    async (provider) => {
      const all = textOf(globSync(path.join(dist, '*.js')));
      expect(Object.entries(LATER).filter(([, text]) => !all.includes(text))).toEqual([]);
      const loads = watchLoads();
      const run = await runAction({ script: [good], inputs: { provider }, variables: loads.variables });
      expect(run.exitCode).toBe(0);
      const early = loads.early();
      expect(Object.entries(LATER).filter(([, text]) => early.includes(text))).toEqual([]);
      expect(early.length).toBeGreaterThan(300_000);
      expect(early.length).toBeLessThan(MOST_EARLY);
    },
  );

  it('asks a server of the user without a key, whatever else is set', async () => {
    const loads = watchLoads();
    const inputs = { provider: '', 'api-key': '', model: 'llama3' };
    const run = await runAction({ script: [good], inputs, variables: { ...EVERY_KEY, ...loads.variables } });
    expect(run.exitCode).toBe(0);
    expect(run.log).toContain('\nprovider openai-compatible, chosen by base-url\n');
    expect(run.requests[0]?.path).toBe('/v1/chat/completions');
    expect(JSON.stringify(run.requests[0]?.headers)).not.toMatch(/key-of|token-of|x-trap|authorization/u);
    expect(loads.sdks()).toEqual(['openai']);
    expect(run.outputs.get('run-cost-usd')).toBe('');
  });
});
