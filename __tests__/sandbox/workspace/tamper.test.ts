import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTamperCheck } from '../../../src/sandbox/workspace/tamper.ts';
import { createWorld, gitIn, type World } from '../world.ts';

let world: World;
const at = (...names: string[]) => join(world.workspace, ...names);

beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

function init(folder: string, ...options: string[]): void {
  gitIn(world.workspace, 'init', '-q', ...options, at(folder));
}

async function verdictAfter(change: () => void, extra: readonly string[] = []): Promise<string | null> {
  const found = await tamperingAfter(change, extra);
  return found?.isClosed ? `${found.file} (closed)` : (found?.file ?? null);
}

async function tamperingAfter(change: () => void, extra: readonly string[]) {
  const check = createTamperCheck({ workspace: world.workspace, extra, inPlace: true });
  await check.snapshot();
  change();
  return check.compare();
}

describe('the tamper check reports a change of files that later steps trust', () => {
  const changes: readonly (readonly [name: string, change: () => void])[] = [
    ['.git/config', () => appendFileSync(at('.git', 'config'), '[core]\n\tfsmonitor = id\n')],
    ['.git/hooks/pre-push', () => writeFileSync(at('.git', 'hooks', 'pre-push'), '#!/bin/sh\n')],
    ['.git/info/attributes', () => writeFileSync(at('.git', 'info', 'attributes'), '* filter=x\n')],
    ['.git/config.worktree', () => writeFileSync(at('.git', 'config.worktree'), '')],
    ['.github/workflows/ci.yml', () => writeFileSync(at('.github/workflows/ci.yml'), 'on: pull\n')],
    ['.github/workflows/new.yml', () => writeFileSync(at('.github', 'workflows', 'new.yml'), '')],
    ['.github', () => renameSync(at('.github'), at('.g2'))],
    ['action.yml', () => writeFileSync(at('action.yml'), '')],
    ['.GitHub', () => mkdirSync(at('.GitHub'))],
    ['.github/workflows/ci.yml', () => chmodSync(at('.github', 'workflows', 'ci.yml'), 0o777)],
  ];
  it.each(changes)('%s', async (name, change) => {
    expect(await verdictAfter(change)).toBe(name);
  });

  it('a credential file of an earlier step', async () => {
    writeFileSync(at('gha-creds-1.json'), '{"type":"external_account"}');
    expect(await verdictAfter(() => writeFileSync(at('gha-creds-1.json'), '{}'))).toBe('gha-creds-1.json');
  });

  it('a file replaced by a link with the same content', async () => {
    writeFileSync(at('copy.yml'), 'on: push\n');
    const swap = () => {
      rmSync(at('.github', 'workflows', 'ci.yml'));
      symlinkSync('../../copy.yml', at('.github', 'workflows', 'ci.yml'));
    };
    expect(await verdictAfter(swap)).toBe('.github/workflows/ci.yml');
  });

  it('a changed mode after the hash limit, where files are compared by inode and times', async () => {
    const names = Array.from({ length: 17 }, (_, index) => at('.github', `file-${100 + index}`));
    for (const name of names) {
      writeFileSync(name, '');
      truncateSync(name, 8 * 1024 ** 2);
    }
    const touch = (name = '') => chmodSync(name, 0o644);
    expect(await verdictAfter(() => touch(names[0]))).toBeNull();
    expect(await verdictAfter(() => touch(names.at(-1)))).toBe('.github/file-116');
  });

  const makers: readonly (readonly [wish: string, file: string, make: () => void])[] = [
    ['a repository in the empty directory of a submodule', 'sub/.git', () => init('sub')],
    ['a repository deep in an ignored directory', 'node_modules/a/b/.git', () => init('node_modules/a/b')],
    [
      'a .git file that refers to a directory',
      'sub/.git',
      () => writeFileSync(at('sub/.git'), 'gitdir: ../fake\n'),
    ],
    ['a .git link', 'sub/.git', () => symlinkSync('../fake', at('sub', '.git'))],
    ['a repository without a .git', 'packages/a/HEAD', () => init('packages/a', '--bare')],
  ];
  it.each(makers)(
    'a new repository by which git would run a command in a later step: %s',
    async (_, file, make) => {
      mkdirSync(at('sub'));
      expect(await verdictAfter(make)).toBe(file);
      rmSync(at(file.split('/')[0] ?? ''), { recursive: true });
      const gone = () => {
        make();
        rmSync(at(file.split('/')[0] ?? ''), { recursive: true });
      };
      mkdirSync(at('sub'), { recursive: true });
      expect(await verdictAfter(gone)).toBeNull();
    },
  );

  // git enters a submodule by its path, even below a directory that cannot be listed and by relative names.
  it.skipIf(process.getuid?.() === 0)(
    'a directory that a command made unreadable, because it can contain a new repository',
    async () => {
      const close = () => {
        init('d/sub');
        chmodSync(at('d'), 0o111);
      };
      expect(await verdictAfter(close)).toBe('d (closed)');
      chmodSync(at('d'), 0o700);
    },
  );

  it('no repository that existed before, and no new one unless the run is in place', async () => {
    init('sub');
    init('bare', '--bare');
    const edit = () => writeFileSync(at('sub', 'file'), 'x');
    expect(await verdictAfter(edit)).toBeNull();
    const check = createTamperCheck({ workspace: world.workspace, extra: [], inPlace: false });
    await check.snapshot();
    init('another');
    expect(await check.compare()).toBeNull();
  });

  it('a file outside the workspace, by its absolute path', async () => {
    const bundle = join(world.base, 'dist');
    mkdirSync(bundle);
    writeFileSync(join(bundle, 'index.js'), 'a');
    expect(await verdictAfter(() => writeFileSync(join(bundle, 'index.js'), 'b'), [bundle])).toBe(
      join(bundle, 'index.js'),
    );
    const absent = join(world.temp, 'output');
    expect(await verdictAfter(() => writeFileSync(absent, 'x=1'), [absent])).toBe(absent);
  });

  it('the hooks of a nested checkout', async () => {
    init('nested');
    expect(await verdictAfter(() => writeFileSync(at('nested', '.git', 'hooks', 'pre-push'), ''))).toBe(
      'nested/.git/hooks/pre-push',
    );
  });

  it('a new .git file or link to a git directory', async () => {
    renameSync(at('.git'), at('meta'));
    expect(await verdictAfter(() => writeFileSync(at('.git'), 'gitdir: meta\n'))).toBe('.git');
    rmSync(at('.git'));
    expect(await verdictAfter(() => symlinkSync('meta', at('.git')))).toBe('.git');
  });
});

describe('the tamper check accepts ordinary work', () => {
  it('new files, commits and a changed index', async () => {
    const work = () => {
      writeFileSync(at('src.ts'), 'x');
      gitIn(world.workspace, 'add', '.');
      gitIn(world.workspace, 'commit', '-qm', 'second');
    };
    expect(await verdictAfter(work)).toBeNull();
  });

  it('a workspace without git until a repository is created in it', async () => {
    rmSync(at('.git'), { recursive: true });
    expect(await verdictAfter(() => writeFileSync(at('x'), ''))).toBeNull();
    expect(await verdictAfter(() => init('.'))).toBe('.git');
  });
});
