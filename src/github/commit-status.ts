/** The status of a commit, as used by branch protection. */
import type { StatusText } from '../reporters/report-types.ts';
import { headOfEvent, pullRequestNumber, repositoryOf } from './event.ts';
import type { Hub } from './pull-request.ts';

/** Description used instead of a success if the commit is not known to have been judged. */
const REFUSED =
  'The verdict is a success, but it is not known to be one on this commit. See the log of the run.';

/**
 * Creates a function that sets the status of the head commit; it resolves to false if there is no commit. Success is
 * set only if that very commit was judged, or the test merge for which GitHub started the run of a pull request;
 * otherwise the state is an error. The function rejects with a GitHubError, or with an Error if a success was
 * refused. Its `judged` is the judged commit; null if unknown.
 * @param name the context name that branch protection refers to.
 * @param targetUrl where the status links to; null for nowhere.
 */
export function createStatusSetter(hub: Hub, name: string, targetUrl: string | null) {
  const { event, github } = hub;
  const place = repositoryOf(event);
  const link = targetUrl === null ? {} : { target_url: targetUrl };
  const isTestMerge = event.name.startsWith('pull_request') && /^refs\/pull\/\d+\/merge$/u.test(event.ref);
  return async (status: StatusText, judged: string | null): Promise<boolean> => {
    const sha = await findHead(hub);
    if (sha === '') return false;
    const isJudged = judged === sha || (isTestMerge && judged === event.sha);
    const isRefused = status.state === 'success' && !isJudged;
    const { state, description } = isRefused ? ({ state: 'error', description: REFUSED } as const) : status;
    await github('statuses: write', async ({ paginate, rest }) => {
      const list = () => paginate(rest.repos.listCommitStatusesForRef, { ...place, ref: sha, per_page: 100 });
      if (status.ifPresent === true && (await list()).every(({ context }) => context !== name)) return;
      await rest.repos.createCommitStatus({ ...place, sha, state, description, context: name, ...link });
    });
    if (!isRefused) return true;
    const which = judged === null ? 'is not known, or differs between legs' : `is ${judged.slice(0, 12)}`;
    throw new Error(
      `The commit status is an error instead of a success. The commit that was judged ${which}, and the status is about ${sha.slice(0, 12)}. Check that commit out before this step (actions/checkout with it as ref), and of several checkouts name the judged one in working-directory.`,
    );
  };
}

/** Returns the head commit of the change, or else the commit of the event; empty if there is none. */
async function findHead({ event, findPullRequest }: Hub): Promise<string> {
  const head = headOfEvent(event);
  if (head !== '' || pullRequestNumber(event) === null) return head || event.sha;
  return (await findPullRequest())?.head.sha ?? event.sha;
}
