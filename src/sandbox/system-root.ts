/**
 * What the agent's commands see of this machine. The root file system begins with nothing; what is listed here is added to
 * it, read-only. A folder that is on no list is not there. Then come the mounts of both backends, in their order.
 */
import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isInside, realOrNull } from '../files/real-paths.ts';
import { listPathFolders, listToolFolders } from './environment.ts';
import { CONTEXT_FOLDER, type SandboxOptions } from './sandbox.ts';

const SYSTEM = `/usr /usr/local /bin /sbin /lib /lib32 /lib64 /libx32 /nix /var/lib/gems
  /home/linuxbrew/.linuxbrew`.split(/\s+/u);

/** Entries of /etc, if others may read them; `*` stands for the rest of a name. Private keys are not among them. */
const ETC =
  `alternatives ca-certificates ca-certificates.conf chromium.d crypto-policies debian_version dotnet fonts gai.conf
  group host.conf hosts java* ld.so.* localtime lsb-release magic mailcap maven mime.types mono nsswitch.conf
  openssl os-release passwd perl php pki/ca-trust pki/java pki/tls/cert.pem pki/tls/certs pki/tls/openssl.cnf protocols
  python* resolv.conf ruby* services shells ssl/cert.pem ssl/certs ssl/java ssl/openssl.cnf terminfo timezone
  xml`.split(/\s+/u);

/** Entries of /opt with programs that others may read. */
const OPT =
  `android az dotnet go google gradle* hostedtoolcache homebrew java* jdk* julia* maven* microsoft node* pipx
  pipx_bin python* rh ruby* rust* swift*`.split(/\s+/u);

/** Folders of a home that hold programs or packages. What is beside them and not listed holds settings or keys. */
const HOME = `.bun/bin .bun/install
  .cache/Cypress .cache/bazelisk .cache/ms-playwright .cache/node .cache/puppeteer
  .cache/pypoetry/virtualenvs .cache/selenium
  .cargo/bin .cargo/git .cargo/registry
  .dart-sdk .deno/bin
  .dotnet/dotnet .dotnet/host .dotnet/packs .dotnet/sdk .dotnet/shared .dotnet/tools
  .ghcup/bin .ghcup/ghc .ghcup/lib
  .gradle/jdks .gradle/wrapper
  .juliaup/bin .julia/artifacts .julia/packages
  .local/bin .local/lib .local/pipx/venvs .local/share/mise/installs .local/share/mise/shims .local/share/pnpm
  .local/share/pipx/venvs .local/share/uv/python .local/share/uv/tools .local/state/fnm_multishells
  .local/share/fnm/node-versions
  .m2/repository .m2/wrapper
  .mix/archives .mix/elixir
  .nuget/packages .nvm
  .pub-cache/hosted .pyenv .rbenv .asdf/installs .asdf/shims .asdf/plugins
  .rustup
  .sdkman/candidates .volta/bin .volta/tools
  .composer/vendor .config/composer/vendor
  .yarn/berry/cache
  go/bin go/pkg setup-pnpm`.split(/\s+/u);

/** The folders beside a `bin` on PATH from which its programs load their parts. */
const BESIDE_BIN = /^(?:lib.*|share|include|conf)$/u;
/** The same in the home, where `share` may hold the data of a person. */
const BESIDE_BIN_IN_HOME = /^lib(?:32|64|exec)?$/u;

export interface Mount {
  /** Read-only, a writable folder, which need not exist, or a link. */
  readonly kind: 'show' | 'open' | 'link';
  /** What is mounted, an absolute path on this machine; of a link, what it holds. */
  readonly from: string;
  /** An absolute path. */
  readonly at: string;
}

type RootOptions = Pick<
  SandboxOptions,
  'workspace' | 'home' | 'runnerTemp' | 'runFolder' | 'environment' | 'readable' | 'shellNetwork'
>;

/**
 * Plans the root file system. Entries are sorted, so that a folder comes before what is in it. The home of the result
 * is an empty folder in which the entries below `home` are shown.
 */
export function planRoot(options: RootOptions): readonly Mount[] {
  const { environment, readable } = options;
  const home = realOrSame(options.home);
  const closed = [options.workspace, options.runFolder].map(realOrSame);
  const ours = [...closed, home, realOrSame(options.runnerTemp)];
  const toolCaches = ['RUNNER_TOOL_CACHE', 'AGENT_TOOLSDIRECTORY'].map((name) => environment[name] ?? '');
  const wanted = [
    ...SYSTEM,
    ...listEntries('/etc', ETC).filter((at) => options.shellNetwork || at !== '/etc/resolv.conf'),
    ...listEntries('/opt', OPT),
    ...HOME.map((name) => join(home, name)),
    ...toolCaches,
    ...listToolFolders(environment).filter((at) => !isInside(realOrSame(at), home)),
    ...listPathFolders(environment['PATH'])
      .filter((at) => !holdsRow(at, home))
      .flatMap((at) => [at, ...listBeside(at, home)]),
    ...readable,
  ];
  const entries = new Map<string, Mount>();
  /** Whether a real place is none of these folders, holds none, and is not in the workspace or the folder of the run. */
  const isAllowed = (place: string) =>
    !ours.some((one) => isInside(one, place)) && !closed.some((one) => isInside(place, one));
  const isShown = (place: string) => [...entries.keys()].some((at) => isInside(place, at));
  const absolute = wanted.filter((place) => place.startsWith('/')).map((at) => resolve(at));
  for (const at of [...new Set(absolute)].sort()) {
    const from = realOrNull(at);
    if (from === null || !isAllowed(from)) continue;
    if (SYSTEM.includes(at) && lstatSync(at).isSymbolicLink()) {
      entries.set(at, { kind: 'link', from: readlinkSync(at), at });
      continue;
    }
    // A linked folder is shown at both its names; what a link in /etc leads to may be anywhere.
    for (const place of at.startsWith('/etc/') ? [at] : [from, at]) {
      // A mount of its own below a folder that is shown is not shown with it.
      const isHidden = !isShown(place) || place === '/usr/local';
      if (isHidden && isAllowed(place)) entries.set(place, { kind: 'show', from, at: place });
    }
  }
  return [...entries.values()].sort((a, b) => (a.at < b.at ? -1 : 1));
}

/** Whether a folder of the home, such as .dotnet, holds rows of the table: beside them are settings or keys. */
function holdsRow(folder: string, home: string): boolean {
  const real = realOrSame(folder);
  return HOME.some((name) => join(home, name) !== real && isInside(join(home, name), real));
}

/** Returns the entries of a folder that the list names and that others may read. */
function listEntries(folder: string, names: readonly string[]): readonly string[] {
  const isListed = (name: string) =>
    names.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
  const nested = names.filter((name) => name.includes('/'));
  const found = [...listNames(folder).filter(isListed), ...nested];
  return found.map((name) => join(folder, name)).filter(isReadableByOthers);
}

function isReadableByOthers(place: string): boolean {
  const stats = statSync(place, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  const needed = stats.isDirectory() ? 0o005 : 0o004;
  return (stats.mode & needed) === needed;
}

/** Returns what belongs to the programs of a folder on PATH; never the folder that holds it, which may hold anything. */
function listBeside(folder: string, home: string): readonly string[] {
  const parent = dirname(folder);
  const realParent = realOrSame(parent);
  if (folder.endsWith('/node_modules/.bin')) return [parent];
  if (!/\/s?bin$/u.test(folder) || realParent === home) return [];
  const wanted = isInside(realParent, home) ? BESIDE_BIN_IN_HOME : BESIDE_BIN;
  return listNames(parent)
    .filter((name) => wanted.test(name))
    .map((name) => join(parent, name));
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function realOrSame(path: string): string {
  return realOrNull(path) ?? resolve(path);
}

/** What both backends build the root file system from. */
export interface RootPlan {
  /** The folder of the run, as `makeRunFolders` leaves it. */
  readonly run: string;
  readonly workspace: string;
  readonly home: string;
  readonly entries: readonly Mount[];
  /** The git folders of the layer, which commands can only read; relative to it. */
  readonly gitFolders: readonly string[];
  readonly shellNetwork: boolean;
}

/** Returns all mounts, a folder before what is in it. @param places where writable folders are on this machine */
export function listMounts(
  plan: RootPlan,
  places: Record<'tmp' | 'home' | 'layer', string>,
): readonly Mount[] {
  const { tmp, home, layer } = places;
  const { run, workspace, gitFolders } = plan;
  const show = (from: string, at: string): Mount => ({ kind: 'show', from, at });
  const open = (from: string, at: string): Mount => ({ kind: 'open', from, at });
  const mounts: readonly Mount[] = [
    open(tmp, '/tmp'),
    open(tmp, '/var/tmp'),
    open(home, plan.home),
    show(join(run, 'context'), CONTEXT_FOLDER),
    open(layer, workspace),
    ...gitFolders.map((path) => show(join(layer, path), join(workspace, path))),
    ...plan.entries,
  ];
  return pinMounts(mounts.toSorted((a, b) => (a.at < b.at ? -1 : 1)));
}

/**
 * Adds a mount for each folder that leads from a writable folder to a mount in it. A mount point cannot be renamed or
 * replaced: without this, a command could put a folder of its own in place of the workspace, or a link on the way, which
 * the mounts of the next command would follow.
 */
function pinMounts(mounts: readonly Mount[]): readonly Mount[] {
  const pinned = new Map<string, Mount>();
  for (const mount of mounts) {
    const outer = [...pinned.values()].findLast(
      ({ kind, at }) => kind === 'open' && mount.at.startsWith(`${at}/`),
    );
    const above: Mount[] = [];
    for (let at = dirname(mount.at); outer && at !== outer.at && !pinned.has(at); at = dirname(at))
      above.unshift({ kind: 'open', from: join(outer.from, relative(outer.at, at)), at });
    for (const pin of above) pinned.set(pin.at, pin);
    pinned.set(mount.at, mount);
  }
  return [...pinned.values()];
}
