/** What commands see of git's folders and of files with credentials, in checkouts of many kinds. */
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { manifest, putFiles } from '../support/local.ts';
import { CANARY, describeOpen, exec, gitIn, useWorld } from './world.ts';

const world = await useWorld();

const LOGIN = `[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic ${CANARY}\n`;
/** Fails if git does not work, or if anything of git or the checkout can be read that holds the canary. */
const LOOK = `git status --short && git log --oneline | cut -d' ' -f2 && ! grep -rlaF ${CANARY} . 2>/dev/null`;

interface Kind {
  readonly name: string;
  /** Makes the checkout at a path that does not exist. */
  readonly make: (checkout: string) => void;
  /** The checkout itself, if it is another one. */
  readonly at?: string;
  readonly look?: string;
  readonly output?: string;
  /** Default: true. */
  readonly hasCredentials?: boolean;
}

function makeRepository(folder: string): void {
  putFiles(folder, { 'a.txt': 'a\n' });
  gitIn(folder, 'init', '-q', '-b', 'main', '.');
  gitIn(folder, 'add', '.');
  gitIn(folder, 'commit', '-qm', 'first');
}

/** Makes a repository with a credential in its config. */
function makeLoggedIn(folder: string): void {
  makeRepository(folder);
  appendFileSync(join(folder, '.git/config'), LOGIN);
}

/** Moves the git folder of a checkout to `.bare` in it. */
function moveGit(checkout: string): void {
  makeLoggedIn(checkout);
  renameSync(join(checkout, '.git'), join(checkout, '.bare'));
  writeFileSync(join(checkout, '.bare/info/exclude'), '.bare\n');
}

const KINDS: readonly Kind[] = [
  {
    name: 'a repository with keys of all kinds',
    make(checkout) {
      makeLoggedIn(checkout);
      const keys = {
        'remote.origin.url': `https://x:${CANARY}@github.com/o/r.git`,
        'remote.odd "name.url': 'ssh://git@host/a"b\\c',
        'credential.helper': `!echo ${CANARY}`,
        'core.sshCommand': `ssh -i ${CANARY}`,
        'core.hooksPath': CANARY,
        'core.fsmonitor': `touch ${CANARY}`,
        'include.path': CANARY,
        'alias.st': `!echo ${CANARY}`,
        'user.name': 'A  B; "c"\n\\d',
        'branch.main.remote': 'origin',
      };
      for (const [key, value] of Object.entries(keys)) gitIn(checkout, 'config', key, value);
      putFiles(checkout, { '.git/hooks/post-commit': CANARY, '.git/COMMIT_EDITMSG': CANARY });
      putFiles(checkout, { '.git/lfs/x': CANARY, '.git/FETCH_HEAD': CANARY });
    },
    look: `${LOOK} && ls -A .git && git config --local -l | grep -v ^core | sed 's/A  B.*/A B/;/^.d$/d' && git config user.name`,
    output:
      'first\nHEAD\nconfig\nindex\ninfo\nobjects\nrefs\nremote.origin.url=https://github.com/o/r.git\nremote.odd "name.url=ssh://host/a"b\\c\nuser.name=A B\nbranch.main.remote=origin\nA  B; "c"\n\\d\n',
  },
  {
    name: 'a repository without credentials',
    make: makeRepository,
    hasCredentials: false,
  },
  {
    name: 'no repository',
    make: (checkout) => putFiles(checkout, { a: '' }),
    look: 'ls -A',
    output: 'a\n',
    hasCredentials: false,
  },
  {
    name: 'checkouts in subfolders',
    make(checkout) {
      makeLoggedIn(join(checkout, 'one'));
      makeLoggedIn(join(checkout, 'two/deep'));
    },
    look: `(cd one; ${LOOK}) && (cd two/deep; ${LOOK}) && ! touch one/.git/x two/deep/.git/x 2>/dev/null`,
    output: 'first\nfirst\n',
  },
  {
    name: 'files with credentials',
    make(checkout) {
      makeRepository(checkout);
      putFiles(checkout, { '.netrc': CANARY, '.git-credentials': CANARY, 'gha-creds-12ab.json': CANARY });
      putFiles(checkout, { 'sub/fine.txt': 'x' });
    },
    look: `ls -A && git log --format=%s && ! grep -rlaF ${CANARY} .`,
    output: '.git\na.txt\nsub\nfirst\n',
  },
  {
    name: 'a committed folder named .netrc and a link named .git-credentials',
    make(checkout) {
      putFiles(checkout, { '.netrc/a/b': CANARY });
      symlinkSync('.netrc', join(checkout, '.git-credentials'));
      makeRepository(checkout);
    },
    look: `ls -A && ! grep -rlaF ${CANARY} . --exclude-dir=objects`,
    output: '.git\na.txt\n',
  },
  {
    name: 'config.worktree with a credential',
    make(checkout) {
      makeRepository(checkout);
      gitIn(checkout, 'config', 'extensions.worktreeConfig', 'true');
      appendFileSync(join(checkout, '.git/config.worktree'), LOGIN);
    },
  },
  {
    name: 'a config that is a link',
    make(checkout) {
      makeLoggedIn(checkout);
      renameSync(join(checkout, '.git/config'), join(checkout, '.git/real'));
      symlinkSync('real', join(checkout, '.git/config'));
    },
    look: `${LOOK} && test ! -L .git/config && test ! -e .git/real`,
  },
  {
    name: 'a config that git cannot read, and links in place of what is kept',
    make(checkout) {
      makeRepository(checkout);
      writeFileSync(join(checkout, '.git/config'), `[broken\n${CANARY}`);
      putFiles(checkout, { 'elsewhere/x': 'x' });
      symlinkSync('../elsewhere', join(checkout, '.git/modules'));
      symlinkSync('../elsewhere', join(checkout, '.git/hooks-link'));
    },
    look: `ls -A .git | grep -e modules -e hooks; cat .git/config; ! grep -rlaF ${CANARY} .`,
    output: '',
    hasCredentials: false,
  },
  {
    name: 'a submodule with a slash in its name',
    make(checkout) {
      makeRepository(`${checkout}-library`);
      makeRepository(checkout);
      gitIn(checkout, 'submodule', 'add', '-q', '--name', 'a/b', `${checkout}-library`, 'lib');
      gitIn(checkout, 'commit', '-qm', 'second');
      appendFileSync(join(checkout, '.git/modules/a/b/config'), LOGIN);
      putFiles(checkout, { '.git/modules/a/b/hooks/post-checkout': CANARY });
    },
    look: `${LOOK} && (cd lib; ${LOOK}) && test ! -e .git/modules/a/b/hooks && ! touch .git/modules/a/b/x 2>/dev/null`,
    output: 'second\nfirst\nfirst\n',
  },
  {
    name: 'a worktree in the checkout of its repository',
    make(checkout) {
      makeRepository(checkout);
      gitIn(checkout, 'worktree', 'add', '-q', 'tree');
      gitIn(checkout, 'config', 'extensions.worktreeConfig', 'true');
      appendFileSync(join(checkout, '.git/worktrees/tree/config.worktree'), LOGIN);
    },
    look: `(cd tree; ${LOOK}) && ${LOOK}`,
    output: 'first\n?? tree/\nfirst\n',
  },
  {
    name: 'a worktree whose repository lies elsewhere',
    make(checkout) {
      makeLoggedIn(`${checkout}-main`);
      gitIn(`${checkout}-main`, 'worktree', 'add', '-q', checkout);
      putFiles(`${checkout}-main`, { '.git/hooks/x': CANARY, '.git/lfs/x': CANARY, 'private.txt': CANARY });
    },
    look: `${LOOK} && main=$(git rev-parse --git-common-dir) && ls -A $main/.. $main && ! grep -rlaF ${CANARY} $main && ! touch $main/x $main/HEAD 2>/dev/null`,
    output: '',
  },
  {
    name: 'a submodule as the checkout',
    make(checkout) {
      makeRepository(`${checkout}-library`);
      makeRepository(checkout);
      gitIn(checkout, 'submodule', 'add', '-q', `${checkout}-library`, 'lib');
      appendFileSync(join(checkout, '.git/modules/lib/config'), LOGIN);
    },
    at: 'lib',
    look: `${LOOK} && ! cat "$(git rev-parse --git-dir)/config" | grep ${CANARY}`,
  },
  {
    name: 'a .git file that leads to a folder in the checkout',
    make(checkout) {
      moveGit(checkout);
      writeFileSync(join(checkout, '.git'), 'gitdir: ./.bare\n');
    },
    look: `${LOOK} && ! touch .bare/x 2>/dev/null`,
  },
  {
    name: 'a .git that is a link to a folder in the checkout',
    make(checkout) {
      moveGit(checkout);
      symlinkSync('.bare', join(checkout, '.git'));
    },
    look: `${LOOK} && ! touch .bare/x 2>/dev/null`,
  },
];

describeOpen('in a sandbox', () => {
  it.each(KINDS)('$name', async (kind) => {
    const { make, at = '.', look = LOOK, output = 'first\n', hasCredentials = true } = kind;
    const checkout = join(world.home, 'work/kind/kind');
    rmSync(join(world.home, 'work/kind'), { recursive: true, force: true });
    mkdirSync(join(world.home, 'work/kind'));
    make(checkout);
    const workspace = join(checkout, at);
    const before = manifest(workspace, () => false);
    const sandbox = await world.openReady({ workspace, workingDirectory: workspace });
    const result = await exec(sandbox, look);
    if (output !== '') expect(result.output).toBe(output);
    expect(result.output).not.toContain(CANARY);
    expect(result.exitCode).toBe(0);
    const write = '[ ! -d .git ] || ! touch .git/x .git/config .git/HEAD 2>/dev/null';
    expect((await exec(sandbox, write)).exitCode).toBe(0);
    await exec(sandbox, 'mv .git .other; rm -rf .git; echo x > b.txt');
    expect(sandbox.weaknesses().some((one) => one.includes('holds credentials'))).toBe(hasCredentials);
    await sandbox.close();
    expect(manifest(workspace, () => false)).toEqual(before);
  });
});
