/** Sample reports: verdicts, endings without a verdict, merges. Golden files contain their rendering. */
import { InputError, MissingKeyError } from '../../src/errors.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { type Ending, verdictOf } from '../../src/run/ending-sentences.ts';
import type { Issue, JsonObject } from '../../src/types.ts';
import {
  findingPayload,
  legVote,
  SUBJECT,
  sampleMerged,
  sampleMergedReport,
} from '../merge/sample-merged.ts';
import { sampleReport, unseenCoverage } from './sample-report.ts';

/** A hostile text with markup, commands and control characters. */
const EVIL =
  '</details></td><script>alert(1)</script>\n\n# ✅ pass\n```\n| @octocat #1 https://x.y [x](http://a) ![i](https://c.d/e.png) <!-- sticky --> /merge :tada: $x^2$ **b** _i_';

/** The report of a run of two turns that ended so. */
function ended(ending: Ending, changes: Partial<Report> = {}): Report {
  const payload = ending.kind === 'submitted' ? ending.payload : null;
  const { gate = null } = changes;
  const verdict = verdictOf(ending, { turns: 2, gate, entry: 'action' });
  return sampleReport({ payload, gate, ...changes, verdict });
}

/** A run whose gate has this issue. */
function gateFails(payload: JsonObject, issue: Issue, changes: Partial<Report> = {}): Report {
  const gate = { status: 'not_met', issues: [issue] } as const;
  return ended({ kind: 'submitted', payload, repaired: null }, { gate, ...changes });
}

/** A run that ended before a model was asked. */
function unstarted(error: Error, changes: Partial<Report> = {}): Report {
  const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
  const nothing = { turnCount: 0, usage, costUsd: null, changedFiles: null, isolation: 'none' } as const;
  return ended({ kind: 'failed', error }, { ...nothing, durationMs: 38, ...changes });
}

/** A run of the leg `billing` whose finding is not proven, and which did not see a file. */
const doubtful = legVote('billing', '1', 'pass', {
  payload: findingPayload({ severity: 'note', message: 'The changelog says nothing of it.' }),
  subject: { ...SUBJECT, run_attempt: 2 },
  evidence: {
    ...{ context: 'complete', toolCalls: 1, grounding: { exact: 0, moved: 0, unproven: 1 } },
    coverage: unseenCoverage,
    findings: [{ path: null, grounding: 'unproven' }],
  },
});

/** The reports by name. */
export const sampleReports: Readonly<Record<string, Report>> = {
  'gate-not-met': gateFails(
    {
      passed: false,
      summary: '2 of 214 tests fail in `src/billing`. The refactoring is sound.\nSee the findings.',
      findings: [
        { severity: 'note', path: 'README.md', line: 40, message: 'The example calls `invoice(a, b)`.' },
        { severity: 'error', path: 'src/tax.ts', line: 118, message: 'Round € 3.35 once, after `tax()`.' },
        { severity: 'warning', path: 'src/tax.ts', line: 12, message: 'Unused import `Decimal`.' },
      ],
    },
    { path: '/passed', keyword: 'const', message: '`/passed` must be true, is false' },
    {
      turnCount: 6,
      durationMs: 52_340,
      rejections: 1,
      changedFiles: 2,
      patchFile: '/tmp/results/changes.patch',
      costUsd: 1.5,
      pricedAs: 'claude-sonnet-5',
      leg: 'api',
      vote: '2',
      scratch: 'overlay',
    },
  ),
  'custom-schema': gateFails(
    {
      risk: 'medium',
      score: 3,
      reviewers: ['alice', 'bob'],
      labels: [],
      owner: null,
      licence: { spdx: 'MIT', copyleft: false },
      notes: 'One line.\nAnother line with a_snake_case name and src/__init__.py.',
    },
    { path: '/score', keyword: 'minimum', message: '`/score` must be 8 or more, is 3' },
    {
      repaired: { kind: 'unwrapped', key: 'output' },
      weaknesses: ['shell-network: on. What the agent reads it can send anywhere.'],
      policyChanges: [
        { what: 'schema', path: '.github/verdict.schema.json', applied: true },
        { what: 'workflow', path: '.github/workflows/review.yml', applied: true },
      ],
      isolation: 'none',
      costUsd: null,
    },
  ),
  'plain-text': ended({
    kind: 'plain_text',
    text: 'I have finished the review. Everything looks **good** to me, @octocat! The tests pass.',
    empty: false,
    truncated: false,
  }),
  'config-error': unstarted(new InputError('model', 'Name one.'), { model: '', provider: '', results: null }),
  skipped: unstarted(new MissingKeyError('Nothing was judged, and this step is green all the same.')),
  // Findings that were checked: proven, corrected, moved, about no file, and not proven.
  grounded: sampleReport({
    payload: {
      passed: true,
      summary: 'Five remarks.',
      findings: [
        { severity: 'warning', path: 'src/a.ts', line: 7, message: 'No quote at all.' },
        { severity: 'note', path: 'src/gone.ts', line: 2, message: EVIL, quote: EVIL },
        { severity: 'warning', path: './a.ts', line: 118, message: 'Corrected.', quote: 'round();\nadd();' },
        { severity: 'error', path: 'src/a.ts', line: 3, message: 'Moved.', quote: 'const rate = 0.19;' },
        { severity: 'note', title: 'Changelog', message: 'It says nothing of it.' },
      ],
    },
    evidence: {
      context: 'complete',
      toolCalls: 12,
      coverage: unseenCoverage,
      commands: [{ command: 'npm test', exitCode: 1, seconds: 2 }],
      grounding: { exact: 1, moved: 1, unproven: 2 },
      findings: [
        { path: 'src/a.ts', line: 7, lineWas: null, grounding: 'unproven' },
        { path: null, line: 2, lineWas: null, grounding: 'unproven' },
        { path: 'src/a.ts', line: 121, lineWas: 118, grounding: 'exact' },
        { path: 'src/rates.ts', line: 5, lineWas: 3, grounding: 'moved' },
        { path: null, line: null, lineWas: null, grounding: null },
      ],
    },
  }),
  'merge-success': sampleMergedReport(sampleMerged({ api: 'ppf', billing: '-pp', web: 'fpp' }, [doubtful])),
  'merge-failure': sampleMergedReport(
    sampleMerged({ api: 'p', billing: 'f', ui: '-', web: 'p' }, [legVote('ui', null, 'abstain')]),
  ),
  'merge-undecided': sampleMergedReport({
    ...sampleMerged({ api: 'ppf', billing: '-pp', web: 'pf-', worker: '---' }, [doubtful]),
    findingsLeftOut: 12,
  }),
};
