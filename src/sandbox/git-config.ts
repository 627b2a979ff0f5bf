/** A repository's config without what opens doors: credentials, headers, includes, commands. */

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

/** The text of a git config with only the harmless keys in it, and no user or password in any URL. */
export function withoutCredentials(config: string): string {
  const lines: string[] = [];
  let section: Section | null = null;
  for (const line of joinContinued(config)) {
    const header = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\](.*)$/u.exec(line);
    if (header !== null) {
      section = { name: (header[1] ?? '').toLowerCase(), sub: header[2] ?? null };
      const title = section.sub === null ? section.name : `${section.name} "${section.sub}"`;
      if (!hasUserInfo(title)) lines.push(`[${title}]`);
      else section = null;
    }
    const entry = parseEntry(header === null ? line : (header[3] ?? ''));
    if (section !== null && entry !== null && KEPT.has(`${section.name}.${entry.key}`)) {
      lines.push(`\t${entry.key} = ${quote(withoutUserInfo(entry.value))}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Whether a git config holds something that `withoutCredentials` takes out because it grants access. */
export function hasCredentials(config: string): boolean {
  return /extraheader|\bcredential\b|includeif/iu.test(config) || hasUserInfo(config);
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
  for (const part of text.trimStart().match(/\\.|[\s\S]/gu) ?? []) {
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

const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)[^/\s"]*@/giu;

function hasUserInfo(text: string): boolean {
  return text.search(USER_INFO) >= 0;
}

function withoutUserInfo(value: string): string {
  return value.replace(USER_INFO, '$1');
}

function quote(value: string): string {
  return `"${value.replace(/["\\]/gu, '\\$&').replaceAll('\n', '\\n')}"`;
}
