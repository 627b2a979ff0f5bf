/** The effect of the planned mounts in each sandbox. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WorkspaceError } from '../../../src/errors.ts';
import { CANARY, createWorld, exec, gitIn, hasBwrap, shellWays, type World } from '../world.ts';

describe.each(shellWays.filter(({ name }) => name !== 'none'))('behind $name', ({ options }) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
    const module = join(world.base, 'module');
    gitIn(world.workspace, 'init', '-q', module);
    gitIn(module, 'commit', '-qm', 'theirs', '--allow-empty');
    gitIn(world.workspace, 'submodule', '-q', 'add', module, 'sub');
  });
  afterAll(() => world.close());

  it.each(['in-place', 'scratch'] as const)(
    'keeps the git directory of a submodule and its parents read-only, %s',
    async (access) => {
      const sandbox = await world.openReady({ ...options, access });
      const command =
        'git -c safe.directory="*" -C sub log --format=%s; for f in .git .git/modules .git/modules/sub; do touch $f/x 2>/dev/null && echo "$f is open"; done; exit 0';
      expect((await exec(sandbox, command)).output).toBe('theirs\n');
    },
  );

  describe.each(['in-place', 'scratch', 'read-only'] as const)('%s', (access) => {
    it('does not mask the targets of links in a directory that looks like a git directory', async () => {
      const victim = join(world.workspace, 'auth.test.js');
      writeFileSync(victim, 'test("a credential is checked")\n');
      const hidden = join(world.home, 'allowed.txt');
      writeFileSync(hidden, `[core]\n\tbare = "${CANARY}"\n[credential]\n`);
      const targets = [victim, '/usr/bin/env', hidden, '/dev/zero'];
      for (const [n, target] of targets.entries()) {
        const folder = join(world.workspace, 'fake', String(n));
        for (const name of ['objects', 'refs']) mkdirSync(join(folder, name), { recursive: true });
        for (const name of ['HEAD', 'objects/x', 'refs/x'])
          writeFileSync(join(folder, name), 'ref: refs/x\n');
        rmSync(join(folder, 'config'), { force: true });
        symlinkSync(target, join(folder, 'config'));
      }
      const regular = join(world.workspace, 'fake', '0');
      writeFileSync(join(regular, 'config.worktree'), '[credential]\n\thelper = x\n');
      const sandbox = await world.openReady({ ...options, access });
      const { output } = await exec(
        sandbox,
        'cat auth.test.js fake/0/config fake/0/config.worktree; cat fake/2/config 2>&1; env true && echo env',
      );
      expect(output).toMatch(/^(test.*\n){2}\[credential\]\n\thelper = x\n.*No such file.*\nenv\n$/u);
      expect((await sandbox.read('fake/0/HEAD', 100)).kind).toBe('file');
      if (access !== 'read-only') await sandbox.write('fake/0/new.ts', Buffer.from('x'));
      expect(sandbox.notes().join('\n')).not.toContain('fake');
      await sandbox.close();
      rmSync(join(world.workspace, 'fake'), { recursive: true });
    });

    it('hides keys that tools keep in .git, also in a nested repository', async () => {
      const nested = join(world.workspace, 'nested');
      mkdirSync(nested, { recursive: true });
      execFileSync('git', ['init', '-q', nested]);
      const names = ['git-crypt/keys/default', 'annex/creds/x', 'credentials', 'hooks/auth.inc', 'gk/config'];
      for (const dot of [join(world.workspace, '.git'), join(nested, '.git')]) {
        for (const name of names) {
          mkdirSync(join(dot, name, '..'), { recursive: true });
          writeFileSync(join(dot, name), `[http]\n\textraheader = ${CANARY}\n`);
        }
        execFileSync('git', ['config', '-f', join(dot, 'config'), 'include.path', 'hooks/auth.inc']);
      }
      const sandbox = await world.openReady({ ...options, access });
      const { output } = await exec(
        sandbox,
        `git log --format=%s; git -c safe.directory='*' -C nested status --short; grep -rlF ${CANARY} .git nested/.git; echo end`,
      );
      expect(output).toBe('first\nend\n');
      const notes = sandbox.notes().join('\n');
      for (const name of ['.git/config', 'nested/.git/git-crypt', '.git/annex/creds'])
        expect(notes).toContain(`"${name}"`);
      await sandbox.close();
    });

    it('starts the sandbox despite obstacles in the workspace at mount points', async () => {
      const restore = plantObstacles(world.workspace, world.home);
      const sandbox = await world.openReady({
        ...options,
        access,
        readable: [join(world.workspace, 'leads-out'), join(world.workspace, 'leads-nowhere')],
        environment: { ...process.env, PATH: `${world.workspace}/leads-out:${process.env['PATH']}` },
      });
      const { output } = await exec(sandbox, 'git log --format=%s; ls leads-out/ 2>/dev/null; echo end');
      expect(output).toBe('first\nend\n');
      await sandbox.close();
      restore();
    });
  });

  it.each(['in-place', 'scratch', 'read-only'] as const)(
    'tolerates hidden workspace files that disappear while or after mounts are made, %s',
    async (access) => {
      const vanishing = [
        '.git/index.lock',
        '.git/config.worktree',
        '.git/keys/key',
        '.netrc',
        'gha-creds-9.json',
      ];
      const paths = vanishing.map((name) => join(world.workspace, name));
      const later = join(world.workspace, '.git', 'later.lock');
      mkdirSync(join(world.workspace, '.git', 'keys'), { recursive: true });
      for (const path of [...paths, later]) writeFileSync(path, `${CANARY}\n`);
      const roots = paths.map((path) => path.replace(/\/key$/u, ''));
      const helperFolders = removing(world, access, roots);
      // util-linux runs this in the sandbox, too.
      const sandbox = await world.openReady({ ...options, access, helperFolders, readable: helperFolders });
      const command = `git log --format=%s; grep -rlF ${CANARY} . ; echo end`;
      expect((await exec(sandbox, command)).output).toBe('first\nend\n');
      expect(roots.filter((path) => existsSync(path) && statSync(path).size > 0)).toEqual([]);
      rmSync(later);
      expect((await exec(sandbox, command)).output).toBe('first\nend\n');
      await sandbox.close();
      for (const path of roots) rmSync(path, { recursive: true, force: true });
    },
  );

  it('keeps .github read-only when it contains a repository', async () => {
    const inner = join(world.workspace, '.github', 'actions', 'one');
    mkdirSync(inner, { recursive: true });
    execFileSync('git', ['init', '-q', inner]);
    const sandbox = await world.openReady({ ...options, access: 'in-place' });
    const { output } = await exec(
      sandbox,
      'for f in .github .github/actions .github/actions/one; do touch $f/x 2>/dev/null && echo "$f is open"; done; echo end',
    );
    expect(output).toBe('end\n');
    await sandbox.close();
    rmSync(join(world.workspace, '.github', 'actions'), { recursive: true });
  });

  it('reports a git directory with another name that only a nested .git file refers to, and leaves it writable', async () => {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: world.workspace, stdio: 'pipe' });
    mkdirSync(join(world.workspace, 'stores'), { recursive: true });
    git('init', '-q', '--separate-git-dir=stores/one', 'parts/one');
    git('-C', 'parts/one', 'config', 'http.extraheader', `AUTHORIZATION: basic ${CANARY}`);
    const sandbox = await world.openReady({ ...options, access: 'in-place' });
    expect((await sandbox.read('stores/one/HEAD', 100)).kind).toBe('file');
    expect(sandbox.weaknesses().join('\n')).toMatch(
      /stores\/one\/config" is a git config that .* can read as it is/u,
    );
    await sandbox.close();
    for (const name of ['parts', 'stores']) rmSync(join(world.workspace, name), { recursive: true });
  });
});

/** Helpers of this machine that remove these paths before they make mounts, but not when they are only probed. */
function removing(world: World, name: string, paths: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(world.base, `removing-${name}-`));
  for (const helper of ['bwrap', 'unshare']) {
    const real = join('/usr/bin', helper);
    if (!existsSync(real)) continue;
    const removal = `case "$*" in *' -c :') ;; *) rm -rf -- ${paths.map((path) => `'${path}'`).join(' ')} 2>/dev/null;; esac`;
    const script = `#!/bin/sh\n${removal}\nexec ${real} "$@"\n`;
    writeFileSync(join(folder, helper), script, { mode: 0o755 });
  }
  // Some of the other helpers start inside the sandbox, where this directory cannot be reached.
  return [folder, '/usr/bin', '/usr/sbin'];
}

/** Creates obstacles at mount points, as a commit or a package can; returns a function that removes them. */
function plantObstacles(workspace: string, home: string): () => void {
  const kept = join(workspace, '.github');
  const aside = join(workspace, 'aside');
  renameSync(kept, aside);
  symlinkSync('nowhere', kept);
  symlinkSync('action.yml', join(workspace, 'action.yml'));
  mkdirSync(join(workspace, 'action.yaml'));
  mkdirSync(join(workspace, 'gha-creds-1.json'));
  execFileSync('mkfifo', [join(workspace, '.git-credentials'), join(workspace, 'gha-creds-2.json')]);
  mkdirSync(join(home, 'private'), { recursive: true });
  writeFileSync(join(home, 'private', 'key'), CANARY);
  symlinkSync(join(home, 'private'), join(workspace, 'leads-out'));
  symlinkSync('nowhere', join(workspace, 'leads-nowhere'));
  const links = ['nowhere', '.git', '/dev/null', '../..', '/proc/self/root', `${'x/'.repeat(200)}x`];
  const names = ['a\nb', "a'b", 'a"b\\', 'a b', '-rf', '$(id)', 'ü'];
  for (const [n, name] of names.entries()) {
    const root = join(workspace, 'odd', name);
    mkdirSync(root, { recursive: true });
    symlinkSync(links[n] ?? '.', join(root, '.git'));
    const own = join(root, 'own\n');
    execFileSync('git', ['init', '-q', own]);
    rmSync(join(own, '.git', 'hooks'), { recursive: true });
    symlinkSync('nowhere', join(own, '.git', 'hooks'));
    execFileSync('mkfifo', [join(own, 'action.yml'), join(own, '.git', 'key\n')]);
    writeFileSync(join(own, '.git', 'a\nkey'), 'x');
  }
  return () => {
    for (const name of ['.github', 'action.yml', 'action.yaml', 'gha-creds-1.json', 'gha-creds-2.json'])
      rmSync(join(workspace, name), { recursive: true });
    for (const name of ['.git-credentials', 'leads-out', 'leads-nowhere', 'odd'])
      rmSync(join(workspace, name), { recursive: true });
    renameSync(aside, kept);
  };
}

describe.runIf(hasBwrap)('a required mount in the workspace that cannot be made', () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
    mkdirSync(join(world.workspace, 'fine'));
    execFileSync('git', ['init', '-q', join(world.workspace, 'poison')]);
    execFileSync('git', ['init', '-q', join(world.workspace, 'fine')]);
  });
  afterAll(() => world.close());

  /** A bwrap that cannot mount a path that contains a word. */
  function helpers(word: string): readonly string[] {
    const folder = join(world.base, `helpers-${word}`);
    mkdirSync(folder);
    const script = `#!/bin/bash
args=$(mktemp); cat <&3 > "$args"
tr '\\0' '\\n' < "$args" | grep -q '${word}' && { echo "bwrap: Can't mount ${word}" >&2; exit 1; }
exec /usr/bin/bwrap "$@" 3< "$args"
`;
    writeFileSync(join(folder, 'bwrap'), script, { mode: 0o755 });
    return [folder];
  }

  it.each(['required', 'auto'] as const)('ends the run with its path, %s', async (mode) => {
    const helperFolders = helpers(`poison${mode === 'auto' ? '/' : ''}`.replace('/', '.'));
    const opened = world.open({ mode, kinds: ['bwrap'], helperFolders }).then((sandbox) => sandbox.ready());
    await expect(opened).rejects.toBeInstanceOf(WorkspaceError);
    await expect(opened).rejects.toThrow(
      /^This workspace breaks the sandbox: ".*\/poison.*" cannot be protected/u,
    );
  });

  it('is distinguished from a machine without a sandbox, which is accepted in mode auto', async () => {
    const sandbox = await world.open({ mode: 'auto', kinds: ['bwrap'], helperFolders: helpers('proc') });
    expect([sandbox.shellOffered, sandbox.isolation()]).toEqual([false, 'none']);
  });

  it('ends the run for too many repositories', async () => {
    const many = join(world.base, 'many');
    for (let n = 0; n < 800; n += 1) mkdirSync(join(many, `p${n}`, '.git'), { recursive: true });
    const opened = world.open({ mode: 'auto', workspace: many, workingDirectory: many });
    await expect(opened).rejects.toBeInstanceOf(WorkspaceError);
    await expect(opened).rejects.toThrow(/800 repositories .* too many, at most/u);
  });
});
