/** Files and listeners of this machine. */
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import path from 'node:path';

/** Writes files and their directories below a folder, by path; returns the folder. */
export function putFiles(folder: string, files: Readonly<Record<string, string | Buffer>>): string {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}

/** Starts a server at the path of a socket or on a free loopback port; returns the port. */
export async function listen(server: Server, socket?: string): Promise<number> {
  server.listen(socket === undefined ? { port: 0, host: '127.0.0.1' } : { path: socket });
  await once(server, 'listening');
  return Object(server.address()).port;
}

/** Starts a server on a free loopback port; closing it drops its connections, those in a handshake too. */
export async function serve(server: Server) {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  const port = await listen(server);
  const close = async () => {
    const closed = once(server.close(), 'close');
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port, close };
}

/** Everything below a folder: kind, mode, owner and content of each entry, without the paths that `skip` names. */
export function manifest(folder: string, skip: (path: string) => boolean): Readonly<Record<string, string>> {
  const result: Record<string, string> = {};
  const queue = [folder];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (skip(file)) continue;
    const stats = lstatSync(file);
    const owner = `${stats.mode.toString(8)} ${stats.uid}`;
    if (stats.isDirectory()) {
      result[file] = `folder ${owner}`;
      for (const name of readdirSync(file)) queue.push(path.join(file, name));
    } else if (stats.isSymbolicLink()) result[file] = `link ${readlinkSync(file)}`;
    else if (stats.isFile()) result[file] = `${owner} ${hash('sha1', readFileSync(file))}`;
    else result[file] = `special ${owner}`;
  }
  return result;
}
