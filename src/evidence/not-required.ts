/** Which changed files do not have to be seen. */
import { posix } from 'node:path';
import type { NotRequired } from '../types.ts';
import type { Change, FileChange } from './change.ts';

/** Lock files, which programs write and which are longer than any reader would read. */
const LOCK_FILES = new Set([
  ...['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb'],
  ...['deno.lock', 'Cargo.lock', 'Gemfile.lock', 'gems.locked', 'poetry.lock', 'uv.lock', 'pdm.lock'],
  ...['pixi.lock', 'Pipfile.lock', 'conda-lock.yml', 'composer.lock', 'go.sum', 'go.work.sum', 'flake.lock'],
  ...['packages.lock.json', 'paket.lock', 'mix.lock', 'rebar.lock', 'pubspec.lock', 'Podfile.lock'],
  ...['Cartfile.resolved', 'Package.resolved', 'gradle.lockfile', 'buildscript-gradle.lockfile'],
  ...['.terraform.lock.hcl', 'Chart.lock', 'MODULE.bazel.lock', 'cabal.project.freeze'],
  ...['stack.yaml.lock', 'conan.lock', 'Gopkg.lock', 'glide.lock', 'shard.lock', 'renv.lock'],
]);

export function isLockFile(path: string): boolean {
  return LOCK_FILES.has(posix.basename(path));
}

/** Creates the function that says why a file does not have to be seen; null if it has to be. */
export function createExemptions({ marked }: Change, subject: string) {
  const isSubject = (path: string) => subject === '' || path.startsWith(`${subject}/`);
  return (file: FileChange): NotRequired | null => {
    // What a file was before a rename counts as well: a rename must not take a file out of sight.
    const names = file.previous === null ? [file.path] : [file.path, file.previous];
    if (!names.some(isSubject)) return 'outside_working_directory';
    // A link with the name of a lock file is a unit.
    if (file.kind !== 'unit' && names.every(isLockFile)) return 'lock_file';
    if (file.kind === 'binary') return 'binary';
    return names.every((name) => marked.has(name)) ? (marked.get(file.path) ?? null) : null;
  };
}
