/** Changes made of hunks, for the tests of evidence. */
import { type Change, type FileChange, parseDiff } from '../../src/evidence/change.ts';

/** A hunk: its lines with their marks, from line 1 on or behind `@@ 500`. */
export type HunkLines = readonly string[];

/** Returns the diff of a file as git writes it; its hunks begin 100 lines after each other. */
export function diffOf(path: string, hunks: readonly HunkLines[]): string {
  const parts = hunks.map((lines, at) => {
    const count = (mark: string) => lines.filter((line) => !line.startsWith(mark)).length;
    const start = (mark: string) => (count(mark) === 0 ? at * 100 : at * 100 + 1);
    return `@@ -${start('+')},${count('+')} +${start('-')},${count('-')} @@\n${lines.map((line) => `${line}\n`).join('')}`;
  });
  const names = `diff --git a/${path} b/${path}\n`;
  return parts.length === 0 ? names : `${names}--- a/${path}\n+++ b/${path}\n${parts.join('')}`;
}

export function file(path: string, hunks: readonly HunkLines[], over: Partial<FileChange> = {}): FileChange {
  const [parsed] = parseDiff(diffOf(path, hunks));
  if (parsed === undefined) throw new Error(`no diff of ${path}`);
  return { ...parsed, ...over };
}

export function changeOf(...files: readonly FileChange[]): Change {
  return { files, status: 'measured', why: null, marked: new Map() };
}
