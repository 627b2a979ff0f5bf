/**
 * Two packages of GitHub's toolkit that load undici only when it is used. Both import @actions/http-client as they are
 * loaded, and with it the 400 KB of undici: @actions/core for `getIDToken` alone, @actions/github for a `fetch` that we
 * never leave to it. The bundle gets copies of them beside stand-ins that import the real package on the first call.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The methods of the client that core calls, and those that github calls for values that we replace. */
const HTTP_CLIENT = `export class HttpClient {
  constructor(...options) {
    this.options = options;
  }
  getAgent() {}
  getAgentDispatcher() {}
  async getJson(...request) {
    const { HttpClient } = await import('REAL/lib/index.js');
    return new HttpClient(...this.options).getJson(...request);
  }
}
`;

const UNDICI = `export async function fetch(...request) {
  const { default: undici } = await import('REAL/index.js');
  return undici.fetch(...request);
}
`;

/** Puts the copies and the stand-ins where what was compiled into build/ finds them first. */
export function writeLazyUndici(root: string): void {
  const from = path.join(root, 'node_modules');
  const to = path.join(root, 'build', 'node_modules');
  for (const name of ['@actions/core', '@actions/github']) {
    cpSync(path.join(from, name), path.join(to, name), { recursive: true, dereference: true });
  }
  const client = path.join(to, '@actions/http-client');
  writeStandIn(client, path.join(from, '@actions/http-client'), {
    '.': HTTP_CLIENT,
    './lib/auth': "export * from 'REAL/lib/auth.js';\n",
  });
  writeStandIn(path.join(to, '@actions/github/node_modules/undici'), path.join(from, 'undici'), {
    '.': UNDICI,
  });
}

/** A package of the real one's name, version and licence with these modules, in which REAL stands for its folder. */
function writeStandIn(folder: string, real: string, modules: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true });
  const { name, version, license }: Record<string, unknown> = JSON.parse(
    readFileSync(path.join(real, 'package.json'), 'utf8'),
  );
  const exports: Record<string, string> = {};
  for (const [entry, text] of Object.entries(modules)) {
    const file = `./${path.basename(entry === '.' ? 'index' : entry)}.js`;
    exports[entry] = file;
    writeFileSync(path.join(folder, file), text.replaceAll('REAL', path.relative(folder, real)));
  }
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ name, version, license, type: 'module', exports }),
  );
}
