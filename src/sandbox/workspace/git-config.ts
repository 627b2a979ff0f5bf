/** Removes the dangerous parts of a repository's config: credentials, headers, includes and commands. */
import { lstat, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readBoundedText } from '../../files/read-bounded.ts';
import { READ } from '../../text/limits.ts';
import { isInside } from './path-policy.ts';

/**
 * Keys that git needs to read a repository, as `section.key`; all others are removed. An allow-list, so that a line
 * which git parses differently from this parser cannot carry a token.
 */
const KEPT = new Set(
  `core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode
  core.symlinks core.autocrlf core.eol core.safecrlf core.sparsecheckout core.sparsecheckoutcone core.worktree
  core.quotepath core.untrackedcache core.commitgraph core.splitindex remote.url remote.fetch remote.promisor
  remote.partialclonefilter branch.remote branch.merge submodule.url submodule.active submodule.path user.name
  user.email index.sparse index.version gc.auto extensions.objectformat extensions.worktreeconfig
  extensions.partialclone extensions.refstorage extensions.compatobjectformat`.split(/\s+/u),
);

interface Section {
  readonly name: string;
  readonly sub: string | null;
}

interface Line {
  readonly begins: Section | null;
  readonly entry: { readonly section: Section; readonly key: string; readonly value: string } | null;
}

/** Returns the text of a git config with only the harmless keys, and without user names or passwords in URLs. */
export function withoutCredentials(config: string): string {
  const lines: string[] = [];
  let isOpen = false;
  for (const { begins, entry } of linesOf(config)) {
    if (begins !== null) {
      const title = begins.sub === null ? begins.name : `${begins.name} "${begins.sub}"`;
      isOpen = !hasUserInfo(title);
      if (isOpen) lines.push(`[${title}]`);
    }
    if (isOpen && entry !== null && KEPT.has(`${entry.section.name}.${entry.key}`)) {
      lines.push(`\t${entry.key} = ${quote(withoutUserInfo(entry.value))}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Whether a git config contains anything that `withoutCredentials` removes because it grants access. */
export function hasCredentials(config: string): boolean {
  return /extraheader|\bcredential\b|includeif/iu.test(config) || hasUserInfo(config);
}

/** Returns the paths that a config includes, conditionally or not, as written there. */
export function includedPaths(config: string): readonly string[] {
  return valuesOf(config, ['include', 'includeif'], 'path');
}

export function worktreeOf(config: string): string | null {
  return valuesOf(config, ['core'], 'worktree').at(-1) ?? null;
}

function valuesOf(config: string, sections: readonly string[], key: string): readonly string[] {
  const values: string[] = [];
  for (const { entry } of linesOf(config)) {
    if (entry?.key === key && sections.includes(entry.section.name)) values.push(entry.value);
  }
  return values;
}

function* linesOf(config: string): Generator<Line> {
  let section: Section | null = null;
  for (const line of joinContinued(config)) {
    const header = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)$/u.exec(line);
    const begins: Section | null =
      header === null ? null : { name: (header[1] ?? '').toLowerCase(), sub: header[2] ?? null };
    section = begins ?? section;
    const entry = parseEntry(header === null ? line : (header[3] ?? ''));
    yield { begins, entry: section === null || entry === null ? null : { section, ...entry } };
  }
}

function joinContinued(config: string): readonly string[] {
  return config.replace(/\r\n/gu, '\n').replace(/\\\n/gu, '').split('\n');
}

function parseEntry(line: string): { readonly key: string; readonly value: string } | null {
  const entry = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=(.*))?$/u.exec(line);
  if (entry === null) return null;
  return {
    key: (entry[1] ?? '').toLowerCase(),
    value: entry[2] === undefined ? 'true' : parseValue(entry[2]),
  };
}

/** Parses a value like git: parts may be quoted, and a comment starts at `#` or `;` outside quotes. */
function parseValue(text: string): string {
  let value = '';
  let solid = 0;
  let quoted = false;
  for (const [part] of text.trimStart().matchAll(/\\.|[^\\"#;\s]+|[\s\S]/gu)) {
    if (!quoted && (part === '#' || part === ';')) break;
    if (part === '"') quoted = !quoted;
    else value += unescaped(part);
    if (quoted || part.trim() !== '') solid = value.length;
  }
  return value.slice(0, solid);
}

function unescaped(part: string): string {
  if (!part.startsWith('\\')) return part;
  const letter = part.slice(1);
  return letter === 'n' ? '\n' : letter === 't' ? '\t' : letter === 'b' ? '\b' : letter;
}

/**
 * Starts at `://`, inside which no second match can start; with the scheme before it, the search would be quadratic.
 */
const USER_INFO = /:\/\/[^/\s]*@/gu;

function hasUserInfo(text: string): boolean {
  return text.search(USER_INFO) >= 0;
}

function withoutUserInfo(value: string): string {
  return value.replace(USER_INFO, '://');
}

function quote(value: string): string {
  return `"${value.replace(/["\\]/gu, '\\$&').replaceAll('\n', '\\n')}"`;
}

export interface HiddenEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory';
}

export interface NamedEntry {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
}

/** Maximum number of configs that are followed; git itself stops at ten nested includes. */
const MAX_INCLUDES = 100;

/**
 * Files that git keeps directly in its folder (gitrepository-layout(5)), and those that it leaves there during a merge
 * or bisect.
 */
const OWN_FILES =
  /^(?:config|config\.worktree|index|packed-refs|shallow|description|commondir|gitdir|locked|gc\.log|sharedindex\.[0-9a-f]+|HEAD|[A-Z_]+_(?:HEAD|MSG|EDITMSG)|MERGE_(?:MODE|RR)|AUTO_MERGE|BISECT_(?:LOG|NAMES|START|TERMS|RUN|EXPECTED_REV|ANCESTORS_OK))$/u;
/** Folders of git, git-lfs and git-annex. */
const OWN_FOLDERS = new Set(
  `objects refs reftable logs info hooks branches remotes modules worktrees rr-cache rebase-apply rebase-merge sequencer
  lfs annex`.split(/\s+/u),
);
/** The files to which links in the working tree point; git-annex keeps credentials beside them. */
const ANNEX_OWN = new Set(['objects']);

/**
 * Returns the entries of a git folder that are not git's own, based on their names. An allow-list, because tools may
 * keep keys in any other file there.
 */
export function findForeign(
  folder: string,
  entries: readonly NamedEntry[],
  annex: readonly NamedEntry[],
): readonly HiddenEntry[] {
  return [
    ...foreignOf(folder, entries, (entry) =>
      entry.isDirectory() ? OWN_FOLDERS.has(entry.name) : OWN_FILES.test(entry.name),
    ),
    ...foreignOf(join(folder, 'annex'), annex, (entry) => ANNEX_OWN.has(entry.name)),
  ];
}

function foreignOf(
  folder: string,
  entries: readonly NamedEntry[],
  isOwn: (entry: NamedEntry) => boolean,
): readonly HiddenEntry[] {
  return entries
    .filter((entry) => !isOwn(entry))
    .flatMap((entry): readonly HiddenEntry[] => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return [{ path, kind: 'directory' }];
      // Links cannot be mounted over, and their target is elsewhere.
      return entry.isFile() ? [{ path, kind: 'file' }] : [];
    });
}

/** Returns the files in these git folders that their configs include, directly or through another config. */
export async function findIncluded(
  configs: readonly string[],
  gitFolders: readonly string[],
): Promise<readonly HiddenEntry[]> {
  const found = new Set<string>();
  const queue = [...configs];
  for (const config of queue) {
    const text = readBoundedText(config, READ.gitConfig) ?? '';
    for (const included of includedPaths(text)) {
      const path = await plainFile(resolve(config, '..', included), gitFolders);
      if (path === null || found.has(path) || configs.includes(path)) continue;
      if (found.size === MAX_INCLUDES) return hiddenFiles(found);
      found.add(path);
      queue.push(path);
    }
  }
  return hiddenFiles(found);
}

function hiddenFiles(paths: ReadonlySet<string>): readonly HiddenEntry[] {
  return [...paths].map((path) => ({ path, kind: 'file' }));
}

/** Returns the real path of a regular file in one of the folders; null for anything else. */
async function plainFile(path: string, folders: readonly string[]): Promise<string | null> {
  try {
    const real = await realpath(path);
    const isWithin = folders.some((folder) => isInside(real, folder));
    return isWithin && (await lstat(real)).isFile() ? real : null;
  } catch {
    return null;
  }
}
