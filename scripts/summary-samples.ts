/** Verdicts and endings that people meet, to be looked at: see `scripts/render-summary.ts`. */
import { sampleReport } from '../__tests__/reporters/sample-report.ts';
import { commentBody } from '../src/reporters/comment.ts';
import type { Report, TurnRecord } from '../src/reporters/report-types.ts';
import { summaryMarkdown } from '../src/reporters/summary.ts';
import { verdictOf } from '../src/run/verdict.ts';
import { createSecrets } from '../src/text/secrets.ts';
import type { GateResult, JsonObject } from '../src/types.ts';
import { call, endingReports, LIMITS, turn } from './summary-endings.ts';
import { mergeReports } from './summary-merges.ts';

const facts = { secrets: createSecrets(), serverUrl: 'https://github.com' };
const KEY = 'Pull request review / review / null / review';

/** The Markdown of each sample by name: as a job summary, and with `comment-` before its name as a comment. */
export function samples(): Readonly<Record<string, string>> {
  const all = Object.entries({ ...reports, ...endingReports, ...mergeReports });
  return Object.fromEntries([
    ...all.map(([name, report]) => [name, summaryMarkdown(report, facts, 1024 * 1024)]),
    ...all.map(([name, report]) => [`comment-${name}`, commentBody(onPull(report), KEY, facts)]),
  ]);
}

/** A report of a run on a pull request. */
function onPull(report: Report): Report {
  const { subject } = report;
  return subject === null
    ? report
    : { ...report, subject: { ...subject, event: 'pull_request', pull_request: 7 } };
}

const PASSED: GateResult = {
  status: 'not_met',
  issues: [{ path: '/passed', keyword: 'const', message: 'must be true.' }],
  words: ['wants `passed` to be true; the payload says false'],
};

function gateFails(payload: JsonObject, changes: Partial<Report> = {}, gate: GateResult = PASSED): Report {
  const verdict = verdictOf(
    { kind: 'submitted', payload, repaired: null },
    { turns: 2, gate, limits: LIMITS, door: 'action' },
  );
  return sampleReport({ verdict, gate, payload, ...changes });
}

const longTurns = [
  turn(
    1,
    call('read_file', '.', 1),
    call('read_file', 'package.json', 2),
    call('shell', 'git log --oneline -5', 30),
  ),
  turn(
    2,
    call(
      'shell',
      'npm test -- --reporter=verbose --coverage --testPathPattern "src/billing/.*\\.test\\.ts$" 2>&1 | tail -200',
      41_250,
    ),
  ),
  turn(
    3,
    call('read_file', 'src/billing/invoice.ts', 2),
    call('read_file', 'src/billing/missing.ts', 1, 'error'),
  ),
  {
    ...turn(4),
    calls: [
      { name: 'structured_output', target: '', decision: 'rejected', durationMs: 0 },
      { name: 'shell', target: 'rm -r build', decision: 'skipped', durationMs: 0 },
    ],
  },
  turn(5),
  {
    ...turn(6),
    forced: true,
    calls: [{ name: 'structured_output', target: '', decision: 'accepted', durationMs: 0 }],
  },
] satisfies readonly TurnRecord[];

const findings = [
  {
    severity: 'error',
    path: 'src/billing/invoice.ts',
    line: 118,
    message:
      'The total is rounded before tax is added, so an invoice of 3 × €0.335 is off by one cent. Round once, after `applyTax()`.',
  },
  { severity: 'warning', path: 'src/billing/invoice.ts', line: 12, message: 'Unused import `Decimal`.' },
  {
    severity: 'note',
    path: 'README.md',
    line: 40,
    message: 'The example still calls `createInvoice(a, b)`.',
  },
];

const evil =
  '</details></td><script>alert(1)</script>\n\n# ✅ pass\n```\n| @octocat #1 https://x.y [x](http://a) ![i](https://c.d/e.png) <!-- sticky --> /merge :tada: $x^2$ **b** _i_';

const reports: Readonly<Record<string, Report>> = {
  accepted: sampleReport({ turns: longTurns, turnCount: 6, durationMs: 52_340 }),
  'gate-not-met': gateFails(
    {
      passed: false,
      summary:
        '2 of 214 tests fail in `src/billing`. The refactoring is sound, but rounding changed.\nSee the findings.',
      findings,
    },
    { turns: longTurns, turnCount: 6, durationMs: 52_340, rejections: 1, changedFiles: 2 },
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
  'many-findings': gateFails({
    passed: false,
    summary: 'The change breaks the public API in many places.',
    findings: Array.from({ length: 200 }, (_, at) => ({
      severity: (['error', 'warning', 'note'] as const)[at % 3] ?? 'note',
      path: `packages/core/src/generated/module_${at % 17}.ts`,
      line: 10 + at * 3,
      message: `Export number ${at} was removed without a deprecation, see __all__ in the index.`,
    })),
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
  'security-gate': gateFails(
    {
      passed: false,
      complete: true,
      summary: 'The search box reaches the database without being quoted.',
      findings: [
        {
          severity: 'critical',
          category: 'injection',
          cwe: 'CWE-89',
          path: 'src/search.ts',
          line: 42,
          title: 'SQL injection in the search',
          message:
            'Whoever may search can read every table: `q` is joined into the query. Pass it as a parameter.',
        },
        {
          severity: 'low',
          category: 'configuration',
          path: 'nginx.conf',
          line: 7,
          title: 'The version is told',
          message: 'The server names its version in each answer.',
        },
      ],
    },
    { turns: longTurns, turnCount: 6, durationMs: 84_340 },
    {
      status: 'not_met',
      issues: [],
      words: [
        'wants `passed` to be true; the payload says false',
        'wants `severity` of each of `findings` to be `medium` or `low`; the payload says `critical` in 1 of 2',
      ],
    },
  ),
  small: sampleReport({
    gate: { status: 'met', issues: [], words: ['wants `passed` to be true; the payload agrees'] },
    payload: {
      passed: true,
      summary: 'All 214 tests pass, and nothing that others call has changed.',
      findings: [],
    },
  }),
  hostile: gateFails(
    {
      passed: false,
      summary: evil,
      [evil]: evil,
      findings: [{ severity: 'error', path: evil, line: 1, message: evil }],
      list: [evil, 1, null],
    },
    {
      model: evil,
      weaknesses: [evil],
      turns: [turn(1, call('shell', evil, 12), call(evil, evil, 3, 'error'))],
    },
  ),
};
