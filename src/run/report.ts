/** Builds the report that all reporters show from the state of a run. */
import type { InputName } from '../config/inputs.ts';
import type { Config } from '../config/parse-config.ts';
import { resolveFindings } from '../reporters/places.ts';
import type { Evidence, Report } from '../reporters/report-types.ts';
import { counted, type Entry, inputName, listNames } from '../text/messages.ts';
import { STRUCTURED_OUTPUT_NAME } from '../tools/tool.ts';
import type { JsonObject } from '../types.ts';
import { type Ending, preview, verdictOf } from './endings.ts';
import type { EndWorld, RunState } from './world.ts';

/** What is found out while a run is finished. */
type Found = Pick<Report, 'gate' | 'changedFiles' | 'patchFile' | 'policyChanges'>;

export function buildReport(ending: Ending, found: Found, state: RunState, world: EndWorld): Report {
  const { record, config, isValid, sandbox, judgedWith, interrupt } = state;
  const { turns, usage, costUsd } = record.totals;
  const verdict = verdictOf(ending, {
    turns,
    gate: found.gate,
    limits: limitWords(config, world.entry),
    entry: world.entry,
    signal: interrupt.signal.aborted ? String(interrupt.signal.reason) : null,
    isExcluded: config?.excludeTools.includes(STRUCTURED_OUTPUT_NAME) ?? false,
  });
  const payload = ending.kind === 'submitted' ? ending.payload : null;
  // These files may have made the command succeed.
  const text = `Before the command of this report was judged, the agent changed or made ${listNames(judgedWith)}.`;
  const report: Report = {
    ...found,
    gate: payload === null ? null : found.gate,
    verdict,
    payload,
    turnCount: turns,
    rejections: record.rejections,
    repaired: ending.kind === 'submitted' ? ending.repaired : null,
    usage,
    costUsd: state.answeredBy.replayed === true ? 0 : costUsd,
    pricedAs: state.pricedAs,
    startedAt: state.startedAt.toISOString(),
    durationMs: Date.now() - state.startedAt.getTime(),
    ...state.answeredBy,
    sessionId: state.sessionId,
    leg: config?.leg ?? null,
    vote: config?.vote ?? null,
    evidence: describeEvidence(payload, state, world),
    action: actionOf(world),
    settings: config !== null && isValid ? settingsOf(config) : null,
    isolation: sandbox?.isolation() ?? 'none',
    scratch: sandbox?.layer() ?? null,
    lastAssistantText: ending.kind === 'plain_text' ? preview(ending.text) : null,
    subject: world.subject,
    policy: state.policy,
    outputNames: state.outputNames,
    results: world.results,
    weaknesses: [
      ...state.weaknesses,
      ...(sandbox?.weaknesses() ?? []),
      ...(judgedWith.length === 0 ? [] : [text]),
    ],
  };
  return state.describe?.(report) ?? report;
}

function actionOf({ entry, environment }: EndWorld): Report['action'] {
  const ref = environment['GITHUB_ACTION_REF'] ?? '';
  if (entry !== 'action' || ref === '') return null;
  return { ref, commit: /^[0-9a-f]{40}$/u.test(ref) ? ref : null };
}

/** The settings that the envelope names. */
function settingsOf(config: Config): JsonObject {
  const { tools, excludeTools, gate } = config;
  return {
    gate: gate.trimStart().startsWith('{') ? 'inline' : gate,
    min_coverage: config.minCoverage,
    grounding: config.grounding,
    tools: tools.filter((tool) => !excludeTools.includes(tool)),
    sandbox: config.sandbox,
    shell_network: config.shellNetwork,
    max_turns: config.maxTurns,
    timeout_minutes: config.timeoutMs / 60_000,
    max_total_tokens: config.maxTotalTokens,
    max_cost_usd: config.maxCostUsd,
  };
}

/** The limits of a run as its verdict names them. A limit that is not set is never reached. */
function limitWords(config: Config | null, entry: Entry) {
  const { maxTurns, timeoutMs = 0, maxTotalTokens, maxCostUsd } = config ?? {};
  const name = (input: InputName) => inputName(input, entry);
  return {
    turns: `${counted(maxTurns ?? 0, 'turn')} (${name('max-turns')})`,
    time: `${counted(timeoutMs / 60_000, 'minute')} (${name('timeout-minutes')})`,
    tokens: `${counted(maxTotalTokens ?? 0, 'token')} (${name('max-total-tokens')})`,
    cost: `$${maxCostUsd ?? 0} (${name('max-cost-usd')})`,
  };
}

function describeEvidence(
  payload: JsonObject | null,
  { context, record, commands, evidence }: RunState,
  { locate }: EndWorld,
): Evidence | null {
  if (context === null) return null;
  const looked = payload === null ? undefined : evidence?.groundingOf(payload);
  return {
    context,
    toolCalls: record.toolCalls,
    coverage: evidence?.coverage() ?? null,
    commands,
    grounding: looked?.grounding ?? null,
    findings: looked?.findings ?? (payload === null ? [] : resolveFindings(payload, locate)),
  };
}
