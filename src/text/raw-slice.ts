/** Finds the original source text of one value inside a JSON text. */

interface Cursor {
  readonly text: string;
  at: number;
}

/**
 * Returns the source text of the value at a path of keys and indexes, without surrounding whitespace; null when the
 * text is not JSON, when there is no value at the path, or when a key of the path occurs twice in its object.
 */
export function rawSlice(text: string, path: readonly (string | number)[]): string | null {
  if (!isJson(text)) return null;
  const cursor = { text, at: 0 };
  for (const segment of path) {
    skipBlanks(cursor);
    const start = typeof segment === 'string' ? findKey(cursor, segment) : findIndex(cursor, segment);
    if (start === null) return null;
    cursor.at = start;
  }
  skipBlanks(cursor);
  const start = cursor.at;
  skipValue(cursor);
  return cursor.at > start ? text.slice(start, cursor.at) : null;
}

/** The functions below rely on valid syntax. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the start of the value of a key. Reads the whole object, because the key may occur again. */
function findKey(cursor: Cursor, wanted: string): number | null {
  if (cursor.text[cursor.at] !== '{') return null;
  let found: number | null = null;
  cursor.at += 1;
  for (skipBlanks(cursor); cursor.text[cursor.at] === '"'; skipSeparator(cursor, ',')) {
    const key = cursor.at;
    skipString(cursor);
    const token = cursor.text.slice(key, cursor.at);
    skipSeparator(cursor, ':');
    const isWanted = String(JSON.parse(token)) === wanted;
    if (isWanted && found !== null) return null;
    if (isWanted) found = cursor.at;
    skipValue(cursor);
  }
  return found;
}

function findIndex(cursor: Cursor, wanted: number): number | null {
  if (cursor.text[cursor.at] !== '[') return null;
  cursor.at += 1;
  skipBlanks(cursor);
  for (let index = 0; cursor.at < cursor.text.length && cursor.text[cursor.at] !== ']'; index += 1) {
    if (index === wanted) return cursor.at;
    skipValue(cursor);
    skipSeparator(cursor, ',');
  }
  return null;
}

/** Skips one value by counting the nesting, without recursion. Always advances, except at the end of the text. */
function skipValue(cursor: Cursor): void {
  const { text } = cursor;
  if (text[cursor.at] !== '{' && text[cursor.at] !== '[') {
    if (text[cursor.at] === '"') skipString(cursor);
    else while (cursor.at < text.length && !',]} \n\r\t'.includes(text[cursor.at] ?? '')) cursor.at += 1;
    return;
  }
  let depth = 0;
  while (cursor.at < text.length) {
    const next = text[cursor.at];
    if (next === '"') {
      skipString(cursor);
      continue;
    }
    cursor.at += 1;
    if (next === '{' || next === '[') depth += 1;
    if (next === '}' || next === ']') depth -= 1;
    if (depth === 0) return;
  }
}

function skipString(cursor: Cursor): void {
  const { text } = cursor;
  for (cursor.at += 1; cursor.at < text.length && text[cursor.at] !== '"'; cursor.at += 1) {
    if (text[cursor.at] === '\\') cursor.at += 1;
  }
  cursor.at = Math.min(cursor.at + 1, text.length);
}

function skipSeparator(cursor: Cursor, separator: ',' | ':'): void {
  skipBlanks(cursor);
  if (cursor.text[cursor.at] === separator) cursor.at += 1;
  skipBlanks(cursor);
}

function skipBlanks(cursor: Cursor): void {
  while (cursor.at < cursor.text.length && ' \n\r\t'.includes(cursor.text[cursor.at] ?? '-')) cursor.at += 1;
}
