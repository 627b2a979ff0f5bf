import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seatbeltProbes } from '../../../src/sandbox/isolation/seatbelt-probes.ts';
import { seatbeltHelpers } from '../../support/seatbelt-helpers.ts';
import { createWorld, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

describe('the probes', () => {
  const expected = { workspace: '/', workspaceWritable: true, configs: [], unseen: [], shellNetwork: true };
  const probe = (perl: string) => {
    const tmp = mkdtempSync(join(world.base, 'tmp-'));
    const script = seatbeltProbes(
      { ...expected, workspace: tmp },
      { sentinel: 'SENTINEL', file: join(tmp, 'no', 'file'), bystander: 2 ** 22, port: 1, perl },
    );
    // Where all may be written, the look at the system's folders has no place.
    const looked = script.replace(/^for at in .*$/mu, '').replace(/^\[ "\$\(id -u\)".*$/mu, '');
    const env = { PATH: '/usr/bin:/bin', TMPDIR: tmp, GIT_CONFIG_GLOBAL: tmp };
    return spawnSync('/bin/bash', ['-c', `ulimit -c 0\n${looked}`], { env, encoding: 'utf8' }).stdout;
  };

  it('a Mac that tells the environment of other processes has no wall, nor one where that cannot be tried', () => {
    const folder = seatbeltHelpers(world.base, { reads: 'exit 0', refused: 'exit 9' });
    expect([probe(join(folder, 'reads')), probe(join(folder, 'refused')), probe('/nowhere/perl')]).toEqual([
      "another process's environment can be read (sysctl)\n",
      'walls stand\n',
      'perl, which tries what sysctl tells, cannot be run\n',
    ]);
  });

  it.runIf(spawnSync('/usr/bin/perl', ['-v']).status === 0)('the program for perl is one', () => {
    expect(probe('/usr/bin/perl')).toBe('walls stand\n');
  });
});
