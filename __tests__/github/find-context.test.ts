import { describe, expect, it } from 'vitest';
import type { ChangedFile, ListChangedFiles } from '../../src/github/changed-files.ts';
import { createPullRequestFinder } from '../../src/github/pull-request.ts';
import { createContextFinder } from '../../src/github/pull-request-context.ts';
import { answering } from '../support/fakes/github/answers.ts';

it('where nobody can say whether there is a pull request, that is told', async () => {
  const event = {
    repository: 'o/r',
    name: 'workflow_run',
    sha: 'm',
    ref: '',
    payload: { workflow_run: { head_sha: 'a1' } },
  };
  const warnings: string[] = [];
  const { github } = answering({});
  const finder = createPullRequestFinder(event, github);
  const find = createContextFinder(
    event,
    finder,
    async () => null,
    (text) => warnings.push(text),
  );
  expect([await find(), warnings]).toEqual([
    'unknown',
    ['No context: the pull request could not be looked for. GitHub knows no such thing.'],
  ]);
});

it('without a token nobody can say what a workflow_run is about', async () => {
  const event = { repository: 'o/r', name: 'workflow_run', sha: 'm', ref: '', payload: {} };
  const warnings: string[] = [];
  const find = createContextFinder(event, createPullRequestFinder(event, null), null, (text) =>
    warnings.push(text),
  );
  expect([await find(), warnings]).toEqual([
    'unknown',
    ['No context: the pull request could not be looked for. github-token is empty.'],
  ]);
});

describe('how much of the diff there is', () => {
  const event = {
    repository: 'o/r',
    name: 'issue_comment',
    sha: 'm',
    ref: '',
    payload: { issue: { number: 7, pull_request: {} } },
  };
  const file = (more: Partial<ChangedFile> = {}): ChangedFile => ({
    ...{ path: 'a.js', previous: '', status: 'modified', additions: 1, deletions: 0, patch: '+a' },
    blob: '',
    ...more,
  });
  const diffOf = async (list: ListChangedFiles | null) => {
    const finder = createPullRequestFinder(event, answering({}).github);
    const context = await createContextFinder(event, finder, list, () => undefined)();
    if (context === null || context === 'unknown') throw new Error('no context');
    return (await context.load()).diff;
  };
  const ofFiles = (...files: readonly ChangedFile[]) => diffOf(async () => files);

  it('is all of it where each changed line has a patch', async () => {
    expect(await ofFiles(file(), file({ additions: 0, patch: null, status: 'renamed' }))).toBe('complete');
  });

  it('is a part where a patch is left out, the list ends early, or the diff is too long', async () => {
    expect(await ofFiles()).toBe('truncated');
    expect(await ofFiles(file(), file({ patch: null }))).toBe('truncated');
    expect(await ofFiles(file(), file({ additions: 0, patch: null }))).toBe('truncated');
    expect(await ofFiles(...Array.from({ length: 2_999 }, () => file()))).toBe('complete');
    expect(await ofFiles(...Array.from({ length: 3_000 }, () => file()))).toBe('truncated');
    expect(await ofFiles(file({ patch: `+${'x'.repeat(200_000)}` }))).toBe('truncated');
    expect(
      await ofFiles(...Array.from({ length: 45 }, () => file({ patch: `+${'x'.repeat(100_000)}` }))),
    ).toBe('truncated');
  });

  it('is none where GitHub does not answer, refuses, or is not asked', async () => {
    expect(await diffOf(() => Promise.reject(new Error('unreachable')))).toBe('missing');
    expect(await diffOf(async () => null)).toBe('missing');
    expect(await diffOf(null)).toBe('missing');
  });
});
