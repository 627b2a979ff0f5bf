/** Files that the user of the runner can read and an attacker wants: its key, other jobs, other runs, private files. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IsolationBackend } from '../../../src/sandbox/isolation/backend.ts';
import { findPrivatePaths } from '../../../src/sandbox/isolation/hidden-paths.ts';
import { createUnisolatedBackend } from '../../../src/sandbox/isolation/none.ts';
import { runSelfTest } from '../../../src/sandbox/isolation/self-test.ts';
import { openSandbox } from '../../../src/sandbox/open.ts';
import { makeFolders } from '../../../src/sandbox/run-folder.ts';
import type { OpenedSandbox, SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { testAll } from '../../support/all.ts';
import { CANARY, CLOSED, exec, gitIn, isolatedWays } from '../world.ts';

const isRoot = process.getuid?.() === 0;
const canBeRoot = isRoot || spawnSync('/usr/bin/sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;
const walls = isolatedWays;
/** A user other than root: this user, or one to whom root gives all files. */
const ORDINARY = isRoot ? 65_534 : (process.getuid?.() ?? 0);

/** A self-hosted runner outside the home directories, a second active runner, and other files of its user. */
interface Machine {
  readonly root: string;
  readonly workspace: string;
  readonly temp: string;
  readonly tools: string;
  /** A directory below the root that a variable of the job names. */
  readonly jdk: string;
  readonly home: string;
  /** Files that must not be readable, each containing the canary, and directories with such a file. */
  readonly closed: Readonly<Record<string, string>>;
  /** A pipe that another run of this user reads from. */
  readonly pipe: string;
  close(): void;
}

/** Creates a directory that only root can create and gives it to a user. */
function makeFolder(path: string, uid: number): string {
  const install = ['install', '-d', '-o', String(uid), '-g', String(uid), path];
  const [file = '', ...args] = [...(isRoot ? [] : ['sudo', '-n']), ...install];
  execFileSync(file, args);
  return path;
}

function createMachine(uid: number): Machine {
  const name = `sa-test-${randomUUID().slice(0, 8)}`;
  const shared = ['/opt', '/opt/second-', '/work-of-', '/var/lib', '/usr/local/share', '/srv', '/mnt'];
  const places = [...shared, '/data-of-', '/jdk-of-'].map((place) =>
    makeFolder(place.endsWith('-') ? place + name : join(place, name), uid),
  );
  const [root = '', second = '', work = '', lib = '', share = '', srv = '', mnt = '', data = '', jdk = ''] =
    places;
  const put = (folder: string, mode: number, ...names: string[]) => {
    const path = join(folder, ...names);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${CANARY}\n`);
    chmodSync(path, mode);
    return path;
  };
  writeFileSync(join(jdk, 'release'), 'jdk\n');
  const closed = {
    'the key of the runner': put(root, 0o600, '.credentials_rsaparams'),
    'the log of the runner': put(root, 0o644, '_diag', 'Worker_1.log'),
    'the token in the checkout of another job': put(root, 0o644, '_work', 'other', 'other', '.git', 'config'),
    'the files of the runner': put(root, 0o644, '_work', '_temp', '_github_workflow', 'event.json'),
    'the code of the action': put(root, 0o644, '_work', '_actions', 'o', 'private', 'v1', 'index.js'),
    'the key of a second runner': put(second, 0o644, '.credentials'),
    'the work folder of a second runner': put(work, 0o644, 'repo', 'repo', 'secret'),
    'a file of the mode 0600': put(lib, 0o600, 'a', 'key'),
    'a file of the mode 0640': put(share, 0o640, 'a', 'key'),
    'a file in a folder of the mode 0700': put(lib, 0o644, 'private', 'b', 'key'),
    'one of very many private folders': put(lib, 0o600, 'folders', 'n-0', 'key'),
    'one of very many private files': put(lib, 0o600, 'many', 'key-0'),
    'a private file in a folder that is shown': put(jdk, 0o600, 'lib', 'key'),
    'data of this machine in /srv': put(srv, 0o644, 'key'),
    'data of this machine in /mnt': put(mnt, 0o644, 'key'),
    'data of this machine in a folder of its own': put(data, 0o644, 'a', 'key'),
  };
  for (let n = 1; n < 300; n += 1) put(lib, 0o600, 'many', `key-${n}`);
  for (let n = 0; n < 300; n += 1)
    mkdirSync(join(lib, 'folders', `n-${n}`), { recursive: true, mode: 0o700 });
  for (const folder of ['private', 'folders/n-0']) chmodSync(join(lib, folder), 0o700);
  const pipe = join(lib, 'a', 'pipe');
  execFileSync('mkfifo', ['-m', '600', pipe]);
  writeFileSync(join(root, '.runner'), '\ufeff{\n  "agentName": "one",\n  "workFolder": "_work"\n}\n');
  writeFileSync(join(second, '.runner'), `\ufeff{"workFolder": ${JSON.stringify(work)}}`);
  for (const runner of [root, second]) {
    mkdirSync(join(runner, 'bin'));
    copyFileSync('/bin/sleep', join(runner, 'bin', 'Runner.Listener'));
    chmodSync(join(runner, 'bin', 'Runner.Listener'), 0o755);
  }
  const tools = join(root, '_work', '_tool');
  mkdirSync(join(tools, 'tool', 'x64', 'bin'), { recursive: true });
  writeFileSync(join(tools, 'tool', 'x64', 'bin', 'mytool'), '#!/bin/sh\necho tool\n', { mode: 0o755 });
  const workspace = join(root, '_work', 'repo', 'repo');
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, 'file'), 'mine\n', { mode: 0o600 });
  gitIn(workspace, 'init', '-q', '.');
  gitIn(workspace, 'commit', '-qm', 'first', '--allow-empty');
  const temp = join(root, '_work', '_temp');
  const home = join(root, 'home');
  mkdirSync(home);
  if (isRoot) execFileSync('chown', ['-R', `${uid}:${uid}`, ...places]);
  // Only this process knows its directory: the second runner contains no file of this job.
  const runner: ChildProcess = spawn(join(second, 'bin', 'Runner.Listener'), ['600'], {
    cwd: '/',
    stdio: 'ignore',
    ...(isRoot ? { uid, gid: uid } : {}),
  });
  return {
    ...{ root, workspace, temp, tools, jdk, home, closed, pipe },
    close() {
      runner.kill('SIGKILL');
      const [file = '', ...args] = [...(isRoot ? [] : ['sudo', '-n']), 'rm', '-rf', '--', ...places];
      execFileSync(file, args);
    },
  };
}

/** The options of a sandbox for a job on this machine. */
function jobOn(machine: Machine, options: Partial<SandboxOptions> = {}): SandboxOptions {
  const { workspace, temp, tools, home, jdk } = machine;
  const runFolder = mkdtempSync(join(temp, 'structured-agent-run-'));
  const { uid, gid } = statSync(workspace);
  if (isRoot) chownSync(runFolder, uid, gid);
  const PATH = `${tools}/tool/x64/bin:/usr/bin:/bin`;
  return {
    ...{ ...CLOSED, workspace, workingDirectory: workspace, mode: 'required', runFolder },
    environment: { PATH, RUNNER_TOOL_CACHE: tools, JAVA_HOME_17_X64: jdk },
    ...{ home, runnerTemp: temp, ...options },
  };
}

/** The sandbox of a job when it is ready. */
async function openOn(machine: Machine, options: Partial<SandboxOptions>): Promise<OpenedSandbox> {
  const sandbox = await openSandbox(jobOn(machine, options));
  await sandbox.ready();
  return sandbox;
}

/** A command that prints each of these paths from which it can read the canary. */
function search(closed: Machine['closed']): string {
  const looks = Object.entries(closed).map(
    ([what, path]) => `grep -qs ${CANARY} '${path}' && echo 'reads ${what}'`,
  );
  return `${looks.join('; ')}; true`;
}

const WORKS = `mytool; git log --format=%s; cat file; ls "$RUNNER_TOOL_CACHE"; cat "$JAVA_HOME_17_X64/release"; echo x > new && cat new`;
const WORKED = 'tool\nfirst\nmine\ntool\njdk\nx\n';

describe.runIf(canBeRoot && walls.length > 0)('on a self-hosted runner outside the home directories', () => {
  const owners = testAll ? [...new Set([process.getuid?.() ?? 0, ORDINARY])] : [ORDINARY];
  for (const owner of owners)
    describe.each(walls)(`as user ${owner}, behind $name`, ({ options }) => {
      let machine: Machine;
      beforeAll(() => {
        machine = createMachine(owner);
      });
      afterAll(() => machine.close());

      it('the agent works but cannot read files private to the user of the runner', async () => {
        const sandbox = await openOn(machine, options);
        expect((await exec(sandbox, search(machine.closed))).output).toBe('');
        expect((await exec(sandbox, WORKS)).output).toBe(WORKED);
        const touch = `touch ${machine.tools}/x 2>/dev/null || echo closed`;
        expect((await exec(sandbox, touch)).output).toBe('closed\n');
        await sandbox.close();
      });

      it('sandbox-read shows a hidden path by name', async () => {
        const readable = [
          dirname(machine.closed['data of this machine in /srv'] ?? ''),
          join(machine.root, '_diag'),
        ];
        const sandbox = await openOn(machine, { ...options, readable });
        expect((await exec(sandbox, search(machine.closed))).output).toBe(
          'reads the log of the runner\nreads data of this machine in /srv\n',
        );
        await sandbox.close();
      });

      it('a workspace in a private directory is shown without its siblings', async () => {
        const folder = dirname(machine.closed['a file in a folder of the mode 0700'] ?? '');
        const workspace = join(folder, 'deep', 'workspace');
        mkdirSync(workspace, { recursive: true });
        if (isRoot) execFileSync('chown', ['-R', `${owner}:${owner}`, folder]);
        const place = { workspace, workingDirectory: workspace };
        const sandbox = await openOn(machine, { ...options, ...place });
        const { output } = await exec(sandbox, `pwd; echo x > new && cat new; ${search(machine.closed)}`);
        expect(output).toBe(`${workspace}\nx\n`);
        const look = `ls -A '${dirname(folder)}'; touch ../x 2>/dev/null || echo closed`;
        expect((await exec(sandbox, look)).output).toBe(`${basename(folder)}\nclosed\n`);
        await sandbox.close();
      });

      it('files that appear later next to private files stay hidden in a directory without other files', async () => {
        const modes = ['a file of the mode 0600', 'a file of the mode 0640'];
        const beside = modes.map((name) => dirname(machine.closed[name] ?? ''));
        const above = beside.map((folder) => dirname(folder));
        const sandbox = await openOn(machine, options);
        for (const folder of [...beside, ...above]) writeFileSync(join(folder, 'later'), CANARY);
        const command = `cat ${[...beside, ...above].map((folder) => `'${folder}/later'`).join(' ')} 2>/dev/null; ls -A ${beside.map((folder) => `'${folder}'`).join(' ')} 2>/dev/null | grep later; echo ran`;
        expect((await exec(sandbox, command)).output).toBe('ran\n');
        await sandbox.close();
        for (const folder of [...beside, ...above]) rmSync(join(folder, 'later'));
      });
    });
});

describe.runIf(walls.length > 0)('the self-test of the sandbox', () => {
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
