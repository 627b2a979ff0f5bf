/**
 * Writes types/, the declarations of the library, before the package is packed: `node scripts/types.ts`. Only what can be
 * reached from the entry is kept.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = path.join(import.meta.dirname, '..');
const types = path.join(root, 'types');
const all = mkdtempSync(path.join(os.tmpdir(), 'types-'));

try {
  const options = ['--declaration', '--emitDeclarationOnly', '--outDir', all, '--rootDir', root];
  const tsc = path.join(root, 'node_modules', '.bin', 'tsc');
  execFileSync(tsc, ['--project', path.join(root, 'tsconfig.build.json'), ...options], { stdio: 'inherit' });
  rmSync(types, { recursive: true, force: true });
  mkdirSync(types);
  const kept = new Set<string>();
  const keep = (name: string) => {
    if (kept.has(name)) return;
    kept.add(name);
    const text = readFileSync(path.join(all, 'src', `${name}.d.ts`), 'utf8');
    for (const [, next = ''] of text.matchAll(/from '(\.[\w./-]+)\.(?:ts|js)'/gu))
      keep(path.join(path.dirname(name), next));
    mkdirSync(path.join(types, path.dirname(name)), { recursive: true });
    writeFileSync(path.join(types, `${name}.d.ts`), text.replaceAll(/(from '\.[\w./-]+)\.ts'/gu, "$1.js'"));
  };
  keep('main');
} finally {
  rmSync(all, { recursive: true, force: true });
}
