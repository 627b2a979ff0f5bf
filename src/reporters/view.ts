/** The view of an agent run, which all reporters share. A merge has a view of its own. */
import path from 'node:path';
import { headlineOf } from '../text/exit-codes.ts';
import { isArray, isObject } from '../text/json.ts';
import { counted, grouped } from '../text/messages.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Json, JsonObject, Verdict } from '../types.ts';
import { placeFindings, readFindings, SEVERITIES } from './findings.ts';
import { mapTexts } from './messages.ts';
import { RESULT_FILES } from './outputs.ts';
import { asWritten, lineLink, locateByEvidence } from './places.ts';
import type { Report, RowFacts, View, ViewFacts } from './report-types.ts';
import { describeBasis, dollars, duration, policyChangeSentence, tokensOf } from './sentences.ts';

/** Characters of the payload as JSON. No reader would get through a longer one. */
const MAX_JSON = 256 * 1024;

const MARKS: Readonly<Record<Verdict['conclusion'], string>> = {
  success: '✅',
  failure: '❌',
  inconclusive: '⚠️',
  skipped: '⏭️',
};

/** Returns the view of a report: its own, or that of an agent run. */
export function viewOf(report: Report, options: ViewFacts): View {
  const { verdict, gate, view } = report;
  if (view != null) return view.show(report, options);
  const mask = maskWith(options.secrets);
  const isReplay = report.replayed === true;
  const isGated = gate?.status !== 'none';
  const basis = describeBasis(report);
  // Names no key: the payload's are text of the model, which the log must not contain.
  const repair = report.repaired === null ? [] : ['The payload was repaired before it was accepted.'];
  const changes = report.policyChanges.map(policyChangeSentence);
  return {
    ...commonView(report, options),
    mark: isReplay ? '🔁' : isGated || verdict.conclusion !== 'success' ? MARKS[verdict.conclusion] : '☑️',
    outcome: [headlineOf(verdict.reason, isGated, isReplay), ...countFindings(report)].join(' · '),
    warnings: [...changes, ...report.weaknesses, ...basis.warnings].map(mask),
    reason: isExplained(report) || verdict.error === null ? null : mask(verdict.error),
    notes: [...basis.notes, ...repair].map(mask),
    ...payloadOf(report, options),
    facts: [
      `conclusion ${verdict.conclusion}`,
      `reason ${verdict.reason}`,
      ...(gate === null ? [] : [`gate ${gate.status}`]),
      `exit code ${verdict.exitCode}`,
      ...(report.turnCount === 0
        ? []
        : [report.isolation === 'none' ? 'no sandbox' : `sandbox ${report.isolation}`]),
    ],
    costs: costsOf(report).map(mask),
  };
}

/** Returns the part of a view that a run and a merge have in common. */
export function commonView(report: Report, options: ViewFacts) {
  const { verdict, results } = report;
  return {
    conclusion: verdict.conclusion,
    name: options.name === null ? null : maskWith(options.secrets)(options.name),
    mark: MARKS[verdict.conclusion],
    help: verdict.error === null ? null : `${options.help}#${verdict.reason}`,
    resultFile: results === null ? null : path.join(results, RESULT_FILES.result),
  };
}

/** Masks and cleans a text, which then can be shown once it is escaped. */
export function maskWith(secrets: Secrets): (text: string) => string {
  return (text) => sanitize(text, secrets);
}

/** Whether the gate wants `passed`, and the payload says itself that it is false, as does the headline. */
function isExplained({ verdict, gate, payload }: Report): boolean {
  const others = gate?.issues.filter(({ path: at }) => at !== '/passed') ?? [];
  return verdict.reason === 'gate_not_met' && payload?.['passed'] === false && others.length === 0;
}

/** Returns how many findings there are of each severity: `1 error, 2 warnings`. */
function countFindings({ payload, evidence }: Report): readonly string[] {
  if (payload === null) return [];
  const findings = readFindings(payload, evidence);
  const counts = SEVERITIES.flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return count === 0 ? [] : [counted(count, severity)];
  });
  if (counts.length > 0) return [counts.join(', ')];
  return isEmptyList(payload['findings']) ? ['no findings'] : [];
}

function isEmptyList(value: Json | undefined): boolean {
  return isArray(value) && value.length === 0;
}

/** What the run used, one fact each; the duration only if no model was called. */
function costsOf(report: Report): readonly string[] {
  const { usage, turnCount, rejections, model, changedFiles, costUsd, pricedAs } = report;
  const priced = pricedAs == null ? '' : ` (priced as ${pricedAs})`;
  const tokens = `${counted(tokensOf(usage), 'token')} (${grouped(usage.inputTokens)} in, ${grouped(usage.outputTokens)} out)`;
  const asked = [
    counted(turnCount, 'turn'),
    rejections === 0 ? '' : `${counted(rejections, 'call')} rejected`,
    tokensOf(usage) === 0 ? '' : tokens,
    costUsd === null ? 'price unknown' : `${dollars(costUsd)}${priced}`,
  ];
  return [
    model,
    ...(turnCount === 0 ? [] : asked),
    duration(report.durationMs),
    changedFiles ? `${counted(changedFiles, 'file')} changed in the agent's scratch layer` : '',
  ].filter((fact) => fact !== '');
}

/** The payload, with findings at their proven places. What the headline says is not repeated in the tables. */
function payloadOf(report: Report, options: ViewFacts): Pick<View, 'summary' | 'tables' | 'rows' | 'json'> {
  const { payload, evidence, subject } = report;
  const rows = new Map<JsonObject, RowFacts>();
  if (payload === null) return { summary: null, tables: {}, rows, json: null };
  const { secrets, serverUrl, locate = asWritten } = options;
  const mask = maskWith(secrets);
  const find = locateByEvidence(report, locate);
  const placed = placeFindings(payload, evidence);
  const showRow = (row: Json): Json => {
    const shown = mapTexts(row, mask);
    if (!isObject(row) || !isObject(shown)) return shown;
    const { quote: _, ...own } = shown;
    const isDoubted = placed.byRow.get(row)?.grounding === 'unproven';
    rows.set(own, { link: isDoubted ? null : lineLink(own, subject, serverUrl, find), isDoubted });
    return own;
  };
  const tables: Record<string, Json> = {};
  for (const [name, value] of Object.entries(placed.payload)) {
    if (name === 'summary' && typeof value === 'string') continue;
    if (name === 'passed' && typeof value === 'boolean') continue;
    if (name === 'findings' && isEmptyList(value)) continue;
    tables[mask(name)] = isArray(value) ? value.map(showRow) : mapTexts(value, mask);
  }
  return {
    summary: typeof payload['summary'] === 'string' ? mask(payload['summary']) : null,
    tables,
    rows,
    // Each value is masked before JSON escapes split a secret, and then the text as a whole.
    json:
      JSON.stringify(payload).length > MAX_JSON
        ? null
        : secrets.mask(JSON.stringify(mapTexts(payload, secrets.mask), null, 2)),
  };
}
