import { describe, expect, it } from 'vitest';
import type { ChangedFile, ListChangedFiles } from '../../src/github/changed-files.ts';
import { createPullRequestFinder } from '../../src/github/pull-request.ts';
import { contextFiles, createContextFinder, isTruncated } from '../../src/github/pull-request-context.ts';
import { answering } from '../support/fakes/github/answers.ts';

const pull = {
  number: 7,
  title: 'Add\n# instructions',
  body: 'Please merge.\r\n',
  author: 'mona',
  base: { ref: 'main', sha: 'b'.repeat(40) },
  head: { ref: 'topic', sha: 'a'.repeat(40), repository: 'fork/r' },
  changedFiles: null,
};
const file = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
  path,
  previous: '',
  status: 'modified',
  additions: 1,
  deletions: 2,
  patch: '@@ -1,2 +1 @@\n-a\n-b\n+c',
  blob: '',
  ...more,
});
const subject = { about: 'pull request #7', contents: 'files', author: 'whoever opened the pull request' };
const facts = { subject, pull, files: null, notes: [], diffFromGit: false };

describe('the context files of a pull request', () => {
  it('are a description, a list, a diff, and a README that describes them', async () => {
    const files = contextFiles({
      ...facts,
      files: [
        file('src/a.js'),
        file('new "b"\n.js', { status: 'added' }),
        file('c.js', { status: 'renamed', previous: 'old.js', additions: 0, deletions: 0, patch: null }),
        file('d.js', { status: 'removed' }),
        file('e.png', { patch: null }),
      ],
    });
    const text = [...files].map(([name, content]) => `===== ${name} =====\n${content}`).join('\n');
    await expect(text.replaceAll('\r', '\\r')).toMatchFileSnapshot('../golden/context.txt');
  });

  it('split a large diff into pages, and name the files that are cut', () => {
    const large = Array.from({ length: 30 }, (_, at) => file(`f${at}`, { patch: 'x'.repeat(90_000) }));
    const huge = file('huge', { patch: 'y'.repeat(300_000) });
    const rest = Array.from({ length: 30 }, (_, at) => file(`g${at}`, { patch: 'x'.repeat(90_000) }));
    const files = contextFiles({ ...facts, files: [...large, huge, ...rest] });
    const diffs = [...files].filter(([name]) => name.endsWith('.patch'));
    expect(diffs.map(([name]) => name).slice(0, 2)).toEqual(['diff-001.patch', 'diff-002.patch']);
    expect(Math.max(...diffs.map(([, text]) => text.length))).toBe(200_000);
    expect(diffs.reduce((sum, [, text]) => sum + text.length, 0)).toBe(4_000_000);
    const readme = files.get('README.md') ?? '';
    expect(readme).toContain('- diff-001.patch: the diff of 2 files\n');
    expect(readme).toMatch(/cut or left out; read the files in the checkout: "huge", "g\d+", .*"g29"\.\n/u);
  });

  it('say what is missing', () => {
    const files = contextFiles({ ...facts, pull: null, notes: ['Nobody answered.'], diffFromGit: true });
    expect([...files.keys()]).toEqual(['README.md']);
    expect(files.get('README.md')).toContain('as git makes it from this checkout');
    expect(files.get('README.md')).toContain('Notes:\n- Nobody answered.\n');
  });

  it.each(['.gitattributes', 'api/.gitattributes', 'api/.GitAttributes'])(
    'warn that %s in the change may hide a diff, also of a renamed file',
    (path) => {
      const moved = file('b.js', { patch: null, additions: 0, deletions: 0, status: 'renamed' });
      const attributes = file(path);
      const isCut = (...files: readonly ChangedFile[]) => isTruncated(files, null);
      expect([isCut(moved), isCut(attributes), isCut(attributes, moved)]).toEqual([false, false, true]);
      expect(isCut({ ...moved, previous: path })).toBe(true);
      const readme = contextFiles({ ...facts, files: [attributes, moved] }).get('README.md');
      expect(readme).toContain('The change edits .gitattributes');
      expect(readme).toContain('use `git diff --text`');
    },
  );

  const none = { patch: null, additions: 0, deletions: 0 };
  const empty = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391';
  const NO_DIFF =
    /GitHub gives no diff of these \(.*\); read the files in the checkout: "b\. All is well"\.\n/u;
  const A_PART =
    /GitHub gives only a part of the diff of these; read the files in the checkout: "b\. All is well"/u;
  it.each<[string, Partial<ChangedFile>, RegExp | null]>([
    ['a binary file, a text with one NUL, or a changed mode', { ...none, blob: 'f'.repeat(40) }, NO_DIFF],
    ['a new binary file', { ...none, status: 'added', blob: 'f'.repeat(40) }, NO_DIFF],
    ['of which only the previous content is missing', { ...none, blob: empty }, NO_DIFF],
    ['a copy', { ...none, status: 'copied', previous: 'a.js' }, NO_DIFF],
    ['moved and changed', { ...none, additions: 1, status: 'renamed', previous: 'a.js' }, NO_DIFF],
    ['of which lines that were added are missing', { additions: 2 }, A_PART],
    ['of which lines that were removed are missing', { deletions: 3 }, A_PART],
    ['whole, with odd lines', { patch: '@@ -1,2 +1 @@\n---a\n-b\n+++c\n\\ No newline' }, null],
    ['moved', { ...none, status: 'renamed', previous: 'a.js' }, null],
    ['new and empty', { ...none, status: 'added', blob: empty }, null],
    ['removed, and was empty', { ...none, status: 'removed', blob: empty }, null],
  ])('name a file without its whole diff: %s', (_, more, note) => {
    const files = [file('a.js'), file('b. All is well', more)];
    expect(isTruncated(files, 2)).toBe(note !== null);
    const readme = contextFiles({ ...facts, files }).get('README.md') ?? '';
    if (note === null) expect(readme).not.toContain('Notes');
    else expect(readme).toMatch(note);
  });

  it('say when GitHub lists fewer files than the pull request changes', () => {
    const files = [file('a.js')];
    expect([1, 2].map((changedFiles) => isTruncated(files, changedFiles))).toEqual([false, true]);
    const readme = contextFiles({ ...facts, pull: { ...pull, changedFiles: 5 }, files }).get('README.md');
    expect(readme).toContain('GitHub lists 1 files only, and the pull request changes 5.');
    expect(isTruncated([], null)).toBe(true);
    expect(isTruncated([], 0)).toBe(false);
  });

  it('say when GitHub cuts the list', () => {
    const many = Array.from({ length: 3_000 }, (_, at) => file(`f${at}`, { patch: null }));
    expect(contextFiles({ ...facts, files: many }).get('README.md')).toMatch(
      /GitHub lists the first 3000 files only\.\n- GitHub gives no diff of these .* and 2950 more\./u,
    );
  });
});

const eventOf = (name: string, payload: object) => ({ repository: 'o/r', name, sha: 'm', ref: '', payload });

it.each([
  [answering({}).github, 'GitHub knows no such thing.'],
  [null, 'github-token is empty.'],
])(
  'the context of a workflow_run is unknown if the pull request cannot be looked for: %#',
  async (github, why) => {
    const event = eventOf('workflow_run', { workflow_run: { head_sha: 'a1' } });
    const warnings: string[] = [];
    const list = github === null ? null : async () => null;
    const warn = (text: string) => void warnings.push(text);
    const find = createContextFinder(event, createPullRequestFinder(event, github), list, warn);
    expect(await find()).toBe('unknown');
    expect(warnings).toEqual([`No context: the pull request could not be looked for. ${why}`]);
  },
);

describe('the completeness of the diff', () => {
  const event = eventOf('issue_comment', { issue: { number: 7, pull_request: {} } });
  const one = file('a.js', { deletions: 0, patch: '+a' });
  const files =
    (count: number, more: Partial<ChangedFile> = {}) =>
    async () =>
      Array.from({ length: count }, () => ({ ...one, ...more }));
  it.each<[string, ListChangedFiles | null, string]>([
    ['each changed line has a patch', files(1), 'complete'],
    ['no file is listed', files(0), 'truncated'],
    ['a patch is missing', files(1, { patch: null }), 'truncated'],
    ['GitHub lists as many files as it can', files(3_000), 'truncated'],
    ['a patch is too long', files(1, { patch: `+${'x'.repeat(200_000)}` }), 'truncated'],
    ['the diff is too long', files(45, { patch: `+${'x'.repeat(100_000)}` }), 'truncated'],
    ['GitHub does not respond', () => Promise.reject(new Error('unreachable')), 'missing'],
    ['GitHub lists nothing', async () => null, 'missing'],
    ['GitHub is not asked', null, 'missing'],
  ])('if %s: %#', async (_, list, diff) => {
    const finder = createPullRequestFinder(event, answering({}).github);
    const context = await createContextFinder(event, finder, list, () => undefined)();
    if (context === null || context === 'unknown') throw new Error('no context');
    expect((await context.load()).diff).toBe(diff);
  });
});
