/** A repository whose tree hash is computed in a sandbox, as in a run. */
import { cpSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { InputError } from '../../src/errors.ts';
import { openSandbox } from '../../src/sandbox/open.ts';
import type { OpenedSandbox } from '../../src/sandbox/sandbox.ts';
import { findSubjectTree, type SubjectTree } from '../../src/sandbox/workspace/tree-hash.ts';
import { CLOSED, gitIn, hasBwrap } from './world.ts';

/** The ways to access the files. */
export const WAYS = hasBwrap ? (['scratch', 'in-place', 'off'] as const) : (['off'] as const);

/** The way in which one sandbox can be used many times, because it shows later changes of the files. */
export const LASTING = hasBwrap ? 'in-place' : 'off';

/** The working directory; the root of the repository by default. */
export interface Place {
  readonly workspace?: string;
  readonly workingDirectory?: string;
  /** The variables of the step that `pass-env` names. */
  readonly passed?: Readonly<Record<string, string>>;
}

const NEVER = new AbortController().signal;

/** A committed repository to copy: starting git in each test would be slower. */
export async function makeTemplate(): Promise<string> {
  const repo = await realpath(await mkdtemp(path.join(os.tmpdir(), 'subject-template-')));
  for (const folder of ['api/src', 'web', '.git/info'])
    await mkdir(path.join(repo, folder), { recursive: true });
  await writeFile(path.join(repo, 'api/src/a.txt'), 'one\n');
  await writeFile(path.join(repo, 'api/run.sh'), 'echo\n');
  await writeFile(path.join(repo, 'web/b.txt'), 'two\n');
  await writeFile(path.join(repo, '.gitignore'), 'ignored/\n*.log\n');
  gitIn(repo, 'init', '-q', '--template=');
  gitIn(repo, 'add', '-A');
  gitIn(repo, 'commit', '-qm', 'first');
  return repo;
}

export type SubjectWorld = Awaited<ReturnType<typeof makeSubjectWorld>>;

/** A copy of the template with the directories that a run needs. */
export async function makeSubjectWorld(how: (typeof WAYS)[number], template: string) {
  const base = await realpath(await mkdtemp(path.join(os.tmpdir(), 'subject-')));
  const repo = path.join(base, 'repo');
  for (const folder of ['home', 'temp']) await mkdir(path.join(base, folder));
  const fill = () => cpSync(template, repo, { recursive: true, preserveTimestamps: true });
  fill();
  const opened: OpenedSandbox[] = [];

  /** A sandbox with the options of a run. */
  async function open({
    workspace = repo,
    workingDirectory = workspace,
    passed = {},
  }: Place = {}): Promise<OpenedSandbox> {
    const runFolder = path.join(base, `run-${opened.length}`);
    await mkdir(runFolder, { mode: 0o700 });
    const sandbox = await openSandbox({
      ...CLOSED,
      workspace,
      workingDirectory,
      mode: how === 'off' ? 'off' : 'required',
      access: how === 'off' ? 'in-place' : how,
      passEnv: Object.keys(passed),
      environment: { PATH: process.env['PATH'], ...passed },
      home: path.join(base, 'home'),
      runnerTemp: path.join(base, 'temp'),
      runFolder,
    });
    opened.push(sandbox);
    await sandbox.ready();
    return sandbox;
  }

  const lookIn = (
    sandbox: OpenedSandbox,
    paths: readonly string[],
    { workspace = repo, workingDirectory = workspace }: Place = {},
  ): Promise<SubjectTree> => findSubjectTree(sandbox, { workspace, workingDirectory, paths, signal: NEVER });

  let lasting: Promise<OpenedSandbox> | null = null;
  /** By default all calls share one sandbox if the way allows it, because opening one is slow. */
  async function look(paths: readonly string[], place?: Place): Promise<SubjectTree> {
    if (place !== undefined || how === 'scratch') return lookIn(await open(place), paths, place);
    lasting ??= open();
    return lookIn(await lasting, paths);
  }

  return {
    base,
    repo,
    open,
    look,
    git: (...args: readonly string[]) => gitIn(repo, ...args),
    file: (name: string) => path.join(repo, name),
    treeOf: async (paths: readonly string[], place?: Place) => {
      const found = await look(paths, place);
      if (found.kind !== 'tree') throw new Error(found.why);
      return found.tree;
    },
    /** The error message for invalid paths, or the result for valid ones. */
    refusal: (sandbox: OpenedSandbox, paths: readonly string[], place: Place = {}) =>
      lookIn(sandbox, paths, place).then(
        (found) => JSON.stringify(found),
        (error: unknown) => {
          if (error instanceof InputError) return `${error.input}! ${error.message}`;
          throw error;
        },
      ),
    /** Restores the files of the repository and keeps the sandbox. */
    reset: async () => {
      for (const name of await readdir(repo)) await rm(path.join(repo, name), { recursive: true });
      fill();
    },
    close: async () => {
      for (const sandbox of opened) await sandbox.close();
      await rm(base, { recursive: true, force: true });
    },
  };
}
