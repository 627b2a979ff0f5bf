/** What the policy of a run asks of its evidence. */
import type { Config } from '../config/parse-config.ts';
import { type DeclaredFindings, declaredFindings } from '../contract/declared-findings.ts';
import type { Preset } from '../contract/presets.ts';
import type { ReviewOptions } from '../evidence/review.ts';
import { isObject } from '../text/json.ts';
import type { JsonObject } from '../types.ts';

export type EvidencePolicy = Pick<
  ReviewOptions,
  'minCoverage' | 'autoShare' | 'hasComplete' | 'grounding'
> & { readonly findings: DeclaredFindings | null };

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
  const grounding = config.grounding === 'auto' ? automatic : config.grounding;
  return {
    minCoverage: config.minCoverage,
    autoShare: preset?.minCoverage ?? null,
    hasComplete: preset !== null && isObject(schema['properties']) && 'complete' in schema['properties'],
    grounding,
    findings,
  };
}

/** Whether a share of the change has to be shown, where it is known. */
export function requiresCoverage({ minCoverage, autoShare }: EvidencePolicy): boolean {
  return minCoverage === 'auto' ? autoShare !== null : minCoverage !== 'off';
}
