/** Builds the report that all reporters show from the state of a run. */

import type { Config } from '../config/parse-config.ts';
import type { Evidence, FindingEvidence, Report, RunSettings } from '../reporters/report-types.ts';
import { resolveFindings } from '../reporters/source-locations.ts';

import { listNames } from '../text/messages.ts';
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
    turnCount: record.totals.turns,
    rejections: record.rejections,
    repaired: 'repaired' in ending ? ending.repaired : null,
    usage: record.totals.usage,
    costUsd: (config?.replay ?? null) === null ? record.totals.costUsd : 0,
    pricedAs: state.pricedAs,
    startedAt: state.beganAt.toISOString(),
    durationMs: Math.round(world.now() - state.startedAt),
    ...answeredBy(state),
    sessionId: state.sessionId,
    leg: state.identity.leg,
    vote: state.identity.vote,
    evidence: evidenceOf(payload, state, world),
    action: actionOf(world),
    settings: config === null ? null : settingsOf(config),
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
    weaknesses: [
      ...replayed,
      ...state.openGate,
      ...(state.sandbox?.weaknesses() ?? []),
      ...judgedSentence(state),
    ],
  };
  return state.describe?.(report) ?? report;
}

function evidenceOf(payload: JsonObject | null, state: RunState, { locate }: EndWorld): Evidence | null {
  if (locate === null) return null;
  return describeEvidence(payload, state, payload === null ? [] : resolveFindings(payload, locate));
}

/** Names the files that may have made the command succeed that the payload is about. */
function judgedSentence({ judgedWith }: RunState): readonly string[] {
  if (judgedWith.length === 0) return [];
  return [
    `Before the command of this report was judged, the agent changed or made ${listNames(judgedWith)}.`,
  ];
}

function actionOf({ entry, environment }: EndWorld): Report['action'] {
  const ref = environment['GITHUB_ACTION_REF'] ?? '';
  if (entry !== 'action' || ref === '') return null;
  return { ref, commit: /^[0-9a-f]{40}$/u.test(ref) ? ref : null };
}

function settingsOf(config: Config): RunSettings {
  const { tools, excludeTools, gate } = config;
  return {
    gate: gate.trimStart().startsWith('{') ? 'inline' : gate,
    minCoverage: config.minCoverage,
    grounding: config.grounding,
    tools: tools.filter((tool) => !excludeTools.includes(tool)),
    sandbox: config.sandbox,
    shellNetwork: config.shellNetwork,
    maxTurns: config.maxTurns,
    timeoutMinutes: config.timeoutMs / 60_000,
    maxTotalTokens: config.maxTotalTokens,
    maxCostUsd: config.maxCostUsd,
  };
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
  { context, record, commands, evidence }: RunState,
  findings: readonly FindingEvidence[],
): Evidence | null {
  if (context === null) return null;
  const looked = payload === null ? null : (evidence?.groundingOf(payload) ?? null);
  return {
    context,
    toolCalls: record.toolCalls,
    coverage: evidence?.coverage() ?? null,
    commands,
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
