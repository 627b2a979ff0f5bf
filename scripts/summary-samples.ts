/** Summaries of endings that people meet, to be looked at: see `scripts/render-summary.ts`. */
import { sampleReport, unpublished } from '../__tests__/reporters/sample-report.ts';
import { InputError, SandboxError } from '../src/errors.ts';
import { providerError } from '../src/providers/failures.ts';
import { summaryMarkdown } from '../src/reporters/summary.ts';
import { missingWall } from '../src/sandbox/machine.ts';
import { createSecrets } from '../src/secrets.ts';
import type { JsonObject, Report, TurnRecord } from '../src/types.ts';
import { type Ending, verdictOf } from '../src/verdict.ts';

const limits = { turns: '30 turns (max-turns)', time: '10 minutes', tokens: '50000 tokens', cost: '$0.5' };

/** The Markdown of each sample by name. */
export function summarySamples(): Readonly<Record<string, string>> {
  const facts = { secrets: createSecrets(), serverUrl: 'https://github.com' };
  return Object.fromEntries(
    Object.entries(reports).map(([name, report]) => [name, summaryMarkdown(report, facts, 1024 * 1024)]),
  );
}

const noUsage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
const unstarted: Partial<Report> = {
  turns: [],
  turnCount: 0,
  usage: noUsage,
  costUsd: null,
  durationMs: 38,
  changedFiles: null,
};

function ended(ending: Ending, changes: Partial<Report> = {}): Report {
  const turns = changes.turnCount ?? 2;
  const verdict = verdictOf(ending, { turns, gate: null, limits });
  return sampleReport({ ...unpublished(''), ...changes, verdict });
}

function gateFails(payload: JsonObject, changes: Partial<Report> = {}): Report {
  const gate = {
    status: 'not_met',
    issues: [{ path: '/passed', keyword: 'const', message: 'must be true.' }],
  } as const;
  const verdict = verdictOf({ kind: 'submitted', payload, repaired: null }, { turns: 2, gate, limits });
  return sampleReport({ verdict, gate, payload, ...changes });
}

function turn(number: number, ...calls: TurnRecord['calls']): TurnRecord {
  return {
    turn: number,
    forced: false,
    durationMs: 1400 + number * 37,
    usage: {
      inputTokens: 2000 + 900 * number,
      outputTokens: 90,
      cachedInputTokens: 1000,
      cacheWriteTokens: 0,
    },
    calls,
  };
}

const call = (name: string, target: string, durationMs: number, decision: 'ok' | 'error' = 'ok') => ({
  name,
  target,
  decision,
  durationMs,
});

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
    severity: 'notice',
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
      severity: (['error', 'warning', 'notice'] as const)[at % 3] ?? 'notice',
      path: `packages/core/src/generated/module_${at % 17}.ts`,
      line: 10 + at * 3,
      message: `Export number ${at} was removed without a deprecation, see __all__ in the index.`,
    })),
  }),
  'plain-text': ended(
    {
      kind: 'plain_text',
      text: 'I have finished the review. Everything looks **good** to me, @octocat! The tests pass.',
      truncated: false,
    },
    { turns: [turn(1), { ...turn(2), forced: true }] },
  ),
  'config-error': ended(
    {
      kind: 'failed',
      error: new InputError(
        'provider',
        'No provider is known for the model "my-model". Set provider to one of openai, anthropic, openai-compatible, or set base-url for a compatible server.',
      ),
    },
    { ...unstarted, model: '', provider: '', isolation: 'none' },
  ),
  'no-sandbox': ended(
    { kind: 'failed', error: new SandboxError(missingWall('linux')) },
    { ...unstarted, turnCount: 1, turns: [], isolation: 'none' },
  ),
  'max-turns': ended(
    {
      kind: 'exhausted',
      limit: 'turns',
      lastIssues: [
        { path: '/findings/3/line', keyword: 'type', message: 'x' },
        { path: '', keyword: 'required', message: 'x' },
      ],
    },
    {
      turns: Array.from({ length: 30 }, (_, at) => turn(at + 1, call('shell', `npm test -- ${at}`, 1200))),
      turnCount: 30,
    },
  ),
  timeout: ended({ kind: 'exhausted', limit: 'time', lastIssues: [] }, { durationMs: 600_112 }),
  cancelled: ended({ kind: 'cancelled', signal: 'SIGTERM' }, { durationMs: 61_000 }),
  'secret-in-payload': ended({ kind: 'secret', where: '/summary, base64' }),
  'provider-auth': ended(
    {
      kind: 'failed',
      error: providerError(
        {
          status: 401,
          type: 'invalid_request_error',
          code: 'invalid_api_key',
          param: null,
          message: 'Incorrect API key provided: sk-c***.',
          requestId: null,
          cause: null,
        },
        {
          model: 'gpt-5',
          keySource: 'the input api-key',
          hasKey: true,
          chatHint: false,
          host: 'api.openai.com',
          forced: false,
        },
      ),
    },
    { ...unstarted, model: 'gpt-5' },
  ),
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
