import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isCheckedOut, type SourceLocation, sourceFile } from '../../src/reporters/source-locations.ts';
import { locator, workspaces } from './workspace-world.ts';

const make = workspaces();
const OURS = 'https://github.com/octo/demo';

const short = (place: SourceLocation | null) => (place === null ? null : [place.path, place.line]);

describe('a written path', () => {
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
  ])('%j is the file %j of the repository', (written, file) => {
    expect(locator(usual(), { from: 'packages/api' })(written)?.path).toBe(file);
  });

  it('that exists at the root and in the working directory is the one that the change touches', () => {
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

  it('is compared with changed files as git names them, also where the repository lies below the workspace', () => {
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

  it('may be absolute', () => {
    const workspace = usual();
    expect(locator(workspace)(path.join(workspace.root, 'src/a b.js'))?.path).toBe('src/a b.js');
  });

  it('is nothing where no regular file is, inside the workspace and outside of .git', () => {
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

  it('is the file that a link inside the repository leads to', () => {
    const workspace = usual();
    symlinkSync('src', path.join(workspace.root, 'link'));
    expect(locator(workspace)('link/a b.js')?.path).toBe('src/a b.js');
  });

  it('is the workspace’s own file where the agent worked somewhere else', () => {
    const workspace = usual();
    for (const from of ['/', '..', 'nope', path.join(workspace.root, 'src')])
      expect(locator(workspace, { from })('README.md')?.path).toBe('README.md');
  });

  it('never throws and never leaves the repository, whatever it is', () => {
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

describe('a line', () => {
  const workspaceOf = (text: string) => {
    const workspace = make();
    workspace.checkout('.', OURS);
    workspace.write('x.js', text);
    return locator(workspace);
  };
  const lines = (place: SourceLocation | null) => [place?.line, place?.endLine, place?.column];

  it('is kept where the file has it, its end and column too', () => {
    const locate = workspaceOf('one\ntwo\nthree');
    expect(lines(locate('x.js', 2, 3, 3))).toEqual([2, 3, 3]);
    expect(lines(locate('x.js', 3, 9))).toEqual([3, null, null]);
    expect(lines(locate('x.js', 1, 9, 4))).toEqual([1, 3, null]);
    expect(lines(locate('x.js', 1, 1, 1))).toEqual([1, null, 1]);
  });

  it('that is not there leaves the file', () => {
    const locate = workspaceOf('one\ntwo\n');
    expect(short(locate('x.js', 3, 4, 1))).toEqual(['x.js', null]);
    expect(short(workspaceOf('')('x.js', 1))).toEqual(['x.js', null]);
  });

  it('is not told of a file that is too large to count', () => {
    const large = workspaceOf('x'.repeat(10 * 1024 * 1024 + 1))('x.js', 1);
    expect([short(large), large?.source]).toEqual([['x.js', null], null]);
    expect(short(workspaceOf('\n'.repeat(300_001))('x.js', 1))).toEqual(['x.js', null]);
  });
});

describe('isCheckedOut', () => {
  const names = { repositories: ['octo/demo'] };

  it('is whether the judged repository is there, at the root or below it', () => {
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
  it('counts lines as git does: a line end at the end begins no further line', () => {
    const counts = ['', '\n', 'a', 'a\n', 'a\r\nb', '\n\n', 'a\n\nb\n'].map(
      (text) => sourceFile(text).lineCount,
    );
    expect(counts).toEqual([0, 1, 1, 1, 2, 2, 3]);
  });

  it('gives lines without their ends, and nothing for lines that are not there', () => {
    const source = sourceFile('one\r\n two \nthree');
    const lines = [0, 1, 2, 3, 4, 9].map((number) => source.line(number));
    expect(lines).toEqual(['', 'one', ' two ', 'three', '', '']);
  });

  it('tells equal lines apart by those above, blanks aside', () => {
    const source = sourceFile('a();\nb();\n  a();\na ();\n');
    expect([1, 2, 3, 4, 5].map((number) => source.sameAbove(number))).toEqual([0, 0, 1, 2, 0]);
  });
});
