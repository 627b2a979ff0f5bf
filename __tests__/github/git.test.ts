import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rememberWorkspace } from '../../src/github/git.ts';

let base = '';
let repo = '';

const git = (...args: readonly string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
    cwd: repo,
    encoding: 'utf8',
  });

beforeEach(async () => {
  base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'git-')));
  repo = path.join(base, 'repo');
  await mkdir(repo);
  git('init', '-q');
  await writeFile(path.join(repo, 'a.txt'), 'one\n');
  await writeFile(path.join(repo, 'b.bin'), Buffer.from([0, 1, 2, 255]));
  await writeFile(path.join(repo, '.gitignore'), 'ignored/\n');
  git('add', '-A');
  git('commit', '-qm', 'first');
});

afterEach(() => rm(base, { recursive: true, force: true }));

const runFolder = async () => mkdtemp(path.join(base, 'run-'));
const patch = () => path.join(base, 'changes.patch');

/** Every file below .git with its bytes, to show that nothing of the repository was written. */
function gitState(): string {
  return execFileSync('sh', ['-c', 'find .git -type f | sort | xargs sha256sum'], {
    cwd: repo,
    encoding: 'utf8',
  });
}

describe('what the agent changed', () => {
  it('is nothing where nothing changed, and the repository is not written to', async () => {
    const state = gitState();
    const changes = await rememberWorkspace(repo, await runFolder());
    expect(await changes?.compare(patch())).toEqual({ changedFiles: 0, patchFile: null });
    expect(existsSync(patch())).toBe(false);
    expect(gitState()).toBe(state);
  });

  it('is counted and kept as a patch that git applies: edits, new, removed, binary, modes, odd names', async () => {
    const changes = await rememberWorkspace(repo, await runFolder());
    await writeFile(path.join(repo, 'a.txt'), 'two\r\n');
    await writeFile(path.join(repo, 'b.bin'), Buffer.from([9, 0, 9]));
    await writeFile(path.join(repo, 'tab\tand é.txt'), 'new\n');
    await rm(path.join(repo, '.gitignore'));
    await symlink('a.txt', path.join(repo, 'link'));
    await chmod(path.join(repo, 'a.txt'), 0o755);
    const state = gitState();
    expect(await changes?.compare(patch())).toEqual({ changedFiles: 5, patchFile: patch() });
    expect(gitState()).toBe(state);
    git('stash', '-qu');
    git('apply', patch());
    expect(readFileSync(path.join(repo, 'a.txt'), 'utf8')).toBe('two\r\n');
    expect(readFileSync(path.join(repo, 'b.bin'))).toEqual(Buffer.from([9, 0, 9]));
    expect(readFileSync(path.join(repo, 'tab\tand é.txt'), 'utf8')).toBe('new\n');
    expect(existsSync(path.join(repo, '.gitignore'))).toBe(false);
  });

  it('leaves out ignored files, and what was dirty before', async () => {
    await writeFile(path.join(repo, 'a.txt'), 'dirty before\n');
    await writeFile(path.join(repo, 'untracked before.txt'), 'x\n');
    const changes = await rememberWorkspace(repo, await runFolder());
    await mkdir(path.join(repo, 'ignored'));
    await writeFile(path.join(repo, 'ignored', 'big.txt'), 'x\n');
    expect(await changes?.compare(patch())).toEqual({ changedFiles: 0, patchFile: null });
  });

  it('asks git without letting the workspace run anything: filters, monitors, external diffs, hooks', async () => {
    const ran = path.join(base, 'ran');
    for (const [key, value] of [
      ['filter.evil.clean', `touch ${ran}; cat`],
      ['filter.evil.process', `touch ${ran}`],
      ['filter.evil.required', 'true'],
      ['core.fsmonitor', `touch ${ran}; true`],
      ['diff.external', `touch ${ran}; true`],
      ['diff.evil.textconv', `touch ${ran}; cat`],
      ['diff.evil.command', `touch ${ran}; true`],
    ] as const) {
      git('config', key, value);
    }
    rm(ran, { force: true });
    const changes = await rememberWorkspace(repo, await runFolder());
    await writeFile(path.join(repo, '.gitattributes'), '* filter=evil diff=evil\n');
    await writeFile(path.join(repo, 'a.txt'), 'three\n');
    expect(await changes?.compare(patch())).toEqual({ changedFiles: 2, patchFile: patch() });
    expect(existsSync(ran)).toBe(false);
  });

  it('is unknown outside a repository', async () => {
    const plain = path.join(base, 'plain');
    await mkdir(plain);
    expect(await rememberWorkspace(plain, await runFolder())).toBeNull();
  });
});
