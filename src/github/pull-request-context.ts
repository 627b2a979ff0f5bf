/** The pull request as files that the agent can read, labelled as data. */
import { messageOf } from '../errors.ts';
import { DISPLAY, GITHUB } from '../text/limits.ts';
import type { GitHub } from './api.ts';
import {
  type ChangeContext,
  type ContextSubject,
  contextReadme,
  GIT_FILES,
  type LoadedContext,
} from './change-context.ts';
import type { ChangedFile, ListChangedFiles } from './changed-files.ts';
import { type EventFacts, headOfEvent, textAt } from './event.ts';
import type { PullRequest, PullRequestFinder } from './pull-request.ts';
import { createPushContext } from './push-context.ts';

/** Files that the description of a pull request names. */
const MAX_NAMED_FILES = 50;
/** Bytes of a `.gitattributes`: git tries each of its rules on each changed file. */
const MAX_ATTRIBUTES = 1024 ** 2;
/** Characters of one file of a diff, which is limited to what a reader can take in. */
const MAX_DIFF_PAGE = 200_000;

/**
 * Creates a function that finds the context of a run. For a push nothing is requested: its content is in the checkout.
 * @param changed null if there is no token.
 * @param warn called with the reason if it cannot be determined whether there is a pull request.
 * @param github reads the attributes of the base; null if there is no token.
 */
export function createContextFinder(
  event: EventFacts,
  finder: PullRequestFinder,
  changed: ListChangedFiles | null,
  warn: (text: string) => void,
  github: GitHub | null = null,
): () => Promise<ChangeContext | 'unknown' | null> {
  const unknown = (error: unknown) => {
    warn(`No context: the pull request could not be looked for. ${messageOf(error)}`);
    return 'unknown' as const;
  };
  const look = async () => {
    if (finder.number !== null || event.name !== 'workflow_run') return finder.number;
    if (changed === null) return unknown('github-token is empty.');
    return finder.find().then((pull) => pull?.number ?? null, unknown);
  };
  return async () => {
    if (event.name === 'push') return createPushContext(event);
    const number = await look();
    if (number === 'unknown') return number;
    if (number === null) return null;
    return { subject: subjectOf(number, event), load: () => load(number, event, finder, changed, github) };
  };
}

function subjectOf(number: number, { name }: EventFacts) {
  const queue = name === 'merge_group' ? ' in the merge queue' : '';
  return {
    about: `pull request #${number}${queue}`,
    contents: 'title, description, changed files and diff',
    author: 'whoever opened the pull request',
  };
}

async function load(
  number: number,
  event: EventFacts,
  finder: PullRequestFinder,
  changed: ListChangedFiles | null,
  github: GitHub | null,
): Promise<LoadedContext> {
  const notes: string[] = [];
  const missing = (what: string) => (error: unknown) => {
    notes.push(`${what}: ${messageOf(error)}`);
    return null;
  };
  const pull: PullRequest | null = await finder.find().catch(missing('Title and description are missing'));
  const files =
    changed === null ? null : await changed().catch(missing('The changed files and the diff are missing'));
  if (changed === null)
    notes.push('GitHub was not asked for the changed files and the diff: github-token is empty.');
  const facts: Omit<ContextFacts, 'diffFromGit'> = { subject: subjectOf(number, event), pull, files, notes };
  const diff =
    files === null ? 'missing' : isTruncated(files, pull?.changedFiles ?? null) ? 'truncated' : 'complete';
  const base = textAt(event.payload, 'merge_group', 'base_sha') || (pull?.base.sha ?? '');
  const hasMore = files !== null && isListCut(files, pull?.changedFiles ?? null);
  // GitHub lists what the pull request changes, and git what the group does, in which it has been merged.
  const isWhole = diff === 'complete' && event.name !== 'merge_group';
  return {
    diff,
    range: isWhole || base === '' ? null : { base, head: headOfEvent(event) },
    notes,
    files: (diffFromGit) => contextFiles({ ...facts, diffFromGit }),
    listed:
      files === null
        ? null
        : { files, more: hasMore ? listNote(files.length, pull?.changedFiles ?? null) : null },
    base: base === '' ? null : base,
    readBaseAttributes: () => readAttributes(base, event, github),
  };
}

/** Requests the `.gitattributes` in the root of the repository at a commit; null if there is none, or it is not given. */
async function readAttributes(
  ref: string,
  { repository }: EventFacts,
  github: GitHub | null,
): Promise<string | null> {
  if (github === null || ref === '') return null;
  const [owner = '', repo = ''] = repository.split('/');
  try {
    const bytes = await github.bytes(
      '/repos/{owner}/{repo}/contents/{path}',
      { owner, repo, path: '.gitattributes', ref },
      'application/vnd.github.raw+json',
      { maxBytes: MAX_ATTRIBUTES, needs: 'contents: read' },
    );
    return Buffer.from(bytes).toString('utf8');
  } catch {
    // Nothing is marked then, so more has to be seen.
    return null;
  }
}

/** Known facts about the pull request; null for anything that could not be obtained, with the reason in `notes`. */
interface ContextFacts {
  readonly subject: ContextSubject;
  readonly pull: PullRequest | null;
  readonly files: readonly ChangedFile[] | null;
  /** Whether git has written the diff beside these files, because GitHub did not return all of it. */
  readonly diffFromGit: boolean;
  /** One sentence for each missing part, with the reason. */
  readonly notes: readonly string[];
}

/** Returns the files by name. Their text is hostile, except in README.md, where hostile text is quoted. */
export function contextFiles(facts: ContextFacts): ReadonlyMap<string, string> {
  const { pull, files } = facts;
  const diff = files === null || facts.diffFromGit ? null : pages(files);
  const entries: [name: string, what: string, text: string][] = [];
  if (pull !== null)
    entries.push(['pull-request.md', 'its title, author, branches and description', description(pull)]);
  if (files !== null && diff !== null) {
    entries.push([
      'changed-files.txt',
      `one line for each of its ${files.length} changed files: status, lines added, lines deleted, path`,
      files.map(listed).join(''),
    ]);
    for (const { name, text, paths } of diff.pages)
      entries.push([name, `the diff of ${paths} ${paths === 1 ? 'file' : 'files'}`, text]);
  }
  const cut = files !== null && diff !== null && isListCut(files, pull?.changedFiles ?? null);
  const listNotes = cut ? [listNote(files.length, pull?.changedFiles ?? null)] : [];
  const notes = [...facts.notes, ...listNotes, ...(diff?.notes ?? [])];
  const contents = entries.map(([name, what]) => `- ${name}: ${what}`);
  if (facts.diffFromGit) contents.push(...GIT_FILES);
  return new Map([
    ['README.md', contextReadme(facts.subject, 'GitHub', contents, notes)],
    ...entries.map(([name, , text]) => [name, text] as const),
  ]);
}

/**
 * Whether the diff is incomplete: files beyond those that GitHub lists, a file with a partial or missing diff, or diffs
 * that exceed the size limit.
 */
export function isTruncated(files: readonly ChangedFile[], changedFiles: number | null): boolean {
  return isListCut(files, changedFiles) || files.some(createPartCheck(files)) || pages(files).isCut;
}

/** Whether the list of files is incomplete. If GitHub does not state the number of files, at least one is expected. */
function isListCut(files: readonly ChangedFile[], changedFiles: number | null): boolean {
  return files.length >= GITHUB.changedFiles || files.length < (changedFiles ?? 1);
}

/**
 * Creates a check whether GitHub shows less of a file than changed: a patch with fewer lines than its counts, or none.
 * A binary file has counts of 0 as well, and a single character or a `.gitattributes` entry can make any file binary.
 */
function createPartCheck(files: readonly ChangedFile[]): (file: ChangedFile) => boolean {
  const mayHide = changesAttributes(files);
  return (file) => {
    const { patch, additions, deletions } = file;
    if (patch === null) return !hasNothingToShow(file, mayHide);
    const counted = countLines(patch);
    return counted.added < additions || counted.deleted < deletions;
  };
}

/** With `*.js -diff` in `.gitattributes`, GitHub and git treat each such file as binary. */
function changesAttributes(files: readonly ChangedFile[]): boolean {
  return files.some(({ path, previous }) =>
    [path, previous].some((name) => /(?:^|\/)\.gitattributes$/iu.test(name)),
  );
}

/** Git's ids of an empty file, for SHA-1 and SHA-256. */
const EMPTY_BLOBS = new Set([
  'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
]);

/** Whether a file was only moved, or is an empty file that was added or removed. */
function hasNothingToShow({ status, additions, deletions, blob }: ChangedFile, mayHide: boolean): boolean {
  if (additions + deletions > 0) return false;
  if (status === 'renamed' || status === 'unchanged') return !mayHide;
  return (status === 'added' || status === 'removed') && EMPTY_BLOBS.has(blob);
}

function countLines(patch: string): { readonly added: number; readonly deleted: number } {
  let [added, deleted] = [0, 0];
  for (const line of patch.split('\n')) {
    if (line.startsWith('+')) added += 1;
    else if (line.startsWith('-')) deleted += 1;
  }
  return { added, deleted };
}

function description(pull: PullRequest): string {
  const body = pull.body.trim() === '' ? '(no description)' : pull.body.slice(0, GITHUB.body).toWellFormed();
  return [
    `# ${pull.title.replace(/\s+/gu, ' ')}`,
    '',
    `Pull request #${pull.number} by ${pull.author || 'somebody who is gone'}`,
    `from ${pull.head.repository || 'a repository that is gone'}, branch ${pull.head.ref}, commit ${pull.head.sha}`,
    `into branch ${pull.base.ref}, commit ${pull.base.sha}`,
    '',
    body,
    '',
  ].join('\n');
}

function listed(file: ChangedFile): string {
  const from = file.previous === '' ? '' : ` (was ${quoted(file.previous)})`;
  return `${file.status}\t+${file.additions}\t-${file.deletions}\t${quoted(file.path)}${from}\n`;
}

interface Page {
  readonly name: string;
  readonly text: string;
  readonly paths: number;
}

/** Distributes diffs to pages, keeping each file's diff whole on one page. */
function pages(files: readonly ChangedFile[]): {
  pages: readonly Page[];
  notes: readonly string[];
  isCut: boolean;
} {
  const texts: { text: string; paths: number }[] = [];
  const [bare, partial, cut]: [string[], string[], string[]] = [[], [], []];
  const isPartlyShown = createPartCheck(files);
  let left: number = GITHUB.diff;
  for (const file of files) {
    if (isPartlyShown(file)) (file.patch === null ? bare : partial).push(file.path);
    if (file.patch === null) continue;
    const whole = patchOf(file, file.patch);
    const text = whole.slice(0, Math.min(left, MAX_DIFF_PAGE)).toWellFormed();
    if (text.length < whole.length) cut.push(file.path);
    if (text === '') continue;
    left -= text.length;
    const last = texts.at(-1);
    if (last !== undefined && last.text.length + text.length <= MAX_DIFF_PAGE) {
      last.text += text;
      last.paths += 1;
    } else {
      texts.push({ text, paths: 1 });
    }
  }
  const notes = [
    ...named(
      'GitHub gives no diff of these (binary, or taken for binary; too large; or only their mode changed); read the files in the checkout',
      bare,
    ),
    ...named('GitHub gives only a part of the diff of these; read the files in the checkout', partial),
    ...(bare.length > 0 && changesAttributes(files) ? [ATTRIBUTES] : []),
    ...named('Too large, so these diffs are cut or left out; read the files in the checkout', cut),
  ];
  const name = (at: number) =>
    texts.length === 1 ? 'diff.patch' : `diff-${String(at + 1).padStart(3, '0')}.patch`;
  return { pages: texts.map((page, at) => ({ ...page, name: name(at) })), notes, isCut: cut.length > 0 };
}

function listNote(listed: number, changedFiles: number | null): string {
  return changedFiles === null || changedFiles <= listed
    ? `GitHub lists the first ${listed} files only.`
    : `GitHub lists ${listed} files only, and the pull request changes ${changedFiles}.`;
}

const ATTRIBUTES =
  'The change edits .gitattributes, by which GitHub and `git diff` may show a text file as a binary one: read the files themselves, or use `git diff --text`.';

/** Formats the patch of one file with the header of `git diff`. */
function patchOf(file: ChangedFile, patch: string): string {
  const [from, to] = [file.previous || file.path, file.path];
  const old = file.status === 'added' ? '/dev/null' : quoted(`a/${from}`);
  const now = file.status === 'removed' ? '/dev/null' : quoted(`b/${to}`);
  return `diff --git ${quoted(`a/${from}`)} ${quoted(`b/${to}`)}\n--- ${old}\n+++ ${now}\n${patch}\n`;
}

function named(what: string, paths: readonly string[]): readonly string[] {
  if (paths.length === 0) return [];
  const more = paths.length > MAX_NAMED_FILES ? ` and ${paths.length - MAX_NAMED_FILES} more` : '';
  // README.md is trusted text, so a path in it must not read as a sentence.
  const shown = paths
    .slice(0, MAX_NAMED_FILES)
    .map((path) => JSON.stringify(path.slice(0, DISPLAY.path).toWellFormed()));
  return [`${what}: ${shown.join(', ')}${more}.`];
}

/** Quotes a path, as git does, if it contains characters that could start a line of their own. */
function quoted(path: string): string {
  return /[\u0000-\u001f"\\\u007f\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path;
}
