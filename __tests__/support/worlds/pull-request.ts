/** A pull request with commits of a real repository, as GitHub serves it and as an event names it. */
import { type GitHubServer, startGitHubServer } from '../fakes/github/server.ts';

type ListedFiles = readonly { readonly filename: string; readonly patch?: string }[];

/** The commits of `commitChange`. */
interface Commits {
  readonly before: string;
  readonly after: string;
}

/** Starts a server on loopback that lists the files of pull request 7. */
export function servePullRequest(
  title: string,
  files: ListedFiles,
  { before, after }: Commits,
): Promise<GitHubServer> {
  return startGitHubServer({
    pulls: [
      {
        ...{ number: 7, title, body: '', author: 'mona', files },
        head: { ref: 'topic', sha: after },
        base: { ref: 'main', sha: before },
      },
    ],
    branches: { main: before },
    contents: {},
  });
}

/** Returns the event of that pull request. */
export function pullRequestEvent(title: string, { before, after }: Commits) {
  const repo = { full_name: 'octo/demo' };
  return {
    pull_request: {
      ...{ number: 7, title, body: '', user: { login: 'mona' } },
      head: { ref: 'topic', sha: after, repo },
      base: { ref: 'main', sha: before, repo },
    },
  };
}
