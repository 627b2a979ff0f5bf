/** Certificates for loopback, made by the openssl of this machine: a private authority and the certificates that it signed. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A server's key and certificate, PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** Creates an authority in its own directory. */
export function createAuthority() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'authority-'));
  const openssl = (line: string, input = '') =>
    execFileSync('openssl', line.split(' '), { cwd: folder, input, encoding: 'utf8', stdio: 'pipe' });
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout';
  openssl(`req -x509 ${newKey} ca.key -out ca.pem -subj /CN=unknown-authority`);
  return {
    /** The PEM file of the authority's certificate. */
    file: path.join(folder, 'ca.pem'),
    /** A key and a certificate for hosts, names and addresses; valid for `days`, which may be less than none. */
    issue(hosts: readonly string[], days = 2): Identity {
      const names = hosts.map((host) => (/^[\d.]+$|:/.test(host) ? `IP:${host}` : `DNS:${host}`));
      const request = openssl(`req -new ${newKey} own.key -subj /CN=server -addext subjectAltName=${names}`);
      const how = '-CA ca.pem -CAkey ca.key -CAcreateserial -copy_extensions copy';
      const cert = openssl(`x509 -req ${how} -days ${days}`, request);
      return { key: readFileSync(path.join(folder, 'own.key'), 'utf8'), cert };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
