import childProcess from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { findHelper, runHelper, runProgram } from '../../../src/sandbox/exec/host-program.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'a "folder" of helpers-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function makeProgram(name: string, script: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

it('runHelper returns exit code and stderr, passes arguments unchanged and prints nothing', async () => {
  const printed = vi.spyOn(process.stdout, 'write');
  const file = makeProgram('complain', 'echo "::error::seen"; echo "$# $1" >&2; exit 3');
  expect(await runHelper(file, ['a "b" \\ $c'])).toMatchObject({ exitCode: 3, stderr: '1 a "b" \\ $c\n' });
  expect(printed).not.toHaveBeenCalled();
  printed.mockRestore();
});

it('runHelper passes no variables of the step', async () => {
  const file = makeProgram('variables', 'env | grep -v "^\\(PWD\\|SHLVL\\|_\\|OLDPWD\\)=" | sort >&2');
  expect((await runHelper(file, []))?.stderr).toBe('LC_ALL=C\nPATH=/usr/bin:/bin\n');
});

it('runHelper returns null on a timeout or abort', async () => {
  const file = makeProgram('hang', 'exec sleep 2');
  const abort = new AbortController();
  const aborted = runHelper(file, [], { signal: abort.signal });
  abort.abort();
  expect(await aborted).toBeNull();
  expect(await runHelper(file, [], { withinMs: 50 })).toBeNull();
  expect(await runHelper(file, [], { signal: abort.signal })).toBeNull();
});

it('runHelper rejects when the program does not exist', async () => {
  await expect(runHelper(join(folder, 'missing'), [])).rejects.toThrow(/missing/u);
});

it('runProgram starts the program before it returns, passes its input and no variables of the step', async () => {
  const file = makeProgram('count', 'env | grep -c "^GITHUB_"; wc -c; echo "$1" >&2; exit 4');
  const { signal } = new AbortController();
  vi.stubEnv('GITHUB_X', '1');
  const started = vi.spyOn(childProcess, 'spawn');
  syncBuiltinESMExports();
  const running = runProgram(file, ['a "b"'], signal, Buffer.from('12345'));
  expect(started).toHaveBeenCalledOnce();
  started.mockRestore();
  syncBuiltinESMExports();
  vi.unstubAllEnvs();
  expect(await running).toEqual({ exitCode: 4, stdout: '0\n5\n', stderr: 'a "b"\n' });
});

it('runProgram kills the program and its children on abort', async () => {
  const file = makeProgram('family', 'sleep 100 & echo $! > "$1"; wait');
  const pids = join(folder, 'pids');
  const abort = new AbortController();
  const running = runProgram(file, [pids], abort.signal);
  const pid = await vi.waitFor(
    () => Number.parseInt(readFileSync(pids, 'utf8'), 10) || expect.fail('no pid'),
  );
  const rejected = expect(running).rejects.toThrow('not wanted');
  abort.abort(new Error('not wanted'));
  await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
  await rejected;
});

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/u.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

it('findHelper returns the first executable file in the given directories', async () => {
  const file = makeProgram('bwrap', '');
  writeFileSync(join(folder, 'notes'), '');
  expect(await findHelper(['bwrap'], ['/nonexistent', folder])).toBe(file);
  expect(await findHelper(['nothing', 'bwrap'], [folder])).toBe(file);
  expect(await findHelper(['notes'], [folder])).toBeNull();
});
