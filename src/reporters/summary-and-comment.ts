/** The verdict as one Markdown page: the job summary, with the turns of the run, and the comment on the pull request. */
import { statSync } from 'node:fs';
import { appendWithoutWaiting } from '../files/private-file.ts';
import { DISPLAY } from '../text/limits.ts';
import { counted, grouped } from '../text/messages.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import type { Subject } from '../types.ts';
import { code, details, inline, jsonBlock, prose } from './escape-markdown.ts';
import { commitPage, runPage } from './places.ts';
import type {
  CallRef,
  CommentText,
  Report,
  Reporter,
  RunEvent,
  View,
  ViewFacts,
  WrittenComment,
} from './report-types.ts';
import { capitalize, commandEnding, duration, tokensOf } from './sentences.ts';
import { renderTables } from './tables.ts';
import { viewOf } from './view.ts';

/** Bytes of the step summary; the runner rejects a larger one entirely. */
const MAX_SUMMARY = 1024 ** 2;
/** Bytes of a comment without its marker. GitHub accepts 65,536 characters, and a text never has fewer bytes in UTF-8. */
const MAX_COMMENT = 64_000;
/** Rows of each list, and in a comment those that are not folded, or on a page that would be too long. */
const MAX_ROWS = 50;
const FEW_ROWS = 10;

/** Appends the summary to the file named by GITHUB_STEP_SUMMARY. */
export function createSummary(file: string, options: ViewFacts): Reporter {
  const timeline = createTimeline(options.secrets);
  return {
    name: 'job summary',
    event: timeline.event,
    async report(report) {
      const room = MAX_SUMMARY - (statSync(file, { throwIfNoEntry: false })?.size ?? 0);
      const text = renderPage(viewOf(report, options), room, { extra: timeline.render() });
      if (Buffer.byteLength(text, 'utf8') > room)
        throw new Error(`${file} has room for ${counted(Math.max(0, room), 'byte')} only`);
      appendWithoutWaiting(file, text);
    },
  };
}

export interface CommentOptions extends ViewFacts {
  readonly mode: 'always' | 'on-failure';
  readonly key: string;
  /** Rejects with a GitHubError. */
  readonly write: (comment: CommentText) => Promise<WrittenComment>;
  /** Logs a message below the level of a warning. */
  readonly notice: (text: string) => void;
}

/**
 * Writes the comment. With `on-failure`, a success creates no comment but updates an existing one: a comment that still
 * reported a failure after the fix would be believed.
 */
export function createComment({ mode, key, write, notice, ...options }: CommentOptions): Reporter {
  return {
    name: 'pull request comment',
    network: true,
    async report(report) {
      const { subject } = report;
      if (subject === null) return;
      const outcome = await write({
        key,
        commit: subject.sha,
        runId: subject.run_id,
        attempt: subject.run_attempt,
        body: commentBody(report, subject, options),
        // Every conclusion except success: a run without a verdict must not be missed.
        create: mode === 'always' || report.verdict.conclusion !== 'success',
      });
      if (outcome === 'no_pull_request') notice('No comment: this run is about no open pull request.');
      if (outcome === 'superseded') notice('A newer run has already commented; its comment stays as it is.');
    },
  };
}

/** Renders the comment as Markdown without its marker, with run, attempt and commit as its last line. */
export function commentBody(report: Report, subject: Subject, options: ViewFacts): string {
  const parts = [
    link(`Run ${inline(subject.run_id, 30)}`, runPage(subject, options.serverUrl)),
    ...(subject.run_attempt > 1 ? [`attempt ${subject.run_attempt}`] : []),
    `commit ${link(`\`${inline(subject.sha.slice(0, 7))}\``, commitPage(subject, options.serverUrl))}`,
  ];
  // The blank line ends a preceding HTML block, inside which Markdown is not parsed.
  const foot = `\n<sub>${parts.join(' · ')}</sub>\n`;
  return renderPage(viewOf(report, options), MAX_COMMENT, { open: FEW_ROWS, foot });
}

function link(text: string, page: string | null): string {
  return page === null ? text : `[${text}](${page})`;
}

/**
 * Renders the page: the headline, what explains it, the payload, and the rest folded. If it would have more bytes, it has
 * fewer rows, then no tables, and says so.
 * @param open how many rows of each list are not folded
 * @param extra what only this page has before the payload as JSON, and `foot` its last lines; trusted Markdown
 */
export function renderPage(
  view: View,
  bytes: number,
  { open = MAX_ROWS, extra = '', foot = '' } = {},
): string {
  const { name, outcome, resultFile } = view;
  const title = name === null ? capitalize(outcome) : `${inline(name, DISPLAY.phrase)}: ${outcome}`;
  const headline = `## ${view.mark} ${title}\n\n`;
  const head = `${headline}${explain(view)}`;
  const tables = renderTables(view, MAX_ROWS, open);
  const used = view.costs.map((text) => inline(text, DISPLAY.phrase)).join(' · ');
  const end = details(used, `${view.facts.join(' · ')}\n\n`);
  const json = view.json === null ? '' : details('Payload as JSON', jsonBlock(view.json));
  const see = resultFile === null ? '' : ` See ${code(resultFile)}.`;
  const note = `> This page would be too long, so parts of it are left out.${see}\n\n`;
  const fits = (page: string) => Buffer.byteLength(page, 'utf8') <= bytes;
  const whole = `${head}${tables}${end}${extra}${json}${foot}`;
  if (fits(whole)) return whole;
  const shorter = [
    `${head}${tables}${end}${note}${foot}`,
    `${head}${renderTables(view, FEW_ROWS, open)}${end}${note}${foot}`,
    `${head}${end}${note}${foot}`,
  ];
  return shorter.find(fits) ?? `${headline}${note}${foot}`;
}

/** The weaknesses, the summary, the reason as an alert that links to what to do, and the notes. */
function explain({ warnings, summary, reason, conclusion, help, notes }: View): string {
  const weak = warnings.map((text) => prose(text, DISPLAY.reason)).join(' ');
  const kind = conclusion === 'failure' ? 'CAUTION' : 'WARNING';
  const isOnWeb = help !== null && /^https?:/u.test(help);
  const advice = isOnWeb ? `\n>\n> [What to do](${help})` : '';
  const paragraphs = [
    ...(weak === '' ? [] : [`⚠️ **Weaker than it could be:** ${weak}`]),
    ...(summary?.split(/\n\s*\n/u) ?? []).map((text) => prose(text, DISPLAY.message)),
    ...(reason === null ? [] : [`> [!${kind}]\n> ${prose(reason, DISPLAY.message)}${advice}`]),
    ...notes.map((text) => prose(text, DISPLAY.message)),
  ];
  return paragraphs.map((text) => `${text}\n\n`).join('');
}

/** Creates a listener to the events of one run that renders its turns as a folded table, each command with its exit code. */
export function createTimeline(secrets: Secrets) {
  const turns: { turn: number; tokens: string; calls: string[]; durationMs: number }[] = [];
  const event = (event: RunEvent) => {
    if (event.type === 'turn_completed') {
      const { turn, durationMs, usage } = event;
      turns.push({ turn, tokens: usage === null ? '–' : grouped(tokensOf(usage)), calls: [], durationMs });
    }
    const last = turns.at(-1);
    if (last === undefined) return;
    if (event.type === 'tool_started') last.calls.push(`${callText(event.call, secrets)} · not finished`);
    if (event.type !== 'tool_finished') return;
    const { decision, durationMs } = event;
    // A call that was judged or skipped did not start.
    if (decision === 'ok' || decision === 'error') last.calls.pop();
    last.durationMs += durationMs;
    const ending = commandEnding(event) ?? (decision === 'ok' ? '' : decision);
    const took = durationMs < 1_000 ? '' : duration(durationMs);
    last.calls.push([callText(event.call, secrets), ending, took].filter((part) => part !== '').join(' · '));
  };
  const render = (): string => {
    if (turns.length === 0) return '';
    const rows = turns.map(({ turn, calls, durationMs, tokens }) => {
      return `| ${turn} | ${calls.join('<br>') || 'no tool call'} | ${duration(durationMs)} | ${tokens} |\n`;
    });
    const head = '| Turn | What happened | Time | Tokens |\n| ---: | :--- | ---: | ---: |\n';
    return details(`Timeline: ${counted(turns.length, 'turn')}`, `${head}${rows.join('')}\n`);
  };
  return { event, render };
}

function callText({ name, target }: CallRef, secrets: Secrets): string {
  const line = sanitize(target, secrets).trimStart().split('\n', 1)[0] ?? '';
  return `**${inline(sanitize(name, secrets), DISPLAY.label)}** ${code(line, DISPLAY.excerpt)}`.trimEnd();
}
