import { describe, expect, it } from 'vitest';
import { commitPage, lineLink, pathKey, runPage, urlPath } from '../../src/reporters/links.ts';
import { createLocator } from '../../src/reporters/source-locations.ts';
import type { JsonObject, Subject } from '../../src/types.ts';
import { sampleReport } from './sample-report.ts';
import { workspaces } from './workspace-world.ts';

const make = workspaces();
const subject = sampleReport().subject as Subject;
const SERVER = 'https://github.com';
const PAGE = `https://github.com/octo/demo/blob/${subject.sha}`;

describe('lineLink', () => {
  it.each<[JsonObject, string | null]>([
    [{ path: 'a (b).js', line: 2 }, '#L2'],
    [{ file: 'src/a (b).js', line: 1, end_line: 2 }, '#L1-L2'],
    [{ file: 'src/a (b).js', line: 4 }, ''],
    [{ path: 'nope.js', line: 1 }, null],
    [{ line: 1 }, null],
  ])('links %j to the file in the repository', (row, lines) => {
    const workspace = make();
    workspace.checkout('sub');
    workspace.write('sub/src/a (b).js');
    const locate = createLocator({ workspace: workspace.root, workingDirectory: 'sub/src' });
    const expected = lines === null ? null : `${PAGE}/src/a%20%28b%29.js${lines}`;
    expect(lineLink(row, subject, SERVER, locate)).toBe(expected);
  });

  it('without a checkout uses the path and line as written, if they can be those of a file', () => {
    expect(lineLink({ path: './a.js', line: 1 }, subject, SERVER)).toBe(`${PAGE}/a.js#L1`);
    const paths = ['../a.js', '/etc/passwd', 'a//b', 'a\\b', 'a/./b', 'javascript:alert(1)//'];
    const rows: readonly JsonObject[] = [...paths.map((path) => ({ path, line: 1 })), { path: 'a.js' }];
    for (const row of rows) expect(lineLink(row, subject, SERVER), JSON.stringify(row)).toBeNull();
  });
});

it('pages need a server and a commit, which another job may have named', () => {
  const row = { path: 'a.js', line: 1 };
  expect([runPage(subject, SERVER), commitPage(subject, SERVER)]).toEqual([
    'https://github.com/octo/demo/actions/runs/42/attempts/1',
    `https://github.com/octo/demo/commit/${subject.sha}`,
  ]);
  expect([runPage(null, SERVER), runPage(subject, null)]).toEqual([null, null]);
  for (const other of [null, { ...subject, sha: 'main' }, { ...subject, sha: `${subject.sha})` }])
    expect([commitPage(other, SERVER), lineLink(row, other, SERVER)]).toEqual([null, null]);
  expect([commitPage(subject, null), lineLink(row, subject, null)]).toEqual([null, null]);
});

it('pathKey returns the property that names the file', () => {
  const keys = [{ file: 'a' }, { path: 3, file: 'a' }, { path: '' }].map((row) => pathKey(row));
  expect(keys).toEqual(['file', 'file', null]);
});

it('urlPath encodes everything except slashes', () => {
  expect(urlPath("a/b c/d:e#?%&[](!'*)<>\u{1F600}\ud800")).toBe(
    'a/b%20c/d%3Ae%23%3F%25%26%5B%5D%28%21%27%2a%29%3C%3E%F0%9F%98%80%EF%BF%BD',
  );
});
