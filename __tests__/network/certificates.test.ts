import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Authority, createAuthority } from '../support/fakes/certificates.ts';
import { startProxy } from '../support/fakes/proxy-server.ts';
import { startRawServer } from '../support/fakes/raw-server.ts';

const NETWORK = new URL('../../src/network/network.ts', import.meta.url).href;
const open: (() => Promise<unknown>)[] = [];
let authority: Authority;
/** URLs to ask: of a good certificate and of others; of a proxy, and of one that has a certificate itself. */
const urls = { good: '', expired: '', elsewhere: '', proxy: '', tlsProxy: '' };

async function startTls(hosts: readonly string[], days?: number): Promise<string> {
  const server = await startRawServer(
    (response, { method }) => response.end(`answer to ${method}`),
    authority.issue(hosts, days),
  );
  open.push(server.close);
  return `https://127.0.0.1:${server.port}/`;
}

beforeAll(async () => {
  authority = createAuthority();
  urls.good = await startTls(['127.0.0.1', 'api.test']);
  urls.expired = await startTls(['127.0.0.1'], -1);
  urls.elsewhere = await startTls(['elsewhere.test']);
  const hosts = { 'api.test:443': urls.good };
  const proxies = [
    await startProxy({ hosts }),
    await startProxy({ hosts, identity: authority.issue(['localhost']) }),
  ];
  [urls.proxy = '', urls.tlsProxy = ''] = proxies.map(({ url }) => url);
  open.push(...proxies.map(({ close }) => close));
});
afterAll(async () => {
  for (const close of open) await close();
  authority.remove();
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

it.each<[string, () => readonly [url: string, variables: Readonly<Record<string, string>>]]>([
  ['directly', () => [urls.good, {}]],
  ['through a proxy', () => ['https://api.test/', { HTTPS_PROXY: urls.proxy }]],
  ['through a proxy that has one as well', () => ['https://api.test/', { HTTPS_PROXY: urls.tlsProxy }]],
])('a certificate of a private authority counts %s if the system or a variable names it', async (_, way) => {
  const [url, variables] = way();
  expect(await ask(url, { ...variables, NODE_EXTRA_CA_CERTS: authority.file })).toBe('answer to POST');
  expect(await ask(url, { ...variables, SSL_CERT_FILE: authority.file })).toBe('answer to POST');
  expect(await ask(url, variables)).toMatch(
    /^NetworkError: A certificate on the way to \S+ was not accepted \([A-Z_]+\)\. If .* in NODE_EXTRA_CA_CERTS\.$/,
  );
});

it.each([
  ['expired', 'CERT_HAS_EXPIRED'],
  ['elsewhere', 'ERR_TLS_CERT_ALTNAME_INVALID'],
] as const)('another certificate is refused with its code: %s', async (name, code) => {
  expect(await ask(urls[name], { NODE_EXTRA_CA_CERTS: authority.file })).toContain(`not accepted (${code})`);
});
