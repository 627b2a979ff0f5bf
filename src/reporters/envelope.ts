/** The result envelope: one object that describes a whole run, the same for the result file and the CLI. */
import path from 'node:path';
import { InputError, messageOf } from '../errors.ts';
import { writePrivateFile } from '../files/private-file.ts';
import { coverageJson } from '../text/coverage.ts';
import { isArray } from '../text/json.ts';
import { truncate } from '../text/messages.ts';
import type { Secrets } from '../text/secrets.ts';
import type { CommandRecord, GateResult, Issue, Json, JsonObject, Repair, Usage } from '../types.ts';
import { RESULT_FILES } from './outputs.ts';
import type { Evidence, FindingEvidence, Report, RunSettings } from './report-types.ts';

/**
 * Builds the envelope of a report, with fields and order as documented under *Envelope*. `structured_result` and
 * `structured_output` are present exactly when the payload is published, `error` exactly when it is not, and
 * `last_assistant_text` only after plain text. The fields of the report's own view come last. `mask` is applied to
 * sentences and to names from outside, never to the payload: the payload is published exactly as it was accepted.
 */
export function envelope(report: Report, mask: (text: string) => string): JsonObject {
  const { verdict, payload } = report;
  const error = mask(verdict.error ?? verdict.reason);
  return {
    type: 'result',
    subtype: verdict.subtype,
    is_error: verdict.exitCode !== 0,
    exit_code: verdict.exitCode,
    conclusion: verdict.conclusion,
    reason: verdict.reason,
    result: payload === null ? error.toWellFormed() : JSON.stringify(payload),
    ...(payload === null ? {} : { structured_result: payload, structured_output: payload }),
    ...wellFormed(facts(report, payload === null ? { error } : {}, mask)),
  };
}

function facts(report: Report, error: JsonObject, mask: (text: string) => string): JsonObject {
  const { gate, evidence = null, view } = report;
  return {
    gate: gate === null ? null : gateJson(gate, mask),
    num_turns: report.turnCount,
    // Duplicates of fields under the names of a source design's result frame, whose consumers read them at this level.
    turns: report.turnCount,
    rejections: report.rejections,
    repaired: repairJson(report.repaired, mask),
    usage: usageJson(report.usage),
    total_input_tokens: report.usage.inputTokens,
    total_output_tokens: report.usage.outputTokens,
    total_cost_usd: report.costUsd,
    ...(report.pricedAs == null ? {} : { priced_as: report.pricedAs }),
    started_at: report.startedAt,
    duration_ms: report.durationMs,
    model: mask(report.model),
    provider: report.provider,
    ...(report.replayed === true ? { replayed: true } : {}),
    session_id: report.sessionId,
    sandbox: report.isolation,
    ...(report.scratch == null ? {} : { scratch: report.scratch }),
    ...error,
    ...(report.lastAssistantText === null ? {} : { last_assistant_text: mask(report.lastAssistantText) }),
    subject: report.subject === null ? null : { ...report.subject },
    judge: { ...report.policy },
    ...(report.action === null ? {} : { action: { ...report.action } }),
    ...(report.settings === null ? {} : { settings: settingsJson(report.settings) }),
    leg: report.leg ?? null,
    vote: report.vote ?? null,
    ...(evidence === null ? {} : { evidence: evidenceJson(evidence, mask) }),
    ...view?.envelope?.(mask),
  };
}

function settingsJson(settings: RunSettings): JsonObject {
  return {
    gate: settings.gate,
    min_coverage: settings.minCoverage,
    grounding: settings.grounding,
    tools: settings.tools,
    sandbox: settings.sandbox,
    shell_network: settings.shellNetwork,
    max_turns: settings.maxTurns,
    timeout_minutes: settings.timeoutMinutes,
    max_total_tokens: settings.maxTotalTokens,
    max_cost_usd: settings.maxCostUsd,
  };
}

export function usageJson(usage: Usage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
  };
}

function gateJson({ status, issues }: GateResult, mask: (text: string) => string): JsonObject {
  return { status, issues: issues.map((issue) => issueJson(issue, mask)) };
}

function issueJson({ path, keyword, message }: Issue, mask: (text: string) => string): Json {
  return { path: mask(path), keyword: mask(keyword), message: mask(message) };
}

/**
 * The wrapper's name comes from the model and is not part of the payload that is searched for secrets, so it is masked.
 */
function repairJson(repair: Repair | null, mask: (text: string) => string): Json {
  if (repair === null) return null;
  return repair.kind === 'unwrapped'
    ? { kind: repair.kind, key: mask(repair.key) }
    : { kind: repair.kind, paths: repair.paths.map(mask) };
}

/**
 * Paths are masked: symbolic links were resolved, so a path may contain text that the payload does not. Of findings that
 * were not checked only the path is written.
 */
function evidenceJson(
  { context, toolCalls, coverage, commands, grounding, findings }: Evidence,
  mask: (text: string) => string,
): JsonObject {
  const isChecked = (grounding ?? null) !== null;
  return {
    context,
    tool_calls: toolCalls,
    ...(coverage === undefined ? {} : { coverage: coverage && coverageJson(coverage, mask) }),
    ...(commands === undefined ? {} : { commands: commands.map((each) => commandJson(each, mask)) }),
    ...(grounding === undefined ? {} : { grounding: grounding && { ...grounding } }),
    findings: findings.map((finding) => findingJson(finding, isChecked, mask)),
  };
}

/** UTF-16 code units of a command, as in the schema. */
const MAX_COMMAND = 2_000;

function commandJson({ command, exitCode, seconds }: CommandRecord, mask: (text: string) => string): Json {
  return { command: truncate(mask(command), MAX_COMMAND), exit_code: exitCode, seconds };
}

function findingJson(
  { path, line = null, lineWas = null, grounding = null }: FindingEvidence,
  isChecked: boolean,
  mask: (text: string) => string,
): Json {
  const place = { path: path === null ? null : mask(path) };
  return isChecked ? { ...place, line, line_was: lineWas, grounding } : place;
}

/**
 * Replaces lone surrogates, which truncated text may end with. They could be written but not read back: strict readers
 * reject them, and text that contains one cannot be signed. The payload was parsed strictly and contains none.
 */
function wellFormed(envelope: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(envelope).map(([name, value]) => [name, wellFormedValue(value)]));
}

function wellFormedValue(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (isArray(value)) return value.map(wellFormedValue);
  return typeof value === 'object' && value !== null ? wellFormed(value) : value;
}

/** Signs an envelope in its masked form, exactly as written except for the signature. */
type Sign = (envelope: JsonObject) => string;

/**
 * Writes the envelope to the results folder as one line of JSON and a newline, atomically, readable only by the owner.
 * Does nothing if the run has no such folder.
 * @param sign returns the last field, `signature`; without it the field is absent.
 * @throws InputError if the file cannot be written: a missing output is exit code 52.
 */
export function writeResultFile(report: Report, secrets: Secrets, sign: Sign | null = null): void {
  if (report.results === null) return;
  const file = path.join(report.results, RESULT_FILES.result);
  try {
    const unsigned = envelope(report, secrets.mask);
    const whole = sign === null ? unsigned : { ...unsigned, signature: sign(unsigned) };
    writePrivateFile(file, `${JSON.stringify(whole)}\n`);
  } catch (cause) {
    const why = messageOf(cause);
    throw new InputError(null, `The result file ${JSON.stringify(file)} cannot be written: ${why}.`, {
      cause,
    });
  }
}
