/** Reports of merges and of a reused run, to be looked at: see `scripts/render-summary.ts`. */
import {
  sampleFailedMerge,
  sampleLeg,
  sampleMerged,
  sampleMergedReport,
  sampleVote,
} from '../__tests__/merge/sample-merged.ts';
import { sampleReusedReport } from '../__tests__/reporters/sample-report.ts';
import type { Merged, MergedLeg, MergedVote, Outcome } from '../src/merge/types.ts';
import type { Report } from '../src/reporters/report-types.ts';

const CUT_OFF = {
  conclusion: 'inconclusive',
  reason: 'max_turns',
  why: 'Reached the limit of 30 turns (max-turns) without an accepted call of structured_output.',
  turns: 30,
  costUsd: 0.31,
  model: 'claude-sonnet-4-5',
  attempt: 1,
  url: 'https://github.com/octo/demo/actions/runs/42/attempts/1',
} as const satisfies Partial<MergedVote>;

/** As a merge says them. */
const UNSIGNED = 'it is not signed';
const NO_ENVELOPE = 'it is no envelope of this action: see /type (const)';

function three(name: string, outcome: Outcome, ...outcomes: readonly Outcome[]): MergedLeg {
  return sampleLeg(
    name,
    outcome,
    outcomes.map((each, at) => sampleVote(each, { vote: String(at + 1) })),
  );
}

function merge(legs: readonly MergedLeg[], changes: Partial<Merged> = {}): Report {
  const merged = sampleMerged({ legs, ...changes });
  return sampleMergedReport(merged);
}

const nine = sampleMerged().legs;
const many = Array.from({ length: 256 }, (_, at) => {
  const name = `packages/service-${String(at).padStart(3, '0')}`;
  if (at % 37 === 5) return three(name, 'fail', 'fail', 'pass', 'fail');
  if (at % 51 === 7) return three(name, 'abstain', 'pass', 'fail', 'abstain');
  return three(name, 'pass', 'pass', 'pass', at % 6 === 0 ? 'fail' : 'pass');
});

/** What hostile files of other jobs would like to be shown as. */
const EVIL =
  '</details></td><script>alert(1)</script>\n\n# ✅ pass\n```\n| @octocat #1 https://x.y [x](http://a) ![i](https://c.d/e.png) <!-- sticky --> /merge :tada: $x^2$ **b** _i_';

const evilVote = (outcome: Outcome) =>
  sampleVote(outcome, { vote: EVIL, why: EVIL, model: EVIL, url: `javascript:${EVIL}`, reused: true });

/** A merge all of whose texts are hostile. */
function evilMerge(outcome: Outcome): Merged {
  const legs = [
    sampleLeg(EVIL, outcome, [evilVote(outcome), evilVote('abstain')]),
    sampleLeg(`${EVIL}2`, 'pass'),
  ];
  return sampleMerged({
    outcome,
    legs,
    rule: EVIL,
    votes: EVIL,
    summary: EVIL,
    models: [EVIL],
    refused: [{ file: EVIL, why: EVIL }],
    findings: [
      {
        severity: 'error',
        path: EVIL,
        line: 3,
        endLine: 4,
        rule: EVIL,
        title: EVIL,
        message: EVIL,
        legs: [EVIL, `${EVIL}2`],
        votes: 3,
        outvoted: false,
      },
    ],
  });
}

/** The reports by name. */
export const mergeReports: Readonly<Record<string, Report>> = {
  'merge-success': merge(nine, { findings: [] }),
  'merge-failure': merge([
    ...nine.slice(0, 2),
    sampleLeg('billing', 'fail'),
    ...nine.slice(3, 7),
    sampleLeg('ui', 'abstain', [sampleVote('abstain', CUT_OFF)]),
    ...nine.slice(8),
  ]),
  'merge-undecided': merge(
    [
      three('api', 'pass', 'pass', 'pass', 'fail'),
      three('billing', 'pass', 'pass', 'pass', 'pass'),
      three('web', 'abstain', 'pass', 'fail', 'abstain'),
      three('worker', 'abstain', 'abstain', 'abstain', 'abstain'),
    ],
    { votes: 'majority of 3' },
  ),
  'merge-outvoted': merge(
    [
      three('api', 'pass', 'pass', 'pass', 'fail'),
      three('billing', 'pass', 'pass', 'pass', 'pass'),
      three('web', 'pass', 'fail', 'pass', 'pass'),
    ],
    {
      votes: 'majority of 3',
      findings: sampleMerged().findings.map((finding, at) =>
        at === 0
          ? { ...finding, legs: ['api', 'web'], votes: 2, outvoted: true }
          : { ...finding, legs: ['billing'] },
      ),
    },
  ),
  'merge-no-names': merge([
    ...nine.slice(0, 6),
    ...Array.from({ length: 3 }, () => sampleLeg(null, 'abstain')),
  ]),
  'merge-many': merge(many, {
    votes: 'majority of 3',
    findings: Array.from({ length: 200 }, (_, at) => ({
      severity: (['error', 'warning', 'note'] as const)[Math.floor(at / 70)] ?? 'note',
      path: `packages/service-${String(at).padStart(3, '0')}/src/index.ts`,
      line: 10 + at,
      endLine: null,
      rule: 'api',
      title: null,
      message: `Export number ${at} was removed without a deprecation, see __all__ in the index.`,
      legs: Array.from(
        { length: 1 + (at % 9) },
        (__, leg) => `packages/service-${String(leg).padStart(3, '0')}`,
      ),
      votes: 2 + (at % 9),
      outvoted: false,
    })),
    findingsLeftOut: 1_204,
  }),
  'merge-many-success': merge(
    many.map((leg) => three(leg.leg ?? '', 'pass', 'pass', 'pass', 'pass')),
    { votes: 'majority of 3', findings: [] },
  ),
  'merge-hostile': sampleMergedReport(evilMerge('fail')),
  'merge-weighted': merge(
    [
      sampleLeg('claude', 'pass', [sampleVote('pass')], 2),
      sampleLeg('gpt', 'pass', [sampleVote('pass', { model: 'gpt-5', costUsd: null })], 1),
      sampleLeg('llama', 'fail', [sampleVote('fail', { model: 'llama-3', costUsd: 0 })], 0.5),
    ],
    { rule: 'weighted:2', outcome: 'pass' },
  ),
  'merge-refused': merge([...nine.slice(0, 7), sampleLeg('ui', 'abstain'), ...nine.slice(8)], {
    refused: [
      { file: 'verdict-ui/result.json', why: UNSIGNED },
      { file: 'verdict-web/notes.json', why: NO_ENVELOPE },
    ],
  }),
  'merge-reused-legs': merge([
    sampleLeg('api', 'pass', [sampleVote('pass', { reused: true, turns: 0, costUsd: 0, model: '' })]),
    sampleLeg('web', 'fail'),
  ]),
  'merge-nothing': sampleFailedMerge(
    'verdicts: the folder `verdicts` holds no envelope. Upload run-result-file of each leg, and download them all before the merge.',
    { reason: 'config', subtype: 'error_config', exitCode: 52 },
  ),
  reused: sampleReusedReport(
    {
      turns: [],
      turnCount: 0,
      usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 },
      costUsd: 0,
      isolation: 'none',
      changedFiles: null,
      durationMs: 120,
    },
    '41',
    2,
  ),
};
