import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldName, refuseComponents, refuseText } from '../../src/files/names.ts';
import { quote } from '../../src/text/messages.ts';

describe('foldName', () => {
  for (const name of [
    '.git',
    '.GIT',
    '.git.',
    '.git. .',
    '.git::$INDEX_ALLOCATION',
    '.g\u200cit',
    '\ufeff.git',
    '.git ',
  ]) {
    it(`${JSON.stringify(name)} is .git on some file system`, () => {
      expect(foldName(name)).toBe('.git');
    });
  }

  for (const name of ['.gitignore', '.gitattributes', '.github', 'git', 'x.git']) {
    it(`${name} stays what it is`, () => {
      expect(foldName(name)).toBe(name);
    });
  }
});

describe('refuseComponents', () => {
  it('.git is closed in both trees, at any depth and under its short name', () => {
    const paths = [['.git'], ['a', '.Git', 'config'], ['GIT~1', 'config']];
    const refused = paths.flatMap((path) =>
      [true, false].map((tree) => refuseComponents(path, 'read', tree)),
    );
    expect(refused.every((reason) => reason?.startsWith('the .git folder is closed'))).toBe(true);
  });

  it('credentials are closed to reading', () => {
    const names = ['gha-creds-0a1b.json', '.git-credentials', '.netrc'];
    expect(names.map((name) => refuseComponents([name], 'read', true))).toEqual(
      names.map(() => 'it holds credentials, which are closed to this tool'),
    );
  });

  it('.github and a top action.yml may be read but not changed', () => {
    const paths = [['.github', 'workflows', 'ci.yml'], ['.GitHub'], ['action.yml'], ['Action.YAML']];
    expect(paths.map((path) => refuseComponents(path, 'read', true))).toEqual([null, null, null, null]);
    expect(paths.filter((path) => refuseComponents(path, 'edit', true) === null)).toEqual([]);
    expect(refuseComponents(['sub', 'action.yml'], 'edit', true)).toBeNull();
    expect(refuseComponents(['.github', 'x'], 'edit', false)).toBeNull();
  });

  it('however .git is dressed up, it is refused', () => {
    const dress = fc.record({
      upper: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      invisible: fc.array(fc.constantFrom('', '\u200b', '\u200d', '\u2060', '\ufeff'), {
        minLength: 5,
        maxLength: 5,
      }),
      tail: fc.constantFrom('', '.', ' ', '. .', '::$INDEX_ALLOCATION', ':x'),
    });
    fc.assert(
      fc.property(dress, ({ upper, invisible, tail }) => {
        const letters = [...'.git'].map(
          (c, i) => (invisible[i] ?? '') + (upper[i] === true ? c.toUpperCase() : c),
        );
        expect(refuseComponents(['a', letters.join('') + tail, 'config'], 'read', true)).not.toBeNull();
      }),
    );
  });
});

describe('refuseText', () => {
  it('line breaks, backslashes, emptiness and endless paths cannot be meant', () => {
    expect(
      ['', 'a\nb', 'a\0b', '..\\..\\x', 'a/'.repeat(3000)].filter((path) => refuseText(path) === null),
    ).toEqual([]);
  });

  it('any other text is a path', () => {
    expect(['a', '.', '~/x', 'ünï/cödé', ' a ', '-rf'].map(refuseText)).toEqual([
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
  });
});

it('a path in a sentence is quoted, escaped and short', () => {
  expect(quote('a\n::error::x')).toBe('"a\\n::error::x"');
  expect(quote('x'.repeat(1000))).toHaveLength(202);
});
