/** Changes made of hunks, for the tests of evidence. A hunk is given as its lines with their marks. */
import { type Change, type FileChange, parseDiff } from '../../src/evidence/change.ts';

/** Returns the diff of a file as git writes it; its hunks begin 100 lines after each other. */
export function diffOf(path: string, ...hunks: readonly string[]): string {
  const parts = hunks.map((hunk, at) => {
    const count = (mark: string) => hunk.split('\n').filter((line) => !line.startsWith(mark)).length;
    const start = (mark: string) => at * 100 + Math.min(1, count(mark));
    return `@@ -${start('+')},${count('+')} +${start('-')},${count('-')} @@\n${hunk}\n`;
  });
  return `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n${parts.join('')}`;
}

export function file(path: string, ...hunks: readonly string[]): FileChange {
  const [parsed] = parseDiff(diffOf(path, ...hunks));
  if (parsed === undefined) throw new Error(`no diff of ${path}`);
  return parsed;
}

export function changeOf(...files: readonly FileChange[]): Change {
  return { files, status: 'measured', why: null, marked: new Map() };
}
