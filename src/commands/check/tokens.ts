/** Takes an expression of GitHub's apart. */

/** More than any condition that a person can follow; trees grow as deep as their operators are many. */
const MAX_TOKENS = 2000;
const TOKEN =
  /\s*(?:(?<string>'(?:[^']|'')*')|(?<number>[+-]?(?:0x[0-9a-f]+|0o[0-7]+|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?))|(?<name>[a-z_][\w-]*)|(?<mark>\|\||&&|==|!=|<=|>=|[<>!()[\],.*]))/iy;

/** A token; offsets are into the expression's text. */
export interface Token {
  readonly kind: 'string' | 'number' | 'name' | 'mark';
  readonly text: string;
  readonly at: number;
  readonly end: number;
}

/** The tokens of an expression; null where it holds what is none, or too many. */
export function tokensOf(text: string): readonly Token[] | null {
  const tokens: Token[] = [];
  const pattern = new RegExp(TOKEN);
  const length = text.trimEnd().length;
  for (let at = 0; at < length; ) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) return null;
    const kinds = ['string', 'number', 'name', 'mark'] as const;
    const kind = kinds.find((each) => match.groups?.[each] !== undefined) ?? 'mark';
    const own = match.groups?.[kind] ?? '';
    at = pattern.lastIndex;
    if (tokens.length === MAX_TOKENS) return null;
    tokens.push({ kind, text: own, at: at - own.length, end: at });
  }
  return tokens;
}
