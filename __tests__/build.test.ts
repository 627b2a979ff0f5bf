import { expect, it } from 'vitest';
import { HASH_FILE, isDistCurrent, sourcesHash } from '../scripts/sources-hash.ts';
import { putFiles } from './support/local.ts';
import { makeFolder } from './support/surroundings.ts';

it('dist/ is out of date without its hash, and after a change of each source', () => {
  const scripts = ['build', 'meta-schema', 'sources-hash'].map((name) => `scripts/${name}.ts`);
  const others = ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'dist/main.js'];
  const files = ['src/a/b.ts', 'schemas/verdict.json', ...others, ...scripts];
  const clone = putFiles(makeFolder(), Object.fromEntries(files.map((name) => [name, name])));
  expect(isDistCurrent(clone)).toBe(false);
  const sources = ['src/a/b.ts', 'schemas/verdict.json', 'package-lock.json', 'scripts/build.ts'];
  for (const changed of [...sources, 'src/new.css']) {
    putFiles(clone, { [`dist/${HASH_FILE}`]: `${sourcesHash(clone)}\n` });
    expect(isDistCurrent(clone)).toBe(true);
    putFiles(clone, { [changed]: 'changed' });
    expect(isDistCurrent(clone), changed).toBe(false);
  }
});
