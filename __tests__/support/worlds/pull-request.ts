/** A repository with a change, and the pull request of it, as GitHub serves it and as an event names it. */
import { gitIn } from '../../sandbox/world.ts';
import { type FakePull, type GitHubWorld, startGitHubServer } from '../fakes/github/server.ts';
import { putFiles } from '../local.ts';

/**
 * Makes a folder a repository with a branch `main` of some files, and one with a commit on top of it that changes them.
 * @param after texts by path; null removes the file.
 */
export function commitChange(
  folder: string,
  before: Readonly<Record<string, string | Buffer>>,
  after: Readonly<Record<string, string | Buffer | null>>,
) {
  const git = (...args: readonly string[]) => gitIn(folder, ...args);
  const write = (files: Readonly<Record<string, string | Buffer | null>>) => {
    for (const [name, text] of Object.entries(files)) {
      if (text === null) git('rm', '-q', name);
      else putFiles(folder, { [name]: text });
    }
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', 'more');
    return git('rev-parse', 'HEAD');
  };
  git('init', '-q', '-b', 'main', '--template=');
  const first = write(before);
  git('checkout', '-q', '-b', 'topic');
  return { before: first, after: write(after) };
}

type Commits = ReturnType<typeof commitChange>;

function pullOf(title: string, { before, after }: Commits) {
  return {
    ...{ number: 7, title, body: '' },
    head: { ref: 'topic', sha: after },
    base: { ref: 'main', sha: before },
  };
}

/** Starts a server on loopback that lists the files of pull request 7. */
export function servePullRequest(
  title: string,
  files: NonNullable<FakePull['files']>,
  commits: Commits,
  world: Partial<GitHubWorld> = {},
) {
  const pull = { ...pullOf(title, commits), author: 'mona', files };
  return startGitHubServer({ pull, branches: { main: commits.before }, ...world });
}

/** Returns the event of that pull request. */
export function pullRequestEvent(title: string, commits: Commits) {
  const repo = { full_name: 'octo/demo' };
  const { head, base, ...pull } = pullOf(title, commits);
  return {
    pull_request: { ...pull, user: { login: 'mona' }, head: { ...head, repo }, base: { ...base, repo } },
  };
}
