import path from 'node:path';
import { readTrustedFile } from '../../../src/config/paths.ts';
import type { Files } from '../../../src/contract/source.ts';
import type { World } from '../../../src/run/world.ts';
import { createSecrets } from '../../../src/text/secrets.ts';

/** Files of this machine only. */
export function localFiles(readFile: Files['readFile']): Files {
  return { readFile, readElsewhere: async () => ({ ok: false, problem: 'there is no other repository' }) };
}

/**
 * The world of a run on a machine that is not a runner: no GitHub and no reporter. Tests override parts of it.
 * @param base a directory with `workspace` and `temp`; the latter contains the directory of the run.
 */
export function quietWorld(base: string, runFolder: string): World {
  const workspace = path.join(base, 'workspace');
  return {
    entry: 'action',
    environment: { PATH: process.env['PATH'], HOME: base },
    version: '0.0.0',
    secrets: createSecrets(),
    subject: null,
    workspace,
    runFolder,
    results: null,
    locate: () => null,
    restoreRunnerFiles: () => undefined,
    guarded: [],
    privileged: false,
    files: localFiles((name) => readTrustedFile(name, { root: '/', outside: 'allowed' })),
    findContext: async () => null,
    findPolicyChanges: async () => [],
    fetch,
    listen: () => undefined,
    openReporters: async () => [],
    warn: () => undefined,
  };
}
