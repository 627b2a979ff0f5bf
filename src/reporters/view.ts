/** The view of an agent run, which all reporters share. A merge has a view of its own. */
import path from 'node:path';
import { ENDINGS } from '../text/endings.ts';
import { isArray, isObject } from '../text/json.ts';
import { counted, grouped } from '../text/messages.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Json, JsonObject, Repair, Verdict } from '../types.ts';
import { readFindings, SEVERITIES } from './findings.ts';
import { changedFilesText, costText, duration, tokensOf } from './format.ts';
import { groundingSentence, placeFindings } from './grounding.ts';
import { asWritten, commitPage, lineLink, runPage } from './links.ts';
import { masked } from './messages.ts';
import { RESULT_FILES } from './outputs.ts';
import type { Report, RowFacts, View, ViewFacts } from './report-types.ts';
import { coverageSentence, policyChangeSentence, warningsAbout } from './sentences.ts';
import { type Locate, locateByEvidence } from './source-locations.ts';

/** Characters of the payload as JSON. No reader would get through a longer one. */
const MAX_JSON = 256 * 1024;

const MARKS: Readonly<Record<Verdict['conclusion'], string>> = {
  success: '✅',
  failure: '❌',
  inconclusive: '⚠️',
  skipped: '⏭️',
};

export interface ViewOptions extends ViewFacts {
  /** Finds the files of findings in the repository; without it, paths are used as written. */
  readonly locate?: Locate;
}

/** Returns the view of a report: its own, or that of an agent run. */
export function viewOf(report: Report, options: ViewOptions): View {
  return report.view?.show(report, options) ?? viewOfRun(report, options);
}

function viewOfRun(report: Report, options: ViewOptions): View {
  const { verdict, gate, evidence = null } = report;
  const coverage = coverageSentence(evidence?.coverage);
  const isShort = report.payload !== null && isIncomplete(report);
  const notes = [isShort ? null : coverage, groundingSentence(evidence), repairSentence(report.repaired)];
  const payload = payloadOf(report, options);
  const findings = countFindings(payload.tables);
  return {
    ...commonView(report, options),
    mark: report.replayed === true ? '🔁' : isUngated(report) ? '☑️' : MARKS[verdict.conclusion],
    outcome: [outcomeOf(report), ...(findings === '' ? [] : [findings])].join(' · '),
    warnings: [
      ...report.policyChanges.map(policyChangeSentence),
      ...report.weaknesses,
      ...(evidence === null ? [] : warningsAbout(evidence, report.payload !== null, report.subject)),
      ...(isShort && coverage !== null ? [coverage] : []),
    ].map(maskWith(options.secrets)),
    reasons: reasonsOf(report).map(maskWith(options.secrets)),
    notes: notes.filter((note) => note !== null).map(maskWith(options.secrets)),
    ...payload,
    facts: [
      `conclusion ${verdict.conclusion}`,
      `reason ${verdict.reason}`,
      ...(gate === null ? [] : [`gate ${gate.status}`]),
      `exit code ${verdict.exitCode}`,
      ...(report.turnCount === 0
        ? []
        : [report.isolation === 'none' ? 'no sandbox' : `sandbox ${report.isolation}`]),
    ],
    costs: costsOf(report).map(maskWith(options.secrets)),
  };
}

/** Returns the part of a view that a run and a merge have in common. */
export function commonView(report: Report, options: ViewFacts) {
  const { verdict, subject, results } = report;
  return {
    conclusion: verdict.conclusion,
    name: options.name === null ? null : maskWith(options.secrets)(options.name),
    mark: MARKS[verdict.conclusion],
    help: verdict.error === null ? null : `${options.help}#${verdict.reason}`,
    pages: {
      run: runPage(subject, options.serverUrl),
      commit: commitPage(subject, options.serverUrl),
    },
    resultFile: results === null ? null : path.join(results, RESULT_FILES.result),
  };
}

/** Masks and cleans a text, which then can be shown once it is escaped. */
export function maskWith(secrets: Secrets): (text: string) => string {
  return (text) => sanitize(text, secrets);
}

/** Without a gate nothing checked whether the payload is good news. */
function isUngated({ verdict, gate }: Report): boolean {
  return verdict.conclusion === 'success' && gate?.status === 'none';
}

function outcomeOf(report: Report): string {
  const { verdict, replayed } = report;
  const [, , , headline] = ENDINGS[verdict.reason];
  const words = isUngated(report) ? 'accepted, without a gate' : headline;
  return replayed === true ? `${words} (a replay, judged by no model)` : words;
}

/** Whether the model was not shown all that it should have been shown. */
function isIncomplete({ evidence }: Report): boolean {
  const coverage = evidence?.coverage ?? null;
  if (coverage === null || coverage.status === 'unknown') return false;
  return coverage.status === 'partial' || coverage.files.shown < coverage.files.required;
}

/** The sentence of the verdict and what the gate wants, unless that is only what the outcome says already. */
function reasonsOf({ verdict, gate, payload }: Report): readonly string[] {
  const unmet = (gate?.issues ?? []).filter(
    ({ path: at }) => at !== '/passed' || payload?.['passed'] !== false,
  );
  return [
    ...(verdict.error === null || verdict.reason === 'gate_not_met' ? [] : [verdict.error]),
    ...unmet.map(({ message }) => `The gate is not met: ${message}.`),
  ];
}

/** Names no place: the keys of a payload are text of the model, which the log must not contain. */
function repairSentence(repair: Repair | null): string | null {
  if (repair === null) return null;
  const what =
    repair.kind === 'unwrapped'
      ? 'it was taken out of a wrapper'
      : `${counted(repair.paths.length, 'JSON string')} in it ${repair.paths.length === 1 ? 'was' : 'were'} parsed`;
  return `The payload was repaired before it was accepted: ${what}.`;
}

/** What the run used, one fact each; empty if no model was called. */
function costsOf(report: Report): readonly string[] {
  const { usage, turnCount, rejections, model } = report;
  const changed = changedFilesText(report);
  if (model === '' && turnCount === 0) return [duration(report.durationMs)];
  const tokens = `${counted(tokensOf(usage), 'token')} (${grouped(usage.inputTokens)} in, ${grouped(usage.outputTokens)} out)`;
  const asked = [
    counted(turnCount, 'turn'),
    ...(rejections === 0 ? [] : [`${counted(rejections, 'call')} rejected`]),
    ...(tokensOf(usage) === 0 ? [] : [tokens]),
    report.costUsd === null ? 'price unknown' : costText(report.costUsd, report.pricedAs),
  ];
  return [
    ...(model === '' ? [] : [model]),
    ...(turnCount === 0 ? [] : asked),
    duration(report.durationMs),
    ...(changed === null ? [] : [changed]),
  ];
}

/** The payload, with findings at their proven places. What the headline says is not repeated in the tables. */
function payloadOf({ payload, evidence, subject }: Report, options: ViewOptions) {
  if (payload === null) return { summary: null, tables: {}, rows: new Map(), json: null };
  const { secrets, serverUrl, locate = asWritten } = options;
  const mask = maskWith(secrets);
  const placed = placeFindings(payload, evidence);
  const rows = new Map<JsonObject, RowFacts>();
  const find = locateByEvidence({ payload, evidence: evidence ?? null }, locate);
  const tables: Record<string, Json> = {};
  for (const [name, value] of Object.entries(placed.payload)) {
    if (name === 'summary' && typeof value === 'string') continue;
    if (name === 'passed' && typeof value === 'boolean') continue;
    tables[mask(name)] = isArray(value) ? value.map(showRow) : masked(value, mask);
  }
  return {
    summary: typeof payload['summary'] === 'string' ? mask(payload['summary']) : null,
    tables,
    rows,
    json: jsonOf(payload, secrets),
  };

  function showRow(row: Json): Json {
    const shown = masked(row, mask);
    if (!isObject(row) || !isObject(shown)) return shown;
    const { quote: _, ...own } = shown;
    const link = lineLink(row, subject, serverUrl, find);
    const isSafe = link !== null && secrets.mask(decodeURIComponent(link)) === decodeURIComponent(link);
    const isDoubted = placed.byRow.get(row)?.grounding === 'unproven';
    rows.set(own, { link: isSafe && !isDoubted ? link : null, isDoubted });
    return own;
  }
}

/** Masks each value before JSON escapes split a secret, and then the text as a whole. */
function jsonOf(payload: JsonObject, secrets: Secrets): string | null {
  if (JSON.stringify(payload).length > MAX_JSON) return null;
  return secrets.mask(JSON.stringify(masked(payload, secrets.mask), null, 2));
}

/** Returns how many findings there are of each severity: `1 error, 2 warnings`; empty if there are none. */
function countFindings(payload: JsonObject): string {
  const findings = readFindings(payload);
  const counts = SEVERITIES.flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return count === 0 ? [] : [counted(count, severity)];
  });
  return counts.join(', ');
}
