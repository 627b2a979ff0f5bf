/** Runs of a scripted model over a change: of files as GitHub lists them, or since a branch of the workspace. */
import type { ChangeContext, LoadedContext } from '../../../src/github/context.ts';
import type { Report } from '../../../src/reporters/report-types.ts';
import type { ChangedFile } from '../../../src/types.ts';
import { calls, type Reply, submits } from '../fakes/model/server.ts';

/** The presets, each with a payload that meets its gate. */
const GREEN = {
  verdict: { passed: true, summary: 'Fine.', findings: [] },
  'code-review': { passed: true, complete: true, summary: 'Fine.', findings: [] },
  'security-review': { passed: true, complete: true, summary: 'Fine.', findings: [] },
  'test-report': {
    ...{ passed: true, summary: 'Fine.', command: 'npm test' },
    ...{ test_count: 3, failure_count: 0, skipped_count: 0, failures: [] },
  },
} as const;
export type PresetName = keyof typeof GREEN;

/** Returns a reply that submits a payload of a preset. */
export function submit(preset: PresetName, more: object = {}): Reply {
  return submits({ ...GREEN[preset], ...more });
}

const nameOf = (at: number) => `file${String(at).padStart(3, '0')}`;

/** Returns so many files, of three lines that no other file has; the change turns `old` in the second one into `new`. */
export function filesWith(middle: 'old' | 'new', count: number): Readonly<Record<string, string>> {
  const names = Array.from({ length: count }, (_, at) => nameOf(at));
  const textOf = (name: string) =>
    `const first_${name} = 1;\nconst ${middle}_${name} = 2;\nconst last_${name} = 3;\n`;
  return Object.fromEntries(names.map((name) => [`src/${name}.ts`, textOf(name)]));
}

/** Returns a row of GitHub's list: one of these files. */
export function listedFile(at: number, more: Partial<ChangedFile> = {}): ChangedFile {
  const name = nameOf(at);
  const patch = `@@ -1,3 +1,3 @@\n const first_${name} = 1;\n-const old_${name} = 2;\n+const new_${name} = 2;\n const last_${name} = 3;`;
  return {
    ...{ path: `src/${name}.ts`, previous: '', status: 'modified', additions: 1, deletions: 1 },
    ...{ patch, blob: '', ...more },
  };
}

/** Returns the rows of so many files. */
export function listedFiles(count: number): readonly ChangedFile[] {
  return Array.from({ length: count }, (_, at) => listedFile(at));
}

/** Returns the context of a pull request whose files GitHub lists. */
export function contextOf(files: readonly ChangedFile[], more: Partial<LoadedContext> = {}): ChangeContext {
  return {
    subject: { about: 'pull request #7', contents: 'diff', author: 'the author of the pull request' },
    load: async () => ({
      ...{ pull: null, listed: { files, more: null }, range: null, prefersGit: false, notes: [] },
      readBaseAttributes: async () => null,
      ...more,
    }),
  };
}

/** Returns the world of a run on it; `more` says that there are other files. */
export function onPullRequest(files: readonly ChangedFile[], more: string | null = null) {
  return { findContext: async () => contextOf(files, { listed: { files, more } }) };
}

/** Lines of the diff of one listed file. */
const LINES_PER_FILE = 8;

/** Returns a call that reads the diff of listed files: as many as `count`, from the one with the index `first`. */
export function readDiff(first: number, count: number): Reply {
  const offset = first * LINES_PER_FILE + 1;
  return readFile('/tmp/context/diff.patch', { offset, limit: count * LINES_PER_FILE });
}

/** Returns a call of `read_file`. */
export function readFile(name: string, more: { offset?: number; limit?: number } = {}): Reply {
  return calls('read_file', { path: name, ...more });
}

/** Returns the coverage of a run in a few words: its status and files. */
export function coverageOf({ report }: { readonly report: Report }): string {
  const { status, files } = report.evidence?.coverage ?? {};
  return status === undefined ? 'none' : `${status}, ${files?.shown} of ${files?.required} files`;
}

/** Returns how a run ended. */
export function endOf({ report }: { readonly report: Report }): string {
  const { conclusion, reason, exitCode } = report.verdict;
  return `${conclusion} ${reason} ${exitCode}`;
}
