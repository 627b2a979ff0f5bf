import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { NetworkError } from '../../src/errors.ts';
import { createFetch, networkWeaknesses } from '../../src/network/network.ts';
import { type Authority, createAuthority } from '../support/fakes/certificates.ts';
import { type ProxyOptions, type ProxyServer, startProxy } from '../support/fakes/proxy-server.ts';
import { startRawServer } from '../support/fakes/raw-server.ts';

let authority: Authority;
const open: { close(): Promise<void> }[] = [];
const before = tls.getCACertificates('default');

beforeAll(() => {
  authority = createAuthority();
  tls.setDefaultCACertificates([...before, readFileSync(authority.file, 'utf8')]);
});
afterAll(() => {
  tls.setDefaultCACertificates(before);
  authority.remove();
});
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

type Answer = Parameters<typeof startRawServer>[0];

async function serverFor(answer: Answer, ...hosts: readonly string[]) {
  const server = await startRawServer(answer, hosts.length === 0 ? undefined : authority.issue(hosts));
  open.push(server);
  return server;
}

async function proxyWith(options: ProxyOptions): Promise<ProxyServer> {
  const proxy = await startProxy(options);
  open.push(proxy);
  return proxy;
}

/** The NetworkError that a request ends with. */
async function failure(work: Promise<unknown>): Promise<NetworkError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof NetworkError)) throw new Error(`no NetworkError: ${String(error)}`);
  return error;
}

const API = 'https://api.test/v1/x';
const post = (headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  body: '{"task":"the-prompt"}',
  headers: { 'content-type': 'application/json', ...headers },
});

it('a redirect is returned and never followed, with and without a proxy', async () => {
  const server = await serverFor((response) =>
    response.writeHead(307, { location: 'http://evil.test/' }).end(),
  );
  const proxy = await proxyWith({ hosts: { 'models.test:8080': server.url } });
  const ways = [createFetch({})(`${server.url}/here`, post())];
  ways.push(createFetch({ HTTP_PROXY: proxy.url })('http://models.test:8080/there', post()));
  const answers = await Promise.all(ways);
  expect(answers.map(({ status, headers }) => [status, headers.get('location')])).toEqual([
    [307, 'http://evil.test/'],
    [307, 'http://evil.test/'],
  ]);
  expect(server.requests).toHaveLength(2);
});

describe('https through a proxy', () => {
  const throughWith = async (options: Partial<ProxyOptions>, answer: Answer, environment = {}) => {
    const server = await serverFor(answer, 'api.test');
    const proxy = await proxyWith({ hosts: { 'api.test:443': server.url }, ...options });
    const userinfo = options.credentials === undefined ? '' : `${options.credentials}@`;
    const send = createFetch({
      HTTPS_PROXY: proxy.url.replace('//', `//${userinfo}`),
      HTTP_PROXY: 'http://127.0.0.1:9',
      ...environment,
    });
    return { server, proxy, send };
  };

  it('connects through a tunnel: the proxy resolves the host and sees neither the key nor the task', async () => {
    const { server, proxy, send } = await throughWith({ credentials: 'me:pass-word' }, (response, request) =>
      response.writeHead(201, { 'x-a': '1' }).end(`got ${request.raw}`),
    );
    const answer = await send(API, post({ authorization: 'Bearer sk-canary-1' }));
    expect([answer.status, answer.headers.get('x-a'), await answer.text()]).toEqual([
      201,
      '1',
      'got {"task":"the-prompt"}',
    ]);
    expect(server.requests).toEqual([
      {
        method: 'POST',
        path: '/v1/x',
        raw: '{"task":"the-prompt"}',
        headers: expect.objectContaining({
          host: 'api.test',
          authorization: 'Bearer sk-canary-1',
          'content-length': '21',
        }),
      },
    ]);
    expect(server.requests[0]?.headers).not.toHaveProperty('proxy-authorization');
    expect(proxy.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      'CONNECT api.test:443',
    ]);
    expect(proxy.seen()).toContain(Buffer.from('me:pass-word').toString('base64'));
    expect(proxy.seen()).not.toMatch(/sk-canary|the-prompt|authorization: Bearer/);
  });

  it('reuses a tunnel', async () => {
    const { server, proxy, send } = await throughWith({}, (response) => response.end('ok'));
    for (let n = 0; n < 6; n += 1) expect(await (await send(API, post())).text()).toBe('ok');
    // A second one can be opened before the first is known to be free, as in Node's fetch.
    expect(server.requests.length).toBe(6);
    expect(proxy.requests.length).toBe(server.connections());
    expect(proxy.requests.length).toBeLessThan(3);
  });

  it('streams the response as it arrives and stops when the signal aborts', async () => {
    const { send } = await throughWith({}, (response) => {
      response.write('one');
    });
    const stop = new AbortController();
    const answer = await send(API, { ...post(), signal: stop.signal });
    const reader = answer.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('one');
    stop.abort();
    await expect(reader?.read()).rejects.toThrow();
  });

  it('rejects with the reason of the signal and sends no request when it is already aborted', async () => {
    const stop = new AbortController();
    const { proxy, send } = await throughWith({}, () => stop.abort(new Error('enough')));
    const pending = send(API, { ...post(), signal: stop.signal });
    await expect(pending).rejects.toThrow('enough');
    await expect(send(API, { ...post(), signal: AbortSignal.abort(new Error('late')) })).rejects.toThrow(
      'late',
    );
    expect(proxy.requests).toHaveLength(1);
  });

  it('decompresses responses, keeps repeated headers and accepts responses without a body', async () => {
    const { send } = await throughWith({}, (response, { path }) => {
      if (path.endsWith('204')) return void response.writeHead(204).end();
      response.writeHead(200, [
        ...['content-encoding', 'gzip'],
        ...['set-cookie', 'a=1', 'set-cookie', 'b=2'],
      ]);
      response.end(gzipSync('packed'));
    });
    const packed = await send('https://api.test/200');
    expect([await packed.text(), packed.headers.getSetCookie()]).toEqual(['packed', ['a=1', 'b=2']]);
    const empty = await send('https://api.test/204');
    expect([empty.status, await empty.text()]).toEqual([204, '']);
  });
});

describe('errors of a proxy', () => {
  const target = 'api.test:443';

  it.each([
    ['no credentials', '', 'wants a user name and password (407)'],
    ['wrong credentials', 'me:wr0ng-word@', 'did not accept the user name and password in HTTPS_PROXY (407)'],
  ])(
    'with %s, names the proxy and the variable in the message but not the password',
    async (_, userinfo, says) => {
      const proxy = await proxyWith({
        hosts: { [target]: 'http://127.0.0.1:9' },
        credentials: 'me:right-word',
      });
      const url = proxy.url.replace('//', `//${userinfo}`);
      const error = await failure(createFetch({ HTTPS_PROXY: url })(API, post()));
      expect(error.message).toContain(`The proxy ${proxy.host} (HTTPS_PROXY) ${says}`);
      expect(error.message).not.toContain('wr0ng');
      expect(error.passing).toBe(false);
      const plain = await failure(createFetch({ http_proxy: url })('http://api.test/', post()));
      expect(plain.message).toContain(`The proxy ${proxy.host} (http_proxy) `);
      expect([plain.passing, plain.message.includes('wr0ng')]).toEqual([false, false]);
    },
  );

  it.each([
    [403, false, 'NO_PROXY'],
    [502, true, 'run again later'],
  ])('explains what to do when the proxy refuses with %s', async (status, passing, says) => {
    const proxy = await proxyWith({ hosts: {}, status });
    const error = await failure(createFetch({ HTTPS_PROXY: proxy.url })(API, post()));
    expect(error.message).toContain(`${proxy.host} (HTTPS_PROXY)`);
    expect(error.message).toContain(`${target} (${status})`);
    expect(error.message).toContain(says);
    expect(error.passing).toBe(passing);
  });

  it.each(['http', 'https'])('names a proxy that is down, for %s targets', async (scheme) => {
    const proxy = await startProxy({ hosts: {} });
    await proxy.close();
    const variable = `${scheme.toUpperCase()}_PROXY`;
    const url = proxy.url.replace('//', '//me:pass-word@');
    const error = await failure(createFetch({ [variable]: url })(`${scheme}://api.test/`, post()));
    expect(error.message).toMatch(`The proxy ${proxy.host} (${variable}) cannot be reached (ECONNREFUSED)`);
    expect([error.passing, error.message.includes('pass-word')]).toEqual([true, false]);
  });

  it('reports a proxy that does not speak TLS although its URL says https', async () => {
    const proxy = await proxyWith({ hosts: {} });
    const error = await failure(
      createFetch({ HTTPS_PROXY: proxy.url.replace('http:', 'https:') })(API, post()),
    );
    expect(error.message).toContain('does not speak TLS');
    expect(error.message).toContain('write http://');
  });
});

it('a weakness is reported only if certificates are not verified', () => {
  const found = ['0', '', '1', 'false'].map((value) =>
    networkWeaknesses({ NODE_TLS_REJECT_UNAUTHORIZED: value }),
  );
  expect(found).toEqual([[expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED')], [], [], []]);
});
