/** The result envelope: one object that tells a whole run, the same for the result file and for the CLI. */
import type { Issue, Json, JsonObject, Repair, Report } from '../types.ts';

/**
 * The envelope of a report, fields and order as documented under *Envelope*. `structured_result` and
 * `structured_output` are there exactly when the payload is published, `error` exactly when not, `last_assistant_text`
 * only after plain text. `mask` is applied to the sentences, never to the payload: what is told is what was accepted.
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
    result: payload === null ? error : JSON.stringify(payload),
    ...(payload === null ? {} : { structured_result: payload, structured_output: payload }),
    gate:
      report.gate === null ? null : { status: report.gate.status, issues: report.gate.issues.map(issueJson) },
    num_turns: report.turnCount,
    rejections: report.rejections,
    repaired: repairJson(report.repaired),
    usage: {
      input_tokens: report.usage.inputTokens,
      output_tokens: report.usage.outputTokens,
      cached_input_tokens: report.usage.cachedInputTokens,
      cache_write_tokens: report.usage.cacheWriteTokens,
    },
    total_cost_usd: report.costUsd,
    duration_ms: report.durationMs,
    model: report.model,
    provider: report.provider,
    ...(report.replayed === true ? { replayed: true } : {}),
    session_id: report.sessionId,
    sandbox: report.isolation,
    ...(payload === null ? { error } : {}),
    ...(report.lastAssistantText === null ? {} : { last_assistant_text: mask(report.lastAssistantText) }),
    subject: report.subject === null ? null : { ...report.subject },
    judge: { ...report.judge },
  };
}

function issueJson(issue: Issue): Json {
  return { path: issue.path, keyword: issue.keyword, message: issue.message };
}

function repairJson(repair: Repair | null): Json {
  if (repair === null) return null;
  return repair.kind === 'unwrapped'
    ? { kind: repair.kind, key: repair.key }
    : { kind: repair.kind, paths: repair.paths };
}
