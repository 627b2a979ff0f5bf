/** The merged payload: what a merge publishes, as consumers of the outputs read it. */
import type { Merged, MergedFinding } from '../merge-types.ts';
import type { Json, JsonObject } from '../types.ts';

/**
 * The payload of a merge that came to a verdict.
 * @param counted `rule`, `votes`, `tally` and `legs` as the envelope tells them.
 */
export function payloadOf(merged: Merged, counted: JsonObject): JsonObject {
  const { usage } = merged;
  return {
    passed: merged.ballot === 'pass',
    summary: merged.summary,
    ...counted,
    findings: merged.findings.map(findingJson),
    findings_left_out: merged.findingsLeftOut,
    total: {
      turns: merged.turns,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cost_usd: merged.costUsd,
    },
  };
}

/** What a run did not say is not there, and `outvoted` only where it is true. */
function findingJson(finding: MergedFinding): Json {
  const { severity, path, line, endLine, rule, title, message, legs, votes, outvoted } = finding;
  return {
    severity,
    ...given('path', path),
    ...given('line', line),
    ...given('end_line', endLine),
    ...given('rule', rule),
    ...given('title', title),
    message,
    legs,
    votes,
    ...(outvoted ? { outvoted } : {}),
  };
}

function given(name: string, value: string | number | null): JsonObject {
  return value === null ? {} : { [name]: value };
}
