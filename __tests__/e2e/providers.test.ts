import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Authority,
  createAuthority,
  startTlsFront,
  type TlsFront,
} from '../support/fakes/certificates.ts';
import { type ScriptedModel, startModel } from '../support/fakes/model/server.ts';
import { type ProxyServer, startProxy } from '../support/fakes/proxy-server.ts';
import { left, runAction, submits } from '../support/fakes/runner/action.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { makeFolder } from '../support/surroundings.ts';

const good = submits({ passed: true, summary: 'all well' });

/** The host of each vendor's own endpoint, including `NAME.openai.azure.com`. */
const HOSTS =
  'api.openai.com api.anthropic.com generativelanguage.googleapis.com name.openai.azure.com'.split(' ');

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

let authority: Authority;
let model: ScriptedModel;
let front: TlsFront;
let proxy: ProxyServer;
const folder = makeFolder();

beforeAll(async () => {
  authority = createAuthority();
  model = await startModel(() => good);
  front = await startTlsFront(authority, HOSTS, model.url);
  const hosts = Object.fromEntries(HOSTS.map((host) => [`${host}:443`, `http://127.0.0.1:${front.port}`]));
  proxy = await startProxy({ hosts });
});
afterAll(async () => {
  await proxy.close();
  front.close();
  await model.close();
  authority.remove();
});

/** Variables that make the bundle record which of its files it loads, and the record. */
function watchLoads() {
  const hooks = path.join(folder, 'hooks.mjs');
  const list = path.join(folder, 'loads.txt');
  writeFileSync(list, '');
  writeFileSync(
    hooks,
    `import { appendFileSync } from 'node:fs';
     import { registerHooks } from 'node:module';
     registerHooks({ load(url, context, next) {
       if (url.endsWith('.index.js')) appendFileSync(${JSON.stringify(list)}, new URL(url).pathname + '\\n');
       return next(url, context);
     } });`,
  );
  // Each SDK reads a variable that no other code names.
  const marks = { openai: 'OPENAI_BASE_URL', anthropic: 'ANTHROPIC_BASE_URL' };
  return {
    variables: { NODE_OPTIONS: `--import ${pathToFileURL(hooks).href}` },
    sdks: () => {
      const texts = readFileSync(list, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((file) => readFileSync(file, 'utf8'));
      return Object.entries(marks).flatMap(([sdk, mark]) =>
        texts.some((text) => text.includes(mark)) ? [sdk] : [],
      );
    },
  };
}

const vendors = [
  {
    provider: 'openai',
    inputs: { model: 'gpt-4.1-mini' },
    why: 'the name of the model gpt-4.1-mini',
    asked: ['api.openai.com', '/v1/responses'],
    header: ['authorization', `Bearer ${EVERY_KEY.OPENAI_API_KEY}`],
    sdk: 'openai',
  },
  {
    provider: 'anthropic',
    inputs: { model: 'claude-sonnet-4-5' },
    why: 'the name of the model claude-sonnet-4-5',
    asked: ['api.anthropic.com', '/v1/messages'],
    header: ['x-api-key', EVERY_KEY.ANTHROPIC_API_KEY],
    sdk: 'anthropic',
  },
  {
    provider: 'gemini',
    inputs: { model: 'gemini-2.5-flash' },
    why: 'the name of the model gemini-2.5-flash',
    asked: ['generativelanguage.googleapis.com', '/v1beta/openai/chat/completions'],
    header: ['authorization', `Bearer ${EVERY_KEY.GEMINI_API_KEY}`],
    sdk: 'openai',
  },
  {
    provider: 'azure-openai',
    inputs: { provider: 'azure-openai', model: 'gpt-4.1', 'base-url': 'https://name.openai.azure.com' },
    why: 'the input provider',
    asked: ['name.openai.azure.com', '/openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21'],
    header: ['api-key', EVERY_KEY.AZURE_OPENAI_API_KEY],
    sdk: 'openai',
  },
] as const;

/** Empty values for the inputs that every other run has. */
const absent = { provider: '', 'base-url': '', 'api-key': '' };

describe('the bundle', () => {
  it.each(vendors)(
    'sends streamed requests to $provider with its own key and SDK, and logs why',
    async ({ provider, inputs, why, asked, header, sdk }) => {
      const loads = watchLoads();
      const before = [model.requests.length, proxy.requests.length];
      const run = await runAction({
        inputs: { ...absent, ...inputs },
        variables: {
          ...EVERY_KEY,
          ...loads.variables,
          HTTPS_PROXY: proxy.url,
          NODE_EXTRA_CA_CERTS: authority.file,
        },
      });
      expect(run.envelope).toMatchObject({ reason: 'accepted', provider });
      expect(run.log).toContain(`\nprovider ${provider}, chosen by ${why}\n`);
      const [host, target] = asked;
      const tunnels = proxy.requests.slice(before[1]).map((request) => request.target);
      expect(new Set(tunnels)).toEqual(new Set([`${host}:443`]));
      const requests = model.requests.slice(before[0]);
      expect(requests.map((request) => request.path)).toEqual([target]);
      expect(requests[0]?.body).toMatchObject({ stream: true });
      const { [header[0]]: key, ...others } = requests[0]?.headers ?? {};
      expect(key).toBe(header[1]);
      expect(JSON.stringify(others)).not.toMatch(/key-of|token-of|x-trap/u);
      expect(loads.sdks()).toEqual([sdk]);
      expect(Number(run.outputs.get('run-cost-usd'))).toBeGreaterThan(0);
      expect(left(run)).not.toMatch(/key-of|token-of/u);
    },
  );

  it('sends unstreamed requests without a key to a server of the user, whatever keys are set', async () => {
    const loads = watchLoads();
    const run = await runAction({
      script: [good],
      inputs: { provider: '', 'api-key': '', model: 'llama3' },
      variables: { ...EVERY_KEY, ...loads.variables },
    });
    expect(run.exitCode).toBe(0);
    expect(run.log).toContain('\nprovider openai-compatible, chosen by the input base-url\n');
    expect(run.requests[0]?.path).toBe('/v1/chat/completions');
    expect(run.requests[0]?.body).not.toHaveProperty('stream');
    expect(JSON.stringify(run.requests[0]?.headers)).not.toMatch(/key-of|token-of|x-trap|authorization/u);
    expect(loads.sdks()).toEqual(['openai']);
    expect(run.outputs.get('run-cost-usd')).toBe('');
  });

  it('streams from a server of the user with stream: on', async () => {
    const run = await runAction({ script: [good], inputs: { stream: 'on' } });
    expect([run.exitCode, run.requests[0]?.body]).toEqual([0, expect.objectContaining({ stream: true })]);
  });
});

describe('the bundle with a TLS certificate, without a proxy', () => {
  const runWithTls = async (variables: Readonly<Record<string, string>>) => {
    const server = await startTlsFront(authority, ['127.0.0.1'], model.url);
    const run = await runAction({ inputs: { 'base-url': `https://127.0.0.1:${server.port}/v1` }, variables });
    server.close();
    return run;
  };

  it('trusts the certificates in NODE_EXTRA_CA_CERTS', async () => {
    const run = await runWithTls({ NODE_EXTRA_CA_CERTS: authority.file });
    expect([run.exitCode, run.envelope?.['reason']]).toEqual([0, 'accepted']);
  });

  it('reports the variable that helps, and its file when that is the wrong one', async () => {
    const run = await runWithTls({});
    expect(run.envelope).toMatchObject({ reason: 'provider_error', exit_code: 1 });
    expect(run.log).not.toContain('follows');
    expect(run.envelope?.['error']).toMatch(/certificate of 127\.0\.0\.1:\d+ .* as in NODE_EXTRA_CA_CERTS:/u);
    const other = createAuthority();
    const wrong = await runWithTls({ NODE_EXTRA_CA_CERTS: other.file });
    other.remove();
    expect(wrong.envelope?.['error']).toContain(`the file that NODE_EXTRA_CA_CERTS names (${other.file})`);
  });
});

describe('the bundle during a wait requested by the server', () => {
  const busy = [{ status: 429, retryAfter: 50, error: { message: 'slow down', type: 'rate_limit_error' } }];
  const waiting = /answered 429 and asked to wait 50 s: try 2 of 11 follows$/u;

  // One provider of each SDK, because the SDK's client or ours may be the one that waits.
  describe.each(['openai', 'anthropic'] as const)('%s', (provider) => {
    const options = {
      script: busy,
      ...(provider === 'anthropic' ? { provider } : {}),
      inputs: provider === 'anthropic' ? {} : { provider },
    };

    it.each(['SIGINT', 'SIGTERM'] as const)('E10 ends with 130 on %s at once', async (signal) => {
      let stop = () => 0;
      let sent = false;
      const run = await runAction({
        ...options,
        onLine: (line, kill) => {
          if (sent || !waiting.test(line)) return;
          sent = true;
          stop = startStopwatch();
          kill(signal);
        },
      });
      // Well before the 50 s that the server asked for.
      expect(stop()).toBeLessThan(25_000);
      expect(sent).toBe(true);
      expect(run.exitCode).toBe(130);
      expect(run.envelope).toMatchObject({ reason: 'cancelled', exit_code: 130, num_turns: 0 });
      expect(run.requests).toHaveLength(1);
    });

    it('E12 ends with 55 at the timeout', async () => {
      const within = (minutes: string) =>
        runAction({ ...options, inputs: { ...options.inputs, 'timeout-minutes': minutes } });
      const first = await within('0.05');
      // More time if the machine stalled before the first request.
      const run = first.requests.length > 0 ? first : await within('0.2');
      expect(run.exitCode).toBe(55);
      expect(run.envelope).toMatchObject({ reason: 'timeout', exit_code: 55, num_turns: 0 });
      expect(run.log).toMatch(new RegExp(waiting.source, 'mu'));
      expect(run.requests).toHaveLength(1);
    });
  });
});
