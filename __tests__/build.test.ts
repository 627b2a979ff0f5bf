import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { HASH_FILE, isDistCurrent, sourcesHash } from '../scripts/sources-hash.ts';
import { makeFolder } from './support/surroundings.ts';

const folders = makeFolder();

it.each(['src/a/b.ts', 'src/new.css', 'schemas/verdict.json', 'package-lock.json', 'scripts/build.ts'])(
  'dist/ is out of date after a change of %s',
  (changed) => {
    const clone = mkdtempSync(path.join(folders, 'clone-'));
    for (const name of ['src/a', 'schemas', 'scripts', 'dist'])
      mkdirSync(path.join(clone, name), { recursive: true });
    const files = [
      'src/a/b.ts',
      'schemas/verdict.json',
      'package-lock.json',
      'tsconfig.json',
      'tsconfig.build.json',
    ];
    for (const name of [
      ...files,
      ...['build', 'meta-schema', 'sources-hash'].map((each) => `scripts/${each}.ts`),
    ])
      writeFileSync(path.join(clone, name), name);
    expect(isDistCurrent(clone)).toBe(false);

    writeFileSync(path.join(clone, 'dist', HASH_FILE), `${sourcesHash(clone)}\n`);
    expect(isDistCurrent(clone)).toBe(true);

    writeFileSync(path.join(clone, changed), 'changed');
    expect(isDistCurrent(clone)).toBe(false);
  },
);
