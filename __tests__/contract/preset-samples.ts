/** Payloads for each preset. */
import type { JsonObject } from '../../src/types.ts';

/** What a preset has to take and to refuse. */
export interface Samples {
  readonly outputs: readonly string[];
  /** Taken, and the gate is met. */
  readonly met: readonly JsonObject[];
  /** Taken, and the gate is not met. */
  readonly unmet: readonly JsonObject[];
  /** They claim to pass beside what forbids it; the model is told that `passed` must be false. */
  readonly contradictions: readonly JsonObject[];
  readonly refused: readonly JsonObject[];
}

const finding = { severity: 'error', path: 'a.ts', line: 1, title: 't', message: 'm' };
const defect = { ...finding, category: 'correctness', end_line: 3 };
const hole = { ...defect, severity: 'high', category: 'injection', cwe: 'CWE-89' };
const verdict = { passed: true, summary: 's' };
const review = { passed: true, complete: true, summary: 's', findings: [] };
const counts = { test_count: 3, failure_count: 0, skipped_count: 0 };
const report = { passed: true, summary: 's', command: 'npm test', ...counts, failures: [] };
const failure = { test: 'a > b', path: 'a.test.ts', line: 1, message: 'm' };

/** By the name of the preset. */
export const samples: Readonly<Record<string, Samples>> = {
  verdict: {
    outputs: ['passed', 'summary', 'findings'],
    met: [
      verdict,
      { ...verdict, findings: [] },
      {
        ...verdict,
        findings: [
          { ...finding, severity: 'warning' },
          { severity: 'note', message: 'm' },
        ],
      },
    ],
    unmet: [
      { passed: false, summary: 's' },
      { passed: false, summary: 's', findings: [finding] },
    ],
    contradictions: [
      { ...verdict, findings: [finding] },
      { ...verdict, findings: [{ severity: 'note', message: 'm' }, finding] },
    ],
    refused: [
      { passed: 'true', summary: 's' },
      { passed: true },
      { passed: true, summary: '' },
      { ...verdict, extra: 1 },
      { passed: false, summary: 's', findings: [{ ...finding, severity: 'fatal' }] },
      { passed: false, summary: 's', findings: [{ ...finding, line: 0 }] },
      { passed: false, summary: 's', findings: [{ ...finding, more: 1 }] },
    ],
  },
  'code-review': {
    outputs: ['passed', 'complete', 'summary', 'findings'],
    met: [
      review,
      { ...review, findings: [{ ...defect, severity: 'warning' }] },
      { ...review, findings: [{ severity: 'note', category: 'tests', title: 't', message: 'm' }] },
    ],
    unmet: [
      { ...review, passed: false, findings: [defect] },
      { ...review, passed: false, complete: false },
      { ...review, passed: false },
    ],
    contradictions: [
      { ...review, findings: [defect] },
      { ...review, complete: false },
      { ...review, complete: false, findings: [defect] },
    ],
    refused: [
      verdict,
      { passed: true, summary: 's', findings: [] },
      { passed: true, complete: true, summary: 's' },
      { ...review, findings: [finding] },
      { ...review, passed: false, findings: [{ ...defect, category: 'taste' }] },
      { ...review, passed: false, findings: [{ ...defect, path: '' }] },
      { ...review, passed: false, findings: [{ ...defect, severity: 'high' }] },
    ],
  },
  'security-review': {
    outputs: ['passed', 'complete', 'summary', 'findings'],
    met: [
      review,
      {
        ...review,
        findings: [
          { ...hole, severity: 'medium' },
          { ...hole, severity: 'low' },
        ],
      },
    ],
    unmet: [
      { ...review, passed: false, findings: [hole] },
      { ...review, passed: false, findings: [{ ...hole, severity: 'critical' }] },
      { ...review, passed: false, complete: false },
      { ...review, passed: false },
    ],
    contradictions: [
      { ...review, findings: [hole] },
      {
        ...review,
        findings: [
          { ...hole, severity: 'low' },
          { ...hole, severity: 'critical' },
        ],
      },
      { ...review, complete: false },
    ],
    refused: [
      { ...review, passed: false, findings: [{ ...hole, severity: 'error' }] },
      { ...review, passed: false, findings: [{ ...hole, cwe: '89' }] },
      { ...review, passed: false, findings: [{ ...hole, category: 'odd' }] },
      { passed: true, complete: true, summary: 's' },
    ],
  },
  'test-report': {
    outputs: ['passed', 'summary', 'command', 'test_count', 'failure_count', 'skipped_count', 'failures'],
    met: [report, { ...report, skipped_count: 2 }],
    unmet: [
      { ...report, passed: false, failure_count: 1, failures: [failure] },
      { ...report, passed: false, failure_count: 90, failures: Array(50).fill(failure) },
      { ...report, passed: false, test_count: 0 },
      { ...report, passed: false, test_count: 0, failure_count: 1, failures: [{ test: 'a', message: 'm' }] },
      { ...report, passed: false },
    ],
    contradictions: [
      { ...report, failure_count: 1, failures: [failure] },
      { ...report, failure_count: 1 },
      { ...report, test_count: 0 },
    ],
    refused: [
      { ...report, failures: [failure] },
      { ...report, passed: false, failures: [failure] },
      { ...report, passed: false, failure_count: 2 },
      { ...report, passed: false, failure_count: 51, failures: Array(51).fill(failure) },
      { ...report, test_count: -1 },
      { ...report, test_count: 1.5 },
      { ...report, command: '' },
      { ...report, passed: false, failure_count: 1, failures: [{ message: 'm' }] },
    ],
  },
};
