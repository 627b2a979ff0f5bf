/** Escapes untrusted text so that GitHub Markdown renders it literally. Secrets have been masked before. */
import { DISPLAY, LISTED } from '../text/limits.ts';
import { truncate } from '../text/messages.ts';
import { cleanText, singleLine } from '../text/sanitize.ts';

/**
 * Characters with a meaning in Markdown, HTML, tables or math. As character references they have none: CommonMark
 * (section 2.5) never interprets a reference as structure, and unlike backslashes references also work inside HTML.
 */
const SPECIAL = /[&<>"'`*_~[\](){}!\\|$^=#@]/g;
/**
 * A zero-width space. GitHub searches the rendered text for mentions and references, where a character reference is the
 * plain character again; only a character in between separates them.
 */
const GAP = '\u200b';

/** A code span delimited by single backticks; three backticks are an attempted fence. */
const CODE_SPAN = /(?<!`)`(?!\s*`)([^`]+)`(?!`)/;

/** Escapes untrusted text for a paragraph: one line, in which nothing links, mentions, formats or triggers a command. */
export function inline(text: string, max: number = DISPLAY.cell): string {
  return escapeLine(singleLine(text, max));
}

/** Like `inline`, but text between single backticks is shown as code, as the author intended. */
export function prose(text: string, max: number = DISPLAY.cell): string {
  const parts = singleLine(text, max).split(CODE_SPAN);
  return parts.map((part, at) => (at % 2 === 0 ? escapeLine(part) : code(part, max))).join('');
}

/** Formats untrusted text as code on one line, in an HTML element, whose content can be escaped. */
export function code(text: string, max: number = DISPLAY.cell): string {
  const shown = inline(text, max);
  return shown === '' ? '' : `<code>${shown}</code>`;
}

/** Escapes untrusted text for a table cell, each line as `prose`. Keeps at most 20 lines, with `<br>` between them. */
export function cell(text: string, max: number = DISPLAY.cell): string {
  const lines = truncate(cleanText(text).trim(), max).split('\n');
  const shown = lines.slice(0, LISTED.many).map((line) => prose(line, max));
  if (lines.length > LISTED.many) shown.push('…');
  return shown.join('<br>');
}

/**
 * Formats indented JSON as a code block, with a fence longer than any run of backticks inside. GitHub ignores an HTML
 * comment in it, but bots that search raw text for their marker would find it.
 */
export function jsonBlock(json: string): string {
  const body = cleanText(json).replaceAll('<!--', '\\u003c!--');
  const longest = (body.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}json\n${body}\n${ticks}\n\n`;
}

/** Returns a folded block; the title and the body are trusted Markdown. */
export function details(title: string, body: string): string {
  return `<details><summary>${title}</summary>\n\n${body}</details>\n\n`;
}

/**
 * Breaks up what GitHub would turn into a mention, a reference or a link, and escapes what has a meaning: everywhere, as a
 * list marker at the start of a line, or as a slash command, which some bots accept anywhere.
 */
function escapeLine(line: string): string {
  return line
    .replace(/[@#]/g, `$&${GAP}`)
    .replace(/:(?=\/\/)/g, `:${GAP}`)
    .replace(/www(?=\.)/gi, `$&${GAP}`)
    .replace(SPECIAL, reference)
    .replace(/^[-+]/, reference)
    .replace(/^(\d+)([.)])/, (_, digits: string, mark: string) => digits + reference(mark))
    .replace(/(?<=^| )\//g, '&#47;');
}

function reference(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}
