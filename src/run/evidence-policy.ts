/** What the policy of a run asks of its evidence. */
import type { Config } from '../config/parse-config.ts';
import { type DeclaredFindings, declaredFindings, requiredProperties } from '../contract/declared.ts';
import type { Preset } from '../contract/presets.ts';
import type { ReviewPolicy } from '../evidence/review.ts';
import type { JsonObject } from '../types.ts';

export interface EvidencePolicy extends ReviewPolicy {
  /** Whether the payload names the command that it judged, as that of `test-report` does. */
  readonly namesCommand: boolean;
  readonly findings: DeclaredFindings | null;
  /** Whether a share of the change has to be shown, if it is known. */
  readonly requiresCoverage: boolean;
}

/** Determines what `auto` stands for. */
export function readEvidencePolicy(
  { minCoverage, grounding }: Config,
  schema: JsonObject,
  preset: Preset | null,
): EvidencePolicy {
  const findings = declaredFindings(schema);
  // Without a quote nothing can be proven, and every finding would be marked.
  const canQuote = findings?.properties.includes('quote') === true && findings.properties.includes('path');
  const automatic = !canQuote ? 'off' : preset === null ? 'mark' : 'require';
  const required = preset === null ? [] : requiredProperties(schema);
  const isReview = preset?.minCoverage === 1;
  return {
    ...{ minCoverage, findings, isReview, isPreset: preset !== null },
    namesCommand: required.includes('command'),
    requiresCoverage: minCoverage === 'auto' ? isReview : minCoverage !== 'off',
    grounding: grounding === 'auto' ? automatic : grounding,
  };
}
