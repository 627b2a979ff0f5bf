/** Certificates for loopback, made by the openssl of this machine: a private authority and the certificates that it signed. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { listen } from '../local.ts';

/** A server's key and certificate, PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** An authority and its files. */
export type Authority = ReturnType<typeof createAuthority>;
export type TlsFront = Awaited<ReturnType<typeof startTlsFront>>;

/** Starts a TLS server on loopback for these hosts that forwards to the server at `url`. */
export async function startTlsFront(authority: Authority, hosts: readonly string[], url: string) {
  const target = new URL(url);
  const server = tls.createServer(authority.issue(hosts), (client) => {
    const onward = net.connect(Number(target.port), target.hostname);
    client.on('error', () => onward.destroy());
    onward.on('error', () => client.destroy());
    client.pipe(onward).pipe(client);
  });
  const port = await listen(server);
  return { port, close: () => void server.close() };
}

/** Creates an authority in its own directory. */
export function createAuthority() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'authority-'));
  const at = (name: string) => path.join(folder, name);
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    ...['req', '-x509', ...newKey, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '2'],
    ...['-subj', '/CN=An authority that nobody knows', '-addext', 'basicConstraints=critical,CA:TRUE'],
  );
  let count = 0;
  return {
    /** The PEM file of the authority's certificate. */
    file: at('ca.pem'),
    /** A key and a certificate for hosts, names and addresses; valid for `days`, which may be less than none. */
    issue(hosts: readonly string[], days = 2): Identity {
      count += 1;
      const [key, request, cert, extensions] = ['key', 'csr', 'pem', 'ext'].map((kind) =>
        at(`server-${count}.${kind}`),
      );
      if (!key || !request || !cert || !extensions) throw new Error('no names');
      const names = hosts.map((host) => (/^[\d.]+$|:/.test(host) ? `IP:${host}` : `DNS:${host}`));
      writeFileSync(extensions, `subjectAltName=${names.join(',')}\nbasicConstraints=CA:FALSE\n`);
      openssl('req', '-new', ...newKey, '-keyout', key, '-out', request, '-subj', '/CN=server');
      openssl(
        ...['x509', '-req', '-in', request, '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'],
        ...['-out', cert, '-days', String(days), '-extfile', extensions],
      );
      return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
