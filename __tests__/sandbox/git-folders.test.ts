/** What commands see of git's folders and of files with credentials, in checkouts of many kinds. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { manifest } from '../support/local.ts';
import { CANARY, describeOpen, exec, useWorld } from './world.ts';

const world = await useWorld();

/** Makes an empty checkout. */
const MAKE = String.raw`
git() { command git -c user.name=t -c user.email=t@example.com -c protocol.file.allow=always "$@"; }
repo() { mkdir -p "$1"; (cd "$1"; echo a > a.txt; git init -q -b main .; git add .; git commit -qm first); }
login() { printf '[http "https://github.com/"]\n\textraHeader = AUTHORIZATION: basic %s\n' $CANARY >> "$1"; }
repo_with_login() { repo "$1"; login "$1/.git/config"; }
rm -rf work/kind; mkdir -p work/kind/kind; cd work/kind/kind
`;
/** Fails if git does not work, or if anything of git or the checkout can be read that holds the canary. */
const LOOK = `git status --short && git log --oneline | cut -d' ' -f2 && ! grep -rlaF ${CANARY} . 2>/dev/null`;

const CONFIG = String.raw`
[remote "origin"] url = https://x:${CANARY}@github.com/o/r.git
[remote "odd \"name.url"] promisor
  url = ssh://git@host/a\"b\\c
[user] name = "A  B; \"c\"\n[core]\n\tfsmonitor = \\d"
[branch "main"] remote = origin
[submodule "https://x:${CANARY}@host/"] active = true
[extensions] worktreeConfig
[core] fsmonitor = touch ${CANARY}
[credential] helper = !echo ${CANARY}
[include] path = ${CANARY}
[alias] st = !echo ${CANARY}
`;

interface Kind {
  readonly name: string;
  /** A shell script that fills the checkout, the current folder; the folder that holds it is empty, too. */
  readonly make: string;
  /** The checkout itself, if it is another one. */
  readonly at?: string;
  readonly look?: string;
  readonly output?: string;
  readonly hasCredentials?: boolean;
}

const KINDS: readonly Kind[] = [
  {
    name: 'a repository with keys of all kinds, and config.worktree with a credential',
    make: `repo .; printf %s "$CONFIG" >> .git/config; cd .git; login config.worktree; mkdir lfs
      for file in hooks/post-commit COMMIT_EDITMSG lfs/x FETCH_HEAD; do echo $CANARY > $file; done`,
    look: `${LOOK} && ls -A .git | xargs && git config --local -l | grep -v ^core`,
    output: String.raw`first
HEAD config config.worktree index info objects refs
remote.origin.url=https://github.com/o/r.git
remote.odd "name.url.promisor=true
remote.odd "name.url.url=ssh://host/a"b\c
user.name=A  B; "c"
[core]
	fsmonitor = \d
branch.main.remote=origin
submodule.https://host/.active=true
extensions.worktreeconfig=true
`,
  },
  {
    name: 'no repository, and a .git file of a subfolder that leads to one elsewhere',
    make: 'repo ../x; mkdir sub; echo "gitdir: $PWD/../x/.git" > sub/.git',
    look: 'ls -A . ..',
    output: '.:\nsub\n\n..:\nkind\n',
    hasCredentials: false,
  },
  {
    name: 'checkouts in subfolders',
    make: 'repo_with_login one; repo_with_login two/deep',
    look: `(cd one; ${LOOK}) && (cd two/deep; ${LOOK}) && ! touch one/.git/x two/deep/.git/x 2>/dev/null`,
    output: 'first\nfirst\n',
  },
  {
    name: 'files with credentials, a committed folder and a link among them',
    make: `mkdir -p .netrc/a; echo $CANARY | tee .netrc/a/b > gha-creds-12ab.json; ln -s .netrc .git-credentials
      repo .; echo $CANARY > _netrc`,
    look: `ls -A && ! grep -rlaF ${CANARY} . --exclude-dir=objects`,
    output: '.git\na.txt\n',
  },
  {
    name: 'links, pipes and folders in place of what is kept',
    make: `repo .; mkdir ../victim .git/modules .git/worktrees; mkfifo .git/shallow .git/config.worktree
      printf '[user]\\nname = victim\\n' | tee ../victim/HEAD > ../victim/config
      rm .git/config; ln -s $PWD/../victim/config .git/config
      for place in reftable hooks/x modules/link worktrees/link; do ln -s $PWD/../victim .git/$place; done
      for inner in modules/a/b worktrees/t; do
        mkdir -p .git/$inner; cp .git/HEAD .git/$inner
        ln -s /etc/shadow .git/$inner/config; mkfifo .git/$inner/config.worktree .git/$inner/index
      done`,
    look: `${LOOK} && find .git ! -type f ! -type d && find .git/modules .git/worktrees -type f`,
    output: 'first\n.git/modules/a/b/HEAD\n.git/worktrees/t/HEAD\n',
    hasCredentials: false,
  },
  {
    name: 'a config that git cannot read, and odd names',
    make: `repo .; printf '[extensions]\\nobjectFormat = x\\n[broken\\n%s' $CANARY > .git/config
      touch .git/-rf '.git/a\nHEAD' .git/..x; mkdir -p '.git/modules/.a\nb/..c'; cd '.git/modules/.a\nb/..c'
      cp ../../../HEAD .; printf '[user]\\nname = me\\n' > config; login config`,
    look: `ls -A .git; cat .git/config .git/modules/.a*/..c/config; ! grep -rlaF ${CANARY} .`,
    output: `HEAD\nconfig\nindex\ninfo\nmodules\nobjects\nrefs\n[extensions] objectformat = "x"\n[user] name = "me"\n`,
  },
  {
    name: 'a very long config, very deep names, and .git files that lead to other folders',
    make: `repo .; yes '[remote "x"] url = https://x:${CANARY}@h/' | head -3000 >> .git/config
      mkdir -p .git/modules/$(printf 'a/%.0s' $(seq 1010)); mkdir -p sub a/b
      printf 'gitdir: ..' > sub/.git; printf 'gitdir: .' > a/.git; echo b > a/commondir`,
    look: 'wc -l < .git/config; touch new',
    output: '3003\n',
  },
  {
    name: 'submodules with a slash in their names',
    make: `repo ../x; repo .; for name in a/b a/HEAD a/info; do
        git submodule add -q --name $name $PWD/../x lib/$name; login .git/modules/$name/config
      done; git commit -qm second; echo $CANARY > .git/modules/a/b/hooks/post-checkout`,
    look: `${LOOK} && (cd lib/a/b; ${LOOK}) && ls -A .git/modules/a/b && ! touch .git/modules/a/b/x 2>/dev/null`,
    output: 'second\nfirst\nfirst\nHEAD\nconfig\nindex\ninfo\nobjects\npacked-refs\nrefs\n',
  },
  {
    name: 'a worktree beside its bare repository',
    make: `repo main; mv main/.git .bare; cd .bare; git config core.bare true; git worktree add -q ../tree
      login config; login worktrees/tree/config.worktree`,
    look: `! grep -rlaF ${CANARY} . && ! touch .bare/x 2>/dev/null && cd tree && ${LOOK}`,
  },
  {
    name: 'a worktree of a shallow, bare repository elsewhere',
    make: `repo ../origin; git -C ../origin commit -q --allow-empty -m second; cd ..
      git clone -q --depth 1 file://$PWD/origin main; cd main; login .git/config; git config core.bare true
      git worktree add -q ../kind; git pack-refs --all
      echo $CANARY | tee .git/hooks/x .git/x > private.txt; mkdir .git/lfs; echo $CANARY > .git/lfs/x
      chmod -R go= .git; [ $(id -u) -ne 0 ] || chown -R 46007:46007 . ../kind`,
    look: `${LOOK} && ls -A .git ../main ../main/.git && ! touch ../main/x ../main/.git/objects/x 2>/dev/null`,
    output:
      'second\n../main:\n.git\n\n../main/.git:\nobjects\n\n.git:\nHEAD\nconfig\nindex\ninfo\nobjects\npacked-refs\nrefs\nshallow\n',
  },
  {
    name: 'a submodule as the checkout',
    make: `repo ../x; repo .; git submodule add -q $PWD/../x lib; login .git/modules/lib/config`,
    at: 'lib',
  },
  ...["echo 'gitdir: ./.bare' > .git", 'ln -s .bare .git'].map((pointer) => ({
    name: `a .git that leads to a folder in the checkout: ${pointer}`,
    make: `repo_with_login .; mv .git .bare; echo .bare > .bare/info/exclude; ${pointer}`,
    look: `${LOOK} && ! touch .bare/x 2>/dev/null`,
  })),
  {
    name: 'a .git file that leads to the home',
    make: `mkdir ../fake; ln -s $WORLD_HOME ../fake/objects; echo x > ../fake/HEAD; echo 'gitdir: ../fake' > .git`,
    look: `ls -A ~; ! cat ~/.npmrc ../fake/HEAD 2>/dev/null`,
    output: 'work\n',
    hasCredentials: false,
  },
];

describeOpen('in a sandbox', () => {
  const folder = join(world.home, 'work/kind');
  function makeCheckout(script: string): string {
    const env = { ...process.env, CANARY, CONFIG, WORLD_HOME: world.home };
    execFileSync('/bin/sh', ['-euc', MAKE + script], { cwd: world.home, env, stdio: 'pipe' });
    return join(folder, 'kind');
  }

  it.each(KINDS)('$name', async (kind) => {
    const { make, at = '.', look = LOOK, output = 'first\n', hasCredentials = true } = kind;
    const workspace = join(makeCheckout(make), at);
    const before = manifest(folder, () => false);
    const sandbox = await world.openReady({ workspace, workingDirectory: workspace });
    expect(await exec(sandbox, look)).toMatchObject({ output, exitCode: 0 });
    expect((await exec(sandbox, '[ -d .git ] && touch .git/x .git/config .git/HEAD')).exitCode).toBe(1);
    await exec(sandbox, 'mv .git .other; rm -rf .git; echo x > b.txt');
    expect(sandbox.weaknesses().join().includes('holds credentials')).toBe(hasCredentials);
    await sandbox.close();
    expect(manifest(folder, () => false)).toEqual(before);
  });

  it.each([
    ['credential.helper', 'store', true],
    ['include.path', '../../keys', true],
    ['remote.origin.url', 'https://x:y@host/', true],
    ['url.git@host:.insteadOf', 'https://host/', false],
  ])('reports credentials with sandbox: off (%s)', async (key, value, hasCredentials) => {
    const workspace = makeCheckout(`repo .; git config '${key}' ${value}`);
    const sandbox = await world.openReady({ workspace, workingDirectory: workspace, mode: 'off' });
    expect(sandbox.weaknesses().join().includes('holds credentials')).toBe(hasCredentials);
  });
});
