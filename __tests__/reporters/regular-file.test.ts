import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { readRegularFile } from '../../src/reporters/regular-file.ts';
import { workspaces } from './workspace-world.ts';

const make = workspaces();

it('a regular file is read up to the limit, and nothing else is', () => {
  const { root, write } = make();
  const file = write('a.txt', 'héllo');
  symlinkSync(file, path.join(root, 'link'));
  execFileSync('mkfifo', [path.join(root, 'pipe')]);
  expect([readRegularFile(file, 6), readRegularFile(write('empty', ''), 0)]).toEqual(['héllo', '']);
  const others = [
    path.join(root, 'link'),
    path.join(root, 'pipe'),
    root,
    '/dev/zero',
    path.join(root, 'nope'),
    '\0',
  ];
  expect([readRegularFile(file, 5), ...others.map((each) => readRegularFile(each, 100))]).toEqual(
    Array.from({ length: 7 }, () => null),
  );
});
