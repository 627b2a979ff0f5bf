import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { visibleFolders } from '../../../src/sandbox/isolation/toolchains.ts';
import { makeFolder } from '../../support/surroundings.ts';

const home = makeFolder();

function folder(...names: string[]): string {
  mkdirSync(join(home, ...names), { recursive: true });
  return join(home, ...names);
}

/** The toolchains found for directories on PATH in a hidden home. */
function find(pathFolders: readonly string[], options: Partial<Parameters<typeof visibleFolders>[0]> = {}) {
  const reader = { uid: process.getuid?.() ?? 0, signal: new AbortController().signal };
  const usual = { readable: [], hidden: [home], closed: [], workspace: join(home, 'work', 'repo') };
  return visibleFolders({ pathFolders, ...usual, ...reader, ...options });
}

async function shown(pathFolders: readonly string[], readable: readonly string[] = []) {
  const { folders } = await find(pathFolders, { readable, closed: [join(home, 'work', '_temp'), home] });
  return folders.map((each) => each.folder.slice(home.length + 1));
}

it('shows the toolchain of a directory on PATH and nothing beside it', async () => {
  folder('.rustup');
  folder('.ssh');
  folder('setup-pnpm/other');
  const names = ['.cargo/bin', '.pyenv/shims', 'go/bin', 'sdk/1.2/bin', 'setup-pnpm/node_modules/.bin'];
  const path = names.map((name) => folder(name));
  const roots = ['.cargo', '.rustup', '.pyenv', 'go', 'sdk/1.2', 'setup-pnpm/node_modules'];
  expect(await shown(path)).toEqual(roots);
});

it('shows a bin directory directly below home without its siblings', async () => {
  expect(await shown([folder('bin'), folder('.local', 'bin'), home])).toEqual(['bin', '.local/bin']);
});

it('skips system directories, the workspace and missing paths, and shows only the bin next to RUNNER_TEMP', async () => {
  const path = [
    '/usr/bin',
    folder('work', 'repo', 'bin'),
    folder('work', 'bin'),
    join(home, 'absent', 'bin'),
  ];
  folder('work', '_temp');
  expect(await shown(path, [folder('work', 'repo', 'x')])).toEqual(['work/bin']);
});

it('shows the directories of sandbox-read and lists their credentials for hiding', async () => {
  const m2 = folder('.m2');
  writeFileSync(join(m2, 'settings.xml'), 'x');
  folder('.m2', '.ssh');
  const credentials = [
    { path: join(m2, '.ssh'), kind: 'directory' },
    { path: join(m2, 'settings.xml'), kind: 'file' },
  ];
  expect((await find([], { readable: [m2] })).folders).toEqual([{ folder: m2, credentials }]);
});

it.each<[boolean, string]>([
  [true, '[registry]\ntoken = "cio-1"\n'],
  [true, '[registries.mine]\nindex = "x"\n  token="cio-1"\n'],
  [true, 'registries.mine.token = "cio-1"\n'],
  [true, '[registries]\nmine = { index = "x", token = "cio-1" }\n'],
  [true, '[registries.mine]\n"token" = "cio-1"\n'],
  [true, '[registries.mine]\nsecret-key = "k3.secret.x"\n'],
  [false, '[build]\nrustflags = ["-C", "token=x"]\n'],
  [false, '# token = "none"\n[registry]\nglobal-credential-providers = ["cargo:token"]\n'],
  [false, ''],
])('hidden is %s for the Cargo config %j', async (isHidden, text) => {
  const bin = folder('.cargo', 'bin');
  const config = join(home, '.cargo', 'config.toml');
  writeFileSync(config, text);
  const [found] = (await find([bin])).folders;
  const credentials = isHidden ? [{ path: config, kind: 'file' }] : [];
  expect(found).toEqual({ folder: join(home, '.cargo'), credentials });
});

it('hides a Cargo config that is too large to search and reads only its beginning', async () => {
  const bin = folder('.cargo', 'bin');
  const config = join(home, '.cargo', 'config.toml');
  writeFileSync(config, '[registry]\ntoken = "cio-1"\n');
  truncateSync(config, 3 * 1024 ** 3);
  const [found] = (await find([bin])).folders;
  expect(found?.credentials).toEqual([{ path: config, kind: 'file' }]);
});

/** The visible directories for a directory on PATH whose toolchain contains private files. */
async function hiddenAround(programs: string, readable: readonly string[] = []) {
  const found = await find([programs], { readable, closed: [home] });
  const name = (path: string) => path.slice(home.length + 1);
  return {
    folders: found.folders.map((one) => name(one.folder)),
    masked: found.folders.flatMap(({ credentials }) => credentials.map(({ path }) => name(path))).sort(),
    ownerOnly: found.ownerOnly.map(name).sort(),
    narrowed: found.narrowed.map(name),
  };
}

it('masks private files in a toolchain by their mode, except programs', async () => {
  const bin = folder('.tool', 'bin');
  writeFileSync(join(bin, 'program'), 'x', { mode: 0o700 });
  writeFileSync(join(bin, 'key'), 'x', { mode: 0o600 });
  writeFileSync(join(home, '.tool', 'login.yml'), 'x', { mode: 0o400 });
  writeFileSync(join(home, '.tool', 'open.yml'), 'x', { mode: 0o644 });
  writeFileSync(join(home, '.tool', 'empty'), '', { mode: 0o600 });
  writeFileSync(join(folder('.tool', 'a', 'b'), 'run'), 'x', { mode: 0o700 });
  const masked = ['.tool/a/b/run', '.tool/bin/key', '.tool/login.yml'];
  expect(await hiddenAround(bin)).toEqual({ folders: ['.tool'], masked, ownerOnly: masked, narrowed: [] });
  expect(await hiddenAround(bin, [join(home, '.tool', 'a')])).toMatchObject({ ownerOnly: masked.slice(1) });
  expect(await hiddenAround(bin, [join(home, '.tool')])).toMatchObject({ ownerOnly: [] });
  symlinkSync(bin, join(home, 'link'));
  expect(await hiddenAround(join(home, 'link'))).toMatchObject({
    folders: ['.tool/bin', 'link'],
    masked: ['.tool/bin/key', 'link/key'],
  });
});

it('shows only the programs of a toolchain with too many private files, and nothing if the programs have too many', async () => {
  const bin = folder('.many', 'bin');
  for (let n = 0; n < 201; n += 1)
    writeFileSync(join(folder('.many', 'data'), `file-${n}`), 'x', { mode: 0o600 });
  writeFileSync(join(bin, 'key'), 'x', { mode: 0o600 });
  const masked = ['.many/bin/key'];
  const folders = ['.many/bin'];
  expect(await hiddenAround(bin)).toEqual({ folders, masked, ownerOnly: masked, narrowed: ['.many'] });
  for (let n = 0; n < 201; n += 1) writeFileSync(join(bin, `key-${n}`), 'x', { mode: 0o600 });
  expect(await hiddenAround(bin)).toMatchObject({ folders: [], narrowed: ['.many', '.many/bin'] });
});

it('shows only the programs of a toolchain that cannot be searched', async () => {
  const bin = folder('.unsearched', 'bin');
  const found = await find([bin], { closed: [home], workspace: '/none', signal: AbortSignal.abort() });
  expect(found.folders.map((one) => one.folder)).toEqual([bin]);
  expect(found.narrowed).toEqual([join(home, '.unsearched')]);
});
