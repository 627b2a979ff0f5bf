/** The one place where text becomes HTML: whatever is put into a template is escaped, unless a template made it. */

/** Finished HTML; made by `html` and `verbatim` alone. */
export interface Html {
  readonly html: string;
}

/** What a template takes; null leaves nothing, a list is joined. */
export type Hole = string | number | null | Html | readonly Html[];

/** A template whose holes are inert, in elements and in double-quoted attributes; never inside a script or a style. */
export function html(parts: TemplateStringsArray, ...holes: readonly Hole[]): Html {
  let text = parts[0] ?? '';
  for (const [at, hole] of holes.entries()) text += fill(hole) + (parts[at + 1] ?? '');
  return { html: text };
}

/** A text of ours as it is: a style or a script, which no escaping may touch. */
export function verbatim(text: string): Html {
  return { html: text };
}

function fill(hole: Hole): string {
  if (hole === null) return '';
  if (typeof hole === 'number') return escaped(String(hole));
  if (typeof hole === 'string') return escaped(hole);
  return isList(hole) ? hole.map((each) => each.html).join('') : hole.html;
}

function isList(hole: Html | readonly Html[]): hole is readonly Html[] {
  return Array.isArray(hole);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
