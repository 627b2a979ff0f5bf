import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { findIncluded } from '../../../src/sandbox/workspace/git-config.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'hidden-')));
afterAll(() => rmSync(base, { recursive: true }));

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
