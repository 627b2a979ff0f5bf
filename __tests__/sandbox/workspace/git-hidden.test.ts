import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { findForeign, findIncluded } from '../../../src/sandbox/workspace/git-config.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'hidden-')));
afterAll(() => rmSync(base, { recursive: true }));

it('hides no file that git leaves during commit, merge, rebase, cherry-pick, stash and bisect', () => {
  const git = (...args: string[]) =>
    execFileSync('bash', ['-c', `git -c user.name=a -c user.email=b@c.d ${args.join(' ')} || true`], {
      cwd: base,
      stdio: 'pipe',
    });
  git('init -q -b main .');
  const commit = (text: string) => {
    writeFileSync(join(base, 'file'), text);
    git('add file');
    git(`commit -qm ${text}`);
  };
  commit('one');
  git('checkout -q -b side');
  commit('two');
  git('checkout -q main');
  commit('three');
  const seen = new Set<string>();
  const look = () => {
    const dot = join(base, '.git');
    for (const { path } of findForeign(dot, readdirSync(dot, { withFileTypes: true }), [])) seen.add(path);
  };
  for (const [begin, end] of [
    ['merge side', 'merge --abort'],
    ['rebase side', 'rebase --abort'],
    ['cherry-pick side', 'cherry-pick --abort'],
    ['bisect start main side', 'bisect reset'],
    ['stash', 'stash pop'],
    ['gc -q', 'pack-refs --all'],
    ['update-index --split-index', 'fetch -q .'],
    ['revert side', 'revert --abort'],
  ] as const) {
    git(begin);
    look();
    git(end);
    look();
  }
  expect([...seen]).toEqual([]);
});

it('follows includes of a config inside the git directories, once each, but no link out of them', async () => {
  const dot = join(base, 'followed', '.git');
  mkdirSync(join(dot, 'info'), { recursive: true });
  writeFileSync(join(base, 'followed', 'outside'), 'x');
  symlinkSync(join(base, 'followed', 'outside'), join(dot, 'info', 'link'));
  writeFileSync(
    join(dot, 'config'),
    '[include]\n\tpath = info/a\n[includeIf "gitdir:/x"]\n\tpath = "info/link"\n',
  );
  writeFileSync(join(dot, 'info', 'a'), '[INCLUDE] path = b\n[include]\n\tpath = a\n\tpath = ../config\n');
  writeFileSync(join(dot, 'info', 'b'), '[include]\n\tpath = ../../outside\n\tpath = nowhere\n');
  expect(await findIncluded([join(dot, 'config')], [dot])).toEqual([
    { path: join(dot, 'info', 'a'), kind: 'file' },
    { path: join(dot, 'info', 'b'), kind: 'file' },
  ]);
});
