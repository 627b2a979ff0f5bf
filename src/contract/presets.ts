/** The built-in schemas, each with its gate. */
import codeReview from '../../schemas/code-review.schema.json' with { type: 'json' };
import securityReviewGate from '../../schemas/security-review.gate.json' with { type: 'json' };
import securityReview from '../../schemas/security-review.schema.json' with { type: 'json' };
import testReportGate from '../../schemas/test-report.gate.json' with { type: 'json' };
import testReport from '../../schemas/test-report.schema.json' with { type: 'json' };
import verdict from '../../schemas/verdict.schema.json' with { type: 'json' };
import type { Entry } from '../text/messages.ts';
import type { JsonObject } from '../types.ts';
import { declaredBooleans, gatesOfTexts, PASSING, requiredProperties } from './declared.ts';
import type { GateRequest } from './gate.ts';

export interface Preset {
  readonly schema: JsonObject;
  /** The gate used for `gate: auto`. */
  readonly gate: GateRequest;
  /** The share of changed files that `min-coverage: auto` requires where the change is known; null for none. */
  readonly minCoverage: 1 | null;
}

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

/** What `gate: auto` means. The source designs end with 0 on the command line for any valid payload of one's own schema. */
export function automaticGate(schema: JsonObject, preset: Preset | null, entry: Entry): GateRequest {
  if (preset !== null) return preset.gate;
  const isMeant =
    requiredProperties(schema).includes('passed') && declaredBooleans(schema).includes('passed');
  return entry === 'action' && isMeant ? passed : { kind: 'none' };
}

/** The warning for a schema of one's own without a gate, and its fix. */
export function ungated(schema: JsonObject): { readonly message: string; readonly fix: string } {
  const gate = suggestGate(schema);
  return {
    message: 'The schema is your own and there is no gate, so a run is green whatever the verdict says.',
    fix:
      gate === null
        ? 'Set gate to a JSON Schema of what must hold, or gate: off if that is intended.'
        : `For example gate: ${gate} (or gate: off if that is intended).`,
  };
}

/** Returns a gate to paste: the name of a required boolean, or a schema for a listed text; null for none. */
export function suggestGate(schema: JsonObject): string | null {
  const required = requiredProperties(schema);
  const booleans = declaredBooleans(schema).filter((name) => required.includes(name));
  const named = booleans.find((name) => PASSING.test(name));
  if (named !== undefined) return named;
  const [listed] = gatesOfTexts(schema);
  return listed === undefined ? (booleans[0] ?? null) : `'${listed[1]}'`;
}
