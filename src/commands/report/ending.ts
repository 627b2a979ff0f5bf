/** Determines how the run ended from the transcript's last line, and from the result envelope if it is available. */

import { readEvidence } from '../../envelope/view.ts';
import { groundingSentence } from '../../reporters/grounding.ts';
import type { Evidence } from '../../reporters/report-types.ts';
import { coverageSentence } from '../../reporters/verdict-text.ts';
import { readCoverage } from '../../text/coverage.ts';
import { isObject } from '../../text/json.ts';
import {
  readCount,
  readFlag,
  readObject,
  readObjects,
  readText,
  readTexts,
  readUsage,
} from '../../text/json-fields.ts';
import { DISPLAY, LISTED } from '../../text/limits.ts';
import { truncate } from '../../text/messages.ts';
import type { JsonObject, Usage } from '../../types.ts';
import type { Story } from './story.ts';
import type { Showing } from './visible.ts';

/** A path where the gate was not met: only path and keyword, because the message may quote the payload. */
export interface GateFault {
  readonly path: string;
  readonly keyword: string;
}

/** What is known about the end of the run; unknown fields are null or empty. */
export interface Ending {
  readonly conclusion: 'success' | 'failure' | 'inconclusive' | 'skipped' | null;
  readonly reason: string;
  /** Whether a recording replaced the model. */
  readonly replayed: boolean;
  readonly exitCode: number | null;
  readonly gate: string;
  readonly faults: readonly GateFault[];
  /** What the gate required and what the payload contains; empty when the payload must not be shown. */
  readonly gateWords: readonly string[];
  /** The accepted payload; null when there is none, or it must not be shown. */
  readonly payload: JsonObject | null;
  /** The sentence for people. */
  readonly error: string;
  /** How much of the change was shown to the model; paths in it are between backticks. */
  readonly coverage: string;
  /** How many findings are proven. */
  readonly grounding: string;
  /** What the payload rests on; null if it is not known, or the payload must not be shown. */
  readonly evidence: Evidence | null;
  readonly turns: number | null;
  readonly rejections: number | null;
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  readonly durationMs: number | null;
  readonly model: string;
  readonly provider: string;
  readonly sandbox: string;
  /** Names and values that identify what was reviewed, and by which policy. */
  readonly judged: readonly (readonly [name: string, value: string])[];
}

const CONCLUSIONS = ['success', 'failure', 'inconclusive', 'skipped'] as const;

/** Reasons whose sentences may quote a payload, which must not be shown on the page. */
const QUOTING = new Set(['accepted', 'gate_not_met', 'internal']);

/**
 * @param envelope the parsed result envelope
 * @param withPayload whether to show the payload and the gate's words about it; those of another run are never shown
 */
export function endingOf(
  story: Story,
  envelope: JsonObject | null,
  showing: Showing,
  withPayload: boolean,
): Ending {
  const last = story.finished ?? {};
  const whole = envelope ?? {};
  const word = (object: JsonObject, name: string) => showing.label(readText(object, name) ?? '');
  const either = (name: string) => word(whole, name) || word(last, name);
  const conclusion = either('conclusion');
  const reason = either('reason');
  const gate = readObject(whole, 'gate');
  const isShown = withPayload && !contradicts(story, whole);
  const payload =
    isShown && Object.hasOwn(whole, 'structured_output') ? whole['structured_output'] : undefined;
  return {
    conclusion: CONCLUSIONS.find((each) => each === conclusion) ?? null,
    reason,
    replayed: readFlag(whole, 'replayed'),
    exitCode: readCount(whole, 'exit_code') ?? readCount(last, 'exit_code'),
    gate: word(gate, 'status'),
    faults: readObjects(gate, 'issues')
      .slice(0, LISTED.several)
      .map((issue) => ({ path: word(issue, 'path') || 'the root', keyword: word(issue, 'keyword') })),
    gateWords: isShown
      ? readTexts(gate, 'words')
          .slice(0, LISTED.several)
          .map((clause) => truncate(showing.text(clause).text, DISPLAY.reason))
      : [],
    payload: isObject(payload) ? payload : null,
    error: QUOTING.has(reason)
      ? ''
      : showing.text(readText(whole, 'error') ?? '').text.slice(0, DISPLAY.line),
    coverage:
      coverageSentence(readCoverage(readObject(whole, 'evidence')), {
        path: (path) => `\`${showing.label(path).replaceAll('`', "'")}\``,
        sentence: (text) => truncate(showing.text(text).text, DISPLAY.reason),
      }) ?? '',
    grounding: groundingSentence(readEvidence(whole)) ?? '',
    evidence: isShown ? (readEvidence(whole) ?? null) : null,
    turns: readCount(whole, 'num_turns') ?? readCount(last, 'turn_count'),
    rejections: readCount(whole, 'rejections') ?? readCount(last, 'rejections'),
    usage: readUsage(whole, 'usage') ?? readUsage(last, 'usage'),
    costUsd: envelope === null ? readCount(last, 'cost_usd') : readCount(whole, 'total_cost_usd'),
    durationMs: readCount(whole, 'duration_ms') ?? readCount(last, 'duration_ms'),
    model: word(whole, 'model') || story.model,
    provider: word(whole, 'provider') || story.provider,
    sandbox: word(whole, 'sandbox'),
    judged: judgedBy(whole, showing),
  };
}

/** Whether an envelope belongs to another run than the transcript, as far as both identify their run. */
export function contradicts({ finished }: Story, envelope: JsonObject): boolean {
  if (finished === null || Object.keys(envelope).length === 0) return false;
  return (
    readText(finished, 'conclusion') !== readText(envelope, 'conclusion') ||
    readText(finished, 'reason') !== readText(envelope, 'reason') ||
    readCount(finished, 'turn_count') !== readCount(envelope, 'num_turns')
  );
}

const JUDGED = [
  ['subject', 'repository', 'Repository'],
  ['subject', 'sha', 'Commit'],
  ['subject', 'ref', 'Ref'],
  ['subject', 'event', 'Event'],
  ['subject', 'pull_request', 'Pull request'],
  ['subject', 'run_id', 'Run'],
  ['subject', 'run_attempt', 'Attempt'],
  ['judge', 'schema_sha256', 'Schema (SHA-256)'],
  ['judge', 'gate_sha256', 'Gate (SHA-256)'],
  ['judge', 'prompt_sha256', 'Prompt (SHA-256)'],
  ['judge', 'version', 'structured-agent'],
] as const;

function judgedBy(envelope: JsonObject, showing: Showing): Ending['judged'] {
  return JUDGED.flatMap(([group, name, title]) => {
    const object = readObject(envelope, group);
    const value = readText(object, name) ?? String(readCount(object, name) ?? '');
    return value === '' ? [] : [[title, showing.label(value)] as const];
  });
}
