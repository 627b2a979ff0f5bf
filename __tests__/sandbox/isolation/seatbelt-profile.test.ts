/** What the profile of macOS says, read as Scheme. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors.ts';
import { namesPattern, profileText } from '../../../src/sandbox/isolation/seatbelt-profile.ts';
import { readForms } from '../../support/seatbelt.ts';

describe('a profile', () => {
  const paths = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .map((name) => `/${name.replace(/[\u0000-\u001f\u007f]/gu, '')}`);
  const base = profileText({ rules: [], tmp: '/t', shellNetwork: false });

  it('holds a path of any characters as one string: nothing breaks out of it', () => {
    fc.assert(
      fc.property(
        fc.oneof(paths, fc.constantFrom('/a")(allow default)("', '/a\\', '/\\")(x', '/;')),
        (path) => {
          const rule = { verdict: 'deny', operations: 'file-read*', filter: 'subpath', text: path } as const;
          const forms = readForms(profileText({ rules: [rule], tmp: path, shellNetwork: false }));
          expect(forms).toHaveLength(readForms(base).length + 1);
          expect(forms).toContainEqual([
            { word: 'deny' },
            { word: 'file-read*' },
            [{ word: 'subpath' }, { text: path }],
          ]);
        },
      ),
    );
  });

  it('is not made with a control character in a path', () => {
    for (const text of ['/a\nb', '/a\u0000', '/a\u007f'])
      expect(() => profileText({ rules: [], tmp: text, shellNetwork: false })).toThrow(SandboxError);
  });

  it('denies by default, first of all, and has no network unless it is asked for', () => {
    const [version, otherwise] = readForms(base);
    expect([version, otherwise]).toEqual([
      [{ word: 'version' }, { word: '1' }],
      [{ word: 'deny' }, { word: 'default' }],
    ]);
    expect(base).not.toMatch(/\(allow default|network\* |\((?:local|remote) ip/u);
    expect(profileText({ rules: [], tmp: '/t', shellNetwork: true })).toContain(
      '(allow network* (local ip) (remote ip))',
    );
  });

  it('names protected files in any mixture of case, in folders of any name', () => {
    fc.assert(
      fc.property(paths, (folder) => {
        const pattern = new RegExp(namesPattern(folder, ['.git', 'action.yml']), 'u');
        const told = [
          '.git',
          '.GIT/config',
          '.gIt/x',
          'Action.YML',
          '.gitignore',
          'actionxyml',
          'x/.git',
        ].map((name) => pattern.test(`${folder}/${name}`));
        expect(told).toEqual([true, true, true, true, false, false, false]);
      }),
    );
  });
});
