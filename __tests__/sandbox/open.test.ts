import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { SandboxError, WorkspaceError } from '../../src/errors.ts';
import type { OpenedSandbox, SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { listen, putFiles } from '../support/local.ts';
import {
  CANARY,
  createMark,
  exec,
  gitIn,
  isAlive,
  isolatedWays,
  shellWays,
  until,
  useWorld,
} from './world.ts';

const world = await useWorld();

for (const way of shellWays) describe(`a command behind ${way.name}`, () => shellFacts(way));

function shellFacts({ name, options }: (typeof shellWays)[number]) {
  const mode = name === 'none' ? 'off' : 'required';
  let sandbox: OpenedSandbox;
  const own = createMark(`MARK-${name}`);
  const mark = (n: number) => `${own}-${n}`;
  beforeAll(async () => {
    sandbox = await world.openReady(options);
  });

  it('returns the output of both streams in order and the exit code', async () => {
    const result = await exec(sandbox, 'echo a; echo b >&2; echo c; echo é > /dev/stderr; exit 3');
    expect(result).toEqual({
      exitCode: 3,
      signal: null,
      timedOut: false,
      durationMs: expect.any(Number),
      output: 'a\nb\nc\né\n',
      totalBytes: 9,
      fullOutputPath: null,
      keptBytes: 9,
    });
  });

  it('starts without stdin, with a private home', async () => {
    const command = 'cat; read x || echo eof; test -w ~ && test "$HOME" != "$OLDHOME"; ls -A ~';
    expect((await exec(sandbox, command)).output).toBe('eof\n.gitconfig\n');
  });

  it('sees files in /tmp of earlier commands, as read_file does', async () => {
    await exec(sandbox, 'echo one > "$TMPDIR/left"');
    expect((await exec(sandbox, 'cat "$TMPDIR/left"')).output).toBe('one\n');
    expect(await sandbox.read('/tmp/left', 100)).toMatchObject({ bytes: Buffer.from('one\n') });
  });

  it('E10 that is aborted has ended when the promise rejects with the reason', async () => {
    const control = new AbortController();
    const running = sandbox.exec(`bash -c 'exec -a ${mark(2)} sleep 60' & wait`, {
      timeoutMs: 20_000,
      maxOutputBytes: 1000,
      signal: control.signal,
    });
    const reason = new Error('stop');
    const rejected = expect(running).rejects.toBe(reason);
    await until(() => isAlive(`${mark(2)}\x0060`));
    expect(isAlive(`${mark(2)}\x0060`)).toBe(true);
    control.abort(reason);
    await rejected;
    expect(isAlive(mark(2))).toBe(false);
  });

  it('E10 that is aborted at any moment while its sandbox starts is killed as well', async () => {
    for (let after = 0; after < 40; after += 6) {
      const control = new AbortController();
      const running = sandbox.exec(`bash -c 'exec -a ${mark(5)} sleep 60' & wait`, {
        timeoutMs: 20_000,
        maxOutputBytes: 1000,
        signal: control.signal,
      });
      const rejected = expect(running).rejects.toBe('stop');
      await sleep(after);
      control.abort('stop');
      await rejected;
      expect([after, isAlive(mark(5))]).toEqual([after, false]);
    }
  });

  it('with too much output is truncated, and both tools can read all of the output', async () => {
    const limits = { timeoutMs: 20_000, maxOutputBytes: 1000, signal: new AbortController().signal };
    const result = await sandbox.exec('for i in $(seq 1 3000); do echo "line $i"; done', limits);
    const path = result.fullOutputPath ?? '';
    const view = await sandbox.read(path, 1_000_000);
    const tail = await exec(sandbox, `tail -1 "${path}"; wc -l < "${path}"`);
    expect(result.output).toMatch(/^line 1\n[\s\S]*bytes left out here[\s\S]*\nline 3000\n$/u);
    const whole = [result.totalBytes, 'line 3000\n3000\n'];
    expect([view.kind === 'file' && view.size, tail.output]).toEqual(whole);
  });

  it('that cannot be passed to the shell, or has no working directory, is denied', async () => {
    const gone = join(world.workspace, 'gone');
    mkdirSync(gone);
    const inner = await world.openReady({ mode, workingDirectory: gone });
    rmSync(gone, { recursive: true });
    await expect(exec(inner, 'pwd')).rejects.toThrow('is gone');
    await expect(exec(sandbox, 'echo \0')).rejects.toMatchObject({ name: 'DeniedError' });
    await expect(exec(sandbox, `: ${'x'.repeat(130_000)}`)).rejects.toThrow('too long');
    await inner.close();
  });

  it('is killed when the sandbox closes, and the run directory is removed whatever its modes', async () => {
    const runFolder = mkdtempSync(join(world.temp, 'run-'));
    const inner = await world.openReady({ mode, runFolder });
    await exec(inner, 'mkdir -p "$TMPDIR/a/b"; touch "$TMPDIR/a/b/c"; chmod 0 "$TMPDIR/a/b" "$TMPDIR/a"');
    const running = exec(inner, `bash -c 'exec -a ${mark(4)} sleep 60'`).catch((error: unknown) => error);
    await until(() => isAlive(`${mark(4)}\x0060`));
    expect(isAlive(`${mark(4)}\x0060`)).toBe(true);
    await inner.close();
    await inner.close();
    expect(await running).toBeInstanceOf(Error);
    expect(isAlive(mark(4))).toBe(false);
  });
}

/** A bwrap that starts the command without isolation, as on a broken kernel. */
function fakeBwrap(body: string): string {
  const helpers = mkdtempSync(join(world.base, 'helpers-'));
  writeFileSync(join(helpers, 'bwrap'), `#!/bin/bash\n${body}\n`, { mode: 0o755 });
  return helpers;
}

describe('a machine without a sandbox', () => {
  it.each([
    ['auto', [false, 'none', 'file'], 'sandbox: auto found no sandbox'],
    ['off', [true, 'none', 'file'], 'sandbox: off'],
  ] as const)(
    '%s: offers a shell only if that was asked for, keeps file tools and reports the weakness',
    async (...row) => {
      const [mode, expected, weakness] = row;
      const sandbox = await world.openReady({ mode, helperFolders: [] });
      const { kind } = await sandbox.read('README.md', 10);
      expect([sandbox.shellOffered, sandbox.isolation(), kind]).toEqual(expected);
      expect(sandbox.weaknesses().join('\n')).toContain(weakness);
    },
  );

  it('macOS has no sandbox, whatever programs are installed', async () => {
    const message = /^The sandbox needs Linux, and this machine runs macOS\. /u;
    const required = await world.open({ mode: 'required', platform: 'darwin', access: 'scratch' });
    await expect(required.started()).rejects.toThrow(message);
    await expect(required.ready()).rejects.toThrow(message);
    await expect(exec(required, 'true')).rejects.toThrow();
  });
});

it('a workspace with directories too deep to search for repositories runs nothing and reads nothing', async () => {
  const workspace = join(world.base, 'deep');
  mkdirSync(workspace);
  const script = 'for i in $(seq 25); do mkdir $0 && cd $0; done';
  execFileSync('bash', ['-c', script, 'd'.repeat(200)], { cwd: workspace });
  const sandbox = await world.open({ mode: 'required', workspace, workingDirectory: workspace });
  await expect(sandbox.ready()).rejects.toBeInstanceOf(WorkspaceError);
  await expect(sandbox.read('x', 10)).rejects.toBeInstanceOf(SandboxError);
  await expect(exec(sandbox, 'true')).rejects.toBeInstanceOf(SandboxError);
  await sandbox.close();
  execFileSync('/bin/rm', ['-rf', workspace]);
});

describe('a sandbox that fails to start', () => {
  const through =
    'shift 4; while [ "$1" != -- ]; do shift; done; shift; echo "{ \\"child-pid\\": $$ }{ \\"exit-code\\": 0 }" >&4; cat <&3 >/dev/null';

  it('is detected when bwrap isolates nothing', async () => {
    const sandbox = await world.open({
      mode: 'required',
      helperFolders: [fakeBwrap(`${through}; exec "$@"`)],
    });
    await sandbox.started();
    await expect(sandbox.ready()).rejects.toThrow(/failed its self-test: /u);
    await expect(exec(sandbox, 'true')).rejects.toBeInstanceOf(SandboxError);
  });

  /** A bwrap that leaves /var/log visible while `condition` holds; each start adds a line to the file `starts`. */
  const forgetful = (starts: string, condition: string) =>
    fakeBwrap(`if [ "$1" = --args ]; then
  echo start >> ${starts}
  if ${condition}; then exec 3< <(perl -0777 -pe 's{--(?:tmpfs|remount-ro)\\0/var/log\\0}{}g' <&3); fi
fi
exec /usr/bin/bwrap "$@"`);
  const startsIn = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1;

  it('is retried when a path was created again while mounts were made', async () => {
    const starts = join(world.base, 'starts-once');
    const sandbox = await world.openReady({
      mode: 'required',
      kinds: ['bwrap'],
      helperFolders: [forgetful(starts, `[ "$(wc -l < ${starts})" = 1 ]`), '/usr/bin'],
    });
    expect([sandbox.isolation(), startsIn(starts)]).toEqual(['bwrap', 2]);
  });

  it('ends the run after three tries when a path is never hidden', async () => {
    const starts = join(world.base, 'starts-always');
    const helperFolders = [forgetful(starts, 'true'), '/usr/bin'];
    const sandbox = await world.open({ mode: 'required', kinds: ['bwrap'], helperFolders });
    await expect(sandbox.ready()).rejects.toThrow(/a hidden folder is not empty \(\/var\/log\)/u);
    // The last one checks whether the workspace is the cause.
    expect(startsIn(starts)).toBe(4);
  });
});

describe.each(isolatedWays)('in the sandbox of $name', ({ options: wall }) => {
  const open = (options: Partial<SandboxOptions> = {}) => world.openReady({ ...wall, ...options });
  const run = async (command: string, options: Partial<SandboxOptions> = {}) => {
    const sandbox = await open(options);
    const { output } = await exec(sandbox, command);
    await sandbox.close();
    return output;
  };
  const put = (file: string, text: string) => putFiles(dirname(file), { [basename(file)]: text });

  it('shell-network reaches a listener outside and is reported', async () => {
    const server = createServer((socket) => socket.end('hi'));
    const port = await listen(server);
    const sandbox = await open({ shellNetwork: true });
    expect((await exec(sandbox, `cat < /dev/tcp/127.0.0.1/${port}`)).output).toBe('hi');
    expect(sandbox.weaknesses().join('\n')).toContain('shell-network: on');
    server.close();
  });

  it('.git has a config that git can use and no credentials, which is reported', async () => {
    const sandbox = await open();
    const { output } = await exec(sandbox, 'cat .git/config; git remote -v; git commit -qam x');
    expect(output).toContain('https://github.com/o/r.git (fetch)');
    expect(output).not.toContain(CANARY);
    expect(gitIn(world.workspace, 'log', '--format=%s')).toBe('first');
    expect(sandbox.weaknesses().join('\n')).toContain('.git/config holds credentials');
  });

  it('files of other users and services in /home, /root, /run and /var/tmp are hidden', async () => {
    const mine = mkdtempSync('/var/tmp/world-');
    const output = await run('ls -A /run /var/tmp; echo; ls -A /home /root 2>/dev/null');
    expect(output).toMatch(/^\/run:\n\n\/var\/tmp:\n\n/u);
    const seen = output.split('\n');
    // Read by this test if it can: files that only root sees need not be hidden.
    const kept = ['/home', ...(process.getuid?.() === 0 ? ['/root'] : [])].flatMap((at) =>
      readdirSync(at).filter((name) => !process.env['PATH']?.includes(`${at}/${name}/`)),
    );
    const ofToolchains = ['.rustup'];
    expect(kept.filter((name) => seen.includes(name) && !ofToolchains.includes(name))).toEqual([]);
    rmSync(mine, { recursive: true });
  });

  it('B05 the git directory of a worktree is closed under any name', async () => {
    const workspace = mkdtempSync(join(world.base, 'named-'));
    const store = join(workspace, 'store.git');
    gitIn(world.workspace, 'clone', '-q', '--bare', '.', store);
    gitIn(store, 'worktree', 'add', '-q', '../tree');
    gitIn(store, 'config', 'http.extraheader', CANARY);
    // The layout of `git worktree` for a workspace whose git directory has another name.
    writeFileSync(join(workspace, '.git'), 'gitdir: store.git\n');
    const sandbox = await open({ workspace, workingDirectory: workspace });
    await expect(sandbox.read('store.git/config', 1000)).rejects.toMatchObject({ name: 'DeniedError' });
    expect((await exec(sandbox, 'cat store.git/config')).output).not.toContain(CANARY);
    await sandbox.close();
  });

  it('a worktree whose git directory is outside the workspace has a working, read-only git', async () => {
    const tree = join(mkdtempSync(join(world.base, 'outside-')), 'tree');
    gitIn(world.workspace, 'worktree', 'add', '-q', '--detach', tree);
    const command =
      'git log --format=%s; git config --get-regexp extraheader; echo x > .git; git status --short';
    const output = await run(command, { workspace: tree, workingDirectory: tree });
    expect(output).toMatch(/^first\n[^\n]*Read-only file system\n$/u);
  });

  it('credential files of an earlier step in the workspace are empty, for all names closed to the tools', async () => {
    const names = ['gha-creds-0123.json', '.git-credentials', '.netrc', '_netrc'];
    for (const name of names) put(join(world.workspace, name), CANARY);
    const sandbox = await open();
    for (const name of names) {
      expect((await exec(sandbox, `cat ${name}; echo x > ${name}`)).output).not.toContain(CANARY);
      await expect(sandbox.read(name, 100)).rejects.toThrow('it holds credentials');
      expect(readFileSync(join(world.workspace, name), 'utf8')).toBe(CANARY);
      rmSync(join(world.workspace, name));
    }
  });

  it('a RUNNER_TEMP and a home inside the workspace are hidden there, and a folder on PATH stays writable', async () => {
    const temp = put(join(world.workspace, 'inner-temp', 'token'), CANARY);
    const home = put(join(world.workspace, 'inner-home', '.npmrc'), CANARY);
    const bin = put(join(world.workspace, 'vendor', 'bin', 'tool'), '');
    mkdirSync(join(temp, 'run'), { mode: 0o700 });
    const places = { home, runnerTemp: temp, runFolder: join(temp, 'run'), readable: [bin] };
    const command =
      'cat */token */.npmrc 2>/dev/null; ls -A inner-*; echo x > /tmp/f && cat /tmp/f; touch vendor/bin/y && echo wrote';
    const output = await run(command, { ...places, environment: { PATH: `${bin}:/usr/bin:/bin` } });
    expect(output).toBe('inner-home:\n\ninner-temp:\nx\nwrote\n');
    for (const folder of [temp, home]) rmSync(folder, { recursive: true });
  });

  it('sandbox-read shows a directory of home, but never RUNNER_TEMP', async () => {
    const data = put(join(world.home, 'data', 'd'), 'data\n');
    const command = `cat ${data}/d; ls -A ${world.temp}; cat ${world.home}/.npmrc`;
    const output = await run(command, { readable: [data, world.home, join(world.base, 'absent')] });
    expect(output).toContain('data\n');
    for (const text of ['_runner_file_commands', CANARY]) expect(output).not.toContain(text);
  });
});
