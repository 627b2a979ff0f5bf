/** Proxies and certificates, through the bundle. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Authority,
  createAuthority,
  startTlsFront,
  type TlsFront,
} from '../support/fakes/certificates.ts';
import { type ScriptedModel, startModel } from '../support/fakes/model/server.ts';
import { type ProxyOptions, type ProxyServer, startProxy } from '../support/fakes/proxy-server.ts';
import { KEY, left, runAction, submits } from '../support/fakes/runner/action.ts';

const PASSWORD = 'proxy-pass-w0rd';
const good = submits({ passed: true, summary: 'all well' });
let authority: Authority;
let other: Authority;
let model: ScriptedModel;
/** A TLS front of the model, for `api.test` and loopback. */
let front: TlsFront;
let proxy: ProxyServer;

beforeAll(async () => {
  authority = createAuthority();
  other = createAuthority();
  model = await startModel(() => good);
  front = await startTlsFront(authority, ['api.test', '127.0.0.1'], model.url);
});
afterAll(async () => {
  front.close();
  await model.close();
  authority.remove();
  other.remove();
});
afterEach(() => proxy.close());

/** Starts a proxy; returns its URL with the credentials. */
async function openProxy(options: Partial<ProxyOptions> = {}): Promise<string> {
  const hosts = { 'api.test:443': `http://127.0.0.1:${front.port}`, 'models.test:8080': model.url };
  proxy = await startProxy({ hosts, credentials: `me:${PASSWORD}`, ...options });
  return proxy.url.replace('//', `//me:${PASSWORD}@`);
}

const runWith = (variables: Readonly<Record<string, string>>, url = 'https://api.test/v1') =>
  runAction({ variables, inputs: { 'base-url': url } });

describe('behind a proxy', () => {
  it('a request goes through a tunnel, and key and password stay secret', async () => {
    const run = await runWith({ HTTPS_PROXY: await openProxy(), NODE_EXTRA_CA_CERTS: authority.file });
    expect(run.exitCode).toBe(0);
    const targets = new Set(proxy.requests.map(({ method, target }) => `${method} ${target}`));
    expect([...targets]).toEqual(['CONNECT api.test:443']);
    expect(proxy.seen()).not.toContain(KEY);
    expect(model.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${KEY}`);
    expect(left(run)).not.toContain(PASSWORD);
    expect(run.log).toContain(`::add-mask::${PASSWORD}`);
  });

  it('the system’s certificates count', async () => {
    const run = await runWith({ https_proxy: await openProxy(), SSL_CERT_FILE: authority.file });
    expect(run.exitCode).toBe(0);
  });

  it('a plain HTTP server is asked in absolute form', async () => {
    const run = await runWith({ http_proxy: await openProxy() }, 'http://models.test:8080/v1');
    expect(run.exitCode).toBe(0);
    const target = 'http://models.test:8080/v1/chat/completions';
    expect(proxy.requests[0]).toMatchObject({ method: 'POST', target });
  });

  it('NO_PROXY goes around it', async () => {
    const variables = { HTTP_PROXY: await openProxy(), NO_PROXY: '127.0.0.1' };
    const run = await runAction({ script: [good], variables });
    expect([run.exitCode, proxy.requests]).toEqual([0, []]);
  });

  it('a rejected password is reported with the variable and without the password', async () => {
    const run = await runWith({ HTTPS_PROXY: await openProxy({ credentials: 'somebody:else-entirely' }) });
    expect(run.envelope).toMatchObject({ reason: 'provider_error', exit_code: 1 });
    expect(run.envelope?.['error']).toContain(`The proxy ${proxy.host} (HTTPS_PROXY) did not accept`);
    expect(proxy.requests).toHaveLength(1);
    expect(left(run)).not.toContain(PASSWORD);
  });

  it('an invalid proxy URL ends with 52, and its password is masked', async () => {
    await openProxy();
    const run = await runWith({ HTTPS_PROXY: `socks5://me:${PASSWORD}@127.0.0.1:1080` });
    expect(run.exitCode).toBe(52);
    expect(run.envelope?.['error']).toContain('HTTPS_PROXY');
    expect(left(run)).not.toContain(PASSWORD);
    expect(run.log).toContain(`::add-mask::${PASSWORD}`);
  });
});

describe('certificates', () => {
  it.each<[string, () => Readonly<Record<string, string>>, RegExp | null]>([
    ['of an authority in NODE_EXTRA_CA_CERTS', () => ({ NODE_EXTRA_CA_CERTS: authority.file }), null],
    ['of an unknown authority', () => ({}), /certificate of 127\.0\.0\.1:\d+ .*NODE_EXTRA_CA_CERTS/u],
    [
      'of another authority',
      () => ({ NODE_EXTRA_CA_CERTS: other.file }),
      /file that NODE_EXTRA_CA_CERTS names/u,
    ],
  ])('%s are accepted or named', async (_, variables, says) => {
    await openProxy();
    const run = await runWith(variables(), `https://127.0.0.1:${front.port}/v1`);
    expect(run.envelope).toMatchObject({ reason: says === null ? 'accepted' : 'provider_error' });
    if (says !== null) expect(run.envelope?.['error']).toMatch(says);
  });

  it('that are not checked (NODE_TLS_REJECT_UNAUTHORIZED=0) are a warning in log and summary', async () => {
    await openProxy();
    const run = await runAction({ script: [good], variables: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } });
    expect(run.exitCode).toBe(0);
    expect(run.log).toMatch(/^::warning.*NODE_TLS_REJECT_UNAUTHORIZED/mu);
    expect(run.summary).toContain('no certificate is checked');
  });
});
