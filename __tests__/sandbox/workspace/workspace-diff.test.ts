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
import { testAll } from '../../support/all.ts';
import { putFiles } from '../../support/local.ts';
import { asCopy, CLOSED, gitIn, hasBwrap } from '../world.ts';

const modes = testAll || !hasBwrap ? (['required', 'off'] as const) : (['required'] as const);

describe.each(modes.filter((mode) => mode === 'off' || hasBwrap))(
  'the changes of the agent, sandbox %s',
  (mode) => {
    let base = '';
    let repo = '';
    let sandbox: OpenedSandbox;
    const never = new AbortController().signal;

    const git = (...args: readonly string[]) => gitIn(repo, ...args);
    const commit = () => {
      git('add', '-A');
      git('commit', '-qm', 'more');
    };
    /** Writes a file of the repository and creates its directories. */
    const put = async (name: string, text: string | Buffer = 'x\n') => void putFiles(repo, { [name]: text });
    /** Runs a command of the agent. */
    const run = (command: string) =>
      sandbox.exec(command, { timeoutMs: 20_000, maxOutputBytes: 4_096, signal: never });
    const countOf = async (changes: Awaited<ReturnType<typeof rememberWorkspace>>) =>
      (await changes?.compare(never))?.changedFiles;

    beforeEach(async () => {
      base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'changes-')));
      repo = path.join(base, 'repo');
      await mkdir(repo);
      git('init', '-q');
      await put('a.txt', 'one\n');
      await put('b.bin', Buffer.from([0, 1, 2, 255]));
      await put('.gitignore', 'ignored/\n');
      commit();
      const runFolder = path.join(base, 'run');
      await mkdir(runFolder, { mode: 0o700 });
      sandbox = await openSandbox({
        ...{ ...CLOSED, workspace: repo, workingDirectory: repo, mode, runFolder },
        ...{ environment: { PATH: process.env['PATH'] }, home: base, runnerTemp: base },
      });
    });

    afterEach(async () => {
      await sandbox.close();
      // Uses the shell: one test leaves a path that is too long for Node.
      execFileSync('/bin/rm', ['-rf', base]);
    });

    /** Every file below .git with its bytes, to check that the repository was not written to. */
    const gitState = () =>
      execFileSync('sh', ['-c', 'find .git -type f | sort | xargs sha256sum'], {
        cwd: repo,
        encoding: 'utf8',
      });

    it('are counted and form a patch that git applies: edited, new, removed, binary files, modes, odd names', async () => {
      const changes = await rememberWorkspace(sandbox, never, { repository: repo });
      await put('a.txt', 'two\r\n');
      await put('b.bin', Buffer.from([9, 0, 9]));
      await put('tab\tand é\nline.txt', 'new\n');
      await rm(path.join(repo, '.gitignore'));
      await symlink('a.txt', path.join(repo, 'link'));
      await chmod(path.join(repo, 'a.txt'), 0o755);
      // Git prints the name of such a link unescaped in a warning.
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

    it('exclude ignored files, earlier modifications and nested repositories', async () => {
      await put('a.txt', 'dirty before\n');
      await put('untracked before.txt');
      git('init', '-q', 'nested');
      git('-C', 'nested', 'commit', '-qm', 'x', '--allow-empty');
      const changes = await rememberWorkspace(sandbox, never, { repository: repo });
      await put('ignored/big.txt');
      await put('nested/more.txt');
      expect(await changes?.compare(never)).toEqual({ changedFiles: 0, patch: null, leftOut: [] });
    });

    it('are found when the size and time of a file are unchanged', async () => {
      const file = path.join(repo, 'a.txt');
      execFileSync('touch', ['-d', '2001-01-01', file]);
      git('update-index', '--refresh');
      const changes = await rememberWorkspace(sandbox, never, { repository: repo });
      // git stores modification times in whole seconds.
      await sleep(1_100);
      await writeFile(file, 'two\n');
      execFileSync('touch', ['-d', '2001-01-01', file]);
      expect(await countOf(changes)).toBe(1);
    });

    it('of a copy are found despite new ignore rules and attributes of the agent; earlier ones stay in force', async () => {
      await put('cache/.gitignore', '*\n');
      await put('id.sh', '# $Id: harmless $\n');
      commit();
      await sleep(200);
      const changes = await rememberWorkspace(asCopy(sandbox), never, { repository: repo });
      expect(await countOf(changes)).toBe(0);
      const script = [
        'mkdir -p new ignored; echo "*" > new/.gitignore; echo x > new/hidden; echo hidden.txt >> .gitignore',
        'echo x > hidden.txt; echo x > ignored/x; echo x > cache/new; git init -q nested; echo x > nested/x',
        `echo "* ident text -diff" > .gitattributes; echo '# $Id: evil $' > id.sh; printf 'one\\r\\n' > a.txt`,
      ];
      await run(script.join('\n'));
      const after = await changes?.compare(never);
      expect(String(after?.patch).match(/(?<=^diff --git a\/)\S+/gmu)).toEqual([
        ...['.gitattributes', '.gitignore', 'a.txt', 'hidden.txt', 'id.sh', 'new/.gitignore', 'new/hidden'],
      ]);
      expect(String(after?.patch)).toContain('\n+# $Id: evil $');
    });

    it('are found when the agent forges the object of the earlier tree', async () => {
      await put('dirty.txt');
      const changes = await rememberWorkspace(sandbox, never, { repository: repo });
      expect(await countOf(changes)).toBe(0);
      const forge = `
echo two > a.txt
export GIT_OBJECT_DIRECTORY="$TMPDIR/.changes/objects" GIT_ALTERNATE_OBJECT_DIRECTORIES="$PWD/.git/objects" GIT_INDEX_FILE="$TMPDIR/index"
for id in $(find "$GIT_OBJECT_DIRECTORY" -type f | sed -n 's|.*/\\(..\\)/\\([0-9a-f]*\\)$|\\1\\2|p'); do [ "$(git cat-file -t $id)" = tree ] && before=$id; done
git add -A; after=$(git write-tree); place() { echo "$GIT_OBJECT_DIRECTORY/$(echo $1 | sed 's|^..|&/|')"; }
rm -f "$(place $before)"; cp "$(place $after)" "$(place $before)"; git diff-tree $before $after | wc -l`;
      expect((await run(forge)).output).toBe('0\n');
      expect(await changes?.compare(never)).toBeNull();
    });

    it('are found when the agent creates a repository in a directory of known files', async () => {
      await put('src/known.txt', 'one\n');
      commit();
      const changes = await rememberWorkspace(sandbox, never, { repository: repo });
      git('init', '-q', 'src');
      await put('src/known.txt', 'two\n');
      await put('src/new.txt', 'new\n');
      git('init', '-q', 'other');
      expect(await countOf(changes)).toBe(2);
    });

    it('are found despite ignore rules, attributes and filters in the home of the agent', async () => {
      const changes = await rememberWorkspace(sandbox, never, { repository: repo });
      const hide = `mkdir -p ~/.config/git && echo '*' > ~/.config/git/ignore && git config --global core.attributesFile ~/attributes && echo '* filter=h' > ~/attributes && git config --global filter.h.clean 'echo one' && echo new > new.txt && echo changed > a.txt`;
      expect((await run(hide)).exitCode).toBe(0);
      expect(await countOf(changes)).toBe(2);
    });

    it.each([
      ['a new directory with mode 0', 'mkdir d; echo new > d/new; chmod 000 d'],
      ['a known directory with mode 0', 'echo two > sub/known; chmod 000 sub'],
      ['a known directory that can only be entered', 'echo new > sub/new; chmod 100 sub'],
      ['a file with mode 0', 'echo two > sub/known; chmod 000 sub/known'],
      [
        'a path that is too long',
        `n=${'d'.repeat(250)}; for i in 1 2 3 4 5 6 7 8 9 a b c d e f g h; do mkdir $n && cd $n; done; echo new > new`,
      ],
    ])('are unknown or counted with %s', async (_, command) => {
      await put('sub/known', 'one\n');
      commit();
      const changes = await rememberWorkspace(sandbox, never, { repository: repo });
      expect(changes).not.toBeNull();
      expect((await run(command)).exitCode).toBe(0);
      const found = await changes?.compare(never);
      execFileSync('chmod', ['-R', 'u+rwx', repo]);
      // Root without a sandbox can read every directory, and a file with mode 0 is changed by its mode alone.
      expect([undefined, 1]).toContain(found?.changedFiles);
    });

    // Without a sandbox this cannot be tested.
    if (mode === 'off') return;

    it('run every program that git can start inside the sandbox', async () => {
      const outside = path.join(base, 'ran');
      const filter = `touch ${outside}; cat`;
      for (const key of ['filter.evil.clean', 'diff.evil.textconv', 'core.fsmonitor'])
        git('config', key, filter);
      // The config of the repository is passed to the sandbox without programs; a nested one belongs to the agent.
      git('init', '-q', 'nested');
      git('-C', 'nested', 'commit', '-qm', 'x', '--allow-empty');
      git('-C', 'nested', 'config', 'filter.evil.clean', filter);
      git('-C', 'nested', 'config', 'core.fsmonitor', filter);
      await put('nested/.gitattributes', '* filter=evil\n');
      await put('nested/x');
      const changes = await rememberWorkspace(sandbox, never, { repository: repo });
      await put('.gitattributes', '* filter=evil diff=evil\n');
      await put('a.txt', 'three\n');
      await changes?.compare(never);
      expect(existsSync(outside)).toBe(false);
    });
  },
);
