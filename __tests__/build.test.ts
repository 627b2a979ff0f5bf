import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { differences } from '../scripts/build.ts';
import { HASH_FILE, isDistCurrent, sourcesHash } from '../scripts/sources-hash.ts';
import { makeFolder } from './support/surroundings.ts';

const folders = makeFolder();

function folder(files: Record<string, string>): string {
  const made = mkdtempSync(path.join(folders, 'differences-'));
  for (const [name, text] of Object.entries(files))
    writeFileSync(path.join(made, name), text, { mode: 0o644 });
  return made;
}

it('finds no difference between equal files', () => {
  expect(differences(folder({ a: 'one', b: 'two' }), folder({ b: 'two', a: 'one' }))).toEqual([]);
});

it('names a file that exists in one folder only', () => {
  expect(differences(folder({ a: '', old: '' }), folder({ a: '', fresh: '' }))).toEqual([
    'fresh was built and is not committed',
    'old is committed and was not built',
  ]);
});

it('shows where two texts differ, however long they are and whatever they contain', () => {
  const alike = 'x'.repeat(100_000);
  const found = differences(
    folder({ a: `${alike}\u001b[1mred` }),
    folder({ a: `${alike}green${'y'.repeat(5_000)}` }),
  );
  expect(found[0]).toBe('a: 100007 bytes committed, 105005 built, alike up to byte 100000');
  expect(found[1]).toContain('xxx\\u001b[1mred"');
  expect(found[2]).toContain('xxxgreenyyy');
  expect(found.join('').length).toBeLessThan(700);
});

it('detects an appended text and a removed executable permission', () => {
  expect(differences(folder({ a: 'one' }), folder({ a: 'one, two' }))[0]).toContain('alike up to byte 3');
  const committed = folder({ 'cli.js': 'x' });
  const built = folder({ 'cli.js': 'x' });
  chmodSync(path.join(committed, 'cli.js'), 0o755);
  expect(differences(committed, built)).toEqual(['cli.js is executable in one of the two only']);
});

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
    for (const name of [...files, 'scripts/build.ts', 'scripts/sources-hash.ts'])
      writeFileSync(path.join(clone, name), name);
    expect(isDistCurrent(clone)).toBe(false);

    writeFileSync(path.join(clone, 'dist', HASH_FILE), `${sourcesHash(clone)}\n`);
    expect(isDistCurrent(clone)).toBe(true);

    writeFileSync(path.join(clone, changed), 'changed');
    expect(isDistCurrent(clone)).toBe(false);
  },
);
