/** A GitHub server for the client, and the waits of the client. */
import { vi } from 'vitest';
import { GitHubError } from '../../src/errors.ts';
import type { GitHub } from '../../src/github/api.ts';
import { createGitHub, type GitHubOptions } from '../../src/github/client.ts';
import { type GitHubServer, type GitHubWorld, startGitHubServer } from '../support/fakes/github/server.ts';
import { skipWaits } from '../support/waits.ts';

export const SHA = 'a'.repeat(40);
export const PULL = '/repos/{owner}/{repo}/pulls/{pull_number}';
export const FILES = `${PULL}/files`;
export const CONTENTS = '/repos/{owner}/{repo}/contents/{path}';
export const COMMENTS = '/repos/{owner}/{repo}/issues/{issue_number}/comments';
export const RAW = 'application/vnd.github.raw+json';
export const HERE = { owner: 'octo', repo: 'demo' };
export const WORLD: GitHubWorld = {
  pulls: [
    {
      number: 7,
      title: 'Add sums',
      head: { ref: 'sums', sha: SHA },
      base: { ref: 'main', sha: 'b'.repeat(40) },
      files: Array.from({ length: 250 }, (_, at) => ({ filename: `src/${at}.ts` })),
      diff: 'diff --git a/x b/x\n',
    },
  ],
  contents: { [`octo/demo@${SHA}`]: { '.github/a b#?.json': '{"ü":1}' } },
};

export let server: GitHubServer;
export let waits: number[] = [];

export async function start(changes: Partial<GitHubOptions> = {}, world: GitHubWorld = WORLD) {
  server = await startGitHubServer(world);
  vi.unstubAllGlobals();
  waits = skipWaits();
  return createGitHub({
    token: 'test-token',
    apiUrl: server.apiUrl,
    fetch: (input, init) => fetch(input, { ...init, redirect: 'manual' }),
    userAgent: 'structured-agent/0.1.0',
    ...changes,
  });
}

/** Requests the pull request of the world. */
export const getPull = (github: GitHub, number = 7) =>
  github.request('GET', PULL, { ...HERE, pull_number: number });

/** Comments on it. */
export const postComment = (github: GitHub, body = 'x') =>
  github.request('POST', COMMENTS, { ...HERE, issue_number: 7, body });

/** The rejection of a promise as a plain object. */
export async function failureOf(promise: Promise<unknown>) {
  const error = await promise.catch((caught: unknown) => caught);
  if (!(error instanceof GitHubError)) throw new Error(`No GitHubError: ${String(error)}`);
  return { kind: error.kind, status: error.status, message: error.message };
}

export function stop(): Promise<void> {
  vi.unstubAllGlobals();
  return server.close();
}
