import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GitHubError, ReportError } from '../../src/errors.ts';
import { createCommitStatus } from '../../src/reporters/commit-status.ts';
import type { Report, StatusText } from '../../src/reporters/report-types.ts';
import { sampleFailedMerge, sampleLeg, sampleMerged, sampleMergedReport } from '../merge/sample-merged.ts';
import { knowSecrets, textOf } from '../support/surroundings.ts';
import { sampleReport, unpublished, VIEW } from './sample-report.ts';

const signal = new AbortController().signal;
const STARTED = {
  ...({ type: 'run_started', model: 'm', provider: 'openai' } as const),
  ...{ prompt: 'p', sessionId: 's', tools: [] },
};
const OPTIONS = { ...VIEW, secrets: knowSecrets('sk-canary_0123', 'pass  phrase') };

/** Returns the status that is set at the end, with the commit that was judged if it is told. */
async function statusOf(report: Report) {
  const statuses: (StatusText & { judged?: string | null })[] = [];
  const reporter = createCommitStatus({
    ...OPTIONS,
    async set(status, judged) {
      statuses.push({ ...status, ...(judged === undefined ? {} : { judged }) });
      return true;
    },
  });
  await reporter.report?.(report, signal);
  expect(statuses).toHaveLength(1);
  return statuses[0];
}

describe('the commit status', () => {
  const failure = unpublished('Not met.', { conclusion: 'failure', reason: 'gate_not_met' });
  const merged = sampleMergedReport();
  const { sha } = merged.subject ?? { sha: '' };
  const ofLegs = (outcome: 'fail' | 'abstain', checked_out?: string | null) => {
    const report = sampleMergedReport(
      sampleMerged({ legs: [sampleLeg('api', outcome), sampleLeg('web', 'pass')] }),
    );
    const subject = report.subject && {
      ...report.subject,
      ...(checked_out === undefined ? {} : { checked_out }),
    };
    return { ...report, subject };
  };
  const replay = '(a replay, judged by no model)';
  const [all, failed, missing] = [
    '9 of 9 legs passed',
    '1 of 2 legs passed, 1 failed',
    '1 of 2 legs passed, 1 missing',
  ];
  const skipped = unpublished('No key.', { conclusion: 'skipped' });
  const other = 'c'.repeat(40);
  it.each<[string, Report, StatusText['state'], string, object]>([
    ['a success', sampleReport(), 'success', 'Passed · 1 warning.', {}],
    ['an unmet gate', sampleReport(failure), 'failure', 'Not passed.', {}],
    ['no verdict', sampleReport(unpublished('Out of `turns`.')), 'error', 'Out of `turns`.', {}],
    ['a skipped run', sampleReport(skipped), 'error', 'No key.', { ifPresent: true }],
    ['a replay', sampleReport({ replayed: true }), 'error', `Passed ${replay} · 1 warning.`, {}],
    [
      'a replay that fails',
      sampleReport({ ...failure, replayed: true }),
      'failure',
      `Not passed ${replay}.`,
      {},
    ],
    ['a merge', merged, 'success', `Passed · ${all}`, { judged: sha }],
    ['a merge of another checkout', ofLegs('fail', other), 'failure', failed, { judged: other }],
    ['a merge of several checkouts', ofLegs('abstain', null), 'error', missing, { judged: null }],
    ['a merge that fails', sampleFailedMerge('No file is there.'), 'error', 'No file is there.', {}],
  ])('of %s', async (_, report, state, description, more) => {
    const status = { state, description: expect.stringContaining(description), ...more };
    expect(await statusOf(report)).toEqual(status);
  });

  it('is reset to pending when the agent starts, before the verdict is set', async () => {
    const states: string[] = [];
    const reporter = createCommitStatus({
      ...OPTIONS,
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

  it('is one warning at the end when GitHub rejects it, or when there is no commit', async () => {
    const fix = 'Give the job `permissions: statuses: write`.';
    const refused = new GitHubError(fix, { status: 403 });
    const reporter = createCommitStatus({ ...OPTIONS, set: () => Promise.reject(refused) });
    reporter.event?.(STARTED);
    await expect(reporter.report?.(sampleReport(), signal)).rejects.toMatchObject({
      name: 'ReportError',
      message: `The commit status could not be set. ${fix}`,
    });
    const nowhere = createCommitStatus({ ...OPTIONS, set: async () => false });
    await expect(nowhere.report?.(sampleReport(), signal)).rejects.toBeInstanceOf(ReportError);
  });

  it('has one line of at most 140 characters without secrets or 4-byte characters', async () => {
    const pieces = ['🐙', 'sk-canary_0123', 'pass  phrase', '\n', 'word '];
    const text = textOf(pieces, { pieceCount: 80, other: fc.string({ unit: 'binary' }) });
    await fc.assert(
      fc.asyncProperty(text, async (error) => {
        const { description = '' } = (await statusOf(sampleReport(unpublished(error)))) ?? {};
        expect(description.length).toBeLessThanOrEqual(140);
        // Without the flag u, so that unpaired surrogates match.
        expect(description).not.toMatch(/[\ud800-\udfff]/);
        expect(description).not.toMatch(/\p{Cc}|sk-canary_0123|phrase/u);
      }),
    );
  });
});
