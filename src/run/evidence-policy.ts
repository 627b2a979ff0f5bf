/** What the policy of a run asks of its evidence. */
import type { Config } from '../config/parse-config.ts';
import { type DeclaredFindings, declaredFindings } from '../contract/declared-findings.ts';
import type { Preset } from '../contract/presets.ts';
import { InputError } from '../errors.ts';
import type { ReviewOptions } from '../evidence/review.ts';
import { isObject } from '../text/json.ts';
import type { JsonObject } from '../types.ts';

export type EvidencePolicy = Pick<
  ReviewOptions,
  'minCoverage' | 'autoShare' | 'hasComplete' | 'grounding' | 'gateFindings'
> & { readonly findings: DeclaredFindings | null };

/**
 * Determines what `auto` stands for.
 * @throws InputError if only proven findings are to count, and the schema has none
 */
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
  if (config.gateFindings === 'proven' && (findings === null || grounding === 'off'))
    throw new InputError('gate-findings', ({ setting, name }) =>
      findings === null
        ? `${setting('gate-findings', 'proven')} needs findings, and the schema declares none: an array "findings" whose rows have path, line and quote. Declare it, or leave ${name('gate-findings')} out.`
        : `${setting('gate-findings', 'proven')} needs findings that are looked up: ${config.grounding === 'off' ? `with ${setting('grounding', 'off')} none is` : 'the rows of this schema declare no quote'}. Change that, or leave ${name('gate-findings')} out.`,
    );
  return {
    minCoverage: config.minCoverage,
    autoShare: preset?.minCoverage ?? null,
    hasComplete: preset !== null && isObject(schema['properties']) && 'complete' in schema['properties'],
    grounding,
    gateFindings: config.gateFindings,
    findings,
  };
}

/** Whether a share of the change has to be shown, where it is known. */
export function requiresCoverage({ minCoverage, autoShare }: EvidencePolicy): boolean {
  return minCoverage === 'auto' ? autoShare !== null : minCoverage !== 'off';
}
