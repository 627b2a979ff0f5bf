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
  readSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors.ts';
import { boundNames, findEndpoints, seenSockets } from '../../../src/sandbox/isolation/sockets.ts';
import { createWorld, exec, isolatedWays, type World } from '../world.ts';

const HEADER = 'Num       RefCount Protocol Flags    Type St Inode Path';
const isLinux = process.platform === 'linux';

function listen(path: string, reached: () => void = () => undefined): Promise<Server> {
  const server = createServer((socket) => {
    reached();
    socket.destroy();
  });
  return new Promise((resolve) => {
    server.listen(path, () => {
      chmodSync(path, 0o777);
      resolve(server);
    });
  });
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
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'sockets-')));
    afterAll(() => rmSync(base, { recursive: true }));

    it('are found by their real path while they are bound, but not afterwards', async () => {
      mkdirSync(join(base, 'real'));
      symlinkSync('real', join(base, 'link'));
      const server = await listen(join(base, 'link', 's'));
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
      const servers = [await listen(join(folder, 'one')), await listen(join(folder, 'two\nlines'))];
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

describe.each(isolatedWays)('behind $name', ({ options }) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world.close());

  it('hides all sockets and pipes in visible directories, also with a network', async () => {
    let reached = 0;
    const count = () => {
      reached += 1;
    };
    const folders = [join(world.workspace, 'a b'), join(world.home, 'shared')];
    const servers: Server[] = [];
    for (const folder of folders) {
      mkdirSync(folder);
      servers.push(await listen(join(folder, 's'), count));
      linkSync(join(folder, 's'), join(folder, 'hard'));
      execFileSync('mkfifo', [join(folder, 'pipe')]);
    }
    const open = folders.map((folder) =>
      openSync(join(folder, 'pipe'), constants.O_RDWR | constants.O_NONBLOCK),
    );
    const readable = [join(world.home, 'shared')];
    const sandbox = await world.openReady({ ...options, access: 'in-place', shellNetwork: true, readable });
    const connect = `node -e "require('net').connect(process.argv[1]).on('connect',()=>console.log('REACHED')).on('error',e=>console.log(e.code))"`;
    const tries = folders.flatMap((folder) => [
      ...['s', 'hard'].map((name) => `${connect} '${folder}/${name}'`),
      `echo x 1<>'${folder}/pipe'`,
    ]);
    const { output } = await exec(sandbox, `( ${tries.join('; ')} ) 2>/dev/null; ls '${folders[1]}'`);
    expect(output).toMatch(/^(?:E[A-Z]+\n){4}hard\npipe\ns\n$/u);
    expect(reached).toBe(0);
    for (const descriptor of open) {
      expect(() => readSync(descriptor, Buffer.alloc(1))).toThrow('EAGAIN');
      closeSync(descriptor);
    }
    for (const server of servers) server.close();
  });

  it('allows a command its own sockets in /tmp and in the workspace', async () => {
    const sandbox = await world.open(options);
    const serve = `const n=require('net');const s=n.createServer(c=>c.end('hi')).listen(process.argv[1],()=>n.connect(process.argv[1]).on('data',d=>{console.log(String(d));s.close()}))`;
    const { output } = await exec(sandbox, `node -e "${serve}" /tmp/own.sock; node -e "${serve}" own.sock`);
    expect(output).toBe('hi\nhi\n');
  });
});
