/** Package caches that earlier steps filled, shown in the private home: without a network the shell cannot fill its own. */
import { lstat, mkdir, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { isInside } from '../workspace/path-policy.ts';
import { realOrNull } from '../workspace/real-paths.ts';

/** Where caches may lie. */
export interface CacheOptions {
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
    if (await isThere(place)) continue;
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

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
