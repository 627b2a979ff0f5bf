/** What GitHub makes of Markdown: GFM rendered by micromark, then the filters that GitHub runs over the rendered text. */
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** Rendered as GitHub would: raw HTML is kept, so that a test sees it. */
export function render(markdown: string): string {
  return micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] });
}

/** The text a reader sees, without that of code. */
export function proseOf(html: string): string {
  return decode(html.replace(/<(pre|code)\b[\s\S]*?<\/\1>/g, '\n').replace(/<[^>]*>/g, '\n'));
}

/** The tags of the rendered page, in order, without closing ones. */
export function tagsOf(html: string): string[] {
  return [...html.matchAll(/<([a-z][a-z0-9]*|!--)/gi)].map((match) => match[1] ?? '');
}

/** What the filters would still turn into something: mentions, references, links, emoji, math. */
export function sparks(prose: string): string[] {
  const filters = [
    /(?<![a-z0-9])@[a-z0-9]/i,
    /#\d/,
    /\bgh-\d/i,
    /\b(?:https?|ftp):\/\//i,
    /\bwww\./i,
    /[\w.+-]@[\w-]+\.\w/,
    /\b[0-9a-f]{7,40}\b/,
    /:[a-z0-9_+-]+:/i,
    /\b(?:ghsa|cve)-\w/i,
  ];
  return filters.flatMap((filter) => filter.exec(prose)?.[0] ?? []);
}

function decode(html: string): string {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}
