import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { listCandidates } from '../../src/envelope/list.ts';
import { InputError } from '../../src/errors.ts';
import { makeFolder } from '../support/surroundings.ts';

const folder = makeFolder();
// Two JSON files among six entries, in folders two levels deep.
mkdirSync(path.join(folder, 'a', 'b'), { recursive: true });
for (const file of ['a/b/x.json', 'a/b/y.txt', 'a/y.json', 'z.txt'])
  writeFileSync(path.join(folder, file), '');

const roomy = { depth: 8, files: 100, entries: 100 };

describe('listCandidates', () => {
  it('lists JSON files at any depth, in the order of their paths', () => {
    const found = [
      { file: 'a/b/x.json', regular: true },
      { file: 'a/y.json', regular: true },
    ];
    expect(listCandidates(folder)).toEqual(found);
    expect(listCandidates(folder, { depth: 2, files: 2, entries: 6 })).toEqual(found);
  });

  it.each([
    [{ ...roomy, depth: 1 }, /^verdicts: the folder ".+" has folders more than 1 levels deep\. Name /u],
    [
      { ...roomy, files: 1 },
      /^verdicts: the folder ".+" holds more than 1 JSON files, or 100 in all\. Name /u,
    ],
    [{ ...roomy, entries: 5 }, /holds more than 100 JSON files, or 5 in all/u],
  ])('throws for a folder beyond %j', (limits, why) => {
    const list = () => listCandidates(folder, limits);
    expect(list).toThrow(InputError);
    expect(list).toThrow(why);
  });
});
