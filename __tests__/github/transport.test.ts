import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { type Bounds, boundedFetch } from '../../src/github/transport.ts';
import { type RawServer, startRawServer } from '../support/fakes/raw-server.ts';
import { makeFolder } from '../support/surroundings.ts';

const BOUNDS: Bounds = { fetch, signal: undefined, timeoutMs: 60_000, maxBytes: 100, expectsJson: false };
let server: RawServer;
afterEach(() => server.close());

describe('boundedFetch', () => {
  it('reads a response to its end, whatever its status', async () => {
    server = await startRawServer((response) => {
      response.writeHead(418, { 'X-Thing': 'yes' });
      response.end('tea');
    });
    const response = await boundedFetch(server.url, { method: 'GET' }, BOUNDS);
    const { status, headers } = response;
    expect([status, headers.get('x-thing'), await response.text()]).toEqual([418, 'yes', 'tea']);
  });

  it('rejects a truncated body', async () => {
    server = await startRawServer((response) => {
      response.writeHead(200, { 'content-length': '50' });
      response.write('half', () => response.destroy());
    });
    await expect(boundedFetch(server.url, { method: 'GET' }, BOUNDS)).rejects.toThrow();
  });

  it('times out before the head and within the body', async () => {
    server = await startRawServer((response, { path }) => {
      if (path === '/body') response.writeHead(200).write('x');
    });
    for (const path of ['/head', '/body']) {
      const pending = boundedFetch(server.url + path, { method: 'GET' }, { ...BOUNDS, timeoutMs: 50 });
      await expect(pending).rejects.toMatchObject({ name: 'TimeoutError' });
    }
  });

  it('aborts with the signal, also with an earlier one', async () => {
    server = await startRawServer(() => undefined);
    const stop = new AbortController();
    const pending = boundedFetch(server.url, { method: 'GET' }, { ...BOUNDS, signal: stop.signal });
    stop.abort('SIGTERM');
    const interrupted = { name: 'GitHubError', cause: 'SIGTERM' };
    await expect(pending).rejects.toMatchObject(interrupted);
    const late = boundedFetch(server.url, {}, { ...BOUNDS, signal: stop.signal });
    await expect(late).rejects.toMatchObject(interrupted);
  });

  it('follows a GET redirect on the same server, at most twice, and no other redirect', async () => {
    server = await startRawServer((response, { path }) => {
      response.writeHead(path === '/3' ? 200 : 302, { location: `/${Number(path.slice(1)) + 1}` }).end();
    });
    const statusOf = async (path: string, method: string) =>
      (await boundedFetch(server.url + path, { method }, BOUNDS)).status;
    expect([
      await statusOf('/1', 'GET'),
      await statusOf('/0', 'GET'),
      await statusOf('/2', 'DELETE'),
    ]).toEqual([200, 302, 302]);
  });
});

describe('loading the client', () => {
  const folders = makeFolder();
  const front = fileURLToPath(new URL('../../src/github/client.ts', import.meta.url));

  it.each(['a pipe', 'no JSON', 'not there'])('does not depend on an event file that is %s', async (kind) => {
    server = await startRawServer((response) => response.end('{"number":7}'));
    const event = path.join(mkdtempSync(path.join(folders, 'event-')), 'event.json');
    if (kind === 'a pipe') execFileSync('mkfifo', [event]);
    if (kind === 'no JSON') writeFileSync(event, '{broken');
    const script = `
      import { createGitHub } from ${JSON.stringify(front)};
      const github = createGitHub({ token: 't', apiUrl: ${JSON.stringify(server.url)}, fetch, userAgent: 'x' });
      const { data } = await github.request('GET', '/repos/{owner}/{repo}', { owner: 'o', repo: 'r' });
      console.log(data.number, process.env.GITHUB_EVENT_PATH);`;
    const env = { ...process.env, GITHUB_EVENT_PATH: event };
    const args = ['--input-type=module', '--eval', script];
    // The import would wait for a pipe without end.
    const killed = { env, timeout: 20_000, killSignal: 'SIGKILL' } as const;
    const { stdout } = await promisify(execFile)(process.execPath, args, killed);
    expect(stdout).toBe(`7 ${event}\n`);
  });
});
