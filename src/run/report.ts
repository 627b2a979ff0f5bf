/** Builds the report that all reporters show from the state of a run. */
import type { Config } from '../config/parse-config.ts';
import { resolveFindings } from '../reporters/places.ts';
import type { Evidence, Report } from '../reporters/report-types.ts';
import { counted, listNames } from '../text/messages.ts';
import { STRUCTURED_OUTPUT_NAME } from '../tools/tool.ts';
import type { JsonObject } from '../types.ts';
import { type Ending, preview, verdictOf } from './endings.ts';
import { modelWarnings } from './model.ts';
import type { EndWorld, RunState } from './world.ts';

/** What is found out while a run is finished. */
type Found = Pick<Report, 'gate' | 'changedFiles' | 'patchFile' | 'policyChanges'>;

export function buildReport(ending: Ending, found: Found, state: RunState, world: EndWorld): Report {
  const { gate } = found;
  const { record, config, sandbox, judgedWith } = state;
  const verdict = verdictOf(ending, {
    turns: record.totals.turns,
    gate,
    limits: limitWords(config),
    entry: world.entry,
    isExcluded: config?.excludeTools.includes(STRUCTURED_OUTPUT_NAME) ?? false,
  });
  const payload = 'payload' in ending && verdict.published ? ending.payload : null;
  const report: Report = {
    ...found,
    gate: payload === null ? null : gate,
    verdict,
    payload,
    turnCount: record.totals.turns,
    rejections: record.rejections,
    repaired: 'repaired' in ending ? ending.repaired : null,
    usage: record.totals.usage,
    costUsd: (config?.replay ?? null) === null ? record.totals.costUsd : 0,
    pricedAs: state.pricedAs,
    startedAt: state.startedAt.toISOString(),
    durationMs: Date.now() - state.startedAt.getTime(),
    ...answeredBy(state),
    sessionId: state.sessionId,
    leg: config?.leg ?? null,
    vote: config?.vote ?? null,
    evidence: describeEvidence(payload, state, world),
    action: actionOf(world),
    settings: config !== null && state.isValid ? settingsOf(config) : null,
    isolation: sandbox?.isolation() ?? 'none',
    scratch: sandbox?.layer() ?? null,
    lastAssistantText: ending.kind === 'plain_text' ? preview(ending.text) : null,
    subject: world.subject,
    policy: state.policy,
    outputNames: state.outputNames,
    results: world.results,
    weaknesses: [
      ...(state.replay === null ? [] : modelWarnings(state, world)),
      ...state.openGate,
      ...(sandbox?.weaknesses() ?? []),
      // These files may have made the command succeed.
      ...(judgedWith.length === 0
        ? []
        : [
            `Before the command of this report was judged, the agent changed or made ${listNames(judgedWith)}.`,
          ]),
    ],
  };
  return state.describe?.(report) ?? report;
}

function answeredBy({ config, isValid, replay }: RunState): Pick<Report, 'model' | 'provider' | 'replayed'> {
  if (config === null) return { model: '', provider: '' };
  const { model } = config.model;
  const provider = isValid ? config.model.provider : '';
  if (config.replay === null) return { model, provider };
  const name = replay?.name ?? 'replay of nothing';
  return { model: name, provider: replay?.provider ?? provider, replayed: true };
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
function limitWords(config: Config | null) {
  const { maxTurns, timeoutMs = 0, maxTotalTokens, maxCostUsd } = config ?? {};
  return {
    turns: `${counted(maxTurns ?? 0, 'turn')} (max-turns)`,
    time: `${counted(timeoutMs / 60_000, 'minute')} (timeout-minutes)`,
    tokens: `${counted(maxTotalTokens ?? 0, 'token')} (max-total-tokens)`,
    cost: `$${maxCostUsd ?? 0} (max-cost-usd)`,
  };
}

function describeEvidence(
  payload: JsonObject | null,
  { context, record, commands, evidence }: RunState,
  { locate }: EndWorld,
): Evidence | null {
  if (context === null) return null;
  const looked = payload === null ? null : (evidence?.groundingOf(payload) ?? null);
  const grounded = looked?.findings.map(({ path, line, lineWas, status }) => ({
    path,
    line,
    lineWas,
    grounding: status,
  }));
  return {
    context,
    toolCalls: record.toolCalls,
    coverage: evidence?.coverage() ?? null,
    commands,
    grounding: looked?.counts ?? null,
    findings: grounded ?? (payload === null ? [] : resolveFindings(payload, locate)),
  };
}
