import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..', '..');

/**
 * Copies the sources into a folder and returns where they are, so that a process of another user can import them: that
 * user may not be allowed to enter the checkout, as below /root. Modules that import a package are of no use there.
 */
export function copySources(folder: string): string {
  const sources = path.join(folder, 'src');
  cpSync(path.join(ROOT, 'src'), sources, { recursive: true });
  cpSync(path.join(ROOT, 'package.json'), path.join(folder, 'package.json'));
  execFileSync('chmod', ['-R', 'a+rX', sources, path.join(folder, 'package.json')]);
  return sources;
}
