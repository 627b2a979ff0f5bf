import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldName, refuseComponents, refuseText } from '../../../src/sandbox/workspace/protected-names.ts';

it.each(['.gitignore', '.gitattributes', '.github', 'git', 'x.git'])('foldName leaves %s', (name) => {
  expect(foldName(name)).toBe(name);
});

describe('refuseComponents', () => {
  it('refuses .git in both trees, at any depth and by its short name', () => {
    const paths = [['.git'], ['a', '.Git', 'config'], ['GIT~1', 'config']];
    const refused = paths.flatMap((path) =>
      [true, false].map((tree) => refuseComponents(path, 'read', tree)),
    );
    expect(refused.every((reason) => reason?.startsWith('the .git folder is closed'))).toBe(true);
  });

  it('refuses to read credential files', () => {
    const names = ['gha-creds-0a1b.json', '.git-credentials', '.netrc'];
    expect(names.map((name) => refuseComponents([name], 'read', true))).toEqual(
      names.map(() => 'it holds credentials, which are closed to this tool'),
    );
  });

  it('allows reading .github and a root action.yml, but not changing them', () => {
    const paths = [['.github', 'workflows', 'ci.yml'], ['.GitHub'], ['action.yml'], ['Action.YAML']];
    expect(paths.map((path) => refuseComponents(path, 'read', true))).toEqual([null, null, null, null]);
    expect(paths.filter((path) => refuseComponents(path, 'edit', true) === null)).toEqual([]);
    expect(refuseComponents(['sub', 'action.yml'], 'edit', true)).toBeNull();
    expect(refuseComponents(['.github', 'x'], 'edit', false)).toBeNull();
  });

  it('refuses every disguise of .git', () => {
    const dress = fc.record({
      upper: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      invisible: fc.array(fc.constantFrom('', '\u200b', '\u200c', '\u2060', '\ufeff'), {
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
  it.each([
    ['an empty text', '', 'the path is empty'],
    ['a text with a line break', 'a\nb', 'control characters'],
    ['a text with a NUL', 'a\0b', 'control characters'],
    ['a text with a backslash', '..\\..\\x', 'backslash'],
    ['a text of 4002 bytes', 'ä/'.repeat(1334), 'too long'],
  ])('refuses %s', (_, path, reason) => {
    expect(refuseText(path)).toContain(reason);
  });

  it('accepts any other text', () => {
    const paths = ['a', '.', '~/x', 'ünï/cödé', ' a ', '-rf', 'a/'.repeat(2000)];
    expect(paths.filter((path) => refuseText(path) !== null)).toEqual([]);
  });
});
