/** Files and listeners of this machine. */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
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

/** Starts a server on a free loopback port or at a path; returns the port. */
export async function listen(server: Server, where: number | string = 0): Promise<number> {
  await new Promise<void>((resolve) => {
    if (typeof where === 'number') server.listen(where, '127.0.0.1', resolve);
    else server.listen(where, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
