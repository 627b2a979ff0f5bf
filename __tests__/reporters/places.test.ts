import { symlinkSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  commitPage,
  createLocator,
  findCheckout,
  lineLink,
  locateByEvidence,
  resolveFindings,
  runPage,
} from '../../src/reporters/places.ts';
import type { JsonObject, Subject } from '../../src/types.ts';
import { anyCharacter } from '../support/surroundings.ts';
import { placeAt as place, sampleReport } from './sample-report.ts';
import { type Workspace, workspaces } from './workspace-world.ts';

const make = workspaces();
const locator = ({ root }: Workspace, workingDirectory = '.', changed: readonly string[] = []) =>
  createLocator(root, workingDirectory, new Set(changed));
const pathIn = (workspace: Workspace, from: string, written: string, changed: readonly string[] = []) =>
  locator(workspace, from, changed)(place(written))?.path ?? null;

/** A monorepo. */
function usual(): Workspace {
  const workspace = make();
  workspace.checkout('.');
  const files = ['src/a b.js', 'README.md', 'packages/api/README.md', 'packages/api/src/x.js'];
  for (const file of files) workspace.write(file);
  return workspace;
}

describe('a path in a payload', () => {
  it.each<[string, string | null, readonly string[]]>([
    ['./src//a b.js', 'src/a b.js', []],
    ['src/../src/a b.js', 'src/a b.js', []],
    ['src/x.js', 'packages/api/src/x.js', []],
    ['../../src/a b.js', 'src/a b.js', []],
    ['README.md', 'README.md', []],
    ['README.md', 'README.md', ['src/x.js']],
    ['README.md', 'README.md', ['packages/api/README.md', 'README.md']],
    ['README.md', 'packages/api/README.md', ['packages/api/README.md', 'src/x.js']],
  ])('%j means the file %j in a change of %j', (written, file, changed) => {
    expect(pathIn(usual(), 'packages/api', written, changed)).toBe(file);
  });

  it('can be absolute, or lead through a link inside the repository', () => {
    const workspace = usual();
    symlinkSync('src', path.join(workspace.root, 'link'));
    for (const written of [path.join(workspace.root, 'src/a b.js'), 'link/a b.js'])
      expect(pathIn(workspace, '.', written)).toBe('src/a b.js');
  });

  it('is null unless it is a regular file in the repository and outside .git', () => {
    const workspace = usual();
    workspace.checkout('vendor/lib');
    workspace.write('vendor/lib/x.js');
    workspace.write('sub/.git', 'gitdir: ../.git/modules/sub\n');
    workspace.write('sub/x.js');
    workspace.write('line\nend');
    workspace.write('.GIT/HEAD');
    const outside = make();
    const links = { out: outside.write('secret'), folder: outside.root, inside: '.git', odd: 'line\nend' };
    for (const [name, target] of Object.entries({ ...links, loop: 'loop' }))
      symlinkSync(target, path.join(workspace.root, name));
    const names =
      '. src nope.js /etc/passwd ../../etc/passwd ../x out folder/secret loop odd README.md/x \0 ~ .git/HEAD inside/HEAD .GIT/HEAD vendor/lib/x.js sub/x.js';
    const locate = locator(workspace);
    for (const written of ['', 'x'.repeat(1_000_000), ...names.split(' ')])
      expect(locate(place(written)), written).toBeNull();
    for (const from of ['/', '..', 'nope', 'folder'])
      expect(pathIn(workspace, from, 'README.md')).toBe('README.md');
  });

  it('never throws and never leads outside the repository', () => {
    const locate = locator(usual());
    const part = fc.constantFrom('a b.js', '', ...'.. . src .git HEAD README.md \\ \ud800 ~'.split(' '));
    const written = fc.array(part, { maxLength: 8 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.oneof(written, fc.string({ unit: anyCharacter })), fc.integer(), (each, line) => {
        expect([undefined, 'src/a b.js', 'README.md']).toContain(locate(place(each, line))?.path);
      }),
    );
  });

  it.each<[string, readonly [number, number | null], readonly [number | null, number | null]]>([
    ['one\ntwo\nthree', [2, 3], [2, 3]],
    ['one\ntwo\nthree', [3, 9], [3, null]],
    ['one\ntwo\nthree', [1, 9], [1, 3]],
    ['one\ntwo\n', [3, 4], [null, null]],
    ['', [1, null], [null, null]],
    ['x'.repeat(10 * 1024 * 1024 + 1), [1, null], [null, null]],
  ])('keeps the lines that the file has: %#', (text, [line, endLine], [keptLine, keptEnd]) => {
    const workspace = make();
    workspace.write('x.js', text);
    expect(locator(workspace)(place('x.js', line, endLine))).toEqual(place('x.js', keptLine, keptEnd));
  });
});

it.each<[string, readonly string[], string, string | null]>([
  ['is around the working directory', ['.', 'sub', 'other'], 'sub/src', 'sub'],
  ['is the nearest one', ['.', 'sub/src'], 'sub/src', 'sub/src'],
  ['is the only one in a folder of the workspace', ['sub'], '.', 'sub'],
  ['is not known if there are two', ['sub', 'other'], '.', null],
  ['is not outside', [], 'sub', null],
])('the judged checkout %s: of %j from %s', (_, folders, from, found) => {
  const workspace = make();
  workspace.checkout(...folders);
  workspace.write('sub/src/x.js');
  // A folder named .git alone makes no checkout.
  workspace.write('odd/.git/x');
  const checkout = findCheckout(path.join(workspace.root, from), workspace.root);
  expect(checkout).toBe(found === null ? null : path.join(workspace.root, found));
});

it('the judged checkout is not known in a workspace that is not a folder', () => {
  for (const odd of [make().write('x.js'), '/nowhere']) expect(findCheckout(odd, odd)).toBeNull();
});

describe('the evidence of findings', () => {
  const failures = [{ test: 'adds', path: 'src/x.js' }, { test: 'subtracts' }];
  const paths = ['src/x.js', 'README.md:1', 'gone.js'].map((path) => ({ path }));
  const findings = [...paths, { message: 'about no file' }, 'no object'];

  it.each<[string, JsonObject, readonly (string | null)[]]>([
    ['one entry for each row', { findings }, ['packages/api/src/x.js', 'README.md', null, null, null]],
    ['the only list with file names', { failures, numbers: [1, 2] }, ['packages/api/src/x.js', null]],
    ['none of two lists with file names', { failures, others: [{ path: 'x', message: 'x' }] }, []],
    ['no list beside `findings`', { findings: [], failures }, []],
  ])('has %s', (_, payload, paths) => {
    const locate = locator(usual(), 'packages/api');
    expect(resolveFindings(payload, locate).map((each) => each.path)).toEqual(paths);
  });

  it('decides where a file is that exists twice', () => {
    const locate = locator(usual(), 'packages/api', ['packages/api/README.md']);
    const findings = [{ path: 'README.md' }];
    const evidence = { context: 'none', toolCalls: 1, findings } as const;
    const find = locateByEvidence({ evidence }, locate);
    expect([find(place('README.md', 2)), locate(place('README.md', 2))]).toEqual([
      place('README.md', 2),
      place('packages/api/README.md', 2),
    ]);
  });
});

describe('a link', () => {
  const subject = sampleReport().subject as Subject;
  const SERVER = 'https://github.com';
  const PAGE = `https://github.com/octo/demo/blob/${subject.sha}`;

  it.each<[JsonObject, string | null]>([
    [{ path: 'a (b).js', line: 2 }, '#L2'],
    [{ file: 'src/a (b).js', line: 1, end_line: 2 }, '#L1-L2'],
    [{ file: 'src/a (b).js', line: 4 }, ''],
    [{ path: 'nope.js', line: 1 }, null],
    [{ line: 1 }, null],
  ])('of %j leads to the file in the repository', (row, lines) => {
    const workspace = make();
    workspace.checkout('sub');
    workspace.write('sub/src/a (b).js');
    const expected = lines === null ? null : `${PAGE}/src/a%20%28b%29.js${lines}`;
    expect(lineLink(row, subject, SERVER, locator(workspace, 'sub/src'))).toBe(expected);
  });

  it('without a checkout has the path and line as written, if they can be those of a file', () => {
    expect(lineLink({ path: './a.js', line: 1 }, subject, SERVER)).toBe(`${PAGE}/a.js#L1`);
    const paths = ['../a.js', '/etc/passwd', 'a//b', 'a\\b', 'a/./b', 'javascript:alert(1)//'];
    const rows: readonly JsonObject[] = [...paths.map((path) => ({ path, line: 1 })), { path: 'a.js' }];
    for (const row of rows) expect(lineLink(row, subject, SERVER), JSON.stringify(row)).toBeNull();
  });

  it('needs a server and a commit, which another job may have named', () => {
    const row = { path: 'a.js', line: 1 };
    expect([runPage(subject, SERVER), commitPage(subject, SERVER)]).toEqual([
      'https://github.com/octo/demo/actions/runs/42/attempts/1',
      `https://github.com/octo/demo/commit/${subject.sha}`,
    ]);
    for (const page of [runPage(null, SERVER), runPage(subject, null), commitPage(subject, null)])
      expect(page).toBeNull();
    for (const sha of ['main', `${subject.sha})`])
      expect(lineLink(row, { ...subject, sha }, SERVER)).toBeNull();
  });
});
