import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { visibleFolders } from '../../../src/sandbox/isolation/toolchains.ts';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'home-')));
afterAll(() => rmSync(home, { recursive: true }));

function folder(...names: string[]): string {
  mkdirSync(join(home, ...names), { recursive: true });
  return join(home, ...names);
}

async function shown(pathFolders: readonly string[], readable: readonly string[] = []) {
  const closed = [join(home, 'work', '_temp'), home];
  const workspace = join(home, 'work', 'repo');
  const found = await visibleFolders({ pathFolders, readable, hidden: [home], closed, workspace });
  return found.map((each) => each.folder.slice(home.length + 1));
}

it('a folder on PATH brings its toolchain, and nothing beside it', async () => {
  folder('.rustup');
  folder('.ssh');
  const path = [
    folder('.cargo', 'bin'),
    folder('.pyenv', 'shims'),
    folder('go', 'bin'),
    folder('sdk', '1.2', 'bin'),
  ];
  expect(await shown(path)).toEqual(['.cargo', '.rustup', '.pyenv', 'go', 'sdk/1.2']);
});

it('a bin right in home shows itself alone', async () => {
  expect(await shown([folder('bin'), folder('.local', 'bin'), home])).toEqual(['bin', '.local/bin']);
});

it('system folders, the workspace and what is not there need no showing, and what holds RUNNER_TEMP gets none', async () => {
  const path = [
    '/usr/bin',
    folder('work', 'repo', 'bin'),
    folder('work', 'bin'),
    join(home, 'absent', 'bin'),
  ];
  folder('work', '_temp');
  expect(await shown(path, [folder('work', 'repo', 'x')])).toEqual(['work/bin']);
});

it('sandbox-read shows what it names, and its credentials are named for hiding', async () => {
  const m2 = folder('.m2');
  writeFileSync(join(m2, 'settings.xml'), 'x');
  folder('.m2', '.ssh');
  const options = {
    pathFolders: [],
    readable: [m2],
    hidden: [home],
    closed: [],
    workspace: join(home, 'work', 'repo'),
  };
  expect(await visibleFolders(options)).toEqual([
    {
      folder: m2,
      credentials: [
        { path: join(m2, '.ssh'), kind: 'directory' },
        { path: join(m2, 'settings.xml'), kind: 'file' },
      ],
    },
  ]);
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
])('hidden: %s, for a config of Cargo’s: %j', async (isHidden, text) => {
  const cargo = folder('.cargo');
  folder('.cargo', 'bin');
  writeFileSync(join(cargo, 'config.toml'), text);
  const options = { pathFolders: [join(cargo, 'bin')], readable: [], hidden: [home], closed: [] };
  const [found] = await visibleFolders({ ...options, workspace: join(home, 'work', 'repo') });
  expect(found).toEqual({
    folder: cargo,
    credentials: isHidden ? [{ path: join(cargo, 'config.toml'), kind: 'file' }] : [],
  });
});

it('a config of Cargo’s that is too large to be looked through is hidden, and read only so far', async () => {
  const cargo = folder('.cargo');
  folder('.cargo', 'bin');
  const config = join(cargo, 'config.toml');
  writeFileSync(config, '[registry]\ntoken = "cio-1"\n');
  truncateSync(config, 3 * 1024 ** 3);
  const options = { pathFolders: [join(cargo, 'bin')], readable: [], hidden: [home], closed: [] };
  const [found] = await visibleFolders({ ...options, workspace: join(home, 'work', 'repo') });
  expect(found?.credentials).toEqual([{ path: config, kind: 'file' }]);
});
