/** Which folders of a hidden home the shell sees all the same: every folder on PATH, with the toolchain behind it. */
import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readBounded } from '../../files/read-bounded.ts';
import { isInside } from '../workspace/path-policy.ts';
import { realWithout } from '../workspace/real-paths.ts';

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

const MAX_CONFIG_BYTES = 1024 ** 2;

/** A toolchain's folder that is to be seen, and the credentials in it that are not. */
export interface Visible {
  /** Where it stands, a real path. */
  readonly folder: string;
  readonly credentials: readonly { readonly path: string; readonly kind: 'file' | 'directory' }[];
}

/**
 * The folders to show: those of `pathFolders` that lie in `hidden`, widened to their toolchain, and `readable`.
 * Never a folder that contains one of `closed`, unless it was asked for by name in `readable`.
 */
export async function visibleFolders(options: {
  readonly pathFolders: readonly string[];
  /** Folders of programs that are shown as they are, where they are hidden. */
  readonly tools?: readonly string[];
  readonly readable: readonly string[];
  readonly hidden: readonly string[];
  readonly closed: readonly string[];
  /** Seen anyway, and writable: nothing in it is shown again, nor what a link in it leads to. */
  readonly workspace: string;
}): Promise<readonly Visible[]> {
  const { hidden, closed } = options;
  const wanted = new Set<string>();
  const isOpen = (root: string) => !closed.some((path) => isInside(path, root)) && !hidden.includes(root);
  for (const folder of options.pathFolders) {
    if (!hidden.some((root) => isInside(folder, root)) || isInside(folder, options.workspace)) continue;
    const roots = toolchainOf(folder, hidden);
    for (const root of roots.every(isOpen) ? roots : [folder].filter(isOpen)) wanted.add(root);
  }
  for (const folder of options.tools ?? []) {
    if (hidden.some((root) => isInside(folder, root)) && isOpen(folder)) wanted.add(folder);
  }
  const result: Visible[] = [];
  for (const folder of [...wanted, ...options.readable]) {
    const real = await realWithout(folder, options.workspace);
    if (real === null) continue;
    result.push({ folder: real, credentials: await credentialsIn(real) });
    // A PATH entry may be a link into a hidden folder; the name the shell looks under must exist too.
    if (real !== folder && hidden.some((root) => isInside(folder, root))) {
      result.push({
        folder,
        credentials: (await credentialsIn(real)).map((c) => ({ ...c, path: c.path.replace(real, folder) })),
      });
    }
  }
  return result;
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
