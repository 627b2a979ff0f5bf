/** The built-in schemas, each with its gate. */
import codeReview from '../../schemas/code-review.schema.json' with { type: 'json' };
import securityReviewGate from '../../schemas/security-review.gate.json' with { type: 'json' };
import securityReview from '../../schemas/security-review.schema.json' with { type: 'json' };
import testReportGate from '../../schemas/test-report.gate.json' with { type: 'json' };
import testReport from '../../schemas/test-report.schema.json' with { type: 'json' };
import verdict from '../../schemas/verdict.schema.json' with { type: 'json' };
import type { JsonObject } from '../types.ts';
import type { GateRequest } from './gate.ts';

export interface Preset {
  readonly schema: JsonObject;
  /** The gate used for `gate: auto`. */
  readonly gate: GateRequest;
  /** The share of changed files that `min-coverage: auto` requires where the change is known; null for none. */
  readonly minCoverage: 1 | null;
}

/** The preset used when no schema is given. */
export const defaultPreset = 'verdict';

const passed: GateRequest = { kind: 'property', name: 'passed' };

/** The presets by name. Each has `passed`, which its gate requires to be true, `summary`, and a list of rows. */
export const presets: ReadonlyMap<string, Preset> = new Map<string, Preset>([
  [defaultPreset, { schema: verdict, gate: passed, minCoverage: null }],
  ['code-review', { schema: codeReview, gate: passed, minCoverage: 1 }],
  [
    'security-review',
    { schema: securityReview, gate: { kind: 'schema', schema: securityReviewGate }, minCoverage: 1 },
  ],
  [
    'test-report',
    { schema: testReport, gate: { kind: 'schema', schema: testReportGate }, minCoverage: null },
  ],
]);

/** The warning for a gate that was probably forgotten, and its fix. */
export const UNGATED = {
  message: 'No gate is set, so the step is green whatever "passed" says.',
  fix: 'Set gate: passed, or gate: off to say that this is intended.',
} as const;

/**
 * Whether a gate was probably forgotten: a custom schema declares a property about passing, and no gate checks it.
 * @param gate as typed; `auto` when absent
 */
export function isUngated(gate: string, schema: string, declaredProperties: readonly string[]): boolean {
  return gate === 'auto' && !presets.has(schema.trim()) && declaredProperties.includes('passed');
}
