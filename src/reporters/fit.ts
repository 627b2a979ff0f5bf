/** Which parts of a report fit into the space that a page allows. */

/** A part of a page. */
export interface Section {
  /** As the note speaks of it that says what is missing. */
  readonly name: string;
  /** Where space is short, those of the highest rank are given up first. */
  readonly rank: number;
  /** The part in full, and shorter ways to say it; an empty text always fits. */
  readonly texts: readonly string[];
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
