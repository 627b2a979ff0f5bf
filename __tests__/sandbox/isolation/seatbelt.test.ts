/** The wall of macOS on another system: its profile is read, and a stand-in for `sandbox-exec` keeps it. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SandboxError } from '../../../src/errors.ts';
import { runProcess } from '../../../src/sandbox/exec/process.ts';
import { createSeatbeltWall } from '../../../src/sandbox/isolation/seatbelt.ts';
import { makeFolders, removeFolder } from '../../../src/sandbox/run-folder.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { rememberWorkspace } from '../../../src/sandbox/workspace/workspace-diff.ts';
import { PS, STAND_IN, seatbeltHelpers, THROUGH } from '../../support/seatbelt-helpers.ts';
import { CANARY, createMark, createWorld, exec, hasBwrap, isAlive, manifest, type World } from '../world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const helpers = (scripts: Readonly<Record<string, string>>) => seatbeltHelpers(world.base, scripts);
const standIn = () => helpers({ 'sandbox-exec': STAND_IN, ps: PS });

describe('one command', () => {
  let base: string;
  beforeAll(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), 'seatbelt-')));
  });
  afterAll(() => removeFolder(base));

  async function run(command: string, sandboxExec = THROUGH, timeoutMs = 10_000, ps = PS) {
    const folders = await makeFolders(mkdtempSync(join(base, 'run-')));
    const folder = helpers({ 'sandbox-exec': sandboxExec, ps });
    const wall = createSeatbeltWall({
      sandboxExec: join(folder, 'sandbox-exec'),
      ps: join(folder, 'ps'),
      profile: '(version 1)',
      shell: '/bin/bash',
      workingDirectory: base,
      environment: { PATH: '/usr/bin:/bin' },
    });
    const signal = new AbortController().signal;
    const limits = { timeoutMs, maxOutputBytes: 4_096, signal };
    return runProcess(wall, command, { ...limits, pipes: folders.pipes, spillFolder: folders.tmp });
  }

  it('gives its output and its exit code, in the working directory, with no descriptor but its own', async () => {
    const result = await run(
      'pwd; for f in 3 4 5 9; do { true >&$f; } 2>/dev/null && echo $f; done; exit 65',
    );
    expect(result).toMatchObject({ exitCode: 65, text: `${base}\n` });
  });

  it('a profile that macOS refuses is told in its words, whatever the exit code', async () => {
    await expect(run('true', 'echo "sandbox-exec: unbound variable: x" >&2; exit 65')).rejects.toThrow(
      /did not come up: sandbox-exec: unbound variable/u,
    );
    await expect(run('true', 'exit 0')).rejects.toBeInstanceOf(SandboxError);
  });

  it('leaves nothing running: not its group, not what left it, not what it started when time is up', async () => {
    const mark = createMark('SEATBELT');
    const sleep = `bash -c 'exec -a ${mark} sleep 60'`;
    await run(`${sleep} & setsid ${sleep} & sleep 0.2`);
    expect(isAlive(mark)).toBe(false);
    const late = await run(`trap '' TERM; setsid env -i ${sleep} & ${sleep}`, THROUGH, 400);
    expect([late.timedOut, isAlive(mark)]).toEqual([true, false]);
  });

  it('is found by its group and its parents where the system hides environments', async () => {
    const mark = createMark('SEATBELT-HIDDEN');
    const sleep = `bash -c 'exec -a ${mark} sleep 60'`;
    const blind = PS.replace('axeww', 'axww');
    await run(`${sleep} & sleep 0.2`, THROUGH, 10_000, blind);
    expect(isAlive(mark)).toBe(false);
    const late = await run(`setsid ${sleep} & sleep 60`, THROUGH, 400, blind);
    expect([late.timedOut, isAlive(mark)]).toEqual([true, false]);
  });

  it('that kills its parent harms only itself', async () => {
    expect((await run('echo $PPID')).text).not.toBe(`${process.pid}\n`);
    expect((await run('kill -9 $PPID; sleep 1')).signal).toBe('SIGKILL');
  });
});

describe('a Mac without a wall that stands', () => {
  it('required: ready rejects with why, where to go, and the way out; nothing runs', async () => {
    const none = await world.open({ mode: 'required', platform: 'darwin', helperFolders: [] });
    await expect(none.ready()).rejects.toThrow(/sandbox-exec.*`runs-on: ubuntu-latest`.*`sandbox: off`/u);
    const through = helpers({ 'sandbox-exec': THROUGH, ps: PS });
    const open = await world.open({ mode: 'required', platform: 'darwin', helperFolders: [through] });
    await expect(open.ready()).rejects.toThrow(
      /seatbelt: The sandbox failed its self-test: .*ubuntu-latest/u,
    );
    await expect(exec(open, 'touch ran')).rejects.toBeInstanceOf(SandboxError);
    expect(open.isolation()).toBe('none');
  });

  it('auto: no shell is offered, and files are read and written in the copy', async () => {
    const sandbox = await world.open({
      mode: 'auto',
      access: 'scratch',
      platform: 'darwin',
      helperFolders: [],
    });
    await sandbox.write('README.md', Buffer.from('changed\n'));
    expect([sandbox.shellOffered, sandbox.isolation(), sandbox.weaknesses().join()]).toEqual([
      false,
      'none',
      expect.stringContaining('sandbox: auto found no sandbox'),
    ]);
    expect(readFileSync(join(world.workspace, 'README.md'), 'utf8')).toBe('hello\n');
  });

  it('a workspace whose name no rule can hold is refused', async () => {
    const workspace = join(world.base, 'new\nline');
    mkdirSync(workspace);
    const options = { workspace, workingDirectory: workspace, platform: 'darwin' } as const;
    const sandbox = await world.open({ ...options, mode: 'required', helperFolders: [standIn()] });
    await expect(sandbox.ready()).rejects.toThrow(/control character/u);
  });
});

describe.runIf(hasBwrap)('behind a stand-in that keeps the profile', () => {
  const open = (options: Partial<SandboxOptions> = {}) =>
    world.open({
      mode: 'required',
      access: 'scratch',
      platform: 'darwin',
      helperFolders: [standIn()],
      ...options,
    });

  it('the agent works in a copy, with its own /tmp, and the checkout stays as it is', async () => {
    const before = manifest(world.workspace, () => false);
    const sandbox = await open();
    await sandbox.ready();
    const signal = new AbortController().signal;
    const changes = await rememberWorkspace(sandbox, signal);
    const command = `pwd; echo more >> README.md; echo x > "$TMPDIR/left"; git status --short; cat .git/config ${world.workspace}/.git/config; touch ${world.workspace}/x; exit 7`;
    const result = await exec(sandbox, command);
    expect(result.exitCode).toBe(7);
    expect(result.output).toMatch(new RegExp(`^${sandbox.workingDirectory}\n M README.md\n`, 'u'));
    expect(result.output).toContain('https://github.com/o/r.git');
    expect(result.output).not.toContain(CANARY);
    expect(sandbox.workingDirectory).not.toBe(world.workspace);
    const views = await Promise.all(['README.md', '/tmp/left'].map((path) => sandbox.read(path, 100)));
    expect(views).toMatchObject([{ bytes: Buffer.from('hello\nmore\n') }, { bytes: Buffer.from('x\n') }]);
    const compared = await changes?.compare(signal);
    expect([compared?.changedFiles, compared?.patch?.toString()]).toEqual([
      1,
      expect.stringContaining('+more'),
    ]);
    expect(manifest(world.workspace, () => false)).toEqual(before);
    expect([sandbox.isolation(), sandbox.shellOffered]).toEqual(['seatbelt', true]);
    expect(sandbox.weaknesses().join('\n')).toMatch(/never been tried on a Mac.*best effort/u);
    expect(sandbox.weaknesses().join('\n')).toContain('.git/config holds credentials. Fix');
  });

  it('home, RUNNER_TEMP and the network are closed, protected files stay', async () => {
    const sandbox = await open();
    await sandbox.ready();
    const { home, temp, port } = world;
    const reached = world.reached();
    const result = await exec(
      sandbox,
      `cat ${home}/.npmrc ${temp}/git-credentials-1.config; ls -A ${home}; echo > /dev/tcp/127.0.0.1/${port}; echo x > .git/x; echo x > .github/workflows/ci.yml; env`,
    );
    expect(result.output).not.toContain(CANARY);
    expect(result.output).not.toContain('.bashrc');
    expect(await exec(sandbox, 'ls .git/x; cat .github/workflows/ci.yml')).toMatchObject({
      output: expect.stringMatching(/No such file[\s\S]*on: push/u),
    });
    expect(world.reached()).toBe(reached);
  });

  it('the checkout is closed beside its copy, and no descriptor is left open', async () => {
    const workspace = join(mkdtempSync(join(world.base, 'beside-')), 'checkout');
    mkdirSync(workspace);
    writeFileSync(join(workspace, 'file'), CANARY);
    const sandbox = await open({ workspace, workingDirectory: workspace });
    await sandbox.ready();
    const command = `cat ${workspace}/file; cat file | wc -c; for f in 3 4 9; do { true >&$f; } 2>/dev/null && echo $f; done`;
    const { output } = await exec(sandbox, command);
    expect([output.includes(CANARY), output.split('\n').slice(1)]).toEqual([false, [`${CANARY.length}`, '']]);
  });

  it('output that is cut lies where both tools find it', async () => {
    const sandbox = await open();
    await sandbox.ready();
    const signal = new AbortController().signal;
    const cut = await sandbox.exec('seq 3000', { timeoutMs: 20_000, maxOutputBytes: 1_000, signal });
    const path = cut.fullOutputPath ?? '';
    expect((await exec(sandbox, `tail -1 "${path}"`)).output).toBe('3000\n');
    expect(await sandbox.read(path, 100_000)).toMatchObject({ size: cut.totalBytes });
  });

  it('in-place: a config with credentials is closed, and git with it; it is said', async () => {
    const sandbox = await open({ access: 'in-place' });
    await sandbox.ready();
    const result = await exec(
      sandbox,
      'cat .git/config; git remote -v; git status && echo works; echo new > new',
    );
    expect(result.output).not.toContain(CANARY);
    expect(readFileSync(join(world.workspace, 'new'), 'utf8')).toBe('new\n');
    expect(sandbox.weaknesses().join('\n')).toContain("closed to the agent's commands, and git with it");
  });

  it('read-only: the workspace cannot be written, the private /tmp can', async () => {
    const sandbox = await open({ access: 'read-only' });
    await sandbox.ready();
    const result = await exec(sandbox, 'touch y 2>&1; touch "$TMPDIR/y" && echo wrote');
    expect(result.output).toMatch(/Read-only file system\nwrote\n$/u);
  });

  it('shell-network reaches a listener outside', async () => {
    const server: Server = createServer((socket) => socket.end('hi'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const sandbox = await open({ shellNetwork: true });
    await sandbox.ready();
    expect((await exec(sandbox, `cat < /dev/tcp/127.0.0.1/${port}`)).output).toBe('hi');
    server.close();
  });

  it('a workspace of odd characters is one like any other', async () => {
    const workspace = join(mkdtempSync(join(world.base, 'odd-')), `it's "q" \\ (allow default) ; é 😀`);
    mkdirSync(workspace);
    for (const access of ['in-place', 'scratch'] as const) {
      const sandbox = await open({ workspace, workingDirectory: workspace, access });
      await sandbox.ready();
      expect((await exec(sandbox, 'echo x > file && pwd')).output).toBe(`${sandbox.workingDirectory}\n`);
    }
  });

  it('E12 that runs too long is killed', async () => {
    const sandbox = await open();
    await sandbox.ready();
    const mark = createMark('SEATBELT-LATE');
    const result = await exec(
      sandbox,
      `trap '' TERM; setsid bash -c 'exec -a ${mark} sleep 60' & sleep 60`,
      800,
    );
    expect([result.timedOut, isAlive(mark)]).toEqual([true, false]);
  });
});
