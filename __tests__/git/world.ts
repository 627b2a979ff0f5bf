import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { putFiles } from '../support/local.ts';
import { scriptsIn } from '../support/scripts.ts';
import { makeFolder } from '../support/surroundings.ts';

export const never: AbortSignal = new AbortController().signal;

const AUTHOR = 'export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t\n';

/**
 * Gives each test a copy of a repository, which a script of bash makes, and a folder for temporary files, which must be
 * empty at the end.
 */
export function useRepository(setUp: string) {
  const original = path.join(makeFolder(), 'original');
  const user = process.getuid?.() ?? 0;
  const at = { original, base: '', repo: '', temp: '', user };
  /** Runs bash. Returns what it printed. @throws if a command fails */
  const shell = (script: string, cwd = at.repo) => {
    const options = { cwd, stdio: 'pipe', encoding: 'utf8', uid: at.user } as const;
    return execFileSync('bash', ['-ec', AUTHOR + script], options).trim();
  };
  beforeAll(() => {
    mkdirSync(original);
    shell(`git init -q -b main\n${setUp}`, original);
  });
  beforeEach(() => {
    at.user = user;
    at.base = mkdtempSync(`${original}-`);
    at.repo = path.join(at.base, 'repo');
    at.temp = path.join(at.base, 'temp');
    shell(`mkdir temp; cp -a ${original} repo`, at.base);
  });
  afterEach(() => expect(readdirSync(at.temp)).toEqual([]));
  return {
    at,
    shell,
    put: (name: string, text: string | Buffer = 'x\n') => void putFiles(at.repo, { [name]: text }),
    scripts: (folder = at.repo) => scriptsIn(folder, at.temp, at.user),
  };
}
