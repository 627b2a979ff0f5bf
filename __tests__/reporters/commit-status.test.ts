import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GitHubError, ReportError } from '../../src/errors.ts';
import { createCommitStatus } from '../../src/reporters/commit-status.ts';
import type { Report, StatusText } from '../../src/reporters/report-types.ts';
import { sampleFailedMerge, sampleLeg, sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { knowSecrets, textOf } from '../support/surroundings.ts';
import { sampleReport, unpublished } from './sample-report.ts';

const signal = new AbortController().signal;
const STARTED = {
  type: 'run_started',
  model: 'm',
  provider: 'openai',
  prompt: 'p',
  sessionId: 's',
  tools: [],
} as const;
const secrets = knowSecrets('sk-canary_0123', 'pass  phrase');

async function setStatuses(changes: Partial<Report> = {}) {
  const statuses: StatusText[] = [];
  const reporter = createCommitStatus({
    secrets,
    async set(status) {
      statuses.push(status);
      return true;
    },
  });
  await reporter.report?.(sampleReport(changes), signal);
  return statuses;
}

describe('the commit status of a run', () => {
  it('is success when the run succeeds', async () => {
    expect(await setStatuses()).toEqual([{ state: 'success', description: 'Success: the gate is met' }]);
  });

  it('is failure for an unmet gate and error without a verdict', async () => {
    const error = 'The gate is not met: /passed must be true.';
    const failure = unpublished(error, { conclusion: 'failure', reason: 'gate_not_met' });
    expect([await setStatuses(failure), await setStatuses(unpublished('Out of `turns`.'))]).toEqual([
      [{ state: 'failure', description: error }],
      [{ state: 'error', description: 'Out of `turns`.' }],
    ]);
  });

  it('is set on the checked-out commit, and for a merge on the commit of its legs', async () => {
    const commits: (string | null | undefined)[] = [];
    const reporter = createCommitStatus({
      secrets,
      async set(_, commit) {
        commits.push(commit);
        return true;
      },
    });
    const merged = sampleMergedReport();
    await reporter.report?.(merged, signal);
    for (const checked_out of ['c'.repeat(40), null]) {
      const subject = merged.subject && { ...merged.subject, checked_out };
      await reporter.report?.({ ...merged, subject }, signal);
    }
    await reporter.report?.(sampleFailedMerge('x'), signal);
    await reporter.report?.(sampleReport(), signal);
    expect(commits).toEqual([merged.subject?.sha, 'c'.repeat(40), null, undefined, undefined]);
  });

  it('is never success for a replay and says that it is one', async () => {
    const failure = unpublished('Not met.', { conclusion: 'failure', reason: 'gate_not_met' });
    expect([
      await setStatuses({ replayed: true }),
      await setStatuses({ ...failure, replayed: true }),
    ]).toEqual([
      [{ state: 'error', description: 'Replay, judged by no model. Success: the gate is met' }],
      [{ state: 'failure', description: 'Replay, judged by no model. Not met.' }],
    ]);
  });

  it('is not set for a skipped run', async () => {
    expect(await setStatuses(unpublished('No key.', { conclusion: 'skipped' }))).toEqual([]);
  });

  it('is reset to pending when the agent starts, before the verdict is set', async () => {
    const states: string[] = [];
    const reporter = createCommitStatus({
      secrets,
      async set({ state }) {
        // The first request is the slower one.
        for (let turns = 0; state === 'pending' && turns < 20; turns++) await Promise.resolve();
        states.push(state);
        return true;
      },
    });
    reporter.event?.({ type: 'user_message', text: 'x' });
    reporter.event?.(STARTED);
    await reporter.report?.(sampleReport(), signal);
    expect(states).toEqual(['pending', 'success']);
  });

  it('is one warning at the end when GitHub rejects it', async () => {
    const refused = new GitHubError('forbidden', 'Give the job `permissions: statuses: write`.', {
      status: 403,
    });
    const reporter = createCommitStatus({ secrets, set: () => Promise.reject(refused) });
    reporter.event?.(STARTED);
    const error = await reporter.report?.(sampleReport(), signal).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ReportError);
    expect(error).toMatchObject({
      message: 'The commit status could not be set. Give the job `permissions: statuses: write`.',
    });
  });

  it('without a commit is a warning', async () => {
    const reporter = createCommitStatus({ secrets, set: async () => false });
    await expect(reporter.report?.(sampleReport(), signal)).rejects.toBeInstanceOf(ReportError);
  });

  it('has one line of at most 140 characters without secrets or 4-byte characters', async () => {
    const pieces = ['🐙', 'sk-canary_0123', 'pass  phrase', '\n', 'word '];
    const text = textOf(pieces, { pieceCount: 80, other: fc.string({ unit: 'binary' }) });
    await fc.assert(
      fc.asyncProperty(text, async (error) => {
        const [status] = await setStatuses(unpublished(error));
        const { description } = status ?? { description: '' };
        expect(description.length).toBeLessThanOrEqual(140);
        // Without the flag u, so that unpaired surrogates match.
        expect(description).not.toMatch(/[\ud800-\udfff]/);
        expect(description).not.toMatch(/\p{Cc}|sk-canary_0123|phrase/u);
      }),
    );
  });
});

describe('the commit status of a merge', () => {
  it.each([
    ['pass', 'success', /^Success: 2 of 2 legs passed$/u],
    [
      'fail',
      'failure',
      /^The gate is not met: it wants every leg to pass, and 1 of 2 legs passed, 1 failed/u,
    ],
    ['abstain', 'error', /^1 of 2 legs passed, 1 missing\. What is open could change it: "api"/u],
  ] as const)('counts the legs: %s', async (outcome, state, description) => {
    const legs = [sampleLeg('api', outcome), sampleLeg('web', 'pass')];
    expect(await setStatuses(sampleMergedReport(sampleMerged({ legs })))).toEqual([
      { state, description: expect.stringMatching(description) },
    ]);
  });

  it('shows the error of a merge that could not count votes', async () => {
    const failed = sampleFailedMerge('verdicts: no file is there.', { reason: 'config' });
    expect(await setStatuses(failed)).toEqual([
      { state: 'error', description: 'verdicts: no file is there.' },
    ]);
  });
});
