import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority } from '../support/fakes/certificates.ts';
import { type ProxyServer, startProxy } from '../support/fakes/proxy-server.ts';
import { startRawServer } from '../support/fakes/raw-server.ts';

const open: (() => Promise<unknown>)[] = [];
let authority: Authority;
let folder = '';
let nothing = '';
let proxy: ProxyServer;
let tlsProxy: ProxyServer;
const ports = { good: 0, expired: 0, elsewhere: 0 };

async function startTls(hosts: readonly string[], days?: number): Promise<number> {
  const identity = authority.issue(hosts, days);
  const server = await startRawServer(
    (response, { method }) => response.end(`answer to ${method}`),
    identity,
  );
  open.push(server.close);
  return server.port;
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'certificates-'));
  nothing = path.join(folder, 'nothing');
  mkdirSync(nothing);
  authority = createAuthority();
  ports.good = await startTls(['127.0.0.1', 'api.test']);
  ports.expired = await startTls(['127.0.0.1'], -1);
  ports.elsewhere = await startTls(['elsewhere.test']);
  const hosts = { 'api.test:443': `http://127.0.0.1:${ports.good}` };
  proxy = await startProxy({ hosts });
  tlsProxy = await startProxy({ hosts, identity: authority.issue(['127.0.0.1']) });
  open.push(proxy.close, tlsProxy.close);
});
afterAll(async () => {
  for (const close of open) await close();
  authority.remove();
  rmSync(folder, { recursive: true, force: true });
});

const front = fileURLToPath(new URL('../../src/network/network.ts', import.meta.url));

/**
 * Requests space-separated URLs in a new process with these variables. Only Node's authorities and those of the variables
 * are trusted; the system store is empty unless a variable names one. Gives a response or an error message per line.
 */
function ask(urls: string, variables: Readonly<Record<string, string>>): Promise<string> {
  const script = `
    import { createFetch } from ${JSON.stringify(front)};
    const init = { method: 'POST', body: 'x' };
    const send = createFetch(process.env);
    for (const url of ${JSON.stringify(urls.split(' '))})
      console.log(await send(url, init).then((r) => r.text(), (e) => e.name + ': ' + e.message));`;
  const env = { SSL_CERT_FILE: path.join(nothing, 'none.pem'), SSL_CERT_DIR: nothing, ...variables };
  return new Promise((resolve, reject) => {
    const args = ['--input-type=module', '--eval', script];
    execFile(process.execPath, args, { env, timeout: 20_000 }, (error, stdout) =>
      error === null ? resolve(stdout.trim()) : reject(error),
    );
  });
}

/** A URL of the server with a valid certificate, and the variables of the route to it. */
type Way = () => readonly [url: string, variables: Readonly<Record<string, string>>];

const directly: Way = () => [`https://127.0.0.1:${ports.good}/`, {}];
const ways: readonly (readonly [name: string, way: Way])[] = [
  ['directly', directly],
  ['through a proxy', () => ['https://api.test/', { HTTPS_PROXY: proxy.url }]],
  ['through a proxy that has one as well', () => ['https://api.test/', { HTTPS_PROXY: tlsProxy.url }]],
];

describe('a server whose certificate is signed by a private authority', () => {
  it.each(ways)('is reached %s when NODE_EXTRA_CA_CERTS names the authority', async (_, way) => {
    const [url, variables] = way();
    expect(await ask(url, { ...variables, NODE_EXTRA_CA_CERTS: authority.file })).toBe('answer to POST');
  });

  it('is reached when a directory of the system store holds the authority', async () => {
    const store = path.join(folder, 'store');
    mkdirSync(store);
    copyFileSync(authority.file, path.join(store, 'company.pem'));
    const [url] = directly();
    expect(await ask(url, { SSL_CERT_DIR: store })).toBe('answer to POST');
  });

  it.each(ways)(
    'is rejected %s when the authority is unknown, and the message names NODE_EXTRA_CA_CERTS',
    async (name, way) => {
      const [url, variables] = way();
      const message = await ask(url, variables);
      expect(message).toMatch(
        /^NetworkError: The certificate of .*NODE_EXTRA_CA_CERTS: .*\.pem \([A-Z_]+\)\.$/,
      );
      const owner = name.endsWith('as well') ? `the proxy ${tlsProxy.host} (HTTPS_PROXY)` : new URL(url).host;
      expect(message).toContain(`The certificate of ${owner} `);
    },
  );
});

describe('other certificate errors', () => {
  const trusting = () => ({ NODE_EXTRA_CA_CERTS: authority.file });

  it('reports an expired certificate', async () => {
    const message = await ask(`https://127.0.0.1:${ports.expired}/`, trusting());
    expect(message).toBe(
      `NetworkError: The certificate of 127.0.0.1:${ports.expired} has expired: renew it there, and check the clock of this machine (CERT_HAS_EXPIRED).`,
    );
  });

  it('reports a certificate issued for another host', async () => {
    const message = await ask(`https://127.0.0.1:${ports.elsewhere}/`, trusting());
    expect(message).toContain(`The certificate of 127.0.0.1:${ports.elsewhere} was made for another host`);
    expect(message).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  });
});
