/** Commands of the model and scripts of ours: output, exit codes, and how they end. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findProgram, runOnHost } from '../../src/sandbox/host-program.ts';
import { createOutput } from '../../src/sandbox/output.ts';
import type { OpenedSandbox, ScriptOptions } from '../../src/sandbox/sandbox.ts';
import { createMark, exec, isAlive, MODES, until, useWorld } from './world.ts';

const world = await useWorld();

/** Runs a script of ours. */
const runScript = ({ runScript }: OpenedSandbox, script: string, more: Partial<ScriptOptions> = {}) =>
  runScript(script, { maxBytes: 1_000, timeoutMs: 30_000, signal: new AbortController().signal, ...more });

describe.each(MODES)('with sandbox: %s', async (mode) => {
  const sandbox = await world.openReady({ mode });

  it.each<[what: string, command: string, exitCode: number, output: string]>([
    ['an exit code', 'exit 7', 7, ''],
    ['a program that does not exist', 'no-such-program 2>/dev/null', 127, ''],
    ['both streams in order', 'for i in 1 2; do echo o$i; echo e$i >&2; done', 0, 'o1\ne1\no2\ne2\n'],
    ['a stream that is opened again', 'echo a; echo b > /dev/stderr; echo c > /dev/stdout', 0, 'a\nb\nc\n'],
    ['the failure of a pipe', 'false | cat', 1, ''],
    ['an end of stdin', 'cat; read x || echo no', 0, 'no\n'],
    ['quotes and lines', `cat <<'X' \n'a' "b" $c \\d\nX\n`, 0, `'a' "b" $c \\d\n`],
    ['bytes that are not UTF-8', "printf 'a\\377b'", 0, 'a\ufffdb'],
    ['a mark of byte order', "printf '\\357\\273\\277a'", 0, '\ufeffa'],
    ['the directory', 'pwd', 0, `${world.workspace}\n`],
    ['what only looks like an exit code', 'echo "exit 0" >&2; exit 3', 3, 'exit 0\n'],
    ['no core files', 'ulimit -c', 0, '0\n'],
    ['the number of the signal that ended it', 'kill -PIPE $$', 141, ''],
  ])('gives %s', async (_, command, exitCode, output) => {
    const result = await exec(sandbox, command);
    expect(result).toMatchObject({ exitCode, output, fullOutputPath: null });
  });

  it('cuts a long output between code points and keeps all of it in a file', async () => {
    const result = await exec(sandbox, `printf 'é%.0s' $(seq 20000)`);
    expect(result).toMatchObject({ exitCode: 0, totalBytes: 40_000, keptBytes: 40_000 });
    expect(result.output).toMatch(/^é+\n\[… 14400 bytes left out here …\]\né+$/u);
    expect((await exec(sandbox, `wc -c < ${result.fullOutputPath}`)).output.trim()).toBe('40000');
  });

  it('ends a command in time, and all of its processes', async () => {
    const mark = createMark('slow');
    const command = `echo on; (exec -a ${mark} sleep 300) & exec -a ${mark} sleep 300`;
    expect(await exec(sandbox, command, 4_000)).toMatchObject({ exitCode: null, output: 'on\n' });
    await until(() => !isAlive(mark));
  });

  it('rejects with the reason of an abort, and ends the command', async () => {
    const mark = createMark('aborted');
    const controller = new AbortController();
    const limits = { timeoutMs: 80_000, maxOutputBytes: 100, signal: controller.signal };
    const running = sandbox.exec(`exec -a ${mark} sleep 300`, limits);
    await until(() => isAlive(`${mark}\x00300`));
    controller.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    await until(() => !isAlive(mark));
    await expect(sandbox.exec('true', limits)).rejects.toThrow('enough');
    expect((await exec(sandbox, 'echo still')).output).toBe('still\n');
  });

  it('does not wait for a background process, which ends with its command', async () => {
    const mark = createMark('background');
    const daemon = mode === 'off' ? '' : `setsid -f bash -c 'exec -a ${mark} sleep 300' >/dev/null 2>&1;`;
    const command = `${daemon} (exec -a ${mark} sleep 300) >/dev/null 2>&1 & echo on`;
    expect((await exec(sandbox, command)).output).toBe('on\n');
    await until(() => !isAlive(mark));
  });

  it('says that the directory is gone', async () => {
    const folder = join(world.workspace, 'gone');
    mkdirSync(folder, { recursive: true });
    const sandbox = await world.openReady({ mode, workingDirectory: folder });
    await exec(sandbox, 'rmdir ../gone');
    const output = `The working directory is gone: ${folder}\n`;
    expect(await exec(sandbox, 'pwd')).toMatchObject({ exitCode: 126, output });
  });

  // Only without a sandbox can a command reach it.
  it.runIf(mode === 'off')('runs commands after one killed the shell that starts them', async () => {
    // The shell itself, and the one of its processes that says the exit code.
    for (const steps of ['1 2', '1']) {
      const kill = `p=$PPID; for i in ${steps}; do read -r _ _ _ p _ < /proc/$p/stat; done; kill -9 $p; sleep 1`;
      expect(await exec(sandbox, kill)).toMatchObject({ exitCode: 137 });
      expect((await exec(sandbox, 'echo still')).output).toBe('still\n');
    }
  });

  it('ends a command in time that stopped what started it', async () => {
    const stop = 'kill -STOP $PPID; sleep 300';
    expect(await exec(sandbox, stop, 2_000)).toMatchObject({ exitCode: null });
    expect((await exec(sandbox, 'echo still')).output).toBe('still\n');
  });

  it('refuses a NUL character', async () => {
    await expect(exec(sandbox, 'a\0b')).rejects.toThrow('A command must not contain a NUL character.');
  });

  it('runs a script with input, a limit of its output and a limit of time', async () => {
    const script = 'cat "$INPUT"; echo said >&2; cat; touch "$TMPDIR/x" && exit 3';
    const cut = await runScript(sandbox, script, { maxBytes: 5, input: Buffer.from('12345678') });
    expect(cut).toEqual({ exitCode: 3, stdout: Buffer.from('12345'), isCut: true });
    const slow = await runScript(sandbox, 'sleep 300', { timeoutMs: 300 });
    expect(slow).toMatchObject({ exitCode: null, isCut: false });
  });

  it.runIf(mode === 'required')('has ended what a script started, and the shell of our scripts', async () => {
    const mark = createMark('planted');
    await runScript(sandbox, `setsid -f sh -c 'sleep 300; : ${mark}' >/dev/null`);
    await until(() => !isAlive(mark));
    await sandbox.read('.', 1_000);
    // A command could change that shell.
    const { output } = await exec(sandbox, `cat /proc/[0-9]*/cmdline | tr "\\0" " "`);
    expect(output).toMatch(/bash/u);
    expect(output).not.toContain('/bin/sh -s');
  });

  it.runIf(mode === 'required')('gives our scripts nothing of the user, and of pass-env', async () => {
    const evil = { BASH_ENV: '/tmp/evil', ENV: '/tmp/evil' };
    const environment = { PATH: '/usr/bin:/bin', ...evil, MINE: "a 'b' $c\nd", OTHER: 'x', CI: '1' };
    const sandbox = await world.openReady({ environment, passEnv: ['MINE', 'BASH_ENV', 'ENV'] });
    const shown = await exec(sandbox, 'printf "%s|%s|%s" "$MINE" "$OTHER" "$CI"');
    expect(shown.output).toBe("a 'b' $c\nd||1");
    await exec(sandbox, "echo 'echo pwned' > /tmp/evil");
    expect((await exec(sandbox, ':')).output).toBe('pwned\n');
    const text = String((await runScript(sandbox, 'env | sort; bash -c :')).stdout);
    expect(text).not.toMatch(/MINE|OTHER|CI=|ENV=|API_KEY|pwned|HOME=\/(?!nonexistent)/u);
    expect(text).toContain('PATH=/usr/bin:/bin:/usr/sbin:/sbin\n');
  });

  it('runs commands one after another', async () => {
    const add = (n: number) => exec(sandbox, `cat $TMPDIR/n 2>/dev/null; sleep 0.1; echo ${n} >> $TMPDIR/n`);
    const results = await Promise.all([1, 2, 3].map(add));
    expect(results.map(({ output }) => output)).toEqual(['', '1\n', '1\n2\n']);
  });
});

describe('createOutput', () => {
  const folder = mkdtempSync(join(world.base, 'outputs-'));

  it.each<[text: string, cut: string]>([
    ['0123456789', '0123456789'],
    ['0123456789a', '01234\n[… 1 bytes left out here …]\n6789a'],
    // A code point of 2, 3 or 4 bytes at either side of the cut.
    ['0123é456789', '0123\n[… 2 bytes left out here …]\n56789'],
    ['012€45678€', '012\n[… 4 bytes left out here …]\n78€'],
    ['01😀234567😀', '01\n[… 6 bytes left out here …]\n7😀'],
  ])('cuts %s to 10 bytes', async (text, cut) => {
    for (const size of [1, 3, 100]) {
      const output = createOutput(10, join(folder, `${Math.random()}`), 1_000);
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += size) await output.add(bytes.subarray(at, at + size));
      expect((await output.finish()).output).toBe(cut);
    }
  });

  it('ends the file at its limit, and refuses one that is there', async () => {
    const file = join(folder, 'limited');
    const output = createOutput(10, file, 15);
    for (let n = 0; n < 5; n += 1) await output.add(Buffer.from('123456'));
    expect(await output.finish()).toMatchObject({ totalBytes: 30, isCut: true, keptBytes: 15 });
    expect(readFileSync(file, 'utf8')).toBe('123456123456123');
    await expect(createOutput(1, file, 15).add(Buffer.from('123'))).rejects.toThrow('EEXIST');
  });
});

describe('a program of the machine', () => {
  const folder = mkdtempSync(join(world.base, 'a "folder" of programs-'));
  const make = (name: string, script: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return join(folder, name);
  };

  it('receives its arguments, and nothing of our environment', async () => {
    const file = make('say', 'echo "$# $1"; env | grep -vE "^(PWD|SHLVL|_|OLDPWD)=" | sort >&2; exit 3');
    expect(await runOnHost(file, ['a "b" \\ $c'])).toEqual({
      exitCode: 3,
      stdout: '1 a "b" \\ $c\n',
      stderr: 'LC_ALL=C\nPATH=/usr/bin:/bin:/usr/sbin:/sbin\n',
    });
  });

  it('is not waited for after its time, or an abort', async () => {
    const file = make('hang', 'exec sleep 2');
    expect(await runOnHost(file, [], { withinMs: 50 })).toBeNull();
    expect(await runOnHost(join(folder, 'missing'), [])).toBeNull();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(runOnHost(file, [], { signal })).rejects.toThrow('enough');
  });

  it('is looked up in the folders of the system only', async () => {
    make('only-here', '');
    const path = process.env['PATH'];
    process.env['PATH'] = `${folder}:${path}`;
    expect(await findProgram('only-here')).toBeNull();
    expect(await findProgram('only-here', [folder])).toBe(join(folder, 'only-here'));
    process.env['PATH'] = path;
  });
});
