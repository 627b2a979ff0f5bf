import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { namesIn, realOrNull, realOrSame } from '../../../src/sandbox/workspace/path-policy.ts';

const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'present-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const at = (name: string) => path.join(base, name);
mkdirSync(at('folder'));
for (const name of ['b', 'a']) writeFileSync(path.join(at('folder'), name), '');
symlinkSync('folder', at('link'));
symlinkSync('nowhere', at('dangling'));

describe('lookups of paths that can be missing', () => {
  it('realOrSame and realOrNull resolve a link', async () => {
    expect(await realOrSame(at('link'))).toBe(at('folder'));
    expect(await realOrNull(at('link'))).toBe(at('folder'));
  });

  it.each(['gone', 'dangling', 'folder/a/below'])(
    'for %s, realOrSame returns the path and realOrNull returns null',
    async (name) => {
      expect(await realOrSame(at(name))).toBe(at(name));
      expect(await realOrNull(at(name))).toBeNull();
    },
  );

  it('namesIn returns sorted names, and none for a path that is not a directory', async () => {
    expect(await namesIn(at('link'))).toEqual(['a', 'b']);
    expect(await namesIn(at('gone'))).toEqual([]);
    expect(await namesIn(at('folder/a'))).toEqual([]);
  });
});
