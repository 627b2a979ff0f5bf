/** The world of a run outside GitHub: this machine, the folder that somebody stands in, nothing written unless asked. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { expandHome, requireReadableFolders } from '../config/paths.ts';
import { maxSchemaBytes, readTrustedFile } from '../config/workspace-file.ts';
import { errorCode, InputError } from '../errors.ts';
import { findSecrets } from '../github/runner.ts';
import { createFetch, proxySecrets } from '../network/network.ts';
import { createLocator } from '../reporters/source-locations.ts';
import type { World } from '../run/world.ts';
import { createSecrets } from '../text/secrets.ts';

/** The version of this package. */
export const VERSION: string = manifest.version;

/** What an entry brings. */
export interface LocalWorldOptions
  extends Pick<
    World,
    'entry' | 'reporters' | 'writeOutputs' | 'warn' | 'listen' | 'writePatch' | 'recording' | 'validate'
  > {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder that the agent works on. */
  readonly workspace: string;
  /** Where the agent starts: absolute, or relative to the workspace; the workspace unless given. */
  readonly workingDirectory?: string;
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

/** The folder that this process stands in; `/` stands in for one that is gone, so that this can be reported. */
export function currentFolder(): { readonly folder: string; readonly problem: InputError | null } {
  try {
    return { folder: process.cwd(), problem: null };
  } catch (cause) {
    const text = 'The current folder is not there any more. Change to one that is, and start again.';
    return { folder: '/', problem: new InputError(null, text, { cause }) };
  }
}

/** A world, and what is wrong with this machine's own settings: to be told as an ending, like any wrong option. */
export interface LocalWorld extends World {
  readonly problems: readonly InputError[];
}

/** Makes the world. Paths are the user's own and not confined. */
export async function createLocalWorld(options: LocalWorldOptions): Promise<LocalWorld> {
  const { environment } = options;
  // A folder that is not there is told like any wrong option, once the run has begun.
  const workspace = await realpath(options.workspace).catch(() => path.resolve(options.workspace));
  const { temp, runFolder, problem: noTemp } = await makeRunFolder(workspace);
  const home = environment['HOME'] ?? os.homedir();
  const { send, problem: noProxy } = fetchOf(environment);
  return {
    ...options,
    version: VERSION,
    subject: null,
    workspace,
    home,
    locate: createLocator({ workspace, workingDirectory: options.workingDirectory ?? '.', repositories: [] }),
    temp,
    runFolder,
    problems: [noTemp, noProxy].filter((problem) => problem !== null),
    restoreRunnerFiles: () => undefined,
    guarded: [path.dirname(fileURLToPath(import.meta.url))],
    privileged: false,
    files: {
      readFile: (file) =>
        readTrustedFile(expandHome(file, home), {
          root: workspace,
          outside: 'allowed',
          maxBytes: maxSchemaBytes,
        }),
      readElsewhere: async ({ owner, repo, path: file }) => ({
        ok: false,
        problem: `files of other repositories are read on GitHub only. Fetch ${file} of ${owner}/${repo}, and give the path of your copy.`,
      }),
    },
    findContext: async () => null,
    findPolicyChanges: async () => [],
    fetch: send,
    requireReadable: requireReadableFolders,
    // Loaded by those who ask for them: every run pays for what is loaded at the start.
    features: {
      replay: async (...given) => (await import('../replay/replay.ts')).openReplay(...given),
      record: async (...given) => (await import('../replay/recorder.ts')).recorded(...given),
      reuse: async (options) => (await import('../reuse/reuse.ts')).reuseVerdict(options),
    },
    now: () => performance.now(),
    spareResultFile: null,
  };
}

/** The run's own folder, in the system's folder for such; a name that is nowhere where none can be made. */
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

/** Requests as the environment wants them; a proxy that is none is told once the run has begun, and nothing is sent. */
function fetchOf(environment: LocalWorldOptions['environment']) {
  try {
    return { send: createFetch(environment), problem: null };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { send: fetch, problem: error };
  }
}
