/** Renders a view as one Markdown page, for the job summary and for the comment on a pull request. */
import { DISPLAY } from '../text/limits.ts';
import type { Conclusion } from '../types.ts';
import { code, details, fence, inline, prose } from './markdown.ts';
import type { View } from './report-types.ts';
import { renderTables } from './tables.ts';

export interface PageLimits {
  /** Bytes in UTF-8. */
  readonly bytes: number;
  /** Rows of each list that are not folded. */
  readonly open: number;
}

/** Rows of each list, and on a page that would be too long. */
const MAX_ROWS = 50;
const FEW_ROWS = 10;

const ALERTS: Readonly<Record<Conclusion, string>> = {
  success: 'NOTE',
  failure: 'CAUTION',
  inconclusive: 'WARNING',
  skipped: 'NOTE',
};

/**
 * Renders the page: the headline, what explains it, the payload, and the rest folded. If it would be too long, it has
 * fewer rows, then no tables, and says so.
 * @param extra what only this page has before the payload as JSON; trusted Markdown
 * @param foot the last lines; trusted Markdown
 */
export function renderPage(view: View, limits: PageLimits, extra = '', foot = ''): string {
  const headline = `## ${view.mark} ${titleOf(view)}\n\n`;
  const head = `${headline}${renderWarnings(view)}${renderSummary(view)}${renderReason(view)}`;
  const end = renderDetails(view);
  const cut = '> This page would be too long, so parts of it are left out.';
  const note = view.resultFile === null ? `${cut}\n\n` : `${cut} See ${code(view.resultFile)}.\n\n`;
  const pages = [
    () => `${head}${renderTables(view, MAX_ROWS, limits.open)}${end}${extra}${renderJson(view)}`,
    () => `${head}${renderTables(view, MAX_ROWS, limits.open)}${end}${note}`,
    () => `${head}${renderTables(view, FEW_ROWS)}${end}${note}`,
    () => `${head}${end}${note}`,
  ];
  for (const page of pages) {
    const text = `${page()}${foot}`;
    if (Buffer.byteLength(text, 'utf8') <= limits.bytes) return text;
  }
  return `${headline}${note}${foot}`;
}

/** Returns the headline as Markdown, without its mark: `CI / review: not passed · 1 error`. */
function titleOf({ name, outcome }: View): string {
  return name === null ? capitalize(outcome) : `${inline(name, DISPLAY.phrase)}: ${outcome}`;
}

/** Returns a text that begins with a capital letter. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function renderWarnings({ warnings }: View): string {
  if (warnings.length === 0) return '';
  const sentences = warnings.map((text) => prose(text, DISPLAY.reason)).join(' ');
  return `⚠️ **Weaker than it could be:** ${sentences}\n\n`;
}

function renderSummary({ summary }: View): string {
  if (summary === null) return '';
  const paragraphs = summary.split(/\n\s*\n/u).map((text) => prose(text, DISPLAY.message));
  return `${paragraphs.join('\n\n')}\n\n`;
}

function renderReason(view: View): string {
  const { reason, conclusion, notes } = view;
  const link = helpLink(view, 'What to do');
  const advice = link === '' ? '' : `>\n> ${link}\n`;
  const alert =
    reason === null ? '' : `> [!${ALERTS[conclusion]}]\n> ${prose(reason, DISPLAY.message)}\n${advice}\n`;
  return alert + notes.map((text) => `${prose(text, DISPLAY.message)}\n\n`).join('');
}

/** What the run used, with conclusion, reason, gate and exit code folded below. */
function renderDetails(view: View): string {
  const used = view.costs.map((text) => inline(text, DISPLAY.phrase)).join(' · ');
  const link = view.reason === null ? helpLink(view, 'what to do') : '';
  const facts = [...view.facts, ...(link === '' ? [] : [link])];
  return details(used, `${facts.join(' · ')}\n\n`);
}

/** Empty if there is no page on the web. */
function helpLink({ help }: View, words: string): string {
  return help === null || !/^https?:/u.test(help) ? '' : `[${words}](${help})`;
}

function renderJson({ json }: View): string {
  if (json === null) return '';
  // GitHub ignores an HTML comment in a code block, but bots that search raw text for their marker would find it.
  return details('Payload as JSON', `${fence(json.replaceAll('<!--', '\\u003c!--'), 'json')}\n\n`);
}
