/** The job summary: the verdict, the payload as tables, what the run used, and the raw JSON, folded. */
import { statSync } from 'node:fs';
import path from 'node:path';
import { messageOf, ReportError } from '../errors.ts';
import { appendWithoutWaiting } from '../files/private-file.ts';
import { indentedJson } from '../text/json.ts';
import { DISPLAY, GITHUB, LISTED } from '../text/limits.ts';
import { counted, grouped } from '../text/messages.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Conclusion, JsonObject, Repair } from '../types.ts';
import { changedFilesText, costText, duration, tokensOf } from './format.ts';
import { placeFindings } from './grounding.ts';
import { asWritten } from './links.ts';
import { createMarkdownSanitizer, fence, fitSections } from './markdown.ts';
import { masked } from './messages.ts';
import { RESULT_FILES } from './outputs.ts';
import { payloadTables } from './payload-tables.ts';
import type { CallRecord, MarkdownSanitizer, Report, Reporter, Section, TurnRecord } from './report-types.ts';
import { type Locate, locateByEvidence } from './source-locations.ts';
import {
  coverageSentence,
  evidenceWarnings,
  gateParagraph,
  gateReasons,
  policyChangeBlock,
  verdictTitle,
} from './verdict-text.ts';

/** Turns of a run that are listed. */
const MAX_TURNS_SHOWN = 100;
/** Characters of the payload as JSON in the summary. No reader would get through a longer one. */
const MAX_JSON = 256 * 1024;

/** Maximum rows per list, with smaller fallbacks if they do not fit. */
const MAX_ROWS = [500, 50];

export interface SummaryFacts {
  readonly secrets: Secrets;
  /** Base URL of the repository's server, such as `https://github.com`; null for a summary without links. */
  readonly serverUrl: string | null;
  /** Finds the files of findings in the repository; without it, paths are used as written. */
  readonly locate?: Locate;
}

export interface SummaryOptions extends SummaryFacts {
  /** The file named by GITHUB_STEP_SUMMARY. */
  readonly file: string;
}

/**
 * Creates a reporter that appends the summary to the step's summary file. `report` rejects with a ReportError if the
 * file cannot be written.
 */
export function createSummary({ file, ...facts }: SummaryOptions): Reporter {
  return {
    name: 'summary',
    async report(report) {
      try {
        const room = GITHUB.summary - (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
        const text = renderOrHead(() => summaryMarkdown(report, facts, room), report, facts);
        if (text === '' || bytesOf(text) > room)
          throw new Error(`the file has room for ${counted(Math.max(0, room), 'byte')} only`);
        appendWithoutWaiting(file, text);
      } catch (cause) {
        throw new ReportError(`The job summary could not be written: ${messageOf(cause)}`, { cause });
      }
    },
  };
}

/**
 * Renders the summary as Markdown of at most `maxBytes` UTF-8 bytes; omitted sections are named, with where to find
 * them.
 */
export function summaryMarkdown(report: Report, facts: SummaryFacts, maxBytes: number): string {
  const sanitizer = createMarkdownSanitizer(facts.secrets);
  const head = verdictHead(report, facts, sanitizer);
  // In display order; if space is short, the least important sections are omitted first.
  const sections = [
    ...verdictSections(report, facts, sanitizer, MAX_ROWS),
    { name: 'the timeline', rank: 8, texts: [timeline(report.turns, sanitizer)] },
    { name: 'the raw JSON', rank: 9, texts: [rawJson(report, facts.secrets, sanitizer)] },
  ];
  const { text: body, lost } = fitSections(sections, maxBytes - bytesOf(head) - 1_000);
  const note =
    lost.length === 0
      ? ''
      : `> Too large for a job summary: ${lost.join(', ')}. ${whole(report, sanitizer)}\n\n`;
  const text = `${head}${body}${note}`;
  return bytesOf(text) <= maxBytes ? text : '';
}

/**
 * Renders the start of a report: weaknesses, changes to policy files, and the verdict. Contains no part of the payload.
 */
export function verdictHead(
  report: Report,
  facts: Pick<SummaryFacts, 'serverUrl'>,
  sanitizer: MarkdownSanitizer,
): string {
  return `${weaknesses(report, sanitizer)}${policyChangeBlock(report, sanitizer)}${headline(report, facts, sanitizer)}`;
}

/**
 * Returns the result of `render`; if it throws, returns the head and the reason instead, so that every verdict is
 * reported.
 */
export function renderOrHead(render: () => string, report: Report, facts: SummaryFacts): string {
  try {
    return render();
  } catch (error) {
    const sanitizer = createMarkdownSanitizer(facts.secrets);
    const why = sanitizer.prose(messageOf(error), DISPLAY.sentence);
    const note = `> [!WARNING]\n> The rest of this report could not be made (${why}). ${whole(report, sanitizer)}\n\n`;
    return `${verdictHead(report, facts, sanitizer)}${note}`;
  }
}

/**
 * Returns the sections for the payload and the costs, or those of the report's own view.
 * @param rows maximum rows per list, with smaller fallbacks if they do not fit.
 */
export function verdictSections(
  report: Report,
  { serverUrl, locate }: SummaryFacts,
  sanitizer: MarkdownSanitizer,
  rows: readonly number[],
): readonly Section[] {
  const { payload, subject, view } = report;
  const options = { subject, serverUrl, locate: locateByEvidence(report, locate ?? asWritten) };
  const grounded = payload === null ? null : placeFindings(payload, report.evidence);
  const tables = (lists: JsonObject, maxRows: number) =>
    payloadTables(lists, { ...options, maxRows }, sanitizer);
  const own = view?.sections?.(report, { rows, tables }, sanitizer);
  if (own !== undefined) return own;
  const texts = rows.map((maxRows) =>
    grounded === null
      ? ''
      : payloadTables(grounded.payload, { ...options, maxRows, byRow: grounded.byRow }, sanitizer),
  );
  return [
    { name: 'the payload', rank: 0, texts },
    { name: 'the costs', rank: 1, texts: [costs(report, sanitizer)] },
  ];
}

function weaknesses(report: Report, sanitizer: MarkdownSanitizer): string {
  const all = [...evidenceWarnings(report), ...report.weaknesses];
  if (all.length === 0) return '';
  const lines = all.map((weakness) => `> - ${sanitizer.prose(weakness)}`);
  return `> [!WARNING]\n> **This run was weaker than it could be:**\n${lines.join('\n')}\n\n`;
}

export function headline(
  report: Report,
  { serverUrl }: Pick<SummaryFacts, 'serverUrl'>,
  sanitizer: MarkdownSanitizer,
): string {
  const { verdict, gate, view } = report;
  const facts = [
    `conclusion \`${verdict.conclusion}\``,
    `reason \`${verdict.reason}\``,
    ...(gate === null || view?.hidesGate === true ? [] : [`gate \`${gate.status}\``]),
    ...(view?.facts?.(sanitizer) ?? []),
    `exit code \`${verdict.exitCode}\``,
  ];
  const repairs = repaired(report.repaired, sanitizer);
  const paragraph = view?.paragraph?.(report, serverUrl, sanitizer) ?? '';
  return `## ${verdictTitle(report)}\n\n${paragraph}${why(report, sanitizer)}${facts.join(' · ')}\n\n${coverageLine(report, sanitizer)}${repairs}`;
}

function coverageLine({ evidence }: Report, sanitizer: MarkdownSanitizer): string {
  const sentence = coverageSentence(evidence?.coverage, {
    path: (path) => sanitizer.code(path, DISPLAY.path),
    sentence: (text) => sanitizer.prose(text, DISPLAY.reason),
  });
  return sentence === null ? '' : `${sentence}\n\n`;
}

/** The verdict's sentence, and the gate's requirements if the sentence does not state them. */
function why(report: Report, sanitizer: MarkdownSanitizer): string {
  const { verdict } = report;
  const hidesGate = report.view?.hidesGate === true;
  const wanted = hidesGate ? '' : gateParagraph(report, sanitizer);
  if (verdict.error === null) return wanted;
  const reasons = hidesGate ? [] : gateReasons(report, sanitizer);
  const lines = reasons.length > 0 ? reasons : [sanitizer.prose(verdict.error, DISPLAY.message)];
  return `> [!${ALERTS[verdict.conclusion]}]\n${lines.map((line) => `> ${line}`.trimEnd()).join('\n')}\n\n${wanted}`;
}

const ALERTS: Readonly<Record<Conclusion, string>> = {
  success: 'NOTE',
  failure: 'CAUTION',
  inconclusive: 'WARNING',
  skipped: 'NOTE',
};

function repaired(repair: Repair | null, sanitizer: MarkdownSanitizer): string {
  if (repair === null) return '';
  const what =
    repair.kind === 'unwrapped'
      ? `it was taken out of a wrapper named ${sanitizer.code(repair.key, DISPLAY.label)}`
      : `a JSON string was read as what it holds (at ${repair.paths.map((at) => sanitizer.code(at || 'the root', DISPLAY.value)).join(', ')})`;
  return `The payload was repaired before it was accepted: ${what}.\n\n`;
}

/** What the run used, on one line; empty if no model was called. */
function costs(report: Report, sanitizer: MarkdownSanitizer): string {
  const { usage, turnCount, rejections } = report;
  const changed = changedFilesText(report);
  if (report.view?.isWithoutModel === true) return `No model was asked · ${duration(report.durationMs)}\n\n`;
  if (report.model === '' && turnCount === 0) return '';
  const tokens = `${counted(tokensOf(usage), 'token')} (${grouped(usage.inputTokens)} in, ${grouped(usage.outputTokens)} out)`;
  const asked = [
    counted(turnCount, 'turn'),
    ...(rejections === 0 ? [] : [`${counted(rejections, 'call')} rejected`]),
    ...(tokensOf(usage) === 0 ? [] : [tokens]),
    report.costUsd === null ? 'price unknown' : costText(report.costUsd, report.pricedAs),
  ];
  const parts = [
    ...(report.model === '' ? [] : [`**${sanitizer.inline(report.model, DISPLAY.value)}**`]),
    ...(turnCount === 0 ? [] : asked),
    duration(report.durationMs),
    ...(turnCount === 0
      ? []
      : [report.isolation === 'none' ? '**no sandbox**' : `sandbox ${report.isolation}`]),
    ...(changed === null ? [] : [changed]),
  ];
  return `${parts.join(' · ')}\n\n`;
}

function timeline(turns: readonly TurnRecord[], sanitizer: MarkdownSanitizer): string {
  if (turns.length === 0) return '';
  const rows = turns.slice(0, MAX_TURNS_SHOWN).map((turn) => {
    const time = duration(turn.durationMs + turn.calls.reduce((sum, call) => sum + call.durationMs, 0));
    const tokens = turn.usage === null ? '–' : grouped(tokensOf(turn.usage));
    return `| ${turn.turn} | ${callsCell(turn, sanitizer)} | ${time} | ${tokens} |\n`;
  });
  const more =
    turns.length > MAX_TURNS_SHOWN
      ? `\n… and ${counted(turns.length - MAX_TURNS_SHOWN, 'more turn')}.\n`
      : '';
  const table = `| Turn | What happened | Time | Tokens |\n| ---: | :--- | ---: | ---: |\n${rows.join('')}${more}`;
  return `<details><summary>Timeline: ${counted(turns.length, 'turn')}</summary>\n\n${table}\n</details>\n\n`;
}

function callsCell(turn: TurnRecord, sanitizer: MarkdownSanitizer): string {
  const calls = turn.calls.slice(0, LISTED.many).map((call) => oneCall(call, sanitizer));
  if (turn.calls.length > LISTED.many)
    calls.push(`… and ${counted(turn.calls.length - LISTED.many, 'more call')}`);
  if (turn.calls.length === 0) calls.push('no tool call');
  return `${turn.forced ? 'asked once more · ' : ''}${calls.join('<br>')}`;
}

function oneCall(call: CallRecord, sanitizer: MarkdownSanitizer): string {
  const target =
    call.target === ''
      ? ''
      : ` ${sanitizer.code(call.target.trimStart().split('\n', 1)[0] ?? '', DISPLAY.excerpt)}`;
  const decision = call.decision === 'ok' ? '' : ` · ${call.decision}`;
  const time = call.durationMs < 1_000 ? '' : ` · ${duration(call.durationMs)}`;
  return `**${sanitizer.inline(call.name, DISPLAY.label)}**${target}${decision}${time}`;
}

export function rawJson(report: Report, secrets: Secrets, sanitizer: MarkdownSanitizer): string {
  if (report.payload === null) return '';
  // Check the size first: the indented form may be far longer than the payload itself.
  if (indentedJson(report.payload, MAX_JSON) === null)
    return `The payload is too long to show as JSON here. ${whole(report, sanitizer)}\n\n`;
  // Mask each value before JSON escapes split a secret, and then the text as a whole.
  const plain = JSON.stringify(masked(report.payload, secrets.mask), null, 2);
  // GitHub ignores an HTML comment in a code block, but bots that search raw text for their marker would find it.
  const json = secrets.mask(plain).replaceAll('<!--', '\\u003c!--');
  return `<details><summary>Payload as JSON</summary>\n\n${fence(json, 'json')}\n\n</details>\n`;
}

function whole(report: Report, sanitizer: MarkdownSanitizer): string {
  return report.results === null
    ? ''
    : `The whole result is in ${sanitizer.code(path.join(report.results, RESULT_FILES.result))} (output \`run-result-file\`).`;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
