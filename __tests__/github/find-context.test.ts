import { expect, it } from 'vitest';
import { createContextFinder } from '../../src/github/find-context.ts';
import { createPullRequestFinder } from '../../src/github/pull-request.ts';
import { answering } from '../support/github-answers.ts';

it('where nobody can say whether there is a pull request, that is told', async () => {
  const event = {
    repository: 'o/r',
    name: 'workflow_run',
    sha: 'm',
    ref: '',
    payload: { workflow_run: { head_sha: 'a1' } },
  };
  const warnings: string[] = [];
  const finder = createPullRequestFinder(event, answering({}).github);
  const find = createContextFinder(event, finder, null, (text) => warnings.push(text));
  expect([await find(), warnings]).toEqual([
    null,
    ['No context: the pull request could not be looked for. GitHub knows no such thing.'],
  ]);
});
