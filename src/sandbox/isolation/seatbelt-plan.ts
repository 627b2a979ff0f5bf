/** What a command sees and may change on macOS, where nothing can be mounted: rules over the machine's own paths. */
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readBoundedText } from '../../files/read-bounded.ts';
import { pathFolders } from '../exec/environment.ts';
import type { Folders } from '../run-folder.ts';
import type { SandboxOptions } from '../sandbox.ts';
import { hasCredentials, withoutCredentials } from '../workspace/git-config.ts';
import { MAX_CONFIG_BYTES } from '../workspace/git-hidden.ts';
import { isInside } from '../workspace/path-policy.ts';
import { PROTECTED_NAMES, protectedAtTops, topsOf } from '../workspace/protected.ts';
import { namesIn, realOrSame } from '../workspace/real-paths.ts';
import type { Repository } from '../workspace/repositories.ts';
import type { HiddenPaths } from './hidden-paths.ts';
import { namesPattern, type Rule } from './seatbelt-profile.ts';
import { visibleFolders } from './toolchains.ts';

/** A plan, and what the self-test needs to know about it. */
export interface SeatbeltPlan {
  readonly rules: readonly Rule[];
  /** Paths that exist on this machine in hidden folders and must not be seen. */
  readonly unseen: readonly string[];
}

/** Folders of all users, and where programs of this user keep what is nobody else's business. */
const HIDDEN_FOLDERS = [
  '/Users',
  '/Library/Keychains',
  '/private/tmp',
  '/private/var/folders',
  '/private/var/root',
  '/private/var/tmp',
];

/** Where the folders of users lie a second time. The system takes the short name for the real one; nothing rests on it. */
const DATA_VOLUME = '/System/Volumes/Data';

/** How much of a folder is open; where two name the same folder, the later of this list wins. */
const LEVELS = ['hidden', 'readable', 'writable'] as const;

interface Ground {
  readonly path: string;
  readonly level: (typeof LEVELS)[number];
}

/**
 * Makes the plan. In a scratch copy the configs of git lose their credentials here; elsewhere they cannot be read.
 * @param checkout the workspace that a scratch copy was made of, or the workspace itself.
 */
export async function planSeatbelt(
  options: SandboxOptions & { readonly hidden: Pick<HiddenPaths, 'runners'> },
  checkout: string,
  folders: Folders,
  repositories: readonly Repository[],
): Promise<SeatbeltPlan> {
  const { workspace, access } = options;
  const { runners } = options.hidden;
  const [home, temp] = [await realOrSame(options.home), await realOrSame(options.runnerTemp)];
  const hidden = [...new Set([...HIDDEN_FOLDERS, home, temp, ...runners, folders.run, checkout])].filter(
    (path) => path !== '/' && path !== workspace,
  );
  const { folders: visible } = await visibleFolders({
    pathFolders: pathFolders(options.environment['PATH']),
    readable: options.readable,
    hidden,
    closed: [temp, folders.run, workspace, checkout, home, ...runners],
    workspace,
    uid: process.getuid?.() ?? 0,
    signal: AbortSignal.timeout(10_000),
  });
  const seen = visible.filter(
    ({ folder }) => !isInside(folders.run, folder) && !isInside(folder, folders.run),
  );
  const ground: Ground[] = [
    ...hidden
      .flatMap((path) => [path, DATA_VOLUME + path])
      .map((path): Ground => ({ path, level: 'hidden' })),
    ...seen.map(({ folder }): Ground => ({ path: folder, level: 'readable' })),
    ...seen.flatMap(({ credentials }) => credentials.map(({ path }): Ground => ({ path, level: 'hidden' }))),
    { path: workspace, level: access === 'read-only' ? 'readable' : 'writable' },
    { path: folders.tmp, level: 'writable' },
  ];
  const open = [workspace, folders.tmp, ...seen.map(({ folder }) => folder)];
  return {
    rules: [
      ...groundRules(ground),
      ...waysTo(open).map((path) => rule('allow', 'file-read-metadata', 'literal', path)),
      ...(await protectedRules(workspace, repositories)),
      ...(await configRules(options, repositories)),
      ...fixedFolders(workspace, folders.tmp, repositories),
    ],
    unseen: await findUnseen([home, temp], open),
  };
}

/** A folder in another one has the longer name, so that the last rule that fits is the one for the nearest folder. */
function groundRules(ground: readonly Ground[]): readonly Rule[] {
  const sorted = [...ground].sort(
    (a, b) => a.path.length - b.path.length || LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level),
  );
  return sorted.flatMap(({ path, level }) => [
    rule(level === 'hidden' ? 'deny' : 'allow', 'file-read*', 'subpath', path),
    rule(level === 'writable' ? 'allow' : 'deny', 'file-write*', 'subpath', path),
  ]);
}

/** Every folder above: without a look at them no path can be made a real one. */
function waysTo(paths: readonly string[]): readonly string[] {
  const ways = new Set<string>();
  for (const path of paths) for (let at = dirname(path); at !== '/'; at = dirname(at)) ways.add(at);
  return [...ways].sort();
}

/** `.git`, `.github` and `action.yml` of every repository cannot be written, nor made; credential files not be read. */
async function protectedRules(
  workspace: string,
  repositories: readonly Repository[],
): Promise<readonly Rule[]> {
  const rules: Rule[] = [];
  const frozen = new Set(repositories.flatMap(({ gitFolders, elsewhere }) => [...gitFolders, ...elsewhere]));
  for (const top of topsOf(workspace, repositories))
    rules.push(rule('deny', 'file-write*', 'regex', namesPattern(top, PROTECTED_NAMES)));
  for (const { path, isSecret } of await protectedAtTops(workspace, repositories)) {
    if (isSecret) rules.push(rule('deny', 'file-read* file-write*', 'literal', path));
    else frozen.add(path);
  }
  return [...rules, ...[...frozen].map((path) => rule('deny', 'file-write*', 'subpath', path))];
}

/** Nothing can lie over a config, so it is either rewritten, in a copy of ours, or closed, and git with it. */
async function configRules(
  { workspace, access }: SandboxOptions,
  repositories: readonly Repository[],
): Promise<readonly Rule[]> {
  const rules: Rule[] = [];
  for (const path of new Set(repositories.flatMap(({ configs }) => configs))) {
    const text = readBoundedText(path, MAX_CONFIG_BYTES);
    if (access === 'scratch' && isInside(path, workspace))
      await writeFile(path, withoutCredentials(text ?? ''));
    else if (text === null || hasCredentials(text))
      rules.push(rule('deny', 'file-read* file-write*', 'literal', path));
  }
  for (const path of new Set(repositories.flatMap(({ hidden }) => hidden.map((entry) => entry.path))))
    rules.push(rule('deny', 'file-read* file-write*', 'subpath', path));
  return rules;
}

/** Folders that must stay where they are: a rule holds for a path, and whoever moves the folder above leaves the rule. */
function fixedFolders(workspace: string, tmp: string, repositories: readonly Repository[]): readonly Rule[] {
  const fixed = new Set([workspace, tmp]);
  for (const top of topsOf(workspace, repositories))
    for (let at = top; isInside(at, workspace); at = dirname(at)) fixed.add(at);
  return [...fixed].map((path) => rule('deny', 'file-write-unlink', 'literal', path));
}

async function findUnseen(hidden: readonly string[], open: readonly string[]): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const folder of hidden) {
    if (folder !== '/')
      paths.push(...(await namesIn(folder)).slice(0, 200).map((name) => join(folder, name)));
  }
  return paths.filter((path) => !open.some((at) => isInside(at, path) || isInside(path, at))).slice(0, 40);
}

function rule(verdict: Rule['verdict'], operations: string, filter: Rule['filter'], text: string): Rule {
  return { verdict, operations, filter, text };
}
