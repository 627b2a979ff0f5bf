import { describe, expect, it } from 'vitest';
import { commitPage, lineLink, pathKey, runPage, urlPath } from '../../src/reporters/links.ts';
import { createLocator } from '../../src/reporters/source-locations.ts';
import type { JsonObject, Subject } from '../../src/types.ts';
import { sampleReport } from './sample-report.ts';
import { workspaces } from './workspace-world.ts';

const make = workspaces();
const { subject } = sampleReport();
const SERVER = 'https://github.com';
const PAGE = 'https://github.com/octo/demo/blob/0123456789abcdef0123456789abcdef01234567';

describe('lineLink', () => {
  function link(row: JsonObject) {
    const workspace = make();
    workspace.checkout('sub', 'https://github.com/octo/demo');
    workspace.write('sub/src/a (b).js', 'one\ntwo\nthree\n');
    workspace.write('elsewhere.js', 'x\n');
    const locate = createLocator({
      workspace: workspace.root,
      workingDirectory: 'sub/src',
      repositories: ['octo/demo'],
    });
    return lineLink(row, subject, SERVER, locate);
  }

  it.each<[JsonObject, string]>([
    [{ path: 'sub/src/a (b).js', line: 2 }, '#L2'],
    [{ path: 'a (b).js', line: 2 }, '#L2'],
    [{ file: 'src/a (b).js:2' }, '#L2'],
    [{ file: 'src/a (b).js', line: 2, end_line: 3 }, '#L2-L3'],
    [{ file: 'src/a (b).js', line: 4 }, ''],
    [{ file: 'src/a (b).js' }, ''],
  ])('links %j to the file in the repository', (row, lines) => {
    expect(link(row)).toBe(`${PAGE}/src/a%20%28b%29.js${lines}`);
  });

  it.each<JsonObject>([{ path: 'nope.js', line: 1 }, { path: 'elsewhere.js', line: 1 }, { line: 1 }, {}])(
    'returns null for %j',
    (row) => {
      expect(link(row)).toBeNull();
    },
  );

  it('without a checkout uses the path and line as written', () => {
    const rows = [
      { path: './a.js', line: 1 },
      { path: 'a.js' },
      { path: '../a.js', line: 1 },
      { path: 'a\\b', line: 1 },
    ];
    expect(rows.map((row) => lineLink(row, subject, SERVER))).toEqual([`${PAGE}/a.js#L1`, null, null, null]);
  });

  it('requires a server URL and a valid repository and commit', () => {
    const row = { path: 'a.js', line: 1 };
    if (subject === null) throw new TypeError('the sample has a subject');
    expect([
      lineLink(row, subject, null),
      lineLink(row, null, SERVER),
      lineLink(row, { ...subject, repository: 'a/b)' }, SERVER),
      lineLink(row, { ...subject, sha: 'main' }, SERVER),
    ]).toEqual([null, null, null, null]);
  });
});

describe('pathKey', () => {
  it('returns the property that names the file', () => {
    expect([pathKey({ file: 'a' }), pathKey({ path: 3, file: 'a' }), pathKey({ path: '' })]).toEqual([
      'file',
      'file',
      null,
    ]);
  });
});

describe('urlPath', () => {
  it('encodes everything except slashes', () => {
    expect(urlPath("a/b c/d:e#?%&[](!'*)<>\u{1F600}\ud800")).toBe(
      'a/b%20c/d%3Ae%23%3F%25%26%5B%5D%28%21%27%2a%29%3C%3E%F0%9F%98%80%EF%BF%BD',
    );
  });
});

const changed = (changes: Partial<Subject>) => (subject === null ? null : { ...subject, ...changes });

describe('the URLs of a run', () => {
  it('contain its attempt and its commit', () => {
    expect([runPage(subject, 'https://github.com/'), commitPage(subject, 'https://ghe.example')]).toEqual([
      'https://github.com/octo/demo/actions/runs/42/attempts/1',
      `https://ghe.example/octo/demo/commit/${subject?.sha}`,
    ]);
  });

  it.each([
    { repository: 'octo/demo) [x](https://evil.example' },
    { repository: 'octo' },
    { run_id: '42)', sha: 'abc)' },
    { run_id: '', sha: '' },
  ])('are null for %j', (changes) => {
    const odd = changed(changes);
    expect([runPage(odd, 'https://github.com'), commitPage(odd, 'https://github.com')]).toEqual([null, null]);
  });

  it('are null outside GitHub', () => {
    expect([runPage(null, 'https://github.com'), runPage(subject, null)]).toEqual([null, null]);
  });
});
