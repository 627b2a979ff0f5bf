/** The self-test of the sandbox, and the search for the private files that it hides. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { IsolationBackend } from '../../../src/sandbox/isolation/backend.ts';
import { findPrivatePaths } from '../../../src/sandbox/isolation/hidden-paths.ts';
import { createUnisolatedBackend } from '../../../src/sandbox/isolation/none.ts';
import { runSelfTest } from '../../../src/sandbox/isolation/self-test.ts';
import { makeFolders } from '../../../src/sandbox/run-folder.ts';

describe('the self-test of the sandbox', () => {
  it.each([
    ['a hidden directory that is not empty', { emptied: ['/etc'] }, 'a hidden folder is not empty (/etc)'],
    [
      'a private file that can be read',
      { masked: ['/etc/passwd'] },
      'a private file can be read (/etc/passwd)',
    ],
    [
      'a hidden path that can be seen',
      { unseen: ['/etc/passwd'] },
      'a hidden path can be seen (/etc/passwd)',
    ],
  ])('fails for %s', async (_, expected, why) => {
    const runFolder = realpathSync(mkdtempSync(join(tmpdir(), 'self-test-')));
    const { tmp, pipes } = await makeFolders(runFolder);
    const environment = { PATH: '/usr/bin:/bin', TMPDIR: tmp, GIT_CONFIG_GLOBAL: '/etc/passwd' };
    const shell = '/bin/bash';
    // Without mounts other probes fail first.
    const concerns = (line: string) =>
      /^(?:failed|visible)\(\)|hidden folder|hidden path|private file/u.test(line) &&
      !line.includes('sentinel');
    const backend: IsolationBackend = {
      ...createUnisolatedBackend({ shell, workingDirectory: runFolder, environment }),
      launch: async (command) => ({
        file: shell,
        args: ['-c', command.split('\n').filter(concerns).join('\n')],
        cwd: '/',
        environment,
      }),
    };
    const limits = { timeoutMs: 20_000, maxOutputBytes: 4_096, signal: new AbortController().signal };
    const nothing = { configs: [], unseen: [], emptied: [], masked: [] };
    const tested = runSelfTest({
      ...{ backend, shell, runFolder, workspace: runFolder, workspaceWritable: true, shellNetwork: true },
      ...{ process: { ...limits, pipes, spillFolder: tmp }, ...nothing, ...expected },
    });
    await expect(tested).rejects.toThrow(why);
    rmSync(runFolder, { recursive: true });
  });
});

it('a search that is aborted leaves no process', async () => {
  const running = new AbortController();
  const search = { starts: ['/'], skipped: [], reader: { uid: 0, gids: [0] } };
  const found = findPrivatePaths({ ...search, signal: running.signal });
  const children = () =>
    execFileSync('ps', ['-o', 'comm=', '--ppid', String(process.pid)], { encoding: 'utf8' })
      .split('\n')
      .filter((name) => name === 'find');
  await expect.poll(children).toEqual(['find']);
  running.abort();
  expect(await found).toMatchObject({ complete: false });
  await expect.poll(children).toEqual([]);
  expect(await findPrivatePaths({ ...search, signal: running.signal })).toMatchObject({ complete: false });
});
