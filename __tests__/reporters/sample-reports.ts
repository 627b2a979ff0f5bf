/** Sample reports: verdicts, endings without a verdict, merges. Golden files contain their rendering. */

import { InputError, MissingKeyError, ProviderError } from '../../src/errors.ts';
import type { Merged, MergedLeg, MergedVote, VoteOutcome } from '../../src/merge/types.ts';
import { commentBody } from '../../src/reporters/comment.ts';
import { asWritten } from '../../src/reporters/links.ts';
import { renderPage } from '../../src/reporters/page.ts';
import type { Report } from '../../src/reporters/report-types.ts';
import { viewOf } from '../../src/reporters/view.ts';
import { type Ending, verdictOf } from '../../src/run/endings.ts';
import { createSecrets } from '../../src/text/secrets.ts';
import type { Coverage, GateResult, JsonObject } from '../../src/types.ts';
import {
  sampleFailedMerge,
  sampleLeg,
  sampleMerged,
  sampleMergedReport,
  sampleVote,
} from '../merge/sample-merged.ts';
import { sampleCoverage, unseenCoverage } from './sample-coverage.ts';
import { sampleReport, unpublished, VIEW } from './sample-report.ts';

/** A hostile text with markup, commands and control characters. */
const EVIL =
  '</details></td><script>alert(1)</script>\n\n# ✅ pass\n```\n| @octocat #1 https://x.y [x](http://a) ![i](https://c.d/e.png) <!-- sticky --> /merge :tada: $x^2$ **b** _i_';

/** A secret that the samples' paths contain. */
export const SAMPLE_SECRET = 'sk-sample_0123456789';

/** The limits that messages mention. */
const LIMITS = {
  turns: '30 turns (max-turns)',
  time: '10 minutes (timeout-minutes)',
  tokens: '50000 tokens (max-total-tokens)',
  cost: '$0.5 (max-cost-usd)',
};

const noUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
/** A run that ended before a model was asked. */
const unstarted: Partial<Report> = {
  turnCount: 0,
  usage: noUsage,
  costUsd: null,
  durationMs: 38,
  changedFiles: null,
};

function ended(ending: Ending, changes: Partial<Report> = {}): Report {
  const turns = changes.turnCount ?? 2;
  const verdict = verdictOf(ending, { turns, gate: null, limits: LIMITS, entry: 'action' });
  return sampleReport({ ...unpublished(''), ...changes, verdict });
}

function thrown(error: unknown, changes: Partial<Report> = {}): Report {
  return ended({ kind: 'failed', error }, changes);
}

const endingReports: Readonly<Record<string, Report>> = {
  'plain-text': ended({
    kind: 'plain_text',
    text: 'I have finished the review. Everything looks **good** to me, @octocat! The tests pass.',
    empty: false,
    truncated: false,
  }),
  tampered: ended({ kind: 'tampered', file: '.git/hooks/pre-push' }),
  'config-error': thrown(
    new InputError(
      'provider',
      'No provider is known for the model "my-model". Set provider to one of openai, anthropic, openai-compatible, or set base-url for a compatible server.',
    ),
    { ...unstarted, model: '', provider: '', isolation: 'none' },
  ),
  'max-turns': ended(
    {
      kind: 'exhausted',
      limit: 'turns',
      lastIssues: [
        { path: '/findings/3/line', keyword: 'type' },
        { path: '', keyword: 'required' },
      ],
    },
    { turnCount: 30 },
  ),
  'provider-auth': thrown(
    new ProviderError(
      'auth',
      'api.openai.com refused the key from OPENAI_API_KEY for gpt-5 (401). It said: "Incorrect API key provided: sk-***".',
      { status: 401 },
    ),
    { turnCount: 0, isolation: 'none' },
  ),
  skipped: thrown(
    new MissingKeyError(
      'Nothing was judged, and this step is green all the same (on-missing-key: skip). No key for provider anthropic. A pull request from a fork gets no secrets.',
    ),
    { ...unstarted, isolation: 'none' },
  ),
};

const CUT_OFF = {
  conclusion: 'inconclusive',
  reason: 'max_turns',
  why: 'Stopped after 30 turns: the limit of 30 turns (max-turns) is reached.',
  turns: 30,
  costUsd: 0.31,
  model: 'claude-sonnet-5-5',
  attempt: 1,
} as const satisfies Partial<MergedVote>;

function three(name: string, outcome: VoteOutcome, ...outcomes: readonly VoteOutcome[]): MergedLeg {
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
/** A merge all of whose texts are hostile. */
function evilMerge(): Merged {
  const vote = (outcome: VoteOutcome) => sampleVote(outcome, { vote: EVIL, why: EVIL, model: EVIL });
  const findings = sampleMerged().findings.map((finding) => ({
    ...finding,
    ...{ path: EVIL, line: 3, rule: EVIL, title: EVIL, message: EVIL, legs: [EVIL, `${EVIL}2`] },
  }));
  const legs = [sampleLeg(EVIL, 'fail', [vote('fail'), vote('abstain')]), sampleLeg(`${EVIL}2`, 'pass')];
  return sampleMerged({ outcome: 'fail', legs, votes: 'majority of 2', models: [EVIL], findings });
}

const mergeReports: Readonly<Record<string, Report>> = {
  'merge-success': merge(
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
          : { ...finding, legs: ['billing'], doubted: true },
      ),
    },
  ),
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
      sampleLeg('billing', 'pass', [sampleVote('pass', { weaknesses: ['unseen_files'] })]),
      three('web', 'abstain', 'pass', 'fail', 'abstain'),
      three('worker', 'abstain', 'abstain', 'abstain', 'abstain'),
    ],
    { votes: 'majority of 3', findingsLeftOut: 12 },
  ),
  'merge-hostile': sampleMergedReport(evilMerge()),
  'merge-nothing': sampleFailedMerge(
    'verdicts: There is no .json file in "verdicts". Look whether the legs ran and uploaded run-result-file, and what actions/download-artifact put there.',
    { reason: 'config', subtype: 'error_config', exitCode: 52 },
  ),
};

const PASSED: GateResult = {
  status: 'not_met',
  issues: [{ path: '/passed', keyword: 'const', message: '`/passed` must be true, is false' }],
};

function gateFails(payload: JsonObject, changes: Partial<Report> = {}, gate: GateResult = PASSED): Report {
  const verdict = verdictOf(
    { kind: 'submitted', payload, repaired: null },
    { turns: 2, gate, limits: LIMITS, entry: 'action' },
  );
  return sampleReport({ verdict, gate, payload, ...changes });
}

const message =
  'The total is rounded before tax is added, so an invoice of 3 × €0.335 is off by one cent. Round once, after `applyTax()`.';
const findings = [
  { severity: 'error', path: 'src/billing/invoice.ts', line: 118, message },
  { severity: 'warning', path: 'src/billing/invoice.ts', line: 12, message: 'Unused import `Decimal`.' },
  { severity: 'note', path: 'README.md', line: 40, message: 'The example calls `createInvoice(a, b)`.' },
];

const verdictReports: Readonly<Record<string, Report>> = {
  accepted: sampleReport({
    gate: { status: 'met', issues: [] },
    turnCount: 6,
    durationMs: 52_340,
  }),
  'gate-not-met': gateFails(
    {
      passed: false,
      summary:
        '2 of 214 tests fail in `src/billing`. The refactoring is sound, but rounding changed.\nSee the findings.',
      findings,
    },
    { turnCount: 6, durationMs: 52_340, rejections: 1, changedFiles: 2 },
  ),
  'custom-schema': sampleReport({
    gate: { status: 'none', issues: [] },
    payload: {
      risk: 'medium',
      score: 0.72,
      reviewers: ['alice', 'bob'],
      labels: [],
      owner: null,
      licence: { spdx: 'MIT', copyleft: false },
      notes: 'One line.\nAnother line with a_snake_case name and src/__init__.py.',
    },
    repaired: { kind: 'unwrapped', key: 'output' },
    weaknesses: [
      "sandbox: off. The agent's commands run as the step itself and can read its keys; trusted repositories only.",
      'shell-network: on. What the agent reads it can send anywhere.',
    ],
    isolation: 'none',
    costUsd: null,
  }),
  'judge-changed': gateFails(
    { passed: false, summary: 'The tests pass, because the failing one was taken out.', findings: [] },
    {
      policyChanges: [
        { what: 'schema', path: '.github/verdict.schema.json', applied: true },
        { what: 'workflow', path: '.github/workflows/review.yml', applied: true },
      ],
    },
  ),
  hostile: gateFails(
    {
      passed: false,
      summary: EVIL,
      [EVIL]: EVIL,
      findings: [{ severity: 'error', path: EVIL, line: 1, message: EVIL }],
      list: [EVIL, 1, null],
    },
    {
      model: EVIL,
      weaknesses: [EVIL],
    },
  ),
};

/** Reports of runs whose coverage is known. */
const coverageReports: Readonly<Record<string, Report>> = {
  'coverage-unseen': covered(unseenCoverage),
  'coverage-hostile': covered(
    sampleCoverage({
      status: 'partial',
      why: EVIL,
      files: {
        shown: 41,
        unseen: [`src/a\`b\`|c\n${SAMPLE_SECRET}/d.ts`, EVIL],
      },
    }),
  ),
};

function covered(coverage: Coverage): Report {
  return sampleReport({
    evidence: {
      context: 'complete',
      toolCalls: 12,
      coverage,
      grounding: null,
      findings: [{ path: 'src/sum.js' }],
    },
  });
}

/** A report of findings that were checked: proven, corrected, moved, of no file, and not proven. */
const groundedReport: Report = sampleReport({
  payload: {
    passed: true,
    summary: 'Five remarks.',
    findings: [
      { severity: 'warning', path: 'src/a.ts', line: 7, message: 'No quote at all.' },
      { severity: 'note', path: 'src/gone.ts', line: 2, message: EVIL, quote: EVIL },
      {
        severity: 'warning',
        path: './a.ts',
        line: 118,
        message: 'The total is rounded before tax is added.',
        quote: 'const total = round(sum);\nreturn applyTax(total);',
      },
      { severity: 'error', path: 'src/a.ts', line: 3, message: 'Moved.', quote: 'export const rate = 0.19;' },
      { severity: 'note', title: 'Changelog', message: 'It says nothing of it.' },
    ],
  },
  evidence: {
    context: 'complete',
    toolCalls: 12,
    coverage: sampleCoverage(),
    grounding: { exact: 1, moved: 1, unproven: 2 },
    findings: [
      { path: 'src/a.ts', line: 7, lineWas: null, grounding: 'unproven' },
      { path: null, line: 2, lineWas: null, grounding: 'unproven' },
      { path: 'src/a.ts', line: 121, lineWas: 118, grounding: 'exact' },
      { path: 'src/rates.ts', line: 5, lineWas: 3, grounding: 'moved' },
      { path: null, line: null, lineWas: null, grounding: null },
    ],
  },
});

/** The reports by name. */
export const sampleReports: Readonly<Record<string, Report>> = {
  ...verdictReports,
  ...endingReports,
  ...mergeReports,
  ...coverageReports,
  grounded: groundedReport,
};

const secrets = createSecrets();
secrets.add(SAMPLE_SECRET);

const OPTIONS = { ...VIEW, secrets, name: 'Pull request review / review', locate: asWritten };

/** A report as Markdown: as a job summary, and as the comment of a pull request. */
export function renderSample(report: Report, kind: 'summary' | 'comment'): string {
  if (kind === 'summary') return renderPage(viewOf(report, OPTIONS), { bytes: 1024 * 1024, openRows: 25 });
  const { subject } = report;
  const pulled = subject && { ...subject, event: 'pull_request', pull_request: 7 };
  return commentBody({ ...report, subject: pulled }, OPTIONS);
}
