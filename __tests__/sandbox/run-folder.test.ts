import { execFileSync, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { removeFolder } from '../../src/sandbox/run-folder.ts';
import { copySources } from '../support/open-sources.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'run-folder-')));
// Uses the shell: a failed test can leave a tree deeper than the maximum path length.
afterAll(() => execFileSync('/bin/rm', ['-rf', base]));

function made(name: string, script: string): string {
  const folder = join(base, name);
  mkdirSync(folder);
  execFileSync('bash', ['-c', script], { cwd: folder });
  return folder;
}

/** The words that remove a folder in another process. */
function removal(folder: string, withinMs: number): readonly string[] {
  const module = JSON.stringify(join(copySources(base), 'sandbox/run-folder.ts'));
  const program = `import { removeFolder } from ${module}; await removeFolder(${JSON.stringify(folder)}, ${withinMs});`;
  return [process.execPath, '--input-type=module-typescript', '-e', program];
}

describe('removeFolder', () => {
  it('removes a tree deeper than the maximum path length', async () => {
    const folder = made(
      'deep',
      `p=${'dddddddd/'.repeat(100)}; for i in $(seq 15); do mkdir -p $p && cd $p; done`,
    );
    await removeFolder(folder, 80_000);
    expect(existsSync(folder)).toBe(false);
  });

  it('keeps the targets of links and handles names that look like options', async () => {
    const precious = join(base, 'precious');
    mkdirSync(precious);
    writeFileSync(join(precious, 'file'), '');
    const folder = made('links', 'mkdir -- -rf; touch -- -x');
    symlinkSync(precious, join(folder, 'link'));
    await removeFolder(folder);
    expect([existsSync(folder), existsSync(join(precious, 'file'))]).toEqual([false, true]);
  });

  it('continues to remove a slow tree after the process has ended', async () => {
    const folder = made('many', 'mkdir $(seq 3000)');
    const [file = '', ...args] = removal(folder, 1);
    spawnSync(file, args);
    await vi.waitFor(() => expect(existsSync(folder)).toBe(false), { timeout: 60_000, interval: 100 });
  }, 70_000);

  it('removes directories without permissions, also for an ordinary user', () => {
    const script = 'mkdir -p a/b w; touch a/b/c w/f; chmod 0 a/b/c a/b a; chmod 555 w';
    const folder = made('closed', script);
    const isRoot = process.getuid?.() === 0;
    const ids = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
    const [file = '', ...args] = [...ids, ...removal(folder, 20_000)];
    if (isRoot) execFileSync('chown', ['-R', '65534:65534', folder]);
    if (isRoot) chownSync(base, 65534, 65534);
    spawnSync(file, args);
    expect(existsSync(folder)).toBe(false);
  });
});
