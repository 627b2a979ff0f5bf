import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSandbox } from '../../../src/sandbox/open.ts';
import type { OpenedSandbox } from '../../../src/sandbox/sandbox.ts';
import { rememberWorkspace } from '../../../src/sandbox/workspace/workspace-diff.ts';

const hasBwrap = existsSync('/usr/bin/bwrap');

describe.each([...(hasBwrap ? ['required' as const] : []), 'off' as const])(
  'what the agent changed, sandbox %s',
  (mode) => {
    let base = '';
    let repo = '';
    let sandbox: OpenedSandbox;
    const never = new AbortController().signal;

    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
        cwd: repo,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });

    const open = async (workspace: string, run: string) => {
      await mkdir(path.join(base, run), { mode: 0o700 });
      return openSandbox({
        workspace,
        workingDirectory: workspace,
        mode,
        access: 'in-place',
        shellNetwork: false,
        readable: [],
        passEnv: [],
        environment: { PATH: process.env['PATH'] },
        home: base,
        runnerTemp: base,
        isSecret: () => false,
        runFolder: path.join(base, run),
      });
    };

    beforeEach(async () => {
      base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'changes-')));
      repo = path.join(base, 'repo');
      await mkdir(repo);
      git('init', '-q');
      await writeFile(path.join(repo, 'a.txt'), 'one\n');
      await writeFile(path.join(repo, 'b.bin'), Buffer.from([0, 1, 2, 255]));
      await writeFile(path.join(repo, '.gitignore'), 'ignored/\n');
      git('add', '-A');
      git('commit', '-qm', 'first');
      sandbox = await open(repo, 'run');
    });

    afterEach(async () => {
      await sandbox.close();
      // The shell's: one test leaves a path that is too long for Node's.
      execFileSync('/bin/rm', ['-rf', base]);
    });

    /** Every file below .git with its bytes, to show that nothing of the repository was written. */
    const gitState = () =>
      execFileSync('sh', ['-c', 'find .git -type f | sort | xargs sha256sum'], {
        cwd: repo,
        encoding: 'utf8',
      });

    it('a folder that the change made look like a repository has no say in it: nothing is known', async () => {
      const fake = path.join(base, 'fake');
      for (const folder of ['objects', 'refs', 'info'])
        await mkdir(path.join(fake, folder), { recursive: true });
      await writeFile(path.join(fake, 'HEAD'), 'ref: refs/heads/main\n');
      await writeFile(
        path.join(fake, 'config'),
        '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n',
      );
      await writeFile(path.join(fake, 'info/exclude'), '*\n');
      const other = await open(fake, 'other');
      try {
        expect(await rememberWorkspace(other, never)).toBe(null);
      } finally {
        await other.close();
      }
    });

    it('is nothing where nothing changed, and the repository is not written to', async () => {
      const state = gitState();
      const changes = await rememberWorkspace(sandbox, never);
      expect(await changes?.compare(never)).toEqual({ changedFiles: 0, patch: null, leftOut: [] });
      expect(gitState()).toBe(state);
    });

    it('is counted and kept as a patch that git applies: edits, new, removed, binary, modes, odd names', async () => {
      const changes = await rememberWorkspace(sandbox, never);
      await writeFile(path.join(repo, 'a.txt'), 'two\r\n');
      await writeFile(path.join(repo, 'b.bin'), Buffer.from([9, 0, 9]));
      await writeFile(path.join(repo, 'tab\tand é\nline.txt'), 'new\n');
      await rm(path.join(repo, '.gitignore'));
      await symlink('a.txt', path.join(repo, 'link'));
      await chmod(path.join(repo, 'a.txt'), 0o755);
      // Git complains of such a link, with the name as it is.
      await mkdir(path.join(repo, `x\nat ${repo}/a.txt\n`), { recursive: true });
      await symlink('nothing', path.join(repo, `x\nat ${repo}/a.txt\n/.gitattributes`));
      const state = gitState();
      const found = await changes?.compare(never);
      expect(found?.changedFiles).toBe(6);
      expect(gitState()).toBe(state);
      await writeFile(path.join(base, 'changes.patch'), found?.patch ?? '');
      git('stash', '-qu');
      git('apply', path.join(base, 'changes.patch'));
      expect(readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('two\r\n');
      expect(readFileSync(path.join(repo, 'b.bin'))).toEqual(Buffer.from([9, 0, 9]));
      expect(readFileSync(path.join(repo, 'tab\tand é\nline.txt'), 'utf8')).toBe('new\n');
      expect(existsSync(path.join(repo, '.gitignore'))).toBe(false);
    });

    it('leaves out ignored files, what was dirty before, and nested repositories', async () => {
      await writeFile(path.join(repo, 'a.txt'), 'dirty before\n');
      await writeFile(path.join(repo, 'untracked before.txt'), 'x\n');
      const nested = path.join(repo, 'nested');
      await mkdir(nested);
      execFileSync(
        'sh',
        ['-c', 'git init -q . && git -c user.name=t -c user.email=t@example.com commit -qm x --allow-empty'],
        { cwd: nested },
      );
      const changes = await rememberWorkspace(sandbox, never);
      await mkdir(path.join(repo, 'ignored'));
      await writeFile(path.join(repo, 'ignored', 'big.txt'), 'x\n');
      await writeFile(path.join(nested, 'more.txt'), 'x\n');
      expect(await changes?.compare(never)).toEqual({ changedFiles: 0, patch: null, leftOut: [] });
    });

    it('is counted beside nested repositories without a commit, with odd names, old ones and new ones', async () => {
      for (const name of ['empty', 'od"d\n\tname', 'committed é\n']) {
        await mkdir(path.join(repo, name));
        execFileSync('git', ['init', '-q'], { cwd: path.join(repo, name) });
        await writeFile(path.join(repo, name, 'theirs.txt'), 'x\n');
      }
      const commit = ['-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '-qm', 'x'];
      execFileSync('git', [...commit, '--allow-empty'], { cwd: path.join(repo, 'committed é\n') });
      const changes = await rememberWorkspace(sandbox, never);
      await mkdir(path.join(repo, 'later'));
      execFileSync('git', ['init', '-q'], { cwd: path.join(repo, 'later') });
      await writeFile(path.join(repo, 'later', 'theirs.txt'), 'x\n');
      await writeFile(path.join(repo, 'empty', 'more.txt'), 'x\n');
      expect(await changes?.compare(never)).toEqual({ changedFiles: 0, patch: null, leftOut: [] });
      await writeFile(path.join(repo, 'a.txt'), 'two\n');
      await writeFile(path.join(repo, ':(exclude)a.txt'), 'new\n');
      expect((await changes?.compare(never))?.changedFiles).toBe(2);
    });

    it('is not hidden by a size and a time that are as before', async () => {
      const file = path.join(repo, 'a.txt');
      execFileSync('touch', ['-d', '2001-01-01', file]);
      git('update-index', '--refresh');
      const changes = await rememberWorkspace(sandbox, never);
      // git keeps the time of a change in whole seconds.
      await sleep(1_100);
      await writeFile(file, 'two\n');
      execFileSync('touch', ['-d', '2001-01-01', file]);
      expect((await changes?.compare(never))?.changedFiles).toBe(1);
    });

    it('of a copy is not hidden by a size and a time that are as before', async () => {
      const file = path.join(repo, 'a.txt');
      execFileSync('touch', ['-d', '2001-01-01', file]);
      git('update-index', '--refresh');
      const changes = await rememberWorkspace(sandbox, never, true);
      expect((await changes?.compare(never))?.changedFiles).toBe(0);
      const limits = { timeoutMs: 10_000, maxOutputBytes: 1_000, signal: never };
      const edit = "printf 'two\\n' > a.txt; touch -d 2001-01-01 a.txt; chmod 400 a.txt";
      await sandbox.exec(`${edit}; ln -sfn ./a.txt b.txt`, limits);
      const after = await changes?.compare(never);
      expect([after?.changedFiles, String(after?.patch)]).toEqual([2, expect.stringContaining('+two')]);
    });

    it('of a copy is not hidden by ignore rules that the agent writes, and those of before hold', async () => {
      await mkdir(path.join(repo, 'cache'));
      await writeFile(path.join(repo, 'cache', '.gitignore'), '*\n');
      await writeFile(path.join(repo, 'cache', 'old'), 'x\n');
      await sleep(200);
      const changes = await rememberWorkspace(sandbox, never, true);
      expect((await changes?.compare(never))?.changedFiles).toBe(0);
      const limits = { timeoutMs: 10_000, maxOutputBytes: 1_000, signal: never };
      const script = [
        'mkdir -p "new folder" ignored nested; echo "*" > "new folder/.gitignore"; echo x > "new folder/hidden"',
        'echo hidden.txt >> .gitignore; echo x > hidden.txt; echo x > ignored/x; echo x > cache/new',
        'git init -q nested; echo "*" > nested/.gitignore; echo x > nested/x',
      ];
      await sandbox.exec(script.join('; '), limits);
      const after = await changes?.compare(never);
      expect(String(after?.patch).match(/^diff --git .*$/gmu)).toEqual(
        ['.gitignore', 'hidden.txt', 'new folder/.gitignore', 'new folder/hidden'].map(
          (name) => `diff --git a/${name} b/${name}`,
        ),
      );
      expect(String(after?.patch)).toContain('+hidden.txt');
      expect(after?.changedFiles).toBe(4);
    });

    it.each([false, true])(
      'is a patch to read whatever attributes the change has, of a copy: %s',
      async (isCopy) => {
        await writeFile(path.join(repo, '.gitattributes'), '*.txt -diff\n*.js binary\n');
        git('add', '-A');
        git('commit', '-qm', 'second');
        await sleep(200);
        const changes = await rememberWorkspace(sandbox, never, isCopy);
        const limits = { timeoutMs: 10_000, maxOutputBytes: 1_000, signal: never };
        await sandbox.exec('echo two > a.txt; echo evil > new.js; printf "a\\0b" > b.bin', limits);
        const after = await changes?.compare(never);
        expect(String(after?.patch).match(/^(?:\+(?!\+).*|GIT binary.*)$/gmu)).toEqual([
          '+two',
          'GIT binary patch',
          '+evil',
        ]);
        expect(after?.changedFiles).toBe(3);
      },
    );

    it('of a copy is not hidden by attributes that the agent writes, and those of before hold', async () => {
      await mkdir(path.join(repo, 'crlf'));
      await writeFile(path.join(repo, 'crlf', '.gitattributes'), '*.txt text eol=crlf\n');
      await writeFile(path.join(repo, 'crlf', 'old.txt'), 'x\r\n');
      await writeFile(path.join(repo, 'id.sh'), '# $Id: harmless $\n');
      git('add', '-A');
      git('commit', '-qm', 'second');
      await sleep(200);
      const changes = await rememberWorkspace(sandbox, never, true);
      const limits = { timeoutMs: 10_000, maxOutputBytes: 1_000, signal: never };
      const script = [
        'echo "* ident text -diff" >> .gitattributes; echo "* -text" > crlf/.gitattributes',
        "echo '# $Id: evil $' > id.sh; printf 'one\\r\\n' > a.txt; printf 'y\\r\\n' > crlf/old.txt",
      ];
      await sandbox.exec(script.join('; '), limits);
      const after = await changes?.compare(never);
      expect(String(after?.patch).match(/^\+(?!\+)[^\n]*/gmu)).toEqual([
        '+* ident text -diff',
        '+one\r',
        '+* -text',
        '+y',
        '+# $Id: evil $',
      ]);
      expect(after?.changedFiles).toBe(5);
    });

    it('is not a patch with a workflow, or with a link out of the repository', async () => {
      const changes = await rememberWorkspace(sandbox, never);
      await symlink('/etc/passwd', path.join(repo, 'link'));
      await writeFile(path.join(repo, 'action.yml'), 'x\n');
      await writeFile(path.join(repo, 'a.txt'), 'two\n');
      const after = await changes?.compare(never);
      expect(after).toMatchObject({ changedFiles: 3, leftOut: [{ name: 'action.yml' }, { name: 'link' }] });
      expect(String(after?.patch)).toMatch(/^diff --git a\/a\.txt b\/a\.txt\n(?!.*^diff)/msu);
    });

    it('is not hidden by bytes put under the name of the tree that was there before', async () => {
      await writeFile(path.join(repo, 'dirty.txt'), 'x\n');
      const changes = await rememberWorkspace(sandbox, never);
      expect((await changes?.compare(never))?.changedFiles).toBe(0);
      const forge = `
echo two > a.txt
export GIT_OBJECT_DIRECTORY="$TMPDIR/.changes/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$PWD/.git/objects" GIT_INDEX_FILE="$TMPDIR/index"
for id in $(find "$GIT_OBJECT_DIRECTORY" -type f | sed -n 's|.*/\\(..\\)/\\([0-9a-f]*\\)$|\\1\\2|p'); do [ "$(git cat-file -t $id)" = tree ] && before=$id; done
git add -A; after=$(git write-tree); place() { echo "$GIT_OBJECT_DIRECTORY/$(echo $1 | sed 's|^..|&/|')"; }
rm -f "$(place $before)"; cp "$(place $after)" "$(place $before)"; git diff-tree $before $after | wc -l`;
      const { output } = await sandbox.exec(forge, {
        timeoutMs: 20_000,
        maxOutputBytes: 4_000,
        signal: never,
      });
      expect(output).toBe('0\n');
      expect(await changes?.compare(never)).toBeNull();
    });

    it('is not hidden by a repository that the agent makes in a folder of known files', async () => {
      await mkdir(path.join(repo, 'src'));
      await writeFile(path.join(repo, 'src', 'known.txt'), 'one\n');
      git('add', '-A');
      git('commit', '-qm', 'second');
      const changes = await rememberWorkspace(sandbox, never);
      execFileSync('git', ['init', '-q'], { cwd: path.join(repo, 'src') });
      await writeFile(path.join(repo, 'src', 'known.txt'), 'two\n');
      await writeFile(path.join(repo, 'src', 'new.txt'), 'new\n');
      await mkdir(path.join(repo, 'other'));
      execFileSync('git', ['init', '-q'], { cwd: path.join(repo, 'other') });
      expect((await changes?.compare(never))?.changedFiles).toBe(2);
    });

    it('is not hidden by ignore rules, attributes or filters of the home that the agent writes', async () => {
      const changes = await rememberWorkspace(sandbox, never);
      const hide = `mkdir -p ~/.config/git && echo '*' > ~/.config/git/ignore && git config --global core.attributesFile ~/attributes && echo '* filter=h' > ~/attributes && git config --global filter.h.clean 'echo one' && echo new > new.txt && echo changed > a.txt`;
      const done = await sandbox.exec(hide, { timeoutMs: 10_000, maxOutputBytes: 4096, signal: never });
      expect(done.exitCode).toBe(0);
      expect((await changes?.compare(never))?.changedFiles).toBe(2);
    });

    it.each([
      ['a new folder that the agent closed', 'mkdir d; echo new > d/new; chmod 000 d'],
      ['a folder of known files that it closed', 'echo two > sub/known; chmod 000 sub'],
      ['a folder that it left to be listed only', 'echo two > sub/known; chmod 400 sub'],
      ['a folder that it left to be entered only', 'echo new > sub/new; chmod 100 sub'],
      ['a closed folder in a folder', 'mkdir -p d/e; echo new > d/e/new; chmod 000 d/e'],
      ['the mode of a file', 'echo two > sub/known; chmod 000 sub/known'],
      [
        'a path that is too long',
        `n=${'d'.repeat(250)}; for i in 1 2 3 4 5 6 7 8 9 a b c d e f g h; do mkdir $n && cd $n; done; echo new > new`,
      ],
    ])('is unknown, or counted, behind %s', async (_, command) => {
      await mkdir(path.join(repo, 'sub'));
      await writeFile(path.join(repo, 'sub/known'), 'one\n');
      git('add', '-A');
      git('commit', '-qm', 'second');
      const changes = await rememberWorkspace(sandbox, never);
      expect(changes).not.toBeNull();
      const limits = { timeoutMs: 10_000, maxOutputBytes: 4096, signal: never };
      expect((await sandbox.exec(command, limits)).exitCode).toBe(0);
      const found = await changes?.compare(never);
      execFileSync('chmod', ['-R', 'u+rwx', repo]);
      // Root without a sandbox looks into every folder, and a closed file is a change by its mode alone.
      expect([undefined, 1]).toContain(found?.changedFiles);
    });

    it('is unknown outside a repository', async () => {
      const plain = path.join(base, 'plain');
      await mkdir(plain);
      const other = await open(plain, 'other');
      expect(await rememberWorkspace(other, never)).toBeNull();
      await other.close();
    });

    // Without a sandbox there is nothing to run behind.
    if (mode === 'off') return;

    it('whatever git can be made to run, it runs in the sandbox', async () => {
      const outside = path.join(base, 'ran');
      const filter = `touch ${outside}; cat`;
      for (const [key, value] of [
        ['filter.evil.clean', filter],
        ['filter.evil.required', 'true'],
        ['diff.evil.textconv', filter],
        ['core.fsmonitor', filter],
      ] as const)
        git('config', key, value);
      // The repository's own config reaches the sandbox without its programs; a nested one is the agent's own.
      const nested = path.join(repo, 'nested');
      await mkdir(nested);
      execFileSync(
        'sh',
        [
          '-c',
          `git init -q . && git -c user.name=t -c user.email=t@example.com commit -qm x --allow-empty && git config filter.evil.clean '${filter}' && git config core.fsmonitor '${filter}' && echo '* filter=evil' > .gitattributes && echo x > x`,
        ],
        { cwd: nested },
      );
      const changes = await rememberWorkspace(sandbox, never);
      await writeFile(path.join(repo, '.gitattributes'), '* filter=evil diff=evil\n');
      await writeFile(path.join(repo, 'a.txt'), 'three\n');
      await changes?.compare(never);
      expect(existsSync(outside)).toBe(false);
    });
  },
);
