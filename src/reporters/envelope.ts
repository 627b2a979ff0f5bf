/** The result envelope: one object that describes a whole run, the same for the result file and the CLI. */
import path from 'node:path';
import { InputError, messageOf } from '../errors.ts';
import { writePrivateFile } from '../files/private-file.ts';
import { isArray, isObject } from '../text/json.ts';
import { DISPLAY } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Issue, Json, JsonObject } from '../types.ts';
import { mapFields } from './messages.ts';
import { RESULT_FILES } from './outputs.ts';
import type { Evidence, Report } from './report-types.ts';

type Mask = (text: string) => string;

/**
 * Builds the envelope of a report, with fields and order as documented under *Envelope*. `structured_result` and
 * `structured_output` are present exactly when the payload is published, `error` exactly when it is not, and
 * `last_assistant_text` only after plain text. The fields of the report's own view come last. `mask` is applied to
 * sentences and to names from outside, never to the payload: the payload is published exactly as it was accepted.
 */
export function envelope(report: Report, mask: Mask): JsonObject {
  const { verdict, payload } = report;
  const error = mask(verdict.error ?? verdict.reason).toWellFormed();
  return {
    type: 'result',
    subtype: verdict.subtype,
    is_error: verdict.exitCode !== 0,
    exit_code: verdict.exitCode,
    conclusion: verdict.conclusion,
    reason: verdict.reason,
    result: payload === null ? error : JSON.stringify(payload),
    ...(payload === null ? {} : { structured_result: payload, structured_output: payload }),
    // Replaces the lone surrogates that truncated text may end with: strict readers reject them, and text that contains
    // one cannot be signed. The payload was parsed strictly and contains none.
    ...mapFields(factsOf(report, payload === null ? { error } : {}, mask), (text) => text.toWellFormed()),
  };
}

function factsOf(report: Report, error: JsonObject, mask: Mask): JsonObject {
  const { gate, evidence = null, usage, view } = report;
  return {
    gate:
      gate === null
        ? null
        : { status: gate.status, issues: gate.issues.map((issue) => issueJson(issue, mask)) },
    num_turns: report.turnCount,
    // The same fields by their names in a source design's result frame, whose consumers read them at this level.
    turns: report.turnCount,
    rejections: report.rejections,
    // The wrapper's name comes from the model and is not part of the payload that is searched for secrets.
    repaired: report.repaired && mapFields(report.repaired, mask),
    usage: snakeKeys(usage),
    total_input_tokens: usage.inputTokens,
    total_output_tokens: usage.outputTokens,
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
    ...(report.action === null ? {} : { action: report.action }),
    ...(report.settings === null ? {} : { settings: report.settings }),
    leg: report.leg ?? null,
    vote: report.vote ?? null,
    ...(evidence === null ? {} : { evidence: evidenceJson(evidence, mask) }),
    ...view?.envelope?.(mask),
  };
}

/** Renames fields to the snake_case of the envelope. */
export function snakeKeys(fields: object): JsonObject {
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const inner = (value: Json): Json => {
    if (isArray(value)) return value.map(inner);
    return isObject(value) ? snakeKeys(value) : value;
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [snake(name), inner(value)]));
}

function issueJson({ path, keyword, message }: Issue, mask: Mask): JsonObject {
  return { path: mask(path), keyword: mask(keyword), message: mask(message) };
}

/** UTF-16 code units of a command and of a reason, as in the schema. */
const MAX_COMMAND = 2_000;
const MAX_WHY = 500;
/** Files in each list: an envelope has some hundred kilobytes of paths at most. */
const MAX_FILES = 200;

/** Paths are masked: symbolic links were resolved, so a path may contain text that the payload does not. */
function evidenceJson(evidence: Evidence, mask: Mask): JsonObject {
  const { coverage, commands = [], findings } = evidence;
  const cut = (text: string, max: number = DISPLAY.wholePath) => truncate(mask(text), max);
  return snakeKeys({
    ...evidence,
    coverage: coverage && {
      ...coverage,
      why: coverage.why === null ? null : cut(coverage.why, MAX_WHY),
      files: {
        ...coverage.files,
        unseen: coverage.files.unseen.slice(0, MAX_FILES).map((file) => cut(file)),
        notRequired: coverage.files.notRequired
          .slice(0, MAX_FILES)
          .map(({ path: file, why }) => ({ path: cut(file), why })),
      },
    },
    commands: commands.map((each) => ({ ...each, command: cut(each.command, MAX_COMMAND) })),
    findings: findings.map((each) => ({ ...each, path: each.path === null ? null : mask(each.path) })),
  });
}

/**
 * Writes the envelope to the results folder as one line of JSON and a newline, atomically, readable only by the owner.
 * Does nothing if the run has no such folder.
 * @param sign returns the last field, `signature`, of the masked envelope; without it the field is absent.
 * @throws InputError if the file cannot be written: a missing output is exit code 52.
 */
export function writeResultFile(
  report: Report,
  secrets: Secrets,
  sign: ((unsigned: JsonObject) => string) | null = null,
): void {
  if (report.results === null) return;
  const file = path.join(report.results, RESULT_FILES.result);
  try {
    const unsigned = envelope(report, secrets.mask);
    const whole = sign === null ? unsigned : { ...unsigned, signature: sign(unsigned) };
    writePrivateFile(file, `${JSON.stringify(whole)}\n`);
  } catch (cause) {
    const why = `The result file ${JSON.stringify(file)} cannot be written: ${messageOf(cause)}.`;
    throw new InputError(null, why, { cause });
  }
}
