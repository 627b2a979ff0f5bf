import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCheckedOut, type SourceLocation, sourceFile } from '../../src/reporters/source-locations.ts';
import { locator, workspaces } from './workspace-world.ts';

const make = workspaces();
const OURS = 'https://github.com/octo/demo';

const short = (place: SourceLocation | null) => (place === null ? null : [place.path, place.line]);

describe('a path in a payload', () => {
  function usual() {
    const workspace = make();
    workspace.checkout('.', OURS);
    workspace.write('src/a b.js', 'one\ntwo\n');
    workspace.write('README.md', 'root\n');
    workspace.write('packages/api/README.md', 'api\n');
    workspace.write('packages/api/src/x.js', 'x\n');
    workspace.write('a/diff.js', 'd\n');
    return workspace;
  }

  it.each([
    ['src/a b.js', 'src/a b.js'],
    ['./src//a b.js', 'src/a b.js'],
    ['src/../src/a b.js', 'src/a b.js'],
    ['src\\a b.js', 'src/a b.js'],
    ['.\\src\\a b.js', 'src/a b.js'],
    ['a/src/a b.js', 'src/a b.js'],
    ['b/src/a b.js', 'src/a b.js'],
    ['/src/a b.js', 'src/a b.js'],
    ['a/diff.js', 'a/diff.js'],
    ['b/a/diff.js', 'a/diff.js'],
    ['README.md', 'README.md'],
    ['packages/api/src/x.js', 'packages/api/src/x.js'],
    ['src/x.js', 'packages/api/src/x.js'],
    ['../../README.md', 'README.md'],
  ])('%j is resolved to the file %j of the repository', (written, file) => {
    expect(locator(usual(), { from: 'packages/api' })(written)?.path).toBe(file);
  });

  it('that exists at the root and in the working directory is resolved to the changed file', () => {
    const find = (changed?: readonly string[]) =>
      locator(usual(), {
        from: 'packages/api',
        ...(changed === undefined ? {} : { changed: new Set(changed) }),
      })('README.md')?.path;
    expect(find(['packages/api/README.md', 'src/x.js'])).toBe('packages/api/README.md');
    expect(find(['packages/api/README.md', 'README.md'])).toBe('README.md');
    expect(find(['src/x.js'])).toBe('README.md');
    expect(find([])).toBe('README.md');
    expect(find()).toBe('README.md');
  });

  it('is compared with changed files relative to the repository, also when it is below the workspace', () => {
    const workspace = make();
    workspace.checkout('sub', OURS);
    workspace.write('sub/README.md', 'root\n');
    workspace.write('sub/packages/api/README.md', 'api\n');
    const from = 'sub/packages/api';
    const find = (...changed: string[]) =>
      locator(workspace, { from, changed: new Set(changed) })('README.md')?.path;
    expect(find('packages/api/README.md')).toBe('packages/api/README.md');
    expect(find('sub/packages/api/README.md')).toBe('README.md');
  });

  it('can be absolute', () => {
    const workspace = usual();
    expect(locator(workspace)(path.join(workspace.root, 'src/a b.js'))?.path).toBe('src/a b.js');
  });

  it('is resolved to null unless it is a regular file in the workspace and outside .git', () => {
    const workspace = usual();
    symlinkSync('/etc/passwd', path.join(workspace.root, 'out'));
    symlinkSync('.git', path.join(workspace.root, 'inside'));
    symlinkSync('loop', path.join(workspace.root, 'loop'));
    writeFileSync(path.join(workspace.root, 'line\nend'), 'x\n');
    symlinkSync('line\nend', path.join(workspace.root, 'odd'));
    const locate = locator(workspace);
    const names =
      '. src nope.js src/nope.js /etc/passwd ../../etc/passwd ../x out loop odd README.md/x C:\\x \0 ~';
    const written = ['', ...names.split(' '), '.git/config', 'inside/config', '.GIT/config'];
    expect(written.map((each) => locate(each))).toEqual(written.map(() => null));
  });

  it('is resolved through a link inside the repository', () => {
    const workspace = usual();
    symlinkSync('src', path.join(workspace.root, 'link'));
    expect(locator(workspace)('link/a b.js')?.path).toBe('src/a b.js');
  });

  it('is resolved from the workspace root when the working directory is outside the workspace', () => {
    const workspace = usual();
    for (const from of ['/', '..', 'nope', path.join(workspace.root, 'src')])
      expect(locator(workspace, { from })('README.md')?.path).toBe('README.md');
  });

  it('never throws and never resolves outside the repository', () => {
    const workspace = usual();
    const locate = locator(workspace);
    const part = fc.constantFrom('a b.js', '', ...'.. . src .git HEAD a README.md \\ \ud800 ~'.split(' '));
    const written = fc.array(part, { maxLength: 8 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.oneof(written, fc.string({ unit: 'binary' })), fc.integer(), (each, line) => {
        const place = locate(each, line);
        if (place === null) return;
        expect(['src/a b.js', 'README.md', 'a/diff.js']).toContain(place.path);
      }),
    );
  });
});

describe('a line in a payload', () => {
  const workspaceOf = (text: string) => {
    const workspace = make();
    workspace.checkout('.', OURS);
    workspace.write('x.js', text);
    return locator(workspace);
  };
  const lines = (place: SourceLocation | null) => [place?.line, place?.endLine, place?.column];

  it('is kept with its end and column when the file has it', () => {
    const locate = workspaceOf('one\ntwo\nthree');
    expect(lines(locate('x.js', 2, 3, 3))).toEqual([2, 3, 3]);
    expect(lines(locate('x.js', 3, 9))).toEqual([3, null, null]);
    expect(lines(locate('x.js', 1, 9, 4))).toEqual([1, 3, null]);
    expect(lines(locate('x.js', 1, 1, 1))).toEqual([1, null, 1]);
  });

  it('that does not exist is dropped and the file is kept', () => {
    const locate = workspaceOf('one\ntwo\n');
    expect(short(locate('x.js', 3, 4, 1))).toEqual(['x.js', null]);
    expect(short(workspaceOf('')('x.js', 1))).toEqual(['x.js', null]);
  });

  it('is dropped when the file is too large to count lines', () => {
    const large = workspaceOf('x'.repeat(10 * 1024 * 1024 + 1))('x.js', 1);
    expect([short(large), large?.source]).toEqual([['x.js', null], null]);
    expect(short(workspaceOf('\n'.repeat(300_001))('x.js', 1))).toEqual(['x.js', null]);
  });
});

describe('isCheckedOut', () => {
  const names = { repositories: ['octo/demo'] };

  it('is true when the repository of the run is checked out at the root or below it', () => {
    const [empty, below, other, plain] = [make(), make(), make(), make()];
    empty.write('verdicts/api/result.json', '{}');
    below.checkout('src', 'https://github.com/octo/demo');
    other.checkout('src', 'https://github.com/octo/other');
    plain.checkout('.');
    expect(
      [empty, below, other, plain].map(({ root }) => isCheckedOut({ workspace: root, ...names })),
    ).toEqual([false, true, false, true]);
  });
});

describe('sourceFile', () => {
  it('counts lines like git: a final line break starts no new line', () => {
    const counts = ['', '\n', 'a', 'a\n', 'a\r\nb', '\n\n', 'a\n\nb\n'].map(
      (text) => sourceFile(text).lineCount,
    );
    expect(counts).toEqual([0, 1, 1, 1, 2, 2, 3]);
  });

  it('returns lines without line breaks and an empty string for missing lines', () => {
    const source = sourceFile('one\r\n two \nthree');
    const lines = [0, 1, 2, 3, 4, 9].map((number) => source.line(number));
    expect(lines).toEqual(['', 'one', ' two ', 'three', '', '']);
  });

  it('distinguishes equal lines by the number of equal lines above, ignoring whitespace', () => {
    const source = sourceFile('a();\nb();\n  a();\na ();\n');
    expect([1, 2, 3, 4, 5].map((number) => source.sameAbove(number))).toEqual([0, 0, 1, 2, 0]);
  });
});
