/** The world of a run outside GitHub: this machine and the current folder. Nothing is written unless requested. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { expandHome } from '../config/paths.ts';
import { readTrustedFile } from '../config/workspace-file.ts';
import { errorCode, InputError } from '../errors.ts';
import { findSecrets } from '../github/runner.ts';
import { createFetch, proxySecrets } from '../network/network.ts';
import { createLocator } from '../reporters/source-locations.ts';
import type { World } from '../run/world.ts';
import { READ } from '../text/limits.ts';
import { createSecrets } from '../text/secrets.ts';

export const VERSION: string = manifest.version;

export interface LocalWorldOptions
  extends Pick<
    World,
    'entry' | 'reporters' | 'writeOutputs' | 'warn' | 'listen' | 'writePatch' | 'recording' | 'validate'
  > {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workspace: string;
  /** The folder that the agent starts in: absolute, or relative to the workspace. Default: the workspace. */
  readonly workingDirectory?: string;
  readonly secrets: ReturnType<typeof localSecrets>;
  /** The folder for the files that the run writes; null for none. */
  readonly results: string | null;
  readonly writeEnvelope: World['writeEnvelope'];
}

/** Creates a store of the keys and tokens in environment variables, and of the passwords of this process's proxies. */
export function localSecrets(environment: LocalWorldOptions['environment']) {
  const secrets = createSecrets();
  const found = [...findSecrets(environment), ...proxySecrets(environment), ...proxySecrets(process.env)];
  for (const value of found) secrets.add(value);
  return secrets;
}

/** Returns the current working directory. If it no longer exists, returns `/` and the problem to report. */
export function currentFolder(): { readonly folder: string; readonly problem: InputError | null } {
  try {
    return { folder: process.cwd(), problem: null };
  } catch (cause) {
    const text = 'The current folder is not there any more. Change to one that is, and start again.';
    return { folder: '/', problem: new InputError(null, text, { cause }) };
  }
}

/** A world, and the problems with the settings of this machine, reported as an ending like an invalid option. */
export interface LocalWorld extends World {
  readonly problems: readonly InputError[];
}

/** Creates the world. The user's own paths are not restricted. */
export async function createLocalWorld(options: LocalWorldOptions): Promise<LocalWorld> {
  const { environment } = options;
  // A missing folder is reported like any invalid option, once the run has started.
  const workspace = await realpath(options.workspace).catch(() => path.resolve(options.workspace));
  const { temp, runFolder, problem: noTemp } = await makeRunFolder(workspace);
  const home = environment['HOME'] ?? os.homedir();
  return {
    ...options,
    version: VERSION,
    subject: null,
    workspace,
    home,
    locate: createLocator({ workspace, workingDirectory: options.workingDirectory ?? '.', repositories: [] }),
    temp,
    runFolder,
    problems: noTemp === null ? [] : [noTemp],
    restoreRunnerFiles: () => undefined,
    guarded: [path.dirname(fileURLToPath(import.meta.url))],
    privileged: false,
    files: {
      readFile: (file) =>
        readTrustedFile(expandHome(file, home), {
          root: workspace,
          outside: 'allowed',
          maxBytes: READ.policy,
        }),
      readElsewhere: async ({ owner, repo, path: file }) => ({
        ok: false,
        problem: `files of other repositories are read on GitHub only. Fetch ${file} of ${owner}/${repo}, and give the path of your copy.`,
      }),
    },
    findContext: async () => null,
    findPolicyChanges: async () => [],
    fetch: createFetch(),
    // Imported on demand: whatever is loaded at the start costs every run time.
    features: {
      replay: async (...given) => (await import('../replay/replay.ts')).openReplay(...given),
      record: async (...given) => (await import('../replay/recorder.ts')).recordRun(...given),
    },
    now: () => performance.now(),
  };
}

/** Creates the run's own folder in the system's temporary folder; returns a path that does not exist if that fails. */
async function makeRunFolder(workspace: string) {
  const wanted = os.tmpdir();
  try {
    const temp = await realpath(wanted);
    const runFolder = await mkdtemp(path.join(temp, 'structured-agent-run-'));
    return { temp, runFolder, problem: null };
  } catch (cause) {
    const code = errorCode(cause);
    const why = code === null ? '' : ` (${code})`;
    const text = `The folder for temporary files, ${JSON.stringify(wanted)}, cannot be written to${why}. Set TMPDIR to one that can.`;
    const runFolder = path.join(workspace, `structured-agent-run-${randomUUID()}`);
    return { temp: wanted, runFolder, problem: new InputError(null, text, { cause }) };
  }
}
