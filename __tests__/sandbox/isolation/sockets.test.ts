import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  symlinkSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors.ts';
import { boundNames, findEndpoints, seenSockets } from '../../../src/sandbox/isolation/sockets.ts';
import { listen } from '../../support/local.ts';
import { makeFolder } from '../../support/surroundings.ts';
import { exec, isolatedWays, useWorld } from '../world.ts';

const HEADER = 'Num       RefCount Protocol Flags    Type St Inode Path';
const isLinux = process.platform === 'linux';

async function listenAt(path: string): Promise<Server> {
  const server = createServer();
  await listen(server, path);
  chmodSync(path, 0o777);
  return server;
}

describe('boundNames', () => {
  it('returns each name once, including possible abstract names, but no empty name', () => {
    const rows = [
      '00000000e4efe714: 00000002 00000000 00010000 0001 01 7117266 /srv/a b.sock',
      '00000000e4efe715: 00000003 00000000 00000000 0001 03 7117267 /srv/a b.sock',
      '00000000e4efe716: 00000002 00000000 00010000 0001 01 7117268 @abstract',
      '00000000e4efe717: 00000002 00000000 00010000 0001 01 7117269 private/bounce',
      '00000000e4efe718: 00000003 00000000 00000000 0001 03  1639',
      '00000000e4efe719: 00000002 00000000 00000000 0002 01 12 /var/lib/log',
    ];
    const names = boundNames([HEADER, ...rows, ''].join('\n'));
    const listed = ['/srv/a b.sock', '@abstract', 'private/bounce', '/var/lib/log'];
    expect(names.filter((name) => !name.includes('\n'))).toEqual(listed);
    expect(boundNames('')).toEqual([]);
  });

  it('finds names with line breaks, even if they look like another row', () => {
    const start = '00000000e4efe714: 00000002 00000000 00010000 0001 01 7 ';
    const names = ['/srv/a\nb', '/srv/c\n\nd', `/srv/e\n${start}/srv/f`, '\nleading'];
    const found = boundNames([HEADER, ...names.map((name) => start + name), ''].join('\n'));
    for (const name of names) expect(found).toContain(name);
  });
});

if (isLinux)
  describe('sockets of this machine', () => {
    const base = makeFolder();

    it('are found by their real path while they are bound, but not afterwards', async () => {
      mkdirSync(join(base, 'real'));
      symlinkSync('real', join(base, 'link'));
      const server = await listenAt(join(base, 'link', 's'));
      expect(await findEndpoints()).toContain(join(base, 'real', 's'));
      await new Promise((resolve) => server.close(resolve));
      expect(await findEndpoints()).not.toContain(join(base, 'real', 's'));
    });

    it.each(['rel.sock', '@rel.sock', '@@'])(
      'are found by the relative name %s in the working directory of the process',
      async (name) => {
        const folder = mkdtempSync(join(base, 'stand-'));
        const serve = `require('net').createServer().listen('${name}', () => console.log('up'))`;
        const child = spawn(process.execPath, ['-e', serve], { cwd: folder });
        await once(child.stdout, 'data');
        expect(await findEndpoints()).toContain(join(folder, name));
        child.kill('SIGKILL');
        await once(child, 'exit');
      },
    );

    it('are found under hard links, names with line breaks and names with any bytes', async () => {
      const folder = join(base, 'links');
      mkdirSync(folder);
      const servers = [await listenAt(join(folder, 'one')), await listenAt(join(folder, 'two\nlines'))];
      linkSync(join(folder, 'one'), join(folder, 'other'));
      const endpoints = await findEndpoints();
      for (const name of ['one', 'other', 'two\nlines']) expect(endpoints).toContain(join(folder, name));
      for (const server of servers) server.close();
      const odd = join(folder, 'odd\ufffd');
      await expect(seenSockets([odd], [])).rejects.toThrow(/its name is not UTF-8/u);
    });

    it('include named pipes that a process has open, and their hard links', async () => {
      const pipe = join(base, 'pipe');
      execFileSync('mkfifo', [pipe]);
      linkSync(pipe, join(base, 'pipe2'));
      const descriptor = openSync(pipe, constants.O_RDWR);
      expect(await findEndpoints()).toEqual(expect.arrayContaining([pipe, join(base, 'pipe2')]));
      closeSync(descriptor);
      expect(await findEndpoints()).not.toContain(pipe);
    });

    it('cause a SandboxError when there are too many to hide', async () => {
      const sockets = Array.from({ length: 201 }, (_, n) => `/opt/s${n}`);
      expect(await seenSockets(sockets.slice(1), [])).toHaveLength(200);
      const refused = seenSockets(sockets, []);
      await expect(refused).rejects.toBeInstanceOf(SandboxError);
      await expect(refused).rejects.toThrow(/^201 Unix sockets and named pipes .*"\/opt\/s0"/u);
    });
  });

describe.each(isolatedWays)('behind $name', async ({ options }) => {
  const world = await useWorld();

  it('allows a command its own sockets in /tmp and in the workspace', async () => {
    const sandbox = await world.open(options);
    const serve = `const n=require('net');const s=n.createServer(c=>c.end('hi')).listen(process.argv[1],()=>n.connect(process.argv[1]).on('data',d=>{console.log(String(d));s.close()}))`;
    const { output } = await exec(sandbox, `node -e "${serve}" /tmp/own.sock; node -e "${serve}" own.sock`);
    expect(output).toBe('hi\nhi\n');
  });
});
