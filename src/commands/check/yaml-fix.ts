/** Suggests a correction for a line that is not valid YAML. */
import type { ErrorCode } from 'yaml';

const FIXES: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'Use single quotes for this value, or write each backslash twice.',
  BAD_INDENT:
    'Begin this line at the same column as the other keys of its mapping. The lines of a text below a |, and of a value in braces, begin further right than their key.',
  DUPLICATE_KEY: 'Keep one of the two keys.',
  MULTIPLE_DOCS: 'Remove the line ---: a workflow is one document.',
  MULTILINE_IMPLICIT_KEY: 'Write a key, a colon and a blank before each value, on one line: key: value.',
  TAB_AS_INDENT: 'Indent with blanks; YAML takes no tabs there.',
  UNEXPECTED_TOKEN: 'Put the whole value of this key into quotes.',
};

const OTHERWISE =
  'Put the value of this line into quotes, or compare its indentation with the lines around it.';

/**
 * Returns the advice for the first mistake in a text.
 * @param position the offset of the mistake, in characters
 */
export function yamlFix(text: string, code: ErrorCode, position: number, problem: string): string {
  const start = text.lastIndexOf('\n', position - 1) + 1;
  const [line = ''] = text.slice(start).split(/\r?\n/u, 1);
  const quoted = quotedValue(line);
  if (code === 'BAD_SCALAR_START' && quoted !== null) return `Put the value into quotes: ${quoted}`;
  if (code === 'BLOCK_AS_IMPLICIT_KEY') {
    return quoted !== null && /:\s/u.test(valueIn(line) ?? '')
      ? `Put the value, which has a colon in it, into quotes: ${quoted}`
      : 'The line after this one begins further right, as if it belonged to this value. Begin it at the same column as this key.';
  }
  if (code === 'MISSING_CHAR') {
    if (problem.includes('quote')) return 'Close the quote at the end of the value.';
    if (problem.includes('indicator'))
      return 'Begin this line at the same column as the other keys of its step, which is right of the dash; a step of its own begins with a dash.';
  }
  return FIXES[code] ?? OTHERWISE;
}

const PAIR = /^\s*(?:- )?(?<key>[\w.-]+):\s+(?<value>\S.*)$/u;

/** Returns the value in a line with one key, without a trailing comment; null for any other line. */
function valueIn(line: string): string | null {
  const value = PAIR.exec(line)?.groups?.['value'];
  return value === undefined ? null : value.replace(/\s#.*/u, '').trimEnd();
}

/** Returns the line with its value in quotes; null when it is not a single value. */
function quotedValue(line: string): string | null {
  const key = PAIR.exec(line)?.groups?.['key'];
  const value = valueIn(line);
  if (key === undefined || value === null || value.length > 300) return null;
  return `${key}: ${value.includes('"') || value.includes('\\') ? `'${value.replaceAll("'", "''")}'` : `"${value}"`}`;
}
