/** Runs the scripts of `src/git` on this machine, with the environment that they have in the sandbox. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { RunScript } from '../../src/sandbox/sandbox.ts';

/**
 * @param folder the working directory.
 * @param temp an existing folder for temporary files.
 * @param owner the user who runs them; default: that of the test.
 */
export function scriptsIn(folder: string, temp: string, owner?: number): RunScript {
  return async (script, { input, maxBytes, timeoutMs, signal }) => {
    const inputs = mkdtempSync(path.join(temp, 'input-'));
    chmodSync(inputs, 0o755);
    const given = path.join(inputs, 'input');
    writeFileSync(given, input ?? '');
    const env = {
      ...{ PATH: '/usr/bin:/bin:/usr/sbin:/sbin', HOME: '/nonexistent', LC_ALL: 'C' },
      ...{ TMPDIR: temp, INPUT: given },
      ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' },
      ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
    };
    const child = spawn('/bin/sh', ['-c', script], {
      ...{ cwd: folder, env, signal, timeout: timeoutMs, killSignal: 'SIGKILL', uid: owner, gid: owner },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = Promise.all([buffer(child.stdout), once(child, 'close')]);
    const [all] = await ended.finally(() => rmSync(inputs, { recursive: true }));
    return { exitCode: child.exitCode, stdout: all.subarray(0, maxBytes), isCut: all.length > maxBytes };
  };
}
