import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { afterAll, afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { NetworkError } from '../../src/errors.ts';
import { createFetch, proxySecrets } from '../../src/network/network.ts';
import { createAuthority } from '../support/fakes/certificates.ts';
import { type ProxyOptions, startProxy } from '../support/fakes/proxy-server.ts';
import { startRawServer } from '../support/fakes/raw-server.ts';

const NETWORK = new URL('../../src/network/network.ts', import.meta.url).href;
const authority = createAuthority();
tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(authority.file, 'utf8')]);
afterAll(() => authority.remove());
afterEach(() => void vi.unstubAllEnvs());

type Answer = Parameters<typeof startRawServer>[0];
const API = 'https://api.test/v1/x';
const authorization = 'Bearer sk-canary-1';
const POST = { method: 'POST', body: '{"task":"the-prompt"}', headers: { authorization, 'x-a': '1' } };

async function serverFor(...how: Parameters<typeof startRawServer>) {
  const server = await startRawServer(...how);
  onTestFinished(server.close);
  return server;
}

/** Starts a proxy, and names it in both variables. */
async function behind(options: ProxyOptions, userinfo = '') {
  const proxy = await startProxy(options);
  onTestFinished(proxy.close);
  for (const variable of ['HTTPS_PROXY', 'HTTP_PROXY'])
    vi.stubEnv(variable, proxy.url.replace('//', `//${userinfo}`));
  return proxy;
}

async function tunnelTo(answer: Answer, options: Partial<ProxyOptions> = {}, userinfo = '') {
  const server = await serverFor(answer, authority.issue(['api.test']));
  return { server, proxy: await behind({ hosts: { 'api.test:443': server.url }, ...options }, userinfo) };
}

it('a redirect is returned and never followed, with and without a proxy', async () => {
  const answer: Answer = (response) => response.writeHead(307, { location: 'http://evil.test/' }).end();
  const server = await serverFor(answer);
  await behind({ hosts: { 'models.test:8080': server.url } });
  for (const url of [`${server.url}/here`, 'http://models.test:8080/there']) {
    const { status, headers } = await createFetch()(url, POST);
    expect([status, headers.get('location')]).toEqual([307, 'http://evil.test/']);
  }
  expect(server.requests).toHaveLength(2);
});

it('a server may take longer than the agent of the process waits, and that agent is used', async () => {
  const agentOf = Symbol.for('undici.globalDispatcher.1');
  await fetch('data:,');
  const before: Dispatcher = Reflect.get(globalThis, agentOf);
  const dispatched = vi.fn();
  const impatient = before.compose((dispatch) => (options, handler) => {
    dispatched();
    return dispatch({ headersTimeout: 100, bodyTimeout: 100, ...options }, handler);
  });
  Reflect.set(globalThis, agentOf, impatient);
  onTestFinished(() => void Reflect.set(globalThis, agentOf, before));
  const server = await serverFor(async (response) => {
    await sleep(2_000);
    response.write('slow');
    await sleep(2_000);
    response.end(' model');
  });
  expect(await (await createFetch()(server.url)).text()).toBe('slow model');
  expect(dispatched).toHaveBeenCalledOnce();
});

it('loopback and the hosts of NO_PROXY are asked directly, http: in absolute form', async () => {
  const server = await serverFor((response) => response.end('ok'));
  const proxy = await behind({ hosts: { 'models.test': server.url } });
  expect((await createFetch()(server.url)).status).toBe(200);
  expect((await createFetch()('http://models.test/a?b')).status).toBe(200);
  expect(proxy.requests).toEqual(['GET http://models.test/a?b']);
  vi.stubEnv('NO_PROXY', 'models.test');
  await expect(createFetch()('http://sub.models.test/')).rejects.toThrow('fetch failed');
  expect(proxy.requests).toHaveLength(1);
});

describe('https through a proxy', () => {
  it.each([
    ['me:p%40ss%25:w%C3%B6rd@', 'me:p@ss%:wörd'],
    ['token-1@', 'token-1:'],
  ])('connects with %s; the proxy sees neither key nor task', async (userinfo, credentials) => {
    const answer: Answer = (response, { raw }) => response.writeHead(201, { 'x-b': '2' }).end(`got ${raw}`);
    const { server, proxy } = await tunnelTo(answer, { credentials }, userinfo);
    const reply = await createFetch()(API, POST);
    expect([reply.status, reply.headers.get('x-b')]).toEqual([201, '2']);
    expect(await reply.text()).toBe('got {"task":"the-prompt"}');
    const headers = { host: 'api.test', ...POST.headers };
    expect(server.requests).toMatchObject([{ method: 'POST', path: '/v1/x', headers }]);
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
    expect(proxy.requests).toEqual(['CONNECT api.test:443']);
    expect(proxy.seen()).not.toMatch(/sk-canary|the-prompt|authorization: Bearer/);
  });

  it('reuses a tunnel', async () => {
    const { server, proxy } = await tunnelTo((response) => response.end('ok'));
    const send = createFetch();
    for (let n = 0; n < 6; n += 1) expect(await (await send(API, POST)).text()).toBe('ok');
    // A second one can be opened before the first is known to be free, as in Node's fetch.
    expect(server.requests).toHaveLength(6);
    expect(proxy.requests.length).toBeLessThan(3);
  });

  it('streams the response as it arrives and stops when the signal aborts', async () => {
    await tunnelTo((response) => void response.write('one'));
    const stop = new AbortController();
    const answer = await createFetch()(API, { ...POST, signal: stop.signal });
    const reader = answer.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('one');
    stop.abort();
    await expect(reader?.read()).rejects.toThrow();
  });

  it('rejects with the reason of the signal and sends no request when it is already aborted', async () => {
    const stop = new AbortController();
    const { proxy } = await tunnelTo(() => stop.abort(new Error('enough')));
    const send = createFetch();
    await expect(send(API, { ...POST, signal: stop.signal })).rejects.toThrow('enough');
    await expect(send(API, { signal: AbortSignal.abort(new Error('late')) })).rejects.toThrow('late');
    expect(proxy.requests).toHaveLength(1);
  });

  it('decompresses responses, keeps repeated headers and accepts responses without a body', async () => {
    const repeated = ['content-encoding', 'gzip', 'set-cookie', 'a=1', 'set-cookie', 'b=2'];
    await tunnelTo((response, { path }) => {
      if (path === '/204') response.writeHead(204).end();
      else response.writeHead(200, repeated).end(gzipSync('packed'));
    });
    const packed = await createFetch()('https://api.test/200');
    expect([await packed.text(), packed.headers.getSetCookie()]).toEqual(['packed', ['a=1', 'b=2']]);
    const empty = await createFetch()('https://api.test/204');
    expect([empty.status, await empty.text()]).toEqual([204, '']);
  });
});

describe('a request that a proxy does not carry', () => {
  it.each<[string, url: string, Partial<ProxyOptions>, reason: string, passing: boolean]>([
    ['wants a password', API, { credentials: 'me:right-word' }, '407', false],
    ['wants a password for http:', 'http://api.test/', { credentials: 'me:right-word' }, '407', false],
    ['refuses', API, { refusal: 403 }, '403', false],
    ['does not find the host', API, {}, '502', true],
    ['hangs up', API, { refusal: 'hangs up' }, 'no answer', true],
  ])('is explained without the password if the proxy %s', async (_, url, options, reason, passing) => {
    const proxy = await behind({ hosts: {}, ...options }, 'me:wr0ng-word@');
    const error = await createFetch()(url, POST).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NetworkError);
    const message = expect.stringContaining(`${proxy.host} and failed (${reason})`);
    expect(error).toMatchObject({ passing, message });
    expect(String(error)).not.toContain('wr0ng');
    expect(proxy.requests).toHaveLength(1);
  });

  it.each(['http', 'https'])('is explained if the proxy for %s: is down', async (scheme) => {
    const proxy = await behind({ hosts: {} });
    await proxy.close();
    const message = `The request went through the proxy ${proxy.host} and failed (ECONNREFUSED). Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.`;
    await expect(createFetch()(`${scheme}://api.test/`)).rejects.toMatchObject({ message, passing: true });
  });
});

it('the secrets of proxies are their passwords in every encoding, of URLs that are valid or not', () => {
  expect(proxySecrets({ HTTPS_PROXY: 'http://me:p%40ss@proxy:1' })).toEqual([
    ...['me:p%40ss', 'me:p@ss', 'p%40ss', 'p@ss', Buffer.from('me:p@ss').toString('base64')],
  ]);
  expect(proxySecrets({ http_proxy: 'me:se@cr%et@proxy' })).toContain('se@cr%et');
  expect(proxySecrets({ HTTP_PROXY: 'socks5://token-1@proxy' })).toContain('token-1');
  expect(proxySecrets({ https_proxy: 'http://proxy:1', NO_PROXY: 'a@b' })).toEqual([]);
});

/** Posts to a URL twice in a new process, whose system store is empty unless a variable names one. */
async function ask(url: string, variables: Readonly<Record<string, string>>): Promise<string> {
  const script = `
    import tls from 'node:tls';
    import { createFetch } from ${JSON.stringify(NETWORK)};
    const send = createFetch();
    const known = String(tls.getCACertificates('default'));
    const ask = () => send(${JSON.stringify(url)}, { method: 'POST', body: 'x' });
    await ask().then((answer) => answer.text()).catch(() => null);
    console.log(await ask().then((answer) => answer.text(), (error) => error.name + ': ' + error.message));
    if (String(tls.getCACertificates('default')) !== known) console.log('changed for the whole process');`;
  const env = { SSL_CERT_FILE: '/nothing', SSL_CERT_DIR: '/nothing', ...variables };
  const args = ['--input-type=module', '--eval', script];
  return (await promisify(execFile)(process.execPath, args, { env })).stdout.trim();
}

const answerTo: Answer = (response, { method }) => response.end(`answer to ${method}`);

it.each<[string, Partial<ProxyOptions> | null]>([
  ['directly', null],
  ['through a proxy', {}],
  ['through a proxy that has one as well', { identity: authority.issue(['localhost']) }],
])('a certificate of a private authority counts %s if it is named', async (_, options) => {
  const server = await serverFor(answerTo, authority.issue(['127.0.0.1']));
  const direct = [`https://127.0.0.1:${server.port}/`, {}] as const;
  const [url, variables] =
    options === null ? direct : [API, { HTTPS_PROXY: (await tunnelTo(answerTo, options)).proxy.url }];
  for (const name of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'])
    expect(await ask(url, { ...variables, [name]: authority.file })).toBe('answer to POST');
  expect(await ask(url, variables)).toMatch(
    /^NetworkError: A certificate on the way to \S+ was not accepted \([A-Z_]+\)\. If .* in NODE_EXTRA_CA_CERTS\.$/,
  );
});

it.each([
  ['CERT_HAS_EXPIRED', '127.0.0.1', -1],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'elsewhere.test', 2],
] as const)('another certificate is refused with its code: %s', async (code, host, days) => {
  const { port } = await serverFor(answerTo, authority.issue([host], days));
  const told = await ask(`https://127.0.0.1:${port}/`, { NODE_EXTRA_CA_CERTS: authority.file });
  expect(told).toContain(`not accepted (${code})`);
});
