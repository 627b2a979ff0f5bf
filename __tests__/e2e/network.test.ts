import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority, startTlsFront } from '../support/fakes/certificates.ts';
import { type ScriptedModel, startModel } from '../support/fakes/model/server.ts';
import { type ProxyOptions, type ProxyServer, startProxy } from '../support/fakes/proxy-server.ts';
import { type ActionOptions, KEY, left, runAction, submits } from '../support/fakes/runner/action.ts';
import { parseLog } from '../support/fakes/runner/runner.ts';

const PASSWORD = 'proxy-pass-w0rd';
const good = submits({ passed: true, summary: 'all well' });
const open: { close(): Promise<unknown> }[] = [];
let authority: Authority;
let model: ScriptedModel;
/** A TLS front of the model, for `api.test`. */
let front = '';

beforeAll(async () => {
  authority = createAuthority();
  model = await startModel(() => good);
  const { port } = await startTlsFront(authority, ['api.test'], model.url);
  front = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await model.close();
  authority.remove();
});
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function proxyWith(options: Partial<ProxyOptions> = {}): Promise<ProxyServer> {
  const hosts = { 'api.test:443': front, 'models.test:8080': model.url };
  const proxy = await startProxy({ hosts, credentials: `me:${PASSWORD}`, ...options });
  open.push(proxy);
  return proxy;
}

const withPassword = ({ url }: ProxyServer) => url.replace('//', `//me:${PASSWORD}@`);

const runWith = (variables: Readonly<Record<string, string>>, more: Partial<ActionOptions> = {}) =>
  runAction({ variables, ...more, inputs: { 'base-url': 'https://api.test/v1', ...more.inputs } });

describe('the bundle behind a proxy', () => {
  it('connects through a tunnel, with a certificate authority from NODE_EXTRA_CA_CERTS', async () => {
    const proxy = await proxyWith();
    const run = await runWith({ HTTPS_PROXY: withPassword(proxy), NODE_EXTRA_CA_CERTS: authority.file });
    expect(left(run)).toContain('provider openai-compatible, chosen by the input provider');
    expect(run.exitCode).toBe(0);
    expect(new Set(proxy.requests.map(({ method, target }) => `${method} ${target}`))).toEqual(
      new Set(['CONNECT api.test:443']),
    );
    expect(proxy.seen()).not.toContain(KEY);
    expect(model.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${KEY}`);
    expect(left(run)).not.toContain(PASSWORD);
    expect(run.log).toContain(`::add-mask::${PASSWORD}`);
  });

  it('connects with a certificate authority from the system store', async () => {
    const proxy = await proxyWith();
    const run = await runWith({ https_proxy: withPassword(proxy), SSL_CERT_FILE: authority.file });
    expect(run.exitCode).toBe(0);
  });

  it('sends requests to a plain HTTP server in absolute form', async () => {
    const proxy = await proxyWith();
    const run = await runWith(
      { http_proxy: withPassword(proxy) },
      { inputs: { 'base-url': 'http://models.test:8080/v1' } },
    );
    expect(run.exitCode).toBe(0);
    expect(proxy.requests[0]).toMatchObject({
      method: 'POST',
      target: 'http://models.test:8080/v1/chat/completions',
    });
  });

  it('bypasses the proxy for NO_PROXY', async () => {
    const proxy = await proxyWith();
    const run = await runAction({
      script: [good],
      variables: { HTTP_PROXY: withPassword(proxy), NO_PROXY: '127.0.0.1' },
    });
    expect([run.exitCode, proxy.requests]).toEqual([0, []]);
  });

  it('reports a proxy that rejects the credentials, with its variable and without the password', async () => {
    const proxy = await proxyWith({ credentials: 'somebody:else-entirely' });
    const run = await runWith({ HTTPS_PROXY: withPassword(proxy) });
    expect(run.exitCode).toBe(1);
    expect(run.envelope).toMatchObject({ reason: 'provider_error' });
    expect(run.envelope?.['error']).toContain(`The proxy ${proxy.host} (HTTPS_PROXY) did not accept`);
    expect(proxy.requests).toHaveLength(1);
    expect(left(run)).not.toContain(PASSWORD);
  });

  it('reports an unknown certificate with the variable that helps', async () => {
    const proxy = await proxyWith();
    const run = await runWith({ HTTPS_PROXY: withPassword(proxy) });
    expect(run.envelope).toMatchObject({ reason: 'provider_error', exit_code: 1 });
    expect(run.envelope?.['error']).toMatch(/certificate of api\.test .*NODE_EXTRA_CA_CERTS/u);
  });

  it('refuses an invalid proxy URL with 52, names the variable and masks its password', async () => {
    const run = await runWith({ HTTPS_PROXY: `socks5://me:${PASSWORD}@127.0.0.1:1080` });
    expect(run.exitCode).toBe(52);
    expect(parseLog(run.log).filter(({ name }) => name === 'error')).toEqual([
      expect.objectContaining({ data: expect.stringContaining('HTTPS_PROXY') }),
    ]);
    expect(left(run)).not.toContain(PASSWORD);
    expect(run.log).toContain(`::add-mask::${PASSWORD}`);
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
  it('is a warning in the log and in the summary', async () => {
    const run = await runAction({ script: [good], variables: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } });
    expect(run.exitCode).toBe(0);
    const warnings = parseLog(run.log).filter(({ name }) => name === 'warning');
    expect(warnings.map(({ data }) => data).join('\n')).toContain('NODE_TLS_REJECT_UNAUTHORIZED');
    expect(run.summary).toContain('no certificate is checked');
  });
});
