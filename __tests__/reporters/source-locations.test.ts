import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asWritten } from '../../src/reporters/links.ts';
import {
  createLocator,
  isCheckedOut,
  locateByEvidence,
  resolvedPaths,
  resolveFindings,
  type SourceLocation,
  sourceFile,
} from '../../src/reporters/source-locations.ts';
import type { JsonObject } from '../../src/types.ts';
import { locator, type Workspace, workspaces } from './workspace-world.ts';

const make = workspaces();
const OURS = 'https://github.com/octo/demo';
const FOREIGN = 'https://github.com/octo/tools.git';
const pathIn = (workspace: Workspace, options: Parameters<typeof locator>[1], written: string) =>
  locator(workspace, options)(written)?.path ?? null;

describe('a path in a payload', () => {
  function usual() {
    const workspace = make();
    workspace.checkout('.', OURS);
    const files = ['src/a b.js', 'README.md', 'packages/api/README.md', 'packages/api/src/x.js', 'a/diff.js'];
    for (const file of files) workspace.write(file, 'one\ntwo\n');
    return workspace;
  }

  it.each([
    ['./src//a b.js', 'src/a b.js'],
    ['src/../src/a b.js', 'src/a b.js'],
    ['.\\src\\a b.js', 'src/a b.js'],
    ['a/src/a b.js', 'src/a b.js'],
    ['/src/a b.js', 'src/a b.js'],
    ['a/diff.js', 'a/diff.js'],
    ['b/a/diff.js', 'a/diff.js'],
    ['README.md', 'README.md'],
    ['src/x.js', 'packages/api/src/x.js'],
    ['../../README.md', 'README.md'],
  ])('%j is resolved to the file %j of the repository', (written, file) => {
    expect(pathIn(usual(), { from: 'packages/api' }, written)).toBe(file);
  });

  it('can be absolute, or lead through a link inside the repository', () => {
    const workspace = usual();
    symlinkSync('src', path.join(workspace.root, 'link'));
    for (const written of [path.join(workspace.root, 'src/a b.js'), 'link/a b.js'])
      expect(pathIn(workspace, {}, written)).toBe('src/a b.js');
  });

  it.each([
    [['packages/api/README.md', 'src/x.js'], 'packages/api/README.md'],
    [['packages/api/README.md', 'README.md'], 'README.md'],
    [['src/x.js'], 'README.md'],
    [[], 'README.md'],
  ])('that exists twice is resolved to the changed file: %j', (changed, file) => {
    expect(pathIn(usual(), { from: 'packages/api', changed: new Set(changed) }, 'README.md')).toBe(file);
  });

  it('is null unless it is a regular file in the workspace and outside .git', () => {
    const workspace = usual();
    const outside = make();
    symlinkSync(outside.write('secret', 'x\n'), path.join(workspace.root, 'out'));
    symlinkSync(outside.root, path.join(workspace.root, 'folder'));
    symlinkSync('.git', path.join(workspace.root, 'inside'));
    symlinkSync('loop', path.join(workspace.root, 'loop'));
    writeFileSync(path.join(workspace.root, 'line\nend'), 'x\n');
    symlinkSync('line\nend', path.join(workspace.root, 'odd'));
    const names =
      '. src nope.js /etc/passwd ../../etc/passwd ../x out folder/secret loop odd README.md/x C:\\x \0 ~ .git/config inside/config .GIT/config';
    const locate = locator(workspace);
    for (const written of ['', ...names.split(' ')]) expect(locate(written), written).toBeNull();
    for (const from of ['/', '..', 'nope', 'folder'])
      expect(pathIn(workspace, { from }, 'README.md')).toBe('README.md');
  });

  it('never throws and never resolves outside the repository', () => {
    const locate = locator(usual());
    const part = fc.constantFrom('a b.js', '', ...'.. . src .git HEAD a README.md \\ \ud800 ~'.split(' '));
    const written = fc.array(part, { maxLength: 8 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.oneof(written, fc.string({ unit: 'binary' })), fc.integer(), (each, line) => {
        const place = locate(each, line);
        if (place !== null) expect(['src/a b.js', 'README.md', 'a/diff.js']).toContain(place.path);
      }),
    );
  });

  const linesOf = (place: SourceLocation | null) => [place?.line, place?.endLine, place?.column];
  it.each<[string, readonly (number | null)[], readonly (number | null)[]]>([
    ['one\ntwo\nthree', [2, 3, 3], [2, 3, 3]],
    ['one\ntwo\nthree', [3, 9, null], [3, null, null]],
    ['one\ntwo\nthree', [1, 9, 4], [1, 3, null]],
    ['one\ntwo\n', [3, 4, 1], [null, null, null]],
    ['', [1, null, null], [null, null, null]],
    ['\n'.repeat(300_001), [1, null, null], [null, null, null]],
    ['x'.repeat(10 * 1024 * 1024 + 1), [1, null, null], [null, null, null]],
  ])('keeps the lines that the file has: %#', (text, [line, endLine, column], kept) => {
    const workspace = make();
    workspace.write('x.js', text);
    expect(linesOf(locator(workspace)('x.js', line, endLine, column))).toEqual(kept);
  });
});

describe('a checkout', () => {
  it('in a subdirectory has paths relative to its own root', () => {
    const workspace = make();
    workspace.checkout('sub', OURS);
    workspace.write('sub/src/x.js', 'x\n');
    workspace.write('other.js', 'x\n');
    for (const from of ['.', 'sub', 'sub/src']) {
      const found = ['src/x.js', 'sub/src/x.js', 'other.js'].map((each) => pathIn(workspace, { from }, each));
      expect(found).toEqual(['src/x.js', 'src/x.js', null]);
    }
    workspace.write('sub/README.md', 'root\n');
    workspace.write('sub/src/README.md', 'src\n');
    const changed = (...files: string[]) => ({ from: 'sub/src', changed: new Set(files) });
    expect(pathIn(workspace, changed('src/README.md'), 'README.md')).toBe('src/README.md');
    expect(pathIn(workspace, changed('sub/src/README.md'), 'README.md')).toBe('README.md');
  });

  it.each([
    'https://github.com/Octo/Demo.git',
    'git@github.com:octo/demo.git',
    'ssh://git@github.example:22/octo/demo/',
    'https://x-access-token:abc@github.com/octo/demo',
  ])('with the remote %j is recognized among several checkouts', (url) => {
    const workspace = make();
    workspace.checkout('deep/er/demo', url);
    workspace.checkout('tools', FOREIGN);
    for (const file of ['deep/er/demo/both.js', 'tools/both.js', 'tools/only.js'])
      workspace.write(file, 'x\n');
    const found = ['both.js', 'tools/both.js', 'tools/only.js', 'only.js'].map((each) =>
      pathIn(workspace, {}, each),
    );
    expect(found).toEqual(['both.js', null, null, null]);
  });

  it.each<[string, string | undefined, readonly string[], string | null]>([
    ['of a fork', 'https://github.com/someone/fork', ['octo/demo', 'someone/fork'], 'x.js'],
    ['of another repository', 'https://github.com/someone/fork', ['octo/demo'], null],
    ['of a mirror', '/srv/mirrors/any.git', ['octo/demo'], 'x.js'],
    ['of a mirror with a URL', 'file:///srv/mirrors/any.git', ['octo/demo'], 'x.js'],
    ['without a remote', undefined, ['octo/demo'], 'x.js'],
  ])('%s is the judged one if it can be: %s, of %j', (_, url, names, found) => {
    const workspace = make();
    workspace.checkout('sub', url);
    workspace.write('sub/x.js', 'x\n');
    expect(pathIn(workspace, { names }, 'sub/x.js')).toBe(found);
  });

  it('nested in another checkout is not part of it', () => {
    const workspace = make();
    workspace.checkout('.', OURS);
    workspace.checkout('vendor/lib', FOREIGN);
    workspace.checkout('fixtures/repo');
    workspace.write('.git/modules/sub/HEAD', 'x');
    workspace.write('.git/modules/sub/config', `[remote "origin"]\nurl = ${FOREIGN}\n`);
    workspace.write('sub/.git', 'gitdir: ../.git/modules/sub\n');
    // A folder named .git alone makes no checkout.
    workspace.write('src/.git/odd', 'x');
    const folders = ['vendor/lib', 'fixtures/repo', 'sub', 'src'];
    for (const folder of folders) workspace.write(`${folder}/x.js`, 'x\n');
    expect(folders.map((folder) => pathIn(workspace, {}, `${folder}/x.js`))).toEqual([
      null,
      null,
      null,
      'src/x.js',
    ]);
  });

  it('that is a linked worktree has the remotes of its repository', () => {
    const workspace = make();
    workspace.checkout('main', OURS);
    workspace.write('main/.git/worktrees/two/HEAD', 'x');
    workspace.write('main/.git/worktrees/two/commondir', '../..\n');
    workspace.write('two/.git', `gitdir: ${workspace.root}/main/.git/worktrees/two\n`);
    workspace.write('two/x.js', 'x\n');
    expect(pathIn(workspace, {}, 'two/x.js')).toBe('x.js');
  });

  it('whose config is a link counts as one without a remote', () => {
    const workspace = make();
    workspace.write('.git/HEAD', 'ref: refs/heads/main\n');
    workspace.write('x.js', 'x\n');
    symlinkSync('/dev/zero', path.join(workspace.root, '.git/config'));
    expect(pathIn(workspace, {}, 'x.js')).toBe('x.js');
  });

  it('is there if the repository of the run is checked out at the root or below it', () => {
    const [empty, below, other, plain] = [make(), make(), make(), make()];
    empty.write('verdicts/api/result.json', '{}');
    below.checkout('src', OURS);
    other.checkout('src', 'https://github.com/octo/other');
    plain.checkout('.');
    const found = [empty, below, other, plain].map(({ root }) =>
      isCheckedOut({ workspace: root, repositories: ['octo/demo'] }),
    );
    expect(found).toEqual([false, true, false, true]);
  });
});

describe('the evidence of findings', () => {
  /** Finds files in two packages, from one of them. */
  function monorepo() {
    const workspace = make();
    workspace.checkout('.', OURS);
    workspace.write('packages/api/index.js', 'one\ntwo\n');
    workspace.write('packages/web/index.js', 'one\n');
    const places = { workspace: workspace.root, repositories: ['octo/demo'] };
    return createLocator({ ...places, workingDirectory: 'packages/api' });
  }
  const failures = [{ test: 'adds', path: 'index.js' }, { test: 'subtracts' }];

  it.each<[string, JsonObject, readonly (string | null)[]]>([
    [
      'one entry for each row',
      {
        findings: [
          { path: 'index.js', line: 1, message: 'in the working directory' },
          { path: 'packages/web/index.js:1', message: 'from the root' },
          { path: 'gone.js', message: 'nowhere' },
          { message: 'about no file' },
          { path: '/etc/passwd', message: 'outside' },
          { path: 'x'.repeat(1_000_000), message: 'long' },
          'no object',
        ],
      },
      ['packages/api/index.js', 'packages/web/index.js', null, null, null, null, null],
    ],
    ['the only list with file names', { failures, numbers: [1, 2] }, ['packages/api/index.js', null]],
    ['none of two lists with file names', { failures, others: [{ path: 'index.js', message: 'x' }] }, []],
    ['no list beside `findings`', { findings: [], failures }, []],
  ])('has %s', (_, payload, paths) => {
    expect(resolveFindings(payload, monorepo()).map((each) => each.path)).toEqual(paths);
  });

  it('maps each written path to its resolved path, unless the numbers of entries differ', () => {
    const payload = {
      findings: [
        { path: 'index.js:1', message: 'x' },
        { path: 'gone.js', message: 'y' },
      ],
    };
    const resolved = resolvedPaths(payload, [{ path: 'packages/api/index.js' }, { path: null }]);
    expect([...resolved]).toEqual([
      ['index.js', 'packages/api/index.js'],
      ['gone.js', null],
    ]);
    expect(resolvedPaths(payload, [{ path: 'a' }]).size).toBe(0);
  });

  it('decides where a finding is, and else the file is searched for', () => {
    const payload = { findings: [{ path: 'index.js', line: 2, message: 'x' }] };
    const written = { path: 'index.js', line: 2, endLine: null, column: null };
    const locate = monorepo();
    const find = (found: string | null | undefined, by = locate) => {
      const findings = [{ path: found ?? null }];
      const evidence = found === undefined ? null : ({ context: 'none', toolCalls: 1, findings } as const);
      return locateByEvidence({ payload, evidence }, by)(written);
    };
    const web = 'packages/web/index.js';
    expect(find(web)).toMatchObject({ path: web, line: null });
    expect(find(web, asWritten)).toMatchObject({ path: web, line: 2 });
    expect(find(null)).toBeNull();
    expect(find(undefined)).toMatchObject({ path: 'packages/api/index.js', line: 2 });
  });
});

describe('sourceFile', () => {
  it('counts lines like git: a final line break starts no new line', () => {
    const texts = ['', '\n', 'a', 'a\n', 'a\r\nb', '\n\n', 'a\n\nb\n'];
    expect(texts.map((text) => sourceFile(text).lineCount)).toEqual([0, 1, 1, 1, 2, 2, 3]);
  });

  it('returns lines without line breaks, and the number of equal lines above', () => {
    const source = sourceFile('a();\r\nb();\n  a();\na ();\n');
    const lines = ['', 'a();', 'b();', '  a();', 'a ();', ''];
    expect([0, 1, 2, 3, 4, 9].map((number) => source.line(number))).toEqual(lines);
    expect([1, 2, 3, 4, 5].map((number) => source.sameAbove(number))).toEqual([0, 0, 1, 2, 0]);
  });
});
