/** What the plan's mounts come to behind each wall. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CANARY, createWorld, exec, shellWays, type World } from './world.ts';

describe.each(shellWays.filter(({ name }) => name !== 'none'))('behind $name', ({ options }) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], {
        cwd: world.workspace,
        stdio: 'pipe',
      });
    mkdirSync(join(world.workspace, 'stores', 'deep'), { recursive: true });
    git('init', '-q', '--separate-git-dir=stores/deep/one', 'parts/one');
    git('-C', 'parts/one', 'commit', '-qm', 'theirs', '--allow-empty');
    git('-C', 'parts/one', 'config', 'http.extraheader', `AUTHORIZATION: basic ${CANARY}`);
    git('init', '-q', '--bare', 'mirrors/one.git');
    git('-C', 'mirrors/one.git', 'config', 'remote.origin.url', `https://u:${CANARY}@example.com/x.git`);
    git('init', '-q', join(world.base, 'module'));
    git('-C', join(world.base, 'module'), 'commit', '-qm', 'theirs', '--allow-empty');
    git('-c', 'protocol.file.allow=always', 'submodule', '-q', 'add', join(world.base, 'module'), 'sub');
  });
  afterAll(() => world.close());

  it.each(['in-place', 'scratch'] as const)(
    'the git folder of a submodule is read-only with all above it, %s',
    async (access) => {
      const sandbox = await world.open({ ...options, access });
      await sandbox.ready();
      const command =
        'git -c safe.directory="*" -C sub log --format=%s; for f in .git .git/modules .git/modules/sub; do touch $f/x 2>/dev/null && echo "$f is open"; done; exit 0';
      expect((await exec(sandbox, command)).output).toBe('theirs\n');
    },
  );

  it.each(['in-place', 'scratch', 'read-only'] as const)(
    'the credentials of a bare repository are seen under no name, %s',
    async (access) => {
      const sandbox = await world.open({ ...options, access });
      await sandbox.ready();
      await exec(sandbox, 'mv mirrors m2; mkdir -p mirrors; mv mirrors/one.git mirrors/two.git');
      const command =
        'cat mirrors/*/config m2/*/config; git -c safe.directory="*" -C mirrors/one.git rev-parse --is-bare-repository';
      const { output } = await exec(sandbox, command);
      expect(output).toContain('bare = "true"');
      expect(output).toMatch(/^true$/mu);
      expect(output).not.toContain(CANARY);
      const read = sandbox.read('mirrors/one.git/config', 1_000);
      await expect(read).rejects.toThrow(/\.git folder is closed/u);
    },
  );

  it.each(['in-place', 'scratch', 'read-only'] as const)(
    'a git folder under another name works, and keeps its credentials and itself, %s',
    async (access) => {
      const sandbox = await world.open({ ...options, access });
      await sandbox.ready();
      const config = join(world.workspace, 'stores', 'deep', 'one', 'config');
      const before = readFileSync(config, 'utf8');
      const git = `git -c safe.directory='*' -C parts/one`;
      const read = await exec(
        sandbox,
        `${git} log --format=%s; cat stores/deep/one/config; ${git} config -l`,
      );
      expect(read.output).toMatch(/^theirs\n/u);
      expect(read.output).toContain('repositoryformatversion');
      expect(read.output).not.toContain(CANARY);
      const { output } = await exec(
        sandbox,
        'echo x >> stores/deep/one/config; touch stores/deep/one/hooks/x; mv stores s2; mv stores/deep d2; mv stores/deep/one o2; rm -rf stores; ls stores/deep/one/HEAD',
      );
      expect(output).toMatch(/stores\/deep\/one\/HEAD\n$/u);
      expect((await exec(sandbox, `${git} log --format=%s`)).output).toBe('theirs\n');
      expect(readFileSync(config, 'utf8')).toBe(before);
      await expect(sandbox.read('stores/deep/one/config', 100)).rejects.toThrow(/\.git folder is closed/u);
    },
  );
});
