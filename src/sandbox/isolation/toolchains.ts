/** Which folders of a hidden home the shell sees all the same: every folder on PATH, with the toolchain behind it. */
import { lstat, mkdir, realpath, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { readBounded } from '../../files/read-bounded.ts';
import { MAX_CONFIG_BYTES } from '../workspace/git-config.ts';
import { exists, isInside, realOrNull, realOrSame, realWithout } from '../workspace/path-policy.ts';
import { findOwnerOnlyFiles } from './hidden-paths.ts';

/** Toolchains that spread over more than the folder above their `bin`, as paths below home. */
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

/** Files and folders that hold credentials, as paths below a home or a toolchain's folder. */
const CREDENTIAL_PATHS =
  `.npmrc .netrc .git-credentials .pypirc .yarnrc.yml .aws .azure .ssh .gnupg .kube .docker
  .config/gh .config/git/credentials .config/gcloud .config/pip .config/containers .cargo/credentials
  .cargo/credentials.toml credentials credentials.toml .m2/settings.xml .m2/settings-security.xml settings.xml
  settings-security.xml .gradle/gradle.properties .sbt/.credentials .ivy2/.credentials .gem/credentials
  .composer/auth.json .config/composer/auth.json .nuget/NuGet/NuGet.Config NuGet/NuGet.Config .terraform.d
  .terraformrc config.json .password-store`.split(/\s+/u);

/** Cargo's settings, which builds need, and which may hold a registry's token as well (doc.rust-lang.org/cargo, configuration). */
const CARGO_CONFIGS = ['.cargo/config.toml', '.cargo/config', 'config.toml', 'config'];
const CARGO_TOKEN = /^[\w \t."'-]*\b(?:token|secret-key)["']?\s*=|[{,]\s*(["']?)(?:token|secret-key)\1\s*=/mu;

/** The most files of one user's alone that are masked one by one: each costs every command half a millisecond. */
const MAX_OWNER_ONLY = 200;

/** A toolchain's folder that is to be seen, and the credentials in it that are not. */
interface Visible {
  /** Where it stands, a real path. */
  readonly folder: string;
  readonly credentials: readonly { readonly path: string; readonly kind: 'file' | 'directory' }[];
}

/** What is shown of hidden folders. */
interface VisibleFolders {
  readonly folders: readonly Visible[];
  /** Files that their user alone may read, in the folders of toolchains; each is among the credentials of its folder. */
  readonly ownerOnly: readonly string[];
  /** Folders of toolchains that hold too many such files, or could not be searched: only their programs are shown. */
  readonly narrowed: readonly string[];
}

/** What is to be shown, and what decides it. */
interface VisibleOptions {
  readonly pathFolders: readonly string[];
  /** Folders of programs that are shown as they are, where they are hidden. */
  readonly tools?: readonly string[];
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
  readonly closed: readonly string[];
  /** Seen anyway, and writable: nothing in it is shown again, nor what a link in it leads to. */
  readonly workspace: string;
  /** Who runs the commands: the permissions of this user's files keep nothing from them. */
  readonly uid: number;
  readonly signal: AbortSignal;
}

/**
 * The folders to show: those of `pathFolders` that lie in `hidden`, widened to their toolchain, and `readable`.
 * Never a folder that contains one of `closed`, unless it was asked for by name in `readable`.
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
    // A PATH entry may be a link into a hidden folder; the name the shell looks under must exist too.
    if (real !== folder && hidden.some((root) => isInside(folder, root))) {
      folders.push({
        folder,
        credentials: credentials.map((one) => ({ ...one, path: folder + one.path.slice(real.length) })),
      });
    }
  }
  return { folders, ownerOnly: files, narrowed };
}

/** A folder to show, under the name by which it is asked for. */
interface Toolchain {
  readonly folder: string;
  readonly real: string;
  /** The folders on PATH that brought it. */
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
 * Finds the files in toolchains that their user alone may read. A toolchain with too many of them, or one that cannot be
 * searched, is narrowed to its folders on PATH, and left out where one of those has too many still.
 */
async function closeOwnerOnly(
  toolchains: readonly Toolchain[],
  { readable, workspace, uid, signal }: VisibleOptions,
): Promise<{ toolchains: readonly Toolchain[]; files: readonly string[]; narrowed: readonly string[] }> {
  // What `sandbox-read` names is shown as it is.
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

/** Those with the most of these files, until the others together have few enough. */
function findCrowded(toolchains: readonly Toolchain[], files: readonly string[]): readonly Toolchain[] {
  const counted = toolchains
    .map((toolchain) => ({ toolchain, count: files.filter((path) => isInside(path, toolchain.real)).length }))
    .sort((a, b) => a.count - b.count);
  let total = 0;
  return counted
    .filter(({ count }) => {
      total += count;
      return count > 0 && total > MAX_OWNER_ONLY;
    })
    .map(({ toolchain }) => toolchain);
}

/** An executable file right in a folder on PATH is a program, whoever may start it. */
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
  const named = ['bin', 'shims', 'sbin'].includes(basename(folder));
  // A whole home is never a toolchain, whoever's it is.
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
      // Not there: nothing to hide.
    }
  }
  return found;
}

/** Also where the file is too large to look, or cannot be read now: the agent may be able to, a moment later. */
function mayHoldToken(path: string): boolean {
  const read = readBounded(path, { maxBytes: MAX_CONFIG_BYTES, links: 'follow' });
  return !read.ok || CARGO_TOKEN.test(read.bytes.toString('utf8'));
}

/** Only a path that is no link can be mounted over; a link's target is hidden where it lies. */
async function isPlain(path: string): Promise<boolean> {
  return (await realpath(path)) === path;
}

/** Where caches may lie. */
interface CacheOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The home of this machine. */
  readonly home: string;
  /** The private home on this machine: nothing of the model's has run there yet. */
  readonly privateHome: string;
  /** Folders of the home that the shell was given to read, absolute. */
  readonly readable: readonly string[];
  /** Whether the shell sees a path, a real one. */
  readonly isSeen: (path: string) => boolean;
}

/**
 * Links every cache that is there and can be seen under its usual name in the private home. Cargo and Go work from a
 * cache that they cannot write (doc.rust-lang.org/cargo, Cargo home; go.dev/ref/mod, module cache).
 */
export async function linkCaches(options: CacheOptions): Promise<void> {
  const linked: string[] = [];
  for (const { at, name } of wanted(options).sort((a, b) => a.name.length - b.name.length)) {
    const real = await realOrNull(at);
    const place = join(options.privateHome, name);
    // Never below a link of our own: that would write into the real home.
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
