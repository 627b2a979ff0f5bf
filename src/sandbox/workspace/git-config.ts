/** A repository's config without what opens doors: credentials, headers, includes, commands. */
import { lstat, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readBoundedText } from '../../files/read-bounded.ts';
import { isInside } from './path-policy.ts';

/**
 * Keys that git needs to read a repository, as `section.key`; everything else is left out. An allow-list, so that a line
 * which git reads in another way than this parser cannot carry a token through.
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

/** What one line of a config says. */
interface Line {
  /** The section that begins in this line. */
  readonly begins: Section | null;
  /** The key and the section that it belongs to. */
  readonly entry: { readonly section: Section; readonly key: string; readonly value: string } | null;
}

/** The text of a git config with only the harmless keys in it, and no user or password in any URL. */
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

/** Whether a git config holds something that `withoutCredentials` takes out because it grants access. */
export function hasCredentials(config: string): boolean {
  return /extraheader|\bcredential\b|includeif/iu.test(config) || hasUserInfo(config);
}

/** The paths of the configs that a config includes, under conditions or without, as they are written there. */
export function includedPaths(config: string): readonly string[] {
  return valuesOf(config, ['include', 'includeif'], 'path');
}

/** The folder that a config names as the repository's working tree; null where it names none. */
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

/** A value as git reads it: parts may be quoted, a comment begins at `#` or `;` outside quotes. */
function parseValue(text: string): string {
  let value = '';
  let solid = 0;
  let quoted = false;
  for (const [part] of text.trimStart().matchAll(/\\.|[\s\S]/gu)) {
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

/** From the `://` on, which no second match can begin in: with the scheme before it the search would be quadratic. */
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

/** A file or a folder that is hidden. */
export interface HiddenEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory';
}

/** What a look into a folder says of one name. */
export interface NamedEntry {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
}

/** The longest config that is read, in bytes. */
export const MAX_CONFIG_BYTES = 1024 * 1024;
/** So many configs are followed at most; git itself stops at ten that include each other. */
const MAX_INCLUDES = 100;

/** Files that git keeps right in its folder (gitrepository-layout(5)), and what it leaves there while it merges or bisects. */
const OWN_FILES =
  /^(?:config|config\.worktree|index|packed-refs|shallow|description|commondir|gitdir|locked|gc\.log|sharedindex\.[0-9a-f]+|HEAD|[A-Z_]+_(?:HEAD|MSG|EDITMSG)|MERGE_(?:MODE|RR)|AUTO_MERGE|BISECT_(?:LOG|NAMES|START|TERMS|RUN|EXPECTED_REV|ANCESTORS_OK))$/u;
/** Folders of git, of git-lfs and of git-annex. */
const OWN_FOLDERS = new Set(
  `objects refs reftable logs info hooks branches remotes modules worktrees rr-cache rebase-apply rebase-merge sequencer
  lfs annex`.split(/\s+/u),
);
/** The files that links in the working tree lead to; beside them git-annex keeps credentials. */
const ANNEX_OWN = new Set(['objects']);

/** What is in a git folder and is not git's own, by its names alone: an allow-list, since tools keep keys in any file there. */
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
      // Nothing can be mounted over a link, and what it leads to lies elsewhere.
      return entry.isFile() ? [{ path, kind: 'file' }] : [];
    });
}

/** The files within these git folders that their configs include, directly or by way of another one. */
export async function findIncluded(
  configs: readonly string[],
  gitFolders: readonly string[],
): Promise<readonly HiddenEntry[]> {
  const found = new Set<string>();
  const queue = [...configs];
  for (const config of queue) {
    const text = readBoundedText(config, MAX_CONFIG_BYTES) ?? '';
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

/** The real path of a regular file in one of the folders; null for everything else. */
async function plainFile(path: string, folders: readonly string[]): Promise<string | null> {
  try {
    const real = await realpath(path);
    const isWithin = folders.some((folder) => isInside(real, folder));
    return isWithin && (await lstat(real)).isFile() ? real : null;
  } catch {
    return null;
  }
}
