/** Builds the report that all reporters show from the state of a run. */

import type { Evidence, FindingEvidence, Report } from '../reporters/report-types.ts';
import { resolveFindings } from '../reporters/source-locations.ts';

import { STRUCTURED_OUTPUT_NAME } from '../tools/structured-output.ts';
import type { GateResult, JsonObject } from '../types.ts';
import { type Ending, preview, verdictOf } from './endings.ts';
import { answeredBy, modelWarning } from './model.ts';
import type { EndWorld, RunState } from './world.ts';

export interface Changed {
  readonly changedFiles: number;
  /** null when no patch was written. */
  readonly patchFile: string | null;
}

export function buildReport(
  ending: Ending,
  gate: GateResult | null,
  changes: Changed | null,
  state: RunState,
  world: EndWorld,
): Report {
  const { record, config } = state;
  const verdict = verdictOf(ending, {
    turns: record.totals.turns,
    gate,
    limits: limitWords(state),
    entry: world.entry,
    structuredOutputExcluded: config?.excludeTools.includes(STRUCTURED_OUTPUT_NAME) ?? false,
  });
  const replayed = state.replay === null ? [] : [modelWarning(state, world) ?? ''];
  const payload: JsonObject | null = 'payload' in ending && verdict.published ? ending.payload : null;
  const report: Report = {
    verdict,
    payload,
    gate: payload === null ? null : gate,
    turns: record.turns,
    turnCount: record.totals.turns,
    rejections: record.rejections,
    repaired: 'repaired' in ending ? ending.repaired : null,
    usage: record.totals.usage,
    costUsd: (config?.replay ?? null) === null ? record.totals.costUsd : 0,
    pricedAs: state.pricedAs,
    durationMs: Math.round(world.now() - state.startedAt),
    ...answeredBy(state),
    sessionId: state.sessionId,
    leg: state.identity.leg,
    vote: state.identity.vote,
    evidence: evidenceOf(payload, state, world),
    isolation: state.sandbox?.isolation() ?? 'none',
    scratch: state.sandbox?.layer() ?? null,
    lastAssistantText: ending.kind === 'plain_text' ? preview(ending.text) : null,
    subject: world.subject,
    policy: state.policy,
    policyChanges: state.policyChanges,
    outputNames: state.outputNames,
    changedFiles: changes?.changedFiles ?? null,
    patchFile: changes?.patchFile ?? null,
    results: world.results,
    weaknesses: [...replayed, ...(state.sandbox?.weaknesses() ?? [])],
  };
  return state.describe?.(report) ?? report;
}

function evidenceOf(payload: JsonObject | null, state: RunState, { locate }: EndWorld): Evidence | null {
  if (locate === null) return null;
  return describeEvidence(payload, state, payload === null ? [] : resolveFindings(payload, locate));
}

function limitWords({ config }: RunState) {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`;
  return {
    turns: `${count(config?.maxTurns ?? 0, 'turn')} (max-turns)`,
    time: count((config?.timeoutMs ?? 0) / 60_000, 'minute'),
    tokens: count(config?.maxTotalTokens ?? 0, 'token'),
    cost: `$${config?.maxCostUsd ?? 0}`,
  };
}

function describeEvidence(
  payload: JsonObject | null,
  { context, record, evidence }: RunState,
  findings: readonly FindingEvidence[],
): Evidence | null {
  if (context === null) return null;
  const looked = payload === null ? null : (evidence?.groundingOf(payload) ?? null);
  return {
    context,
    toolCalls: record.toolCalls,
    coverage: evidence?.coverage() ?? null,
    grounding: looked?.counts ?? null,
    findings:
      looked === null
        ? findings
        : looked.findings.map(({ path: name, line, lineWas, status }) => ({
            ...{ path: name, line, lineWas },
            grounding: status,
          })),
  };
}
