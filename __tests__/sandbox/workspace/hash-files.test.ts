import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashFiles } from '../../../src/sandbox/workspace/tree-hash.ts';

const never = new AbortController().signal;
let root = '';

beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hash-files-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const paths = (...names: readonly (string | Buffer)[]) =>
  names.map((name) => ({ path: Buffer.from(name).toString('latin1'), commit: null }));

/** An entry of a generated tree: the bytes of a file or an executable, or the target of a link. */
type Leaf = readonly [kind: 'file' | 'program' | 'link', content: string];

function write(folder: string, tree: Readonly<Record<string, Leaf>>): void {
  mkdirSync(folder);
  for (const [name, [kind, content]] of Object.entries(tree)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    if (kind === 'link') symlinkSync(`x${content}`, file);
    else writeFileSync(file, content, { mode: kind === 'program' ? 0o755 : 0o644 });
  }
}

/** The same tree with executables instead of files and files instead of executables. */
function flipped(tree: Readonly<Record<string, Leaf>>): Readonly<Record<string, Leaf>> {
  const flip = ([kind, content]: Leaf): Leaf => [
    kind === 'file' ? 'program' : kind === 'program' ? 'file' : 'link',
    content,
  ];
  return Object.fromEntries(Object.entries(tree).map(([name, leaf]) => [name, flip(leaf)]));
}

describe('hashFiles', () => {
  it('gives equal hashes only for equal paths, modes and bytes', async () => {
    // Few names and contents, so that two trees are often equal and usually similar.
    const leaf = fc.tuple(fc.constantFrom('file', 'program', 'link'), fc.constantFrom('', '1', '12 a', '\0'));
    const links = (tree: Readonly<Record<string, Leaf>>) =>
      Object.values(tree).every(([kind, content]) => kind !== 'link' || !content.includes('\0'));
    const tree = fc
      .dictionary(fc.constantFrom('a', 'ab', 'd/a', 'd/é\n"'), leaf, { maxKeys: 3 })
      .map((found) => ({ ...found }))
      .filter(links);
    let cases = 0;
    await fc.assert(
      fc.asyncProperty(tree, tree, fc.constantFrom('same', 'flipped', 'other'), async (one, other, kind) => {
        const two = kind === 'same' ? one : kind === 'flipped' ? flipped(one) : other;
        cases += 1;
        const folders = [1, 2].map((side) => path.join(root, `${cases}-${side}`));
        const names = (side: object) => Object.keys(side);
        write(folders[0] ?? '', one);
        write(folders[1] ?? '', two);
        const first = await hashFiles(folders[0] ?? '', paths(...names(one)), never);
        const second = await hashFiles(folders[1] ?? '', paths(...names(two).reverse()), never);
        const hashes = [first, second].map((found) => ('hash' in found ? found.hash : null));
        expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/u);
        expect(hashes[0] === hashes[1]).toBe(isDeepStrictEqual(one, two));
      }),
      { numRuns: 200 },
    );
  });

  it('supports names that are not UTF-8, empty files and large files, and returns the links', async () => {
    const odd = Buffer.from([0x66, 0xff]);
    const odder = Buffer.from([0x66, 0xfe]);
    for (const name of [odd, odder]) writeFileSync(Buffer.concat([Buffer.from(`${root}/`), name]), '');
    writeFileSync(path.join(root, 'large'), Buffer.alloc(5 * 1024 * 1024, 7));
    symlinkSync('../nowhere', path.join(root, 'link'));
    const found = await hashFiles(root, paths('large', odd, 'link'), never);
    expect(found).toMatchObject({ kind: 'hashed', links: ['link'], behindLinks: [] });
    expect('files' in found && [...found.files].sort()).toEqual(['f\u00ff', 'large', 'link']);
    expect(await hashFiles(root, paths('large', odder, 'link'), never)).not.toMatchObject({
      hash: 'hash' in found ? found.hash : '',
    });
  });

  it('skips missing paths and paths behind a link', async () => {
    mkdirSync(path.join(root, 'd'));
    writeFileSync(path.join(root, 'd', 'f'), 'x');
    writeFileSync(path.join(root, 'g'), 'x');
    symlinkSync('d', path.join(root, 'l'));
    const just = await hashFiles(root, paths('g'), never);
    const all = await hashFiles(root, paths('g', 'gone', 'gone/x', 'g/x', 'l/f', 'd'), never);
    expect(all).toEqual({ ...just, behindLinks: ['l/f'] });
  });

  it('hashes the commit of a submodule that is not checked out, and is unknown for one with files', async () => {
    mkdirSync(path.join(root, 'sub'));
    const sub = (commit: string) => hashFiles(root, [{ path: 'sub', commit }], never);
    expect(await sub('a'.repeat(40))).toMatchObject({ kind: 'hashed', files: new Set(['sub']) });
    expect(await sub('a'.repeat(40))).not.toEqual(await sub('b'.repeat(40)));
    writeFileSync(path.join(root, 'sub', 'f'), 'x');
    expect(await sub('a'.repeat(40))).toMatchObject({
      kind: 'unknown',
      why: expect.stringContaining('"sub" is a repository'),
    });
  });

  it('stops inside a large file when the signal aborts', async () => {
    const stop = new AbortController();
    writeFileSync(path.join(root, 'sparse'), '');
    truncateSync(path.join(root, 'sparse'), 15 * 1024 ** 3);
    setTimeout(() => stop.abort(new Error('stop')), 50);
    await expect(hashFiles(root, paths('sparse'), stop.signal)).rejects.toThrow('stop');
  });

  it.each([
    ['one file of a terabyte', { sparse: 2 ** 40 }],
    [
      'many files that are too large together',
      Object.fromEntries(Array.from('abcdefghi', (name) => [name, 2 ** 31])),
    ],
  ])('is unknown when reading would take too long: %s', async (_, sizes: Record<string, number>) => {
    for (const [name, size] of Object.entries(sizes)) {
      writeFileSync(path.join(root, name), '');
      truncateSync(path.join(root, name), size);
    }
    const found = await hashFiles(root, paths(...Object.keys(sizes)), AbortSignal.timeout(60_000));
    expect(found).toMatchObject({
      kind: 'unknown',
      why: expect.stringMatching(/cannot be read \(EFBIG\)$/u),
    });
  });

  it('stops when the signal is already aborted', async () => {
    await expect(hashFiles(root, paths('g'), AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
  });
});
