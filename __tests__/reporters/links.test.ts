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
    [{ path: 'sub/src/a (b).js', line: 2 }, '#L2'],
    [{ path: 'a (b).js', line: 2 }, '#L2'],
    [{ file: 'src/a (b).js', line: 2, end_line: 3 }, '#L2-L3'],
    [{ file: 'src/a (b).js', line: 4 }, ''],
    [{ path: 'nope.js', line: 1 }, null],
    [{ path: 'elsewhere.js', line: 1 }, null],
    [{ line: 1 }, null],
  ])('links %j to the file in the repository', (row, lines) => {
    const workspace = make();
    workspace.checkout('sub', 'https://github.com/octo/demo');
    workspace.write('sub/src/a (b).js', 'one\ntwo\nthree\n');
    workspace.write('elsewhere.js', 'x\n');
    const places = { workspace: workspace.root, repositories: ['octo/demo'] };
    const locate = createLocator({ ...places, workingDirectory: 'sub/src' });
    const expected = lines === null ? null : `${PAGE}/src/a%20%28b%29.js${lines}`;
    expect(lineLink(row, subject, SERVER, locate)).toBe(expected);
  });

  it('without a checkout uses the path and line as written, if they can be those of a file', () => {
    expect(lineLink({ path: './a.js', line: 1 }, subject, SERVER)).toBe(`${PAGE}/a.js#L1`);
    const paths = ['../a.js', '/etc/passwd', 'a//b', 'a\\b', 'a\nb', '', 'javascript:alert(1)//'];
    const rows: readonly JsonObject[] = [
      ...paths.map((path) => ({ path, line: 1 })),
      ...[null, 0, 1.5, 'one'].map((line) => ({ path: 'a.js', line })),
      { path: 'a.js' },
    ];
    for (const row of rows) expect(lineLink(row, subject, SERVER), JSON.stringify(row)).toBeNull();
  });

  it('needs a server URL and a valid repository and commit', () => {
    const row = { path: 'a.js', line: 1 };
    expect(lineLink(row, subject, null)).toBeNull();
    for (const other of [null, { ...subject, repository: 'a/b)' }, { ...subject, sha: 'main' }])
      expect(lineLink(row, other, SERVER)).toBeNull();
  });
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

describe('the URLs of a run', () => {
  it('contain its attempt and its commit', () => {
    expect([runPage(subject, 'https://github.com/'), commitPage(subject, 'https://ghe.example')]).toEqual([
      'https://github.com/octo/demo/actions/runs/42/attempts/1',
      `https://ghe.example/octo/demo/commit/${subject.sha}`,
    ]);
  });

  it.each([
    { repository: 'octo/demo) [x](https://evil.example' },
    { repository: 'octo' },
    { run_id: '42)', sha: 'abc)' },
    { run_id: '', sha: '' },
    null,
  ])('are null for %j', (changes) => {
    const odd = changes === null ? null : { ...subject, ...changes };
    const urls = [runPage(odd, SERVER), commitPage(odd, SERVER), runPage(subject, null)];
    expect(urls).toEqual([null, null, null]);
  });
});
