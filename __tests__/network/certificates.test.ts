import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { createAuthority } from '../support/fakes/certificates.ts';
import { startProxy } from '../support/fakes/proxy-server.ts';
import { startRawServer } from '../support/fakes/raw-server.ts';

const NETWORK = new URL('../../src/network/network.ts', import.meta.url).href;
const authority = createAuthority();
const servers: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
  authority.remove();
});

async function startTls(hosts: readonly string[], days?: number): Promise<string> {
  const identity = authority.issue(hosts, days);
  const server = await startRawServer(
    (response, { method }) => response.end(`answer to ${method}`),
    identity,
  );
  servers.push(server);
  return `https://127.0.0.1:${server.port}/`;
}

const good = await startTls(['127.0.0.1', 'api.test']);
const hosts = { 'api.test:443': good };
const proxy = await startProxy({ hosts });
const tlsProxy = await startProxy({ hosts, identity: authority.issue(['localhost']) });
servers.push(proxy, tlsProxy);

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

it.each<[string, url: string, variables: Readonly<Record<string, string>>]>([
  ['directly', good, {}],
  ['through a proxy', 'https://api.test/', { HTTPS_PROXY: proxy.url }],
  ['through a proxy that has one as well', 'https://api.test/', { HTTPS_PROXY: tlsProxy.url }],
])('a certificate of a private authority counts %s if it is named', async (_, url, variables) => {
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
  const url = await startTls([host], days);
  expect(await ask(url, { NODE_EXTRA_CA_CERTS: authority.file })).toContain(`not accepted (${code})`);
});
