/** Where GitHub's runners are installed on this machine, and where their jobs work. */
import { lstat, readdir, readlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readBoundedText } from '../../files/read-bounded.ts';
import { isInside } from '../workspace/path-policy.ts';
import { realOrNull } from '../workspace/real-paths.ts';

/** What a runner's root folder holds: its registration, its key, its program. */
const MARKERS = ['.runner', '.credentials', '.credentials_rsaparams', 'bin/Runner.Listener'];
const RUNNER_PROGRAMS = new Set(['Runner.Listener', 'Runner.Worker']);
/** Variables of a job that name a folder below the runner's root or its work folder. */
const VARIABLES = ['RUNNER_TOOL_CACHE', 'RUNNER_WORKSPACE', 'GITHUB_ACTION_PATH'];

/** What is known of the job. */
export interface JobFolders {
  /** A real path. */
  readonly workspace: string;
  readonly runnerTemp: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The real paths of the roots and work folders of the runner that runs this job, and of the others whose processes this
 * user can see: their keys, their logs, and the checkouts of their jobs belong to the user that the agent's commands run as.
 */
export async function findRunnerFolders(job: JobFolders): Promise<readonly string[]> {
  const { workspace, runnerTemp, environment } = job;
  const named = [runnerTemp, ...VARIABLES.map((name) => environment[name])];
  const starts = [...named, process.execPath, process.argv[1], ...(await runningPrograms())];
  const roots = new Set<string>();
  for (const start of [workspace, ...starts]) {
    const real = start === undefined || start === '' ? null : await realOrNull(start);
    if (real === null) continue;
    // Inside the workspace anybody may have put a file of such a name.
    for (const root of await rootsAbove(isInside(real, workspace) ? dirname(workspace) : real))
      roots.add(root);
  }
  const works = [...roots].map(workFolderOf);
  const temp = await realOrNull(runnerTemp);
  if (temp !== null && basename(temp) === '_temp') works.push(dirname(temp));
  const runnerWorkspace = environment['RUNNER_WORKSPACE'];
  if (runnerWorkspace !== undefined && runnerWorkspace !== '') works.push(dirname(runnerWorkspace));
  const real = await Promise.all(works.map((work) => (work === null ? null : realOrNull(work))));
  return [...new Set([...roots, ...real.filter((work) => work !== null)])];
}

/** The programs of runners that run now, as far as this user can see them: each runner of a machine has a root of its own. */
async function runningPrograms(): Promise<readonly string[]> {
  const names = await readdir('/proc').catch(() => []);
  const processes = names.filter((name) => /^\d+$/u.test(name));
  const programs = await Promise.all(processes.map((pid) => readlink(`/proc/${pid}/exe`).catch(() => '')));
  return programs.filter((program) => RUNNER_PROGRAMS.has(basename(program)));
}

async function rootsAbove(path: string): Promise<readonly string[]> {
  const roots: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    const marks = await Promise.all(MARKERS.map((name) => isThere(join(at, name))));
    if (marks.includes(true)) roots.push(at);
    if (at === dirname(at)) return roots;
  }
}

/** The folder that the runner is configured to work in (`--work`), which may lie anywhere; null where it does not say. */
function workFolderOf(root: string): string | null {
  const text = readBoundedText(join(root, '.runner'), 65_536) ?? '';
  const literal = /"workFolder"\s*:\s*("(?:[^"\\]|\\.)*")/u.exec(text)?.[1];
  if (literal === undefined) return null;
  try {
    return resolve(root, String(JSON.parse(literal)));
  } catch {
    return null;
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
