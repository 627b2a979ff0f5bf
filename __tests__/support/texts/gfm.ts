/** GitHub's rendering of Markdown: GFM rendered by micromark, then GitHub's filters on the rendered text. */
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

/** Renders like GitHub but keeps raw HTML, so that a test sees it. */
export function render(markdown: string): string {
  return micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] });
}

/** The visible text without code. */
export function proseOf(html: string): string {
  return decode(html.replace(/<(pre|code)\b[\s\S]*?<\/\1>/g, '\n').replace(/<[^>]*>/g, '\n'));
}

/** The tags of the rendered page, in order, without closing ones. */
export function tagsOf(html: string): string[] {
  return [...html.matchAll(/<([a-z][a-z0-9]*|!--)/gi)].map((match) => match[1] ?? '');
}

/** The texts that the filters would still convert: mentions, references, links. */
export function sparks(prose: string): string[] {
  const filters = [
    /(?<![a-z0-9])@[a-z0-9]/i,
    /#\d/,
    /\b(?:(?:https?|ftp):\/\/|www\.)/i,
    /[\w.+-]@[\w-]+\.\w/,
  ];
  return filters.flatMap((filter) => filter.exec(prose)?.[0] ?? []);
}

/** Elements of the reports that only display text. */
const INERT =
  /^(?:h[23]|p|br|hr|details|summary|table|thead|tbody|tr|th|td|strong|em|del|code|pre|blockquote|ul|ol|li|sub)$/u;

/**
 * The active or misleading parts of a page: unexpected elements and links, texts that the filters would convert, first-
 * and second-level headings except the verdict, and end tags without an element.
 * @param ours matches all expected links.
 */
export function actionsIn(markdown: string, ours: RegExp): string[] {
  const html = render(markdown);
  const links = [...html.matchAll(/<a href="([^"]*)"/g)].map((match) => decode(match[1] ?? ''));
  const titles = [...html.matchAll(/<h[12]\b[^>]*>(.*?)<\/h[12]>/gs)].map((match) => match[1] ?? '');
  return [
    ...tagsOf(html).filter((tag) => tag !== 'a' && !INERT.test(tag)),
    ...links.filter((link) => !ours.test(link)),
    ...sparks(proseOf(html)),
    ...titles.slice(1),
    ...unbalanced(html),
  ];
}

/** End tags that do not match the innermost element, and elements without an end tag. */
function unbalanced(html: string): string[] {
  const open: string[] = [];
  const wrong: string[] = [];
  for (const [tag, slash, name = ''] of html.matchAll(/<(\/?)([a-z][a-z0-9]*)\b[^>]*>/gi)) {
    if (/^(?:br|hr|img|input)$/i.test(name)) continue;
    if (slash === '') open.push(name);
    else if (open.at(-1) === name) open.pop();
    else wrong.push(tag);
  }
  return [...wrong, ...open];
}

function decode(html: string): string {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replace(/&#(\d+);/g, (_, point: string) => String.fromCodePoint(Number(point)))
    .replaceAll('&amp;', '&');
}
