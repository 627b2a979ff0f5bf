import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import { openSandbox } from '../../src/sandbox/open.ts';
import type { OpenedSandbox } from '../../src/sandbox/sandbox.ts';
import { findSubjectTree, type SubjectTree } from '../../src/sandbox/subject-tree.ts';

const hasBwrap = existsSync('/usr/bin/bwrap');
const never = new AbortController().signal;

describe.each([...(hasBwrap ? (['scratch', 'in-place'] as const) : []), 'off' as const])(
  'what is judged, %s',
  (how) => {
    let base = '';
    let repo = '';
    let runs = 0;
    const opened: OpenedSandbox[] = [];

    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
        cwd: repo,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    const file = (name: string) => path.join(repo, name);

    /** As a run would name it: in a sandbox of its own. */
    async function look(
      paths: readonly string[],
      more: { readonly workspace?: string; readonly workingDirectory?: string } = {},
    ): Promise<SubjectTree> {
      const { workspace = repo, workingDirectory = workspace } = more;
      runs += 1;
      const runFolder = path.join(base, `run-${runs}`);
      await mkdir(runFolder, { mode: 0o700 });
      const sandbox = await openSandbox({
        workspace,
        workingDirectory,
        mode: how === 'off' ? 'off' : 'required',
        access: how === 'off' ? 'in-place' : how,
        shellNetwork: false,
        readable: [],
        passEnv: [],
        environment: { PATH: process.env['PATH'] },
        home: path.join(base, 'home'),
        runnerTemp: path.join(base, 'temp'),
        isSecret: () => false,
        runFolder,
      });
      opened.push(sandbox);
      await sandbox.ready();
      return findSubjectTree(sandbox, { workspace, workingDirectory, paths, signal: never });
    }

    const treeOf = async (paths: readonly string[], more = {}) => {
      const found = await look(paths, more);
      if (found.kind !== 'tree') throw new Error(found.why);
      return found.tree;
    };

    const refusal = (paths: readonly string[], more = {}) =>
      look(paths, more).then(
        (found) => JSON.stringify(found),
        (error: unknown) => {
          if (error instanceof InputError) return `${error.input}! ${error.message}`;
          throw error;
        },
      );

    beforeEach(async () => {
      base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'subject-')));
      repo = path.join(base, 'repo');
      for (const folder of ['home', 'temp', 'repo/api/src', 'repo/web'])
        await mkdir(path.join(base, folder), { recursive: true });
      git('init', '-q');
      await writeFile(file('api/src/a.txt'), 'one\n');
      await writeFile(file('api/run.sh'), 'echo\n');
      await writeFile(file('web/b.txt'), 'two\n');
      await writeFile(file('.gitignore'), 'ignored/\n*.log\n');
      git('add', '-A');
      git('commit', '-qm', 'first');
    });

    afterEach(async () => {
      for (const sandbox of opened.splice(0)) await sandbox.close();
      await rm(base, { recursive: true, force: true });
    });

    it("is git's name of the working files, in SHA-256, and the repository is not written to", async () => {
      const state = () =>
        execFileSync('sh', ['-c', 'find .git -type f | sort | xargs sha256sum'], {
          cwd: repo,
          encoding: 'utf8',
        });
      const before = state();
      const found = await look([]);
      expect(state()).toBe(before);
      const copy = path.join(base, 'copy');
      await cp(repo, copy, { recursive: true });
      await rm(path.join(copy, '.git'), { recursive: true });
      const run = (...args: readonly string[]) =>
        execFileSync('git', args, { cwd: copy, encoding: 'utf8' }).trim();
      run('init', '-q', '--object-format=sha256');
      run('add', '-A');
      expect(found).toEqual({ kind: 'tree', tree: run('write-tree'), paths: ['.'] });
    });

    it('another commit, branch or clone with the same content is the same, whatever happens elsewhere', async () => {
      const before = await treeOf(['api']);
      git('checkout', '-qb', 'merge-queue');
      git('commit', '-qm', 'again', '--allow-empty');
      await writeFile(file('web/b.txt'), 'changed\n');
      await mkdir(file('api2'));
      await writeFile(file('api2/x'), 'a folder whose name only begins so\n');
      await writeFile(file('api/debug.log'), 'ignored\n');
      await mkdir(file('ignored'));
      await writeFile(file('ignored/x'), 'ignored\n');
      expect(await treeOf(['api'])).toBe(before);
      const clone = path.join(base, 'clone');
      execFileSync('git', ['clone', '-q', '--depth=1', `file://${repo}`, clone]);
      expect(await treeOf(['api'], { workspace: clone })).toBe(before);
    });

    const edits: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['a byte', () => writeFile(file('api/src/a.txt'), 'onf\n')],
      ['a line ending', () => writeFile(file('api/src/a.txt'), 'one\r\n')],
      ['a mode', () => chmod(file('api/run.sh'), 0o755)],
      ['a name', () => rename(file('api/run.sh'), file('api/Run.sh'))],
      ['a removed file', () => rm(file('api/run.sh'))],
      ['a new file', () => writeFile(file('api/new'), '')],
      [
        'a link in the place of a file',
        async () => {
          await rename(file('api/run.sh'), file('api/src/run.sh'));
          await symlink('src/run.sh', file('api/run.sh'));
        },
      ],
      [
        'a folder that became a link',
        async () => {
          await rename(file('api/src'), file('api/source'));
          await symlink('source', file('api/src'));
        },
      ],
      [
        'an edit that the index is told to overlook',
        async () => {
          git('update-index', '--assume-unchanged', 'api/src/a.txt');
          await writeFile(file('api/src/a.txt'), 'two\n');
        },
      ],
      [
        'bytes that git would filter away',
        async () => {
          await writeFile(file('.gitattributes'), '* text=auto ident\n');
          await writeFile(file('api/src/a.txt'), 'one\r\n');
        },
      ],
      [
        'an ignored file that is tracked all the same',
        async () => {
          await writeFile(file('api/x.log'), 'x');
          git('add', '-f', 'api/x.log');
        },
      ],
    ];
    it.each(edits)('%s makes it another one, committed or not', async (_, edit) => {
      const before = await treeOf(['api']);
      await edit();
      const dirty = await treeOf(['api']);
      expect(dirty).not.toBe(before);
      git('add', '-A');
      git('commit', '-qm', 'second', '--allow-empty');
      expect(await treeOf(['api'])).toBe(dirty);
    });

    it('the paths are told in one spelling, and a name with the signs of a pattern is just a name', async () => {
      await mkdir(file('[a]*?'));
      await writeFile(file('[a]*?/:(top)'), 'x');
      await writeFile(file('a'), 'x');
      const found = await look(['./web/', 'api/../[a]*?', 'web', `${repo}/web/b.txt`]);
      expect(found).toMatchObject({ kind: 'tree', paths: ['[a]*?', 'web', 'web/b.txt'] });
      expect(await treeOf(['[a]*?'])).not.toBe(await treeOf(['a']));
      expect(await treeOf(['.'])).toBe(await treeOf([]));
    });

    it('a checkout deeper in the workspace is judged from where the agent starts', async () => {
      const workspace = path.join(base, 'outer');
      await mkdir(workspace);
      await cp(repo, path.join(workspace, 'repo'), { recursive: true });
      const workingDirectory = path.join(workspace, 'repo', 'api');
      const found = await look(['repo/api'], { workspace, workingDirectory });
      expect(found).toEqual({ kind: 'tree', tree: await treeOf(['api']), paths: ['repo/api'] });
      expect(await look([], { workspace, workingDirectory })).toMatchObject({ paths: ['repo'] });
      expect(await refusal(['.'], { workspace, workingDirectory })).toMatch(
        /^subject-paths! .*outside the repository/u,
      );
    });

    it.each([
      ['../elsewhere', /leaves the workspace/u],
      ['/etc', /leaves the workspace/u],
      ['nowhere', /is not there/u],
      ['api/src/a.txt/x', /is not there/u],
      ['API', /is not there/u],
      ['.git', /is closed to the agent/u],
      ['api/.GIT/x', /is closed to the agent/u],
      ['ignored', /no file that git sees/u],
      ['empty', /no file that git sees/u],
      ['way', /symbolic link/u],
      ['way/b.txt', /symbolic link/u],
      ['out', /symbolic link/u],
    ])('%s cannot be meant, and is named with the fix', async (name, why) => {
      await mkdir(file('empty'));
      await mkdir(file('ignored'));
      await writeFile(file('ignored/x'), '');
      await symlink('web', file('way'));
      await symlink('/etc', file('out'));
      const told = await refusal(['api', name]);
      expect(told).toMatch(why);
      expect(told).toContain(`subject-paths! subject-paths names "${name}"`);
    });

    it.each([true, false])(
      'a nested repository hides its files: nothing is known (a commit in it: %s)',
      async (full) => {
        execFileSync('sh', ['-c', `git init -q nested && cd nested && touch f`], { cwd: file('api') });
        if (full)
          execFileSync(
            'sh',
            ['-c', 'git add f && git -c user.name=t -c user.email=t@example.com commit -qm n'],
            { cwd: file('api/nested') },
          );
        expect(await look(['api'])).toEqual({
          kind: 'unknown',
          why: '"api/nested" is a repository of its own; name subject-paths without it',
        });
        expect(await look(['web'])).toMatchObject({ kind: 'tree' });
        if (!full) return;
        git('add', 'api/nested');
        expect(await look(['api'])).toMatchObject({ kind: 'unknown' });
      },
    );

    it('a link out of what is judged is nothing known: what lies there could change, and the tree would not', async () => {
      await symlink('../web', file('api/out'));
      const why =
        '"api/out" is a link that leads out of what is judged; name that place in subject-paths, too';
      expect(await look(['api'])).toEqual({ kind: 'unknown', why });
      expect(await look(['api', 'web'])).toMatchObject({ kind: 'tree' });
      expect(await look([])).toMatchObject({ kind: 'tree' });
      await rm(file('web'), { recursive: true });
      expect(await look(['api'])).toMatchObject({ kind: 'tree' });
    });

    it.each(['.', '..'])(
      'a folder that the change made look like a repository is none: its index hides nothing (worktree %s)',
      async (worktree) => {
        const workingDirectory = file('api');
        const own = (...args: readonly string[]) =>
          execFileSync('git', [`--git-dir=${workingDirectory}`, ...args], { cwd: repo, stdio: 'ignore' });
        for (const folder of ['objects', 'refs', 'info']) await mkdir(file(`api/${folder}`));
        await writeFile(file('api/HEAD'), 'ref: refs/heads/main\n');
        await writeFile(file('api/info/exclude'), '*\n');
        await writeFile(file('api/config'), '[core]\nrepositoryformatversion = 0\nbare = false\n');
        own(`--work-tree=${path.join(workingDirectory, worktree)}`, 'add', '-f', file('api/run.sh'));
        await writeFile(
          file('api/config'),
          `[core]\nrepositoryformatversion = 0\nbare = false\nworktree = ${worktree}\n`,
        );
        git('add', '-Af');
        git('commit', '-qm', 'second');
        const before = await treeOf(['api'], { workingDirectory });
        await writeFile(file('api/src/a.txt'), 'two\n');
        expect(await treeOf(['api'], { workingDirectory })).not.toBe(before);
      },
    );

    it('where git cannot tell nothing is known: no repository, or a broken one', async () => {
      await writeFile(file('.git/index'), 'broken');
      expect(await look([])).toMatchObject({
        kind: 'unknown',
        why: expect.stringMatching(/^git could not list/u),
      });
      await rm(file('.git'), { recursive: true });
      expect(await look([])).toMatchObject({ kind: 'unknown' });
      expect(readFileSync(file('web/b.txt'), 'utf8')).toBe('two\n');
    });

    it('a sparse checkout is what is there', async () => {
      const web = await treeOf(['web']);
      git('sparse-checkout', 'set', 'web');
      expect(existsSync(file('api/run.sh'))).toBe(false);
      expect(await treeOf(['web'])).toBe(web);
      git('sparse-checkout', 'disable');
    });
  },
);
