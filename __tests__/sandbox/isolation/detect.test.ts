import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCandidates } from '../../../src/sandbox/isolation/detect.ts';
import { createWorld, type World } from '../world.ts';

const place = { shell: '/bin/sh', shellNetwork: false };
let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

describe('detecting isolation backends', () => {
  const kinds = async (folder: string, platform: NodeJS.Platform) =>
    (await findCandidates(world.workspace, [folder, '/usr/bin'], platform, place)).map(
      ({ isolation }) => isolation,
    );

  it('finds none on systems other than Linux', async () => {
    expect(await kinds('/usr/bin', 'darwin')).toEqual([]);
    expect(await kinds('/usr/bin', 'win32')).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'prefers bubblewrap over util-linux on Linux and passes on whether root starts them',
    async () => {
      const isRoot = process.getuid?.() === 0;
      const canSudo = !isRoot && spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
      const made = join(world.base, 'helpers');
      mkdirSync(made);
      for (const name of ['bwrap', 'setpriv', 'unshare', 'nsenter'])
        writeFileSync(join(made, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      expect(await kinds(made, 'linux')).toEqual([
        'bwrap',
        ...(isRoot ? ['unshare'] : canSudo ? ['sudo-bwrap', 'sudo-unshare'] : []),
      ]);
    },
  );
});
