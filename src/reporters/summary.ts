/** The job summary: the verdict at a glance, the payload as tables, what the run took, and the raw JSON folded. */
import { appendFileSync, statSync } from 'node:fs';
import { ReportError } from '../errors.ts';
import type { Secrets } from '../secrets.ts';
import type { CallRecord, Report, Reporter, TurnRecord } from '../types.ts';
import { counted, dollars, duration, grouped, tokensOf } from './format.ts';
import { fence } from './markdown.ts';
import { payloadTables } from './payload-tables.ts';
import { createSay, type Say } from './say.ts';

/** The runner refuses a larger summary of a step, whole. */
const MAX_BYTES = 1024 * 1024;
const MAX_TURNS = 100;
const MAX_CALLS = 20;
/** A longer payload is no longer read by people. */
const MAX_JSON = 256 * 1024;

/** What the summary needs beside the report. */
export interface SummaryFacts {
  readonly secrets: Secrets;
  /** Where the repository's pages are, like `https://github.com`; null for a summary without links. */
  readonly serverUrl: string | null;
}

/** The world of a summary. */
export interface SummaryOptions extends SummaryFacts {
  /** The file that GITHUB_STEP_SUMMARY names. */
  readonly file: string;
}

/**
 * Appends the summary to the step's summary file. `report` rejects with a ReportError when the file cannot be written.
 */
export function createSummary({ file, ...facts }: SummaryOptions): Reporter {
  return {
    name: 'summary',
    async report(report) {
      try {
        appendFileSync(file, summaryMarkdown(report, facts, MAX_BYTES - sizeOf(file)));
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new ReportError(`The job summary could not be written: ${why}`, { cause });
      }
    },
  };
}

/** The summary of a report as Markdown of at most `maxBytes` UTF-8 bytes; what does not fit is named with where it is. */
export function summaryMarkdown(report: Report, facts: SummaryFacts, maxBytes: number): string {
  const say = createSay(facts.secrets);
  const head = [weaknesses(report, say), headline(report, say)];
  // In the order they are shown; where space is short, what matters least is given up first.
  const sections = [
    {
      name: 'the payload',
      rank: 0,
      text:
        report.payload === null ? '' : payloadTables(report.payload, report.subject, facts.serverUrl, say),
    },
    { name: 'the costs', rank: 1, text: costs(report, say) },
    { name: 'the timeline', rank: 2, text: timeline(report.turns, say) },
    { name: 'the raw JSON', rank: 3, text: rawJson(report, facts.secrets, say) },
  ];
  let left = maxBytes - bytesOf(head.join('')) - 1_000;
  const kept = new Set<string>();
  for (const section of [...sections].sort((one, other) => one.rank - other.rank)) {
    if (bytesOf(section.text) > left) continue;
    left -= bytesOf(section.text);
    kept.add(section.name);
  }
  const lost = sections.filter((section) => !kept.has(section.name)).map((section) => section.name);
  const note =
    lost.length === 0 ? '' : `> Too large for a job summary: ${lost.join(', ')}. ${whole(report, say)}\n\n`;
  const text = [
    ...head,
    ...sections.filter((section) => kept.has(section.name)).map((section) => section.text),
    note,
  ].join('');
  return bytesOf(text) <= maxBytes ? text : '';
}

function weaknesses(report: Report, say: Say): string {
  if (report.weaknesses.length === 0) return '';
  const lines = report.weaknesses.map((weakness) => `> - ${say.inline(weakness)}`);
  return `> [!WARNING]\n> **This run was weaker than it could be.**\n${lines.join('\n')}\n\n`;
}

function headline(report: Report, say: Say): string {
  const { verdict, gate } = report;
  const facts = [
    `conclusion **${verdict.conclusion}**`,
    `reason \`${verdict.reason}\``,
    ...(gate === null ? [] : [`gate \`${gate.status}\``]),
    `exit code ${verdict.exitCode}`,
  ];
  const error = verdict.error === null ? '' : `> ${say.inline(verdict.error, 4_000)}\n\n`;
  const repaired = report.repaired === null ? '' : 'The payload was repaired before it was accepted.\n\n';
  return `## ${title(report)}\n\n${error}${facts.join(' · ')}\n\n${repaired}`;
}

function title(report: Report): string {
  switch (report.verdict.conclusion) {
    case 'success':
      // Without a gate nobody asked whether the payload is good news.
      return report.gate?.status === 'none' ? '☑️ Accepted: no gate was asked for' : '✅ Success';
    case 'failure':
      return '❌ Gate not met';
    case 'inconclusive':
      return report.payload === null ? '⚠️ Inconclusive: there is no verdict' : '⚠️ Inconclusive';
    case 'skipped':
      return '⏭️ Skipped: nothing was judged';
  }
}

function costs(report: Report, say: Say): string {
  const { usage } = report;
  const tokens = `${grouped(tokensOf(usage))} (${grouped(usage.inputTokens)} in, ${grouped(usage.outputTokens)} out)`;
  const cells: [string, string][] = [
    ['Model', report.model === '' ? '–' : say.cell(report.model, 100)],
    ['Turns', String(report.turnCount)],
    ['Rejected calls', String(report.rejections)],
    ['Tokens', tokens],
    ['Cost', report.costUsd === null ? 'unknown' : dollars(report.costUsd)],
    ['Time', duration(report.durationMs)],
    ['Sandbox', report.isolation],
    ...(report.changedFiles === null
      ? []
      : [['Changed files', String(report.changedFiles)] satisfies [string, string]]),
  ];
  const row = (values: readonly string[]) => `| ${values.join(' | ')} |\n`;
  return `${row(cells.map(([name]) => name))}${row(cells.map(() => '---'))}${row(cells.map(([, value]) => value))}\n`;
}

function timeline(turns: readonly TurnRecord[], say: Say): string {
  if (turns.length === 0) return '';
  const rows = turns.slice(0, MAX_TURNS).map((turn) => {
    const time = duration(turn.durationMs + turn.calls.reduce((sum, call) => sum + call.durationMs, 0));
    const tokens = turn.usage === null ? '–' : grouped(tokensOf(turn.usage));
    return `| ${turn.turn} | ${callsCell(turn, say)} | ${time} | ${tokens} |\n`;
  });
  const more = turns.length > MAX_TURNS ? `\n… and ${counted(turns.length - MAX_TURNS, 'more turn')}.\n` : '';
  const table = `| Turn | What happened | Time | Tokens |\n| ---: | --- | ---: | ---: |\n${rows.join('')}${more}`;
  return `<details><summary>Timeline: ${counted(turns.length, 'turn')}</summary>\n\n${table}\n</details>\n\n`;
}

function callsCell(turn: TurnRecord, say: Say): string {
  const calls = turn.calls.slice(0, MAX_CALLS).map((call) => oneCall(call, say));
  if (turn.calls.length > MAX_CALLS)
    calls.push(`… and ${counted(turn.calls.length - MAX_CALLS, 'more call')}`);
  if (turn.calls.length === 0) calls.push('no tool call');
  return `${turn.forced ? 'asked once more · ' : ''}${calls.join('<br>')}`;
}

function oneCall(call: CallRecord, say: Say): string {
  const target = call.target === '' ? '' : ` ${say.cell(call.target.split('\n', 1)[0] ?? '', 120)}`;
  const decision = call.decision === 'ok' ? '' : ` · ${call.decision}`;
  return `**${say.cell(call.name, 60)}**${target}${decision}`;
}

function rawJson(report: Report, secrets: Secrets, say: Say): string {
  if (report.payload === null) return '';
  // An HTML comment in a code block is inert for GitHub, and yet found by bots that look for their marker in raw text.
  const json = secrets.mask(JSON.stringify(report.payload, null, 2)).replaceAll('<!--', '\\u003c!--');
  if (json.length > MAX_JSON)
    return `The payload is too long to show as JSON here. ${whole(report, say)}\n\n`;
  return `<details><summary>Payload as JSON</summary>\n\n${fence(json, 'json')}\n\n</details>\n`;
}

function whole(report: Report, say: Say): string {
  return report.resultFile === null
    ? ''
    : `The whole result is in ${say.inline(report.resultFile)} (output run-result-file).`;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
