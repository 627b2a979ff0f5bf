/** The report of a finished run, and its coverage; each test changes the fields that it is about. */
import type { Report, ViewFacts } from '../../src/reporters/report-types.ts';
import { ENDINGS } from '../../src/text/exit-codes.ts';
import type { Coverage, Reason, Verdict } from '../../src/types.ts';
import { knowSecrets } from '../support/surroundings.ts';

/** How the reports of these tests are shown. */
export const VIEW: ViewFacts = {
  secrets: knowSecrets('sk-canary_0123'),
  name: 'CI / review',
  serverUrl: 'https://github.com',
  help: 'https://github.com/org/structured-agent/blob/v1/docs/troubleshooting.md',
};

/** A successful two-turn run of the `verdict` preset's shape. */
export function sampleReport(changes: Partial<Report> = {}): Report {
  return {
    verdict: sampleVerdict('accepted', null, true),
    payload: {
      passed: true,
      summary: 'All 12 tests pass.',
      findings: [{ severity: 'warning', path: 'src/sum.js', line: 3, message: 'Unused variable' }],
    },
    gate: { status: 'met', issues: [] },
    turnCount: 2,
    rejections: 0,
    repaired: null,
    usage: { inputTokens: 3000, outputTokens: 210, cachedInputTokens: 1200, cacheWriteTokens: 0 },
    costUsd: 0.0042,
    startedAt: '2026-01-02T03:04:05.678Z',
    durationMs: 4321,
    action: { ref: 'v1', commit: null },
    settings: {
      gate: 'auto',
      min_coverage: 'auto',
      grounding: 'auto',
      tools: ['read_file', 'shell'],
      sandbox: 'required',
      shell_network: false,
      max_turns: 30,
      timeout_minutes: 10,
      max_total_tokens: null,
      max_cost_usd: null,
    },
    model: 'claude-sonnet-5-5',
    provider: 'anthropic',
    sessionId: '7f3c0c1e-0000-4000-8000-000000000000',
    isolation: 'bwrap',
    lastAssistantText: null,
    subject: {
      repository: 'octo/demo',
      sha: '0123456789abcdef0123456789abcdef01234567',
      ref: 'refs/heads/main',
      event: 'push',
      pull_request: null,
      run_id: '42',
      run_attempt: 1,
    },
    policy: {
      schema_sha256: 'aa'.repeat(32),
      gate_sha256: null,
      prompt_sha256: 'bb'.repeat(32),
      version: '0.1.0',
    },
    policyChanges: [],
    outputNames: ['passed', 'summary', 'findings'],
    changedFiles: 0,
    patchFile: null,
    results: '/tmp/results',
    weaknesses: [],
    ...changes,
  };
}

/** The verdict of a run that ended for this reason. */
export function sampleVerdict(reason: Reason, error: string | null, published = false): Verdict {
  const [conclusion, subtype, exitCode] = ENDINGS[reason];
  return { conclusion, reason, subtype, exitCode, published, error };
}

/** The verdict of a gate that is not met. */
export const notMet = sampleVerdict('gate_not_met', 'The gate is not met.', true);

/** The changed fields of a report whose payload was not published. */
export function unpublished(error: string, reason: Reason = 'plain_text'): Partial<Report> {
  return { verdict: sampleVerdict(reason, error), payload: null, gate: null };
}

/** A place in a file. */
export function placeAt(path: string, line: number | null = null, endLine: number | null = null) {
  return { path, line, endLine };
}

/** A finding, and the evidence of a run that could not prove it. */
export const FINDING = { severity: 'error', path: 'src/a.js', line: 2, message: 'm' };
export const UNPROVEN = {
  context: 'complete',
  toolCalls: 1,
  grounding: { exact: 0, moved: 0, unproven: 1 },
  findings: [{ path: 'src/a.js', line: 2, grounding: 'unproven' }],
} as const;

/** A change of 43 files, all shown. */
export function sampleCoverage(files: Partial<Coverage['files']> = {}): Coverage {
  const all = { changed: 43, required: 43, shown: 43, unseen: [], notRequired: [] };
  return { status: 'measured', why: null, files: { ...all, ...files } };
}

/** 41 of 43 files were shown, one of the others in part; three more need not be. */
export const unseenCoverage = sampleCoverage({
  changed: 46,
  shown: 41,
  unseen: ['src/billing/tax.ts', 'src/billing/invoice.ts'],
  notRequired: [
    { path: 'package-lock.json', why: 'lock_file' },
    { path: 'docs/logo.png', why: 'binary' },
    { path: 'docs/mark.png', why: 'binary' },
  ],
});
