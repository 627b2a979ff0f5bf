/** Untrusted text as GitHub Markdown that renders as nothing but that text, and what of it fits into a page. */
import { truncate } from '../text/messages.ts';
import { cleanText, sanitize } from '../text/sanitize.ts';
import type { Secrets } from '../text/secrets.ts';
import type { MarkdownSanitizer, Section } from './report-types.ts';

/**
 * What means something to Markdown, HTML, tables or math. As character references they mean nothing: CommonMark
 * (section 2.5) never takes a reference for structure, and unlike backslashes they hold inside HTML too.
 */
const SPECIAL = /[&<>"'`*_~[\](){}!\\|$^=#@]/g;
/**
 * A zero-width space. GitHub finds mentions and references in the rendered text, where a character reference is the
 * character again: only something between the characters keeps them apart.
 */
const GAP = '\u200b';

const MAX_LINES = 20;
/** One backtick, no more, at either end: three of them are a fence that somebody tried. */
const CODE_SPAN = /(?<!`)`(?!\s*`)([^`]+)`(?!`)/;

/** Secrets are masked before escaping would hide them. */
export function createMarkdownSanitizer(secrets: Secrets): MarkdownSanitizer {
  const masked = (text: string) => sanitize(text, secrets);
  return {
    inline: (text, max) => inline(masked(text), max),
    prose: (text, max) => prose(masked(text), max),
    code: (text, max) => code(masked(text), max),
    cell: (text, max) => cell(masked(text), max),
    holdsSecret: (text) => secrets.mask(text) !== text,
  };
}

/** The sections in their order, each in the first of its texts that fits, and the names of those that do not at all. */
export function fitSections(
  sections: readonly Section[],
  maxBytes: number,
): { readonly text: string; readonly lost: readonly string[] } {
  let left = maxBytes;
  const kept = new Map<Section, string>();
  for (const section of sections.toSorted((one, other) => one.rank - other.rank)) {
    const text = section.texts.find((each) => Buffer.byteLength(each, 'utf8') <= left);
    if (text === undefined) continue;
    left -= Buffer.byteLength(text, 'utf8');
    kept.set(section, text);
  }
  return {
    text: sections.map((section) => kept.get(section) ?? '').join(''),
    lost: sections.filter((section) => !kept.has(section)).map(({ name }) => name),
  };
}

/** Untrusted text for the middle of a paragraph: one line, nothing in it links, mentions, formats or commands. */
export function inline(text: string, max = 1_000): string {
  const line = truncate(cleanText(text).replace(/\s+/g, ' ').trim(), max);
  return startless(unlinked(line).replace(SPECIAL, reference));
}

/** Like `inline`, but what stands between two backticks is shown as code, as whoever wrote it meant it. */
export function prose(text: string, max = 1_000): string {
  const line = truncate(cleanText(text).replace(/\s+/g, ' ').trim(), max);
  return line
    .split(CODE_SPAN)
    .map((part, at) =>
      at % 2 === 0 ? startless(unlinked(part).replace(SPECIAL, reference)) : code(part, max),
    )
    .join('');
}

/** Untrusted text on one line as code: a file, a command, a name. An HTML element, since its content can be escaped. */
export function code(text: string, max = 1_000): string {
  const shown = inline(text, max);
  return shown === '' ? '' : `<code>${shown}</code>`;
}

/** Untrusted text for a cell of a table, each line as `prose`; line breaks become `<br>`, at most 20 lines are kept. */
export function cell(text: string, max = 1_000): string {
  const lines = truncate(cleanText(text).trim(), max).split('\n');
  const shown = lines.slice(0, MAX_LINES).map((line) => prose(line, max));
  if (lines.length > MAX_LINES) shown.push('…');
  return shown.join('<br>');
}

/**
 * A code block of untrusted text, its fence longer than any run of backticks inside. `lang` is a word of ours.
 * Whoever reads the raw text for commands finds none at the start of a line.
 */
export function fence(text: string, lang: string): string {
  const body = cleanText(text).replace(/^([ \t]*)(?=\/)/gm, `$1${GAP}`);
  const longest = (body.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const ticks = '`'.repeat(longest + 1);
  return `${ticks}${lang}\n${body}\n${ticks}`;
}

/** Takes apart what GitHub would turn into a link, a mention, a reference or an emoji. */
function unlinked(line: string): string {
  return line
    .replace(/[@#]/g, `$&${GAP}`)
    .replace(/:(?=\/\/|[a-z0-9_+-]+:)/gi, `:${GAP}`)
    .replace(/www(?=\.)/gi, `$&${GAP}`)
    .replace(/\b(?:GH|GHSA|CVE)-/gi, `$&${GAP}`)
    .replace(/\b[0-9a-f]{7,}\b/gi, (hash) => hash.replace(/.{6}(?=.)/g, `$&${GAP}`));
}

/** Takes the meaning from what stands at the start: list markers, and commands, which some bots take anywhere. */
function startless(line: string): string {
  return line
    .replace(/^[-+]/, reference)
    .replace(/^(\d+)([.)])/, (_, digits: string, mark: string) => digits + reference(mark))
    .replace(/(?<=^| )\//g, '&#47;');
}

function reference(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}
