/** The world of a run outside GitHub: this machine, the folder that somebody stands in, nothing written unless asked. */
import { mkdtemp, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../package.json' with { type: 'json' };
import { requireReadableFolders, resolveWorkingDirectory } from './config/paths.ts';
import { maxSchemaBytes, readTrustedFile } from './config/trusted-file.ts';
import { findSecrets } from './github/runner.ts';
import { createFetch, proxySecrets } from './network/network.ts';
import type { World } from './run-state.ts';
import { createSecrets } from './secrets.ts';

/** The version of this package. */
export const VERSION: string = manifest.version;

/** What an entry brings. */
export interface LocalWorldOptions
  extends Pick<World, 'reporters' | 'writeOutputs' | 'warn' | 'listen' | 'writePatch' | 'recording'> {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder that the agent works on. */
  readonly workspace: string;
  readonly secrets: ReturnType<typeof localSecrets>;
  /** Absolute; null for none. */
  readonly resultFile: string | null;
  readonly transcriptFile: string | null;
  readonly writeEnvelope: World['writeEnvelope'];
}

/** Knows the keys and tokens that this process's own variables hold. */
export function localSecrets(environment: LocalWorldOptions['environment']) {
  const secrets = createSecrets();
  for (const value of [...findSecrets(environment), ...proxySecrets(environment)]) secrets.add(value);
  return secrets;
}

/** Makes the world; `removeFolder` its `runFolder` when the run is over. Paths are the user's own and not confined. */
export async function createLocalWorld(options: LocalWorldOptions): Promise<World> {
  const { environment } = options;
  // A folder that is not there is told like any wrong option, once the run has begun.
  const workspace = await realpath(options.workspace).catch(() => path.resolve(options.workspace));
  const temp = await realpath(os.tmpdir());
  return {
    ...options,
    version: VERSION,
    subject: null,
    workspace,
    home: environment['HOME'] ?? os.homedir(),
    temp,
    runFolder: await mkdtemp(path.join(temp, 'structured-agent-run-')),
    restoreRunnerFiles: () => undefined,
    guarded: [path.dirname(fileURLToPath(import.meta.url))],
    privileged: false,
    files: {
      readFile: (file) =>
        readTrustedFile(path.resolve(workspace, file), { root: null, maxBytes: maxSchemaBytes }),
      readElsewhere: async ({ owner, repo, path: file }) => ({
        ok: false,
        problem: `files of other repositories are read on GitHub only. Fetch ${file} of ${owner}/${repo}, and give the path of your copy.`,
      }),
    },
    findContext: async () => null,
    findJudgeChanges: async () => [],
    fetch: createFetch(environment),
    resolveFolder: (folder) => resolveWorkingDirectory(folder, workspace),
    requireReadable: requireReadableFolders,
    now: () => performance.now(),
    spareResultFile: null,
  };
}
