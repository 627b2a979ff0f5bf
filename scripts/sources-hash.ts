/** Tells whether dist/ was built from the sources that are there, without building it. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** The file in dist/ that holds the hash of what it was built from. */
export const HASH_FILE = 'sources.sha256';

/** Files and folders that decide what the build writes, relative to the root of the repository. */
const SOURCES = [
  'package-lock.json',
  'schemas',
  'scripts/build.ts',
  'scripts/meta-schema.ts',
  'scripts/sources-hash.ts',
  'src',
  'tsconfig.build.json',
  'tsconfig.json',
];

/** The SHA-256 of everything that dist/ is built from, in hexadecimal. */
export function sourcesHash(root: string): string {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    for (const file of filesOf(root, source)) {
      const content = readFileSync(path.join(root, file));
      hash.update(`${file} ${content.length}\n`).update(content);
    }
  }
  return hash.digest('hex');
}

/** Whether dist/ was built from the sources as they are now. */
export function isDistCurrent(root: string): boolean {
  const file = path.join(root, 'dist', HASH_FILE);
  return existsSync(file) && readFileSync(file, 'utf8').trim() === sourcesHash(root);
}

function filesOf(root: string, source: string): string[] {
  if (!statSync(path.join(root, source)).isDirectory()) return [source];
  return readdirSync(path.join(root, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();
}
