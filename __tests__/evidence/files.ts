/** Claims, files and changes for the tests of grounding. */
import { type Change, createHunk, type FileChange } from '../../src/evidence/change.ts';
import type { Claim } from '../../src/evidence/grounding.ts';
import type { SourceTexts } from '../../src/evidence/texts.ts';

export function makeClaim(claim: Partial<Claim>): Claim {
  return { path: 'src/a.ts', namesFile: true, line: null, endLine: null, quote: null, ...claim };
}

export function filesOf(texts: Readonly<Record<string, string>>): SourceTexts {
  return { text: (path) => (Object.hasOwn(texts, path) ? (texts[path] ?? null) : null) };
}

/** A change of files by their diffs: hunks with their headers. */
export function changeOf(diffs: Readonly<Record<string, string>>, more: Partial<FileChange> = {}): Change {
  const files = Object.entries(diffs).map(([path, diff]): FileChange => {
    const hunks = diff
      .split(/^@@ /m)
      .slice(1)
      .map((part) => {
        const [header = '', ...lines] = part.replace(/\n$/, '').split('\n');
        const [, old, now] = /^-(\d+).*? \+(\d+)/.exec(header) ?? [];
        return createHunk(Number(old), Number(now), lines);
      });
    return { path, previous: null, kind: 'text', isRemoved: false, isBinary: false, hunks, ...more };
  });
  return { files, incomplete: null, marked: new Map() };
}
