import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCandidates } from '../../../src/sandbox/isolation/detect.ts';
import { PS, seatbeltHelpers, THROUGH } from '../../support/seatbelt-helpers.ts';
import { createWorld, type World } from '../world.ts';

const place = { shell: '/bin/sh', shellNetwork: false };
let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

describe('the choice of a wall', () => {
  const kinds = async (folder: string, platform: NodeJS.Platform) =>
    (await findCandidates(world.workspace, [folder, '/usr/bin'], platform, place)).map(
      ({ isolation }) => isolation,
    );

  it('macOS has sandbox-exec and nothing else, no other system has it', async () => {
    const folder = seatbeltHelpers(world.base, { 'sandbox-exec': THROUGH, ps: PS });
    expect(await kinds(folder, 'darwin')).toEqual(['seatbelt']);
    expect(await findCandidates(world.workspace, ['/nowhere'], 'darwin', place)).toEqual([]);
    expect(await kinds(folder, 'linux')).not.toContain('seatbelt');
    expect(await kinds(folder, 'win32')).toEqual([]);
  });

  it.runIf(process.platform === 'linux')(
    'on Linux bubblewrap comes before util-linux, and it is told who made them',
    async () => {
      const isRoot = process.getuid?.() === 0;
      const canSudo = !isRoot && spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
      const made = seatbeltHelpers(world.base, {
        bwrap: 'exit 1',
        setpriv: 'exit 1',
        unshare: 'exit 1',
        nsenter: 'exit 1',
      });
      expect(await kinds(made, 'linux')).toEqual([
        'bwrap',
        ...(isRoot ? ['unshare'] : canSudo ? ['sudo-bwrap', 'sudo-unshare'] : []),
      ]);
    },
  );
});
