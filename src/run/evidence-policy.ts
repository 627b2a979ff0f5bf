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
}

/** Determines what `auto` stands for. */
export function readEvidencePolicy(
  config: Config,
  schema: JsonObject,
  preset: Preset | null,
): EvidencePolicy {
  const findings = declaredFindings(schema);
  // Without a quote nothing can be proven, and every finding would be marked.
  const canQuote = findings?.properties.includes('quote') === true && findings.properties.includes('path');
  const automatic = !canQuote ? 'off' : preset === null ? 'mark' : 'require';
  const required = preset === null ? [] : requiredProperties(schema);
  return {
    minCoverage: config.minCoverage,
    autoShare: preset?.minCoverage ?? null,
    isPreset: preset !== null,
    hasComplete: required.includes('complete'),
    namesCommand: required.includes('command'),
    grounding: config.grounding === 'auto' ? automatic : config.grounding,
    findings,
  };
}

/** Whether a share of the change has to be shown, if it is known. */
export function requiresCoverage({ minCoverage, autoShare }: EvidencePolicy): boolean {
  return minCoverage === 'auto' ? autoShare !== null : minCoverage !== 'off';
}
