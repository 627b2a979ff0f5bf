/** What the fake GitHub knows. */

/** A pull request. */
export interface FakePull {
  readonly number: number;
  readonly title?: string;
  readonly body?: string | null;
  readonly author?: string;
  readonly state?: 'open' | 'closed';
  readonly locked?: boolean;
  /** `repository` is null where the fork is gone; the base's own unless given. */
  readonly head: { readonly ref: string; readonly sha: string; readonly repository?: string | null };
  readonly base: { readonly ref: string; readonly sha: string };
  readonly files?: readonly FakeFile[];
  /** What `application/vnd.github.diff` gives; 406 where it is null, as GitHub answers for one that is too large. */
  readonly diff?: string | null;
}

/** A changed file. */
export interface FakeFile {
  readonly filename: string;
  readonly status?: 'added' | 'removed' | 'modified' | 'renamed';
  readonly previous_filename?: string;
  readonly additions?: number;
  readonly deletions?: number;
  /** GitHub leaves it out of binary and of large ones. */
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

/** What the fake GitHub begins with. */
export interface GitHubWorld {
  /** `owner/name`; `octo/demo` unless given. */
  readonly repository?: string;
  /** Tokens and who they are; `test-token` of `github-actions[bot]` unless given. Others are refused by 401. */
  readonly tokens?: Readonly<Record<string, string>>;
  readonly pulls?: readonly FakePull[];
  /** Files by `owner/name@ref` (a commit, a branch or a tag) and path. */
  readonly contents?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The tips of the repository's branches. */
  readonly branches?: Readonly<Record<string, string>>;
  readonly comments?: readonly Omit<FakeComment, 'id'>[];
  /** What stands before the paths of the API: `/api/v3` as on GitHub Enterprise Server. */
  readonly prefix?: string;
}

/** What the fake GitHub knows now. */
export interface GitHubState {
  readonly repository: string;
  readonly pulls: readonly FakePull[];
  readonly contents: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly branches: Readonly<Record<string, string>>;
  readonly comments: Map<number, FakeComment>;
  readonly statuses: FakeStatus[];
  /** Where it listens. */
  url: string;
  addComment(comment: Omit<FakeComment, 'id'>): FakeComment;
  /** Who asks; null for nobody, `wrong` for a token that is none. */
  viewerOf(authorization: string | undefined): string | null;
}

/** GitHub's ids are larger than what 32 bits hold, and grow. */
const FIRST_ID = 3_100_000_000;

/** The state at the start. */
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
