import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { type Change, parseDiff } from '../../src/evidence/change.ts';
import { inlineDiff } from '../../src/run/inline-diff.ts';

const added = (path: string, line = 'one') => `diff --git a/${path} b/${path}
--- /dev/null
+++ b/${path}
@@ -0,0 +1 @@
+${line}
`;
const moved = `diff --git a/src/old.ts b/src/b.ts
similarity index 100%
rename from src/old.ts
rename to src/b.ts
`;
const inline = (diff: string, over: Partial<Change> = {}) =>
  inlineDiff({ files: parseDiff(diff), incomplete: null, marked: new Map(), ...over }, diff, 'src');

it('the first message has what has to be seen, between marks that nothing in it can hold', () => {
  const a = added('src/a.ts', 'diff --git a/src/go.sum b/src/go.sum');
  const text = `changed\tsrc/a.ts\nchanged\tsrc/b.ts\n\n${a}${moved}`;
  const hash = createHash('sha256').update(text).digest('hex');
  const diff = [added('docs/a.md'), a, added('src/go.sum'), moved, added('src/made.ts')].join('');
  const marked = new Map([['src/made.ts', 'generated' as const]]);
  expect(inline(diff, { marked })).toBe(`<diff sha256="${hash}">\n${text}</diff sha256="${hash}">`);
});

it.each<[string, string, Partial<Change>?]>([
  ['is not known as a whole', added('src/a.ts'), { incomplete: 'GitHub lists 1 of 2 changed files.' }],
  ['has a file without its lines', `${added('src/a.ts')}${added('src/b.ts').replace('+1 @@', '+1,2 @@')}`],
  ['has nothing that has to be seen', added('docs/a.md')],
  ['is long', added('src/a.ts', 'x'.repeat(60_000))],
])('the first message has no diff of a change that %s', (_, diff, over) => {
  expect(inline(diff, over)).toBeNull();
});
