import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { inlineDiff } from '../../src/run/inline-diff.ts';
import type { ChangedFile, ListedChange } from '../../src/types.ts';

const row = (path: string, over: Partial<ChangedFile> = {}): ChangedFile => ({
  ...{ path, previous: '', status: 'modified', additions: 1, deletions: 0, blob: '' },
  ...{ patch: '@@ -0,0 +1 @@\n+one\x1b' },
  ...over,
});
const inline = (files: readonly ChangedFile[], more: ListedChange['more'] = null) =>
  inlineDiff({ files, more }, 'src');
const moved = { patch: null, additions: 0, status: 'renamed', previous: 'src/old.ts' };

it('the first message has what has to be seen, between marks that nothing in it can hold', () => {
  const spared = [row('src/go.sum', { patch: null }), row('docs/a.md', { patch: null })];
  const files = [row('src/a.ts'), row('src/b.ts', moved), row('src/c.PNG', { patch: null }), ...spared];
  const text = `modified\t+1\t-0\tsrc/a.ts
renamed\t+0\t-0\tsrc/b.ts (was src/old.ts)
modified\t+1\t-0\tsrc/c.PNG

diff --git a/src/a.ts b/src/a.ts
--- a/src/a.ts
+++ b/src/a.ts
@@ -0,0 +1 @@
+one\\x1b
`;
  const hash = createHash('sha256').update(text).digest('hex');
  expect(inline(files)).toBe(`<diff sha256="${hash}">\n${text}</diff sha256="${hash}">`);
});

it.each<[string, readonly ChangedFile[], ListedChange['more']?]>([
  ['is not listed as a whole', [row('src/a.ts')], 'GitHub lists 1 of 2 changed files.'],
  ['has a file without its lines', [row('src/a.ts'), row('src/b.ts', { patch: null })]],
  ['has nothing but a file that may be binary', [row('src/b.png', { patch: null })]],
  ['has nothing that has to be seen', [row('docs/a.md')]],
  ['is long', [row('src/a.ts', { patch: `@@ -0,0 +1 @@\n+${'x'.repeat(60_000)}` })]],
])('the first message has no diff of a change that %s', (_, files, more) => {
  expect(inline(files, more)).toBeNull();
});
