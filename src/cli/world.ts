/** The world of a run outside GitHub: this machine and the current folder. Nothing is written unless requested. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };
import { checkoutAround, readTrustedFile, realFolder } from '../config/paths.ts';
import type { Files } from '../contract/source.ts';
import { InputError, messageOf } from '../errors.ts';
import { readCheckedOut } from '../github/checked-out.ts';
import { createFetch, proxySecrets } from '../network/network.ts';
import { createLocator } from '../reporters/places.ts';
import type { World } from '../run/world.ts';
import { quote } from '../text/messages.ts';
import { createSecrets, findSecrets } from '../text/secrets.ts';
import type { Subject } from '../types.ts';

export const VERSION: string = manifest.version;

type Environment = World['environment'];

/** Creates a store of the keys and tokens in environment variables, and of the passwords of this process's proxies. */
export function localSecrets(environment: Environment) {
  const secrets = createSecrets();
  const found = [...findSecrets(environment), ...proxySecrets(environment), ...proxySecrets(process.env)];
  for (const value of found) secrets.add(value);
  return secrets;
}

/** Reads the files that the user names, who may read any. */
function localFiles(workspace: string, environment: Environment): Files {
  const home = environment['HOME'] ?? os.homedir();
  const limits = { root: workspace, outside: 'allowed' } as const;
  return {
    // A shell does not expand `@~/…`.
    readFile: (file) => readTrustedFile(file.startsWith('~/') ? home + file.slice(1) : file, limits),
    readElsewhere: async ({ owner, repo, path: file }) => ({
      ok: false,
      problem: `files of other repositories are read on GitHub only. Fetch ${file} of ${owner}/${repo}, and give the path of your copy.`,
    }),
  };
}

/** Returns what this machine gives to the world of a run, and its problems, which are reported like those of an input. */
export async function createMachine(environment: Environment, given: string, workingDirectory: string) {
  const problems: InputError[] = [];
  const folder = await realFolder(given);
  const workspace = folder ?? '/';
  if (folder === null)
    problems.push(new InputError('workspace', `${quote(given)} is not a folder. Check the path.`));
  const temp = await realpath(os.tmpdir()).catch(() => os.tmpdir());
  const prefix = path.join(temp, 'structured-agent-run-');
  const runFolder = await mkdtemp(prefix).catch((cause: unknown) => {
    const why = `${quote(temp)} cannot be written to (${messageOf(cause)}). Set TMPDIR to a folder that can.`;
    problems.push(new InputError(null, why, { cause }));
    return `${prefix}${randomUUID()}`;
  });
  const machine = {
    environment,
    version: VERSION,
    subject: readLocalSubject(workspace),
    workspace,
    locate: createLocator(workspace, workingDirectory),
    runFolder,
    restoreRunnerFiles: () => undefined,
    guarded: [path.dirname(fileURLToPath(import.meta.url))],
    privileged: false,
    files: localFiles(workspace, environment),
    findContext: async () => null,
    findPolicyChanges: async () => [],
    fetch: createFetch(),
  } satisfies Partial<World>;
  return { machine, problems };
}

/** Returns what git says of the checkout; null without a commit. No event has started the run. */
function readLocalSubject(workspace: string): Subject | null {
  const { commit, ref, repository } = readCheckedOut(checkoutAround(workspace));
  if (commit === null) return null;
  const run = { event: '', pull_request: null, run_id: '', run_attempt: 1 };
  return { repository, sha: commit, ref, ...run, checked_out: commit };
}
