/** The effect of the planned mounts in each sandbox. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { WorkspaceError } from '../../../src/errors.ts';
import { CANARY, exec, gitIn, hasBwrap, isolatedWays, useWorld, type World } from '../world.ts';

describe.each(isolatedWays)('behind $name', async ({ options }) => {
  const world = await useWorld();
  beforeAll(async () => {
    const module = join(world.base, 'module');
    gitIn(world.workspace, 'init', '-q', module);
    gitIn(module, 'commit', '-qm', 'theirs', '--allow-empty');
    gitIn(world.workspace, 'submodule', '-q', 'add', module, 'sub');
  });

  it('keeps the git directory of a submodule and its parents read-only', async () => {
    const sandbox = await world.openReady({ ...options, access: 'scratch' });
    const command =
      'git -c safe.directory="*" -C sub log --format=%s; for f in .git .git/modules .git/modules/sub; do touch $f/x 2>/dev/null && echo "$f is open"; done; exit 0';
    expect((await exec(sandbox, command)).output).toBe('theirs\n');
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
    const sandbox = await world.openReady({ ...options, access: 'scratch' });
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

  it('tolerates hidden workspace files that disappear while or after mounts are made', async () => {
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
    const helperFolders = removing(world, roots);
    // util-linux runs this in the sandbox, too.
    const sandbox = await world.openReady({
      ...options,
      access: 'scratch',
      helperFolders,
      readable: helperFolders,
    });
    const command = `git log --format=%s; grep -rlF ${CANARY} . ; echo end`;
    expect((await exec(sandbox, command)).output).toBe('first\nend\n');
    expect(roots.filter((path) => existsSync(path) && statSync(path).size > 0)).toEqual([]);
    rmSync(later);
    expect((await exec(sandbox, command)).output).toBe('first\nend\n');
    await sandbox.close();
    for (const path of roots) rmSync(path, { recursive: true, force: true });
  });

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
});

/** Helpers of this machine that remove these paths before they make mounts, but not when they are only probed. */
function removing(world: World, paths: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(world.base, 'removing-'));
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

describe.runIf(hasBwrap)('a required mount in the workspace that cannot be made', async () => {
  const world = await useWorld();
  beforeAll(async () => {
    mkdirSync(join(world.workspace, 'fine'));
    execFileSync('git', ['init', '-q', join(world.workspace, 'poison')]);
    execFileSync('git', ['init', '-q', join(world.workspace, 'fine')]);
  });

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

  it('ends the run with its path', async () => {
    const helperFolders = helpers('poison');
    const opened = world
      .open({ mode: 'required', kinds: ['bwrap'], helperFolders })
      .then((sandbox) => sandbox.ready());
    await expect(opened).rejects.toBeInstanceOf(WorkspaceError);
    await expect(opened).rejects.toThrow(
      /^This workspace breaks the sandbox: ".*\/poison.*" cannot be protected/u,
    );
  });

  it('ends the run for too many repositories', async () => {
    const many = join(world.base, 'many');
    for (let n = 0; n < 800; n += 1) mkdirSync(join(many, `p${n}`, '.git'), { recursive: true });
    const opened = world.open({ mode: 'auto', workspace: many, workingDirectory: many });
    await expect(opened).rejects.toBeInstanceOf(WorkspaceError);
    await expect(opened).rejects.toThrow(/800 repositories .* too many, at most/u);
  });
});
