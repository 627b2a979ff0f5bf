import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { HASH_FILE, isDistCurrent, sourcesHash } from '../scripts/sources-hash.ts';
import { putFiles } from './support/local.ts';
import { makeFolder } from './support/surroundings.ts';

const folders = makeFolder();

it.each(['src/a/b.ts', 'src/new.css', 'schemas/verdict.json', 'package-lock.json', 'scripts/build.ts'])(
  'dist/ is out of date after a change of %s',
  (changed) => {
    const clone = mkdtempSync(path.join(folders, 'clone-'));
    const scripts = ['build', 'meta-schema', 'sources-hash'].map((name) => `scripts/${name}.ts`);
    const others = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'dist/main.js'];
    const files = ['src/a/b.ts', 'schemas/verdict.json', ...others, ...scripts];
    putFiles(clone, Object.fromEntries(files.map((name) => [name, name])));
    expect(isDistCurrent(clone)).toBe(false);

    writeFileSync(path.join(clone, 'dist', HASH_FILE), `${sourcesHash(clone)}\n`);
    expect(isDistCurrent(clone)).toBe(true);

    writeFileSync(path.join(clone, changed), 'changed');
    expect(isDistCurrent(clone)).toBe(false);
  },
);
