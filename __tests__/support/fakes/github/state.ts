/** The state of the fake GitHub. */

/** A pull request. */
export interface FakePull {
  readonly number: number;
  readonly title?: string;
  readonly body?: string | null;
  readonly author?: string;
  readonly state?: 'open' | 'closed';
  readonly locked?: boolean;
  /** `repository` is null if the fork was deleted; the base repository by default. */
  readonly head: { readonly ref: string; readonly sha: string; readonly repository?: string | null };
  readonly base: { readonly ref: string; readonly sha: string };
  readonly files?: readonly FakeFile[];
  /** The response for `application/vnd.github.diff`; null for status 406, as for a diff that is too large. */
  readonly diff?: string | null;
}

/** A changed file. */
export interface FakeFile {
  readonly filename: string;
  readonly status?: 'added' | 'removed' | 'modified' | 'renamed';
  readonly previous_filename?: string;
  readonly additions?: number;
  readonly deletions?: number;
  /** GitHub omits it for binary and large files. */
  readonly patch?: string;
}

/** A comment of a pull request. */
export interface FakeComment {
  readonly id: number;
  readonly pull: number;
  readonly author: string;
  readonly body: string;
}

/** A status of a commit. */
export interface FakeStatus {
  readonly sha: string;
  readonly state: string;
  readonly context: string;
  readonly description: string | null;
  readonly target_url: string | null;
}

/** The initial state of the fake GitHub. */
export interface GitHubWorld {
  /** `owner/name`; `octo/demo` by default. */
  readonly repository?: string;
  /** Users by token; `test-token` of `github-actions[bot]` by default. Other tokens get status 401. */
  readonly tokens?: Readonly<Record<string, string>>;
  readonly pulls?: readonly FakePull[];
  /** Files by `owner/name@ref` (a commit, a branch or a tag) and path. */
  readonly contents?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The heads of the branches. */
  readonly branches?: Readonly<Record<string, string>>;
  readonly comments?: readonly Omit<FakeComment, 'id'>[];
  /** The prefix of the API paths: `/api/v3` as on GitHub Enterprise Server. */
  readonly prefix?: string;
}

/** The current state of the fake GitHub. */
export interface GitHubState {
  readonly repository: string;
  readonly pulls: readonly FakePull[];
  readonly contents: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly branches: Readonly<Record<string, string>>;
  readonly comments: Map<number, FakeComment>;
  readonly statuses: FakeStatus[];
  /** Its URL. */
  url: string;
  addComment(comment: Omit<FakeComment, 'id'>): FakeComment;
  /** The authenticated user; null without a token, `wrong` for an invalid token. */
  viewerOf(authorization: string | undefined): string | null;
}

/** GitHub's ids exceed 32 bits and increase. */
const FIRST_ID = 3_100_000_000;

/** Creates the initial state. */
export function createState(world: GitHubWorld): GitHubState {
  const { tokens = { 'test-token': 'github-actions[bot]' } } = world;
  const comments = new Map<number, FakeComment>();
  let nextId = FIRST_ID;
  const state: GitHubState = {
    repository: world.repository ?? 'octo/demo',
    pulls: world.pulls ?? [],
    contents: world.contents ?? {},
    branches: world.branches ?? {},
    comments,
    statuses: [],
    url: '',
    addComment(comment) {
      const added = { ...comment, id: nextId++ };
      comments.set(added.id, added);
      return added;
    },
    viewerOf(authorization) {
      if (authorization === undefined) return null;
      const token = /^(?:token|bearer) (.+)$/iu.exec(authorization)?.[1] ?? '';
      return Object.hasOwn(tokens, token) ? (tokens[token] ?? null) : 'wrong';
    },
  };
  for (const comment of world.comments ?? []) state.addComment(comment);
  return state;
}
