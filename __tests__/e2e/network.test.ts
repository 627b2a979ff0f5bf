/** Proxies and certificates, through the bundle. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  type Authority,
  createAuthority,
  startTlsFront,
  type TlsFront,
} from '../support/fakes/certificates.ts';
import { type ScriptedModel, startModel } from '../support/fakes/model/server.ts';
import { type ProxyServer, startProxy } from '../support/fakes/proxy-server.ts';
import { KEY, left, runAction, submits } from '../support/fakes/runner/action.ts';

const PASSWORD = 'proxy-pass-w0rd';
const good = submits({ passed: true, summary: 'all well' });
let authority: Authority;
let model: ScriptedModel;
/** A TLS front of the model, for `api.test` and loopback. */
let front: TlsFront;
let proxy: ProxyServer | null = null;

beforeAll(async () => {
  authority = createAuthority();
  model = await startModel(() => good);
  front = await startTlsFront(authority, ['api.test', '127.0.0.1'], model.url);
});
afterAll(async () => {
  front.close();
  await model.close();
  authority.remove();
});
afterEach(() => proxy?.close());

/** Runs behind a proxy that wants these credentials. */
async function runBehind(credentials: string) {
  proxy = await startProxy({ hosts: { 'api.test:443': `http://127.0.0.1:${front.port}` }, credentials });
  const variables = {
    HTTPS_PROXY: proxy.url.replace('//', `//me:${PASSWORD}@`),
    SSL_CERT_FILE: authority.file,
  };
  return { proxy, run: await runAction({ variables, inputs: { 'base-url': 'https://api.test/v1' } }) };
}

it('behind a proxy with the system’s certificates, key and password stay secret', async () => {
  const { proxy, run } = await runBehind(`me:${PASSWORD}`);
  expect(run.envelope).toMatchObject({ reason: 'accepted' });
  expect(new Set(proxy.requests)).toEqual(new Set(['CONNECT api.test:443']));
  expect(proxy.seen()).not.toContain(KEY);
  expect(model.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${KEY}`);
  expect(left(run)).not.toContain(PASSWORD);
  expect(run.log).toContain(`::add-mask::${PASSWORD}`);
});

it('a proxy that refuses the password is named without it, and asked once', async () => {
  const { proxy, run } = await runBehind('somebody:else-entirely');
  expect(run.envelope).toMatchObject({
    reason: 'provider_error',
    exit_code: 1,
    error: expect.stringContaining(`The request went through the proxy ${proxy.host} and failed (407).`),
  });
  expect(proxy.requests).toHaveLength(1);
  expect(left(run)).not.toContain(PASSWORD);
});

it('a certificate of an unknown authority ends the run with what to name', async () => {
  const run = await runAction({ inputs: { 'base-url': `https://127.0.0.1:${front.port}/v1` } });
  expect(run.envelope).toMatchObject({
    reason: 'provider_error',
    error: expect.stringMatching(/certificate on the way to 127\.0\.0\.1:\d+ .*NODE_EXTRA_CA_CERTS/u),
  });
});
