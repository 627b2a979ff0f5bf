import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findOpeners } from '../../src/sandbox/git-openers.ts';
import { CANARY, createWorld, exec, shellWays } from './world.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'openers-')));
afterAll(() => rmSync(base, { recursive: true }));

it('a helper’s store and an included config are found; what git keeps there itself is not', async () => {
  const url = 'https://user:token@example.com\n';
  for (const name of [
    'credentials',
    'HEAD',
    'FETCH_HEAD',
    'MERGE_MSG',
    'COMMIT_EDITMSG',
    'packed-refs',
    'config',
  ])
    writeFileSync(join(base, name), url);
  writeFileSync(join(base, 'auth.inc'), '[http]\n\textraheader = x\n');
  writeFileSync(join(base, 'harmless'), '[core]\n\tbare = true\n');
  const found = await findOpeners(base, readdirSync(base, { withFileTypes: true }));
  expect([...found].sort()).toEqual([join(base, 'auth.inc'), join(base, 'credentials')]);
});

describe.each(shellWays.filter(({ name }) => name !== 'none'))('behind $name', ({ options }) => {
  it('a helper’s store and an included config in .git tell nothing, and git works', async () => {
    const world = await createWorld();
    const git = join(world.workspace, '.git');
    writeFileSync(join(git, 'credentials'), `https://user:${CANARY}@example.com\n`);
    writeFileSync(join(git, 'auth.inc'), `[http]\n\textraheader = ${CANARY}\n`);
    for (const access of ['in-place', 'scratch', 'read-only'] as const) {
      const sandbox = await world.open({ ...options, access });
      await sandbox.ready();
      const { output } = await exec(
        sandbox,
        `git log --format=%s && cat .git/* 2>/dev/null | grep -c ${CANARY}`,
      );
      expect(output).toBe('first\n0\n');
    }
    await world.close();
  });
});
