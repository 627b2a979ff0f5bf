/** Determines which folders of a hidden home remain visible to the shell: every folder on PATH, with its toolchain. */
import { lstat, mkdir, realpath, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { readBounded } from '../../files/read-bounded.ts';
import { MOUNTS, READ } from '../../text/limits.ts';
import { exists, isInside, realOrNull, realOrSame, realWithout } from '../workspace/path-policy.ts';
import { findOwnerOnlyFiles } from './hidden-paths.ts';

/** Toolchains that use more than the parent folder of their `bin`, as paths relative to the home. */
const SPREAD: readonly (readonly [prefix: string, folders: readonly string[]])[] = [
  ['.cargo', ['.cargo', '.rustup']],
  ['.pyenv', ['.pyenv']],
  ['.rbenv', ['.rbenv']],
  ['.nvm', ['.nvm']],
  ['.asdf', ['.asdf']],
  ['.sdkman', ['.sdkman']],
  ['.volta', ['.volta']],
  ['.dotnet', ['.dotnet']],
  [
    '.local',
    ['.local/bin', '.local/lib', '.local/share/mise', '.local/share/pnpm', '.local/share/uv', '.local/pipx'],
  ],
];

/** Files and folders with credentials, as paths relative to a home or the folder of a toolchain. */
const CREDENTIAL_PATHS =
  `.npmrc .netrc .git-credentials .pypirc .yarnrc.yml .aws .azure .ssh .gnupg .kube .docker
  .config/gh .config/git/credentials .config/gcloud .config/pip .config/containers .cargo/credentials
  .cargo/credentials.toml credentials credentials.toml .m2/settings.xml .m2/settings-security.xml settings.xml
  settings-security.xml .gradle/gradle.properties .sbt/.credentials .ivy2/.credentials .gem/credentials
  .composer/auth.json .config/composer/auth.json .nuget/NuGet/NuGet.Config NuGet/NuGet.Config .terraform.d
  .terraformrc config.json .password-store`.split(/\s+/u);

/**
 * Cargo's configuration files, which builds need and which may also hold the token of a registry
 * (doc.rust-lang.org/cargo, configuration).
 */
const CARGO_CONFIGS = ['.cargo/config.toml', '.cargo/config', 'config.toml', 'config'];
const CARGO_TOKEN = /^[\w \t."'-]*\b(?:token|secret-key)["']?\s*=|[{,]\s*(["']?)(?:token|secret-key)\1\s*=/mu;

/** A toolchain folder that is shown, and the credentials in it that are hidden. */
interface Visible {
  /** A real path. */
  readonly folder: string;
  readonly credentials: readonly { readonly path: string; readonly kind: 'file' | 'directory' }[];
}

interface VisibleFolders {
  readonly folders: readonly Visible[];
  /** Owner-only files in toolchain folders; each is also among the credentials of its folder. */
  readonly ownerOnly: readonly string[];
  /** Toolchain folders that hold too many such files or could not be searched: only their programs are shown. */
  readonly narrowed: readonly string[];
}

interface VisibleOptions {
  readonly pathFolders: readonly string[];
  /** Program folders that are shown unchanged if they are hidden. */
  readonly tools?: readonly string[];
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
  readonly closed: readonly string[];
  /** Visible and writable anyway: nothing in it, and no target of a link in it, is shown again. */
  readonly workspace: string;
  /** The user who runs the commands; the permissions of this user's files do not protect them from commands. */
  readonly uid: number;
  readonly signal: AbortSignal;
}

/**
 * Returns the folders to show: the entries of `pathFolders` inside `hidden`, widened to their toolchain, and
 * `readable`. Never includes a folder that contains one of `closed`, unless `readable` names it.
 */
export async function visibleFolders(options: VisibleOptions): Promise<VisibleFolders> {
  const { hidden, workspace } = options;
  const { toolchains, files, narrowed } = await closeOwnerOnly(await findToolchains(options), options);
  const readable = await Promise.all(options.readable.map((folder) => toolchainAt(folder, [], workspace)));
  const folders: Visible[] = [];
  for (const { folder, real } of [...toolchains, ...readable.filter((one) => one !== null)]) {
    const known = await credentialsIn(real);
    const others = files.filter((path) => isInside(path, real) && !known.some((one) => one.path === path));
    const credentials = [...known, ...others.map((path) => ({ path, kind: 'file' as const }))];
    folders.push({ folder: real, credentials });
    // A PATH entry may be a link into a hidden folder; the name that the shell looks up must exist, too.
    if (real !== folder && hidden.some((root) => isInside(folder, root))) {
      folders.push({
        folder,
        credentials: credentials.map((one) => ({ ...one, path: folder + one.path.slice(real.length) })),
      });
    }
  }
  return { folders, ownerOnly: files, narrowed };
}

/** A folder to show, with the path by which it is requested. */
interface Toolchain {
  readonly folder: string;
  readonly real: string;
  /** The folders on PATH that caused it to be shown. */
  readonly programs: readonly string[];
}

async function toolchainAt(
  folder: string,
  programs: readonly string[],
  workspace: string,
): Promise<Toolchain | null> {
  const real = await realWithout(folder, workspace);
  return real === null ? null : { folder, real, programs };
}

async function findToolchains(options: VisibleOptions): Promise<readonly Toolchain[]> {
  const { hidden, closed, workspace } = options;
  const wanted = new Map<string, string[]>();
  const isOpen = (root: string) => !closed.some((path) => isInside(path, root)) && !hidden.includes(root);
  for (const folder of options.pathFolders) {
    if (!hidden.some((root) => isInside(folder, root)) || isInside(folder, workspace)) continue;
    const roots = toolchainOf(folder, hidden);
    for (const root of roots.every(isOpen) ? roots : [folder].filter(isOpen))
      wanted.set(root, [...(wanted.get(root) ?? []), folder]);
  }
  for (const folder of options.tools ?? []) {
    if (!wanted.has(folder) && hidden.some((root) => isInside(folder, root)) && isOpen(folder))
      wanted.set(folder, [join(folder, 'bin')]);
  }
  const found = [...wanted].map(([folder, programs]) => toolchainAt(folder, programs, workspace));
  return (await Promise.all(found)).filter((one) => one !== null);
}

/**
 * Finds the owner-only files in toolchains. A toolchain with too many of them, or one that cannot be searched, is
 * narrowed to its folders on PATH. Any of those that still has too many is left out.
 */
async function closeOwnerOnly(
  toolchains: readonly Toolchain[],
  { readable, workspace, uid, signal }: VisibleOptions,
): Promise<{ toolchains: readonly Toolchain[]; files: readonly string[]; narrowed: readonly string[] }> {
  // Folders named by `sandbox-read` are shown unchanged.
  const asked = await Promise.all(readable.map(realOrSame));
  const skipped = [workspace, ...asked];
  let shown = toolchains;
  const narrowed: string[] = [];
  for (;;) {
    const folders = [...new Set(shown.map(({ real }) => real))].filter(
      (real) => !asked.some((folder) => isInside(real, folder)),
    );
    const search = await findOwnerOnlyFiles({ folders, skipped, uid, signal });
    const files = await withoutPrograms(search.files, toolchains);
    const isWide = ({ folder, programs }: Toolchain) => !programs.includes(folder);
    const crowded = search.complete ? findCrowded(shown, files) : shown.filter(isWide);
    if (crowded.length === 0) return { toolchains: shown, files, narrowed };
    const next: Toolchain[] = [];
    for (const one of shown) {
      if (!crowded.includes(one)) next.push(one);
      else narrowed.push(one.folder);
      for (const folder of crowded.includes(one) && isWide(one) ? one.programs : []) {
        const programs = await toolchainAt(folder, [folder], workspace);
        if (programs !== null) next.push(programs);
      }
    }
    shown = next;
  }
}

/** Returns the toolchains with the most of these files, until the rest together have few enough. */
function findCrowded(toolchains: readonly Toolchain[], files: readonly string[]): readonly Toolchain[] {
  const counted = toolchains
    .map((toolchain) => ({ toolchain, count: files.filter((path) => isInside(path, toolchain.real)).length }))
    .sort((a, b) => a.count - b.count);
  let total = 0;
  return counted
    .filter(({ count }) => {
      total += count;
      return count > 0 && total > MOUNTS.ownerOnly;
    })
    .map(({ toolchain }) => toolchain);
}

/** Leaves out programs: executable files directly in a folder on PATH, whatever their permissions. */
async function withoutPrograms(
  files: readonly string[],
  toolchains: readonly Toolchain[],
): Promise<readonly string[]> {
  const named = toolchains.flatMap(({ programs }) => programs);
  const folders = new Set(await Promise.all([...new Set(named)].map(realOrSame)));
  const isOther = await Promise.all(
    files.map(async (path) => {
      if (!folders.has(dirname(path))) return true;
      const stats = await lstat(path).catch(() => null);
      return stats === null || !stats.isFile() || (stats.mode & 0o100) === 0;
    }),
  );
  return files.filter((_, index) => isOther[index]);
}

function toolchainOf(folder: string, hidden: readonly string[]): readonly string[] {
  for (const [prefix, folders] of SPREAD) {
    const at = `${folder}/`.indexOf(`/${prefix}/`);
    const home = folder.slice(0, at);
    if (at > 0 && hidden.some((root) => isInside(home, root))) return folders.map((path) => join(home, path));
  }
  const parent = dirname(folder);
  // Programs in `node_modules/.bin` are links to the packages beside it.
  const named = ['bin', '.bin', 'shims', 'sbin'].includes(basename(folder));
  // A whole home folder is never a toolchain, no matter which user owns it.
  const isHome = dirname(parent) === '/home' || hidden.includes(parent);
  return named && !isHome && hidden.some((root) => isInside(parent, root)) ? [parent] : [folder];
}

async function credentialsIn(folder: string): Promise<Visible['credentials']> {
  const found: { path: string; kind: 'file' | 'directory' }[] = [];
  const tokens = CARGO_CONFIGS.map((name) => join(folder, name));
  for (const path of [...CREDENTIAL_PATHS.map((name) => join(folder, name)), ...tokens]) {
    try {
      const stats = await stat(path);
      if (tokens.includes(path) && !(stats.isFile() && mayHoldToken(path))) continue;
      if (await isPlain(path)) found.push({ path, kind: stats.isDirectory() ? 'directory' : 'file' });
    } catch {
      // Does not exist, so there is nothing to hide.
    }
  }
  return found;
}

/**
 * Whether a file may hold a token. True if it is too large to check or cannot be read now, because the agent may be
 * able to read it later.
 */
function mayHoldToken(path: string): boolean {
  const read = readBounded(path, { maxBytes: READ.gitConfig, links: 'follow' });
  return !read.ok || CARGO_TOKEN.test(read.bytes.toString('utf8'));
}

/** Only a path without links can be mounted over; the target of a link is hidden at its own path. */
async function isPlain(path: string): Promise<boolean> {
  return (await realpath(path)) === path;
}

interface CacheOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** The private home as a host path; no command of the model has run in it yet. */
  readonly privateHome: string;
  /** Absolute paths of folders in the home that the shell may read. */
  readonly readable: readonly string[];
  readonly isSeen: (path: string) => boolean;
}

/**
 * Links every cache that exists and is visible into the private home under its usual name. Cargo and Go can use a cache
 * that is read-only to them (doc.rust-lang.org/cargo, Cargo home; go.dev/ref/mod, module cache).
 */
export async function linkCaches(options: CacheOptions): Promise<void> {
  const linked: string[] = [];
  for (const { at, name } of wanted(options).sort((a, b) => a.name.length - b.name.length)) {
    const real = await realOrNull(at);
    const place = join(options.privateHome, name);
    // Never below one of these links, which would write into the real home.
    if (real === null || !options.isSeen(real) || linked.some((other) => isInside(place, other))) continue;
    if (await exists(place)) continue;
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    await symlink(real, place);
    linked.push(place);
  }
}

function wanted({ environment, home, readable }: CacheOptions): { at: string; name: string }[] {
  const cargo = environment['CARGO_HOME'] || join(home, '.cargo');
  const goPath = environment['GOPATH']?.split(':')[0] || join(home, 'go');
  return [
    ...['registry', 'git'].map((name) => ({ at: join(cargo, name), name: `.cargo/${name}` })),
    { at: environment['GOMODCACHE'] || join(goPath, 'pkg', 'mod'), name: 'go/pkg/mod' },
    ...readable
      .filter((at) => at !== home && isInside(at, home))
      .map((at) => ({ at, name: relative(home, at) })),
  ];
}
