import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..', '..');

/**
 * Copies the sources to a directory and returns their path, so that a process of another user can import them: the
 * checkout can be inaccessible to that user, for example below /root. Only the packages of the sandbox are included.
 */
export function copySources(folder: string): string {
  const sources = path.join(folder, 'src');
  cpSync(path.join(ROOT, 'src'), sources, { recursive: true });
  for (const name of ['exec', 'io']) {
    const at = path.join('node_modules/@actions', name);
    cpSync(path.join(ROOT, at), path.join(folder, at), { recursive: true });
  }
  cpSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  execFileSync('chmod', [
    '-R',
    'a+rX',
    ...['src', 'node_modules', 'package.json'].map((name) => path.join(folder, name)),
  ]);
  return sources;
}
