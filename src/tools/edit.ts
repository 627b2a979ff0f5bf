/** The tool that edits a file by exact string replacement, or creates one. */
import { DeniedError, MissingError, type Sandbox } from '../sandbox/sandbox.ts';
import { readFlag, readText } from '../text/json-fields.ts';
import { LISTED, READ, TOOL } from '../text/limits.ts';
import type { Tool, ToolAnswer } from './tool.ts';

export function createEdit(sandbox: Sandbox): Tool {
  return {
    spec: {
      name: 'edit',
      description:
        'Replace old_string by new_string in a file. old_string must match exactly (no line numbers) and only once, unless replace_all is true. An empty old_string creates a file.',
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          old_string: { type: 'string' },
          new_string: { type: 'string' },
          replace_all: { type: 'boolean' },
        },
        required: ['path', 'old_string', 'new_string'],
        additionalProperties: false,
      },
    },
    target: (input) => readText(input, 'path') ?? '',
    async run(input): Promise<ToolAnswer> {
      const path = readText(input, 'path') ?? '';
      const before = readText(input, 'old_string') ?? '';
      const after = readText(input, 'new_string') ?? '';
      try {
        return await edit(sandbox, path, { before, after }, readFlag(input, 'replace_all'));
      } catch (error) {
        if (error instanceof DeniedError) return failed(error.message);
        throw error;
      }
    },
  };
}

async function edit(
  sandbox: Sandbox,
  path: string,
  wanted: { readonly before: string; readonly after: string },
  all: boolean,
): Promise<ToolAnswer> {
  const name = JSON.stringify(path);
  const bytes = await existing(sandbox, path);
  if (bytes === 'directory') return failed(`${name} is a folder. Name a file in it.`);
  if (bytes === 'too large') {
    return failed(
      `${name} is larger than ${READ.editedFile} bytes, too large for this tool. Change it with a command in the shell.`,
    );
  }
  if (bytes === null && wanted.before !== '') {
    return failed(
      `${name} does not exist. To create it, call edit with an empty old_string and the whole text as new_string.`,
    );
  }
  if (wanted.before === '' && (bytes?.length ?? 0) > 0) {
    return failed(
      `${name} exists and is not empty. Give the exact text to replace as old_string; read_file shows it.`,
    );
  }
  if (wanted.before === '') {
    await sandbox.write(path, Buffer.from(wanted.after));
    return done(`Created ${name} (${count(linesIn(wanted.after), 'line')}).`);
  }
  const edited = replaceText(bytes ?? Buffer.alloc(0), wanted.before, wanted.after, all);
  if (!edited.ok) return failed(`${name} was not changed: ${edited.problem}`);
  await sandbox.write(path, edited.bytes);
  return done(`Changed ${name}: ${describeEdit(edited)}.`);
}

async function existing(sandbox: Sandbox, path: string): Promise<Buffer | null | 'directory' | 'too large'> {
  try {
    const view = await sandbox.read(path, READ.editedFile);
    if (view.kind === 'directory') return 'directory';
    return view.truncated ? 'too large' : view.bytes;
  } catch (error) {
    if (error instanceof MissingError) return null;
    throw error;
  }
}

function describeEdit(edited: Extract<Edited, { ok: true }>): string {
  const lines = edited.lines.slice(0, LISTED.several).join(', ');
  const more = edited.lines.length > LISTED.several ? ', …' : '';
  return `${count(edited.lines.length, 'replacement')}, at line ${lines}${more}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function linesIn(content: string): number {
  return content.split('\n').length - (content.endsWith('\n') || content === '' ? 1 : 0);
}

function done(content: string): ToolAnswer {
  return { content, isError: false };
}

function failed(content: string): ToolAnswer {
  return { content, isError: true };
}

/** The new bytes and the line numbers (from 1) of the replacements, or a sentence about why nothing was replaced. */
type Edited =
  | { readonly ok: true; readonly bytes: Buffer; readonly lines: readonly number[] }
  | { readonly ok: false; readonly problem: string };

/** Replaces the only occurrence of `before`, or all occurrences with `all`. */
export function replaceText(bytes: Buffer, before: string, after: string, all: boolean): Edited {
  if (before === after) return no('old_string and new_string are the same.');
  const text = decode(bytes);
  if (text === null) return no('it is not a UTF-8 text file. Change it with a command in the shell.');
  const fitted = fitLineEnds(text, before, after);
  const places = placesOf(text, fitted.before, all);
  const lines = linesOf(text, places.slice(0, TOOL.matches));
  if (places.length === 0) return no(`old_string does not occur in it. ${suggest(text, before)}`);
  if (places.length > 1 && !all) {
    const more = lines.length > LISTED.several ? ', …' : '';
    return no(
      `old_string occurs ${places.length} times, at lines ${lines.slice(0, LISTED.several).join(', ')}${more}. Add more of the surrounding text so that it fits one place only, or set replace_all to true.`,
    );
  }
  const length = text.length + places.length * (fitted.after.length - fitted.before.length);
  if (length > READ.editedFile)
    return no(
      `with ${places.length} replacements it would be larger than ${READ.editedFile} bytes. Change it with a command in the shell.`,
    );
  const parts: string[] = [];
  let from = 0;
  for (const at of places) {
    parts.push(text.slice(from, at), fitted.after);
    from = at + fitted.before.length;
  }
  const result = parts.join('') + text.slice(from);
  if (result === text)
    return no('old_string and new_string are the same but for line endings, which are kept.');
  return { ok: true, bytes: Buffer.from(result), lines };
}

/** Decodes UTF-8, keeping a byte order mark as the first character; null if the bytes are not UTF-8. */
function decode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Converts both strings to the line endings of the file: the model writes \n even if every line ends in \r\n, or vice
 * versa.
 */
function fitLineEnds(text: string, before: string, after: string): { before: string; after: string } {
  const crlf = text.split('\r\n').length - 1;
  const lf = text.split('\n').length - 1 - crlf;
  if (crlf > 0 && lf === 0) return { before: toCrlf(before), after: toCrlf(after) };
  if (crlf === 0) return { before: toLf(before), after: toLf(after) };
  // Mixed line endings: unchanged if the string occurs like that, otherwise with \r\n.
  if (occurs(text, before)) return { before, after };
  return occurs(text, toCrlf(before)) ? { before: toCrlf(before), after: toCrlf(after) } : { before, after };
}

function toLf(text: string): string {
  return text.replace(/\r\n/gu, '\n');
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/gu, '\r\n');
}

/**
 * Returns the start of each occurrence of `part`. Overlapping occurrences are counted separately, unless all are
 * replaced.
 */
function placesOf(text: string, part: string, all: boolean): readonly number[] {
  const places: number[] = [];
  for (const at of search(text, part, all ? 'apart' : 'overlapping')) {
    places.push(at);
    if (!all && places.length >= TOOL.matches) break;
  }
  return places;
}

function occurs(text: string, part: string): boolean {
  return search(text, part, 'apart').next().done !== true;
}

/**
 * Yields the start of each occurrence of `part`, which must not be empty. Uses the Knuth–Morris–Pratt algorithm, which
 * always needs one pass; `indexOf` takes minutes if both strings consist of many equal characters.
 */
function* search(text: string, part: string, places: 'apart' | 'overlapping'): Generator<number> {
  // The table below is as long as the part.
  if (part.length > text.length) return;
  const again = prefixesOf(part);
  for (let n = 0, matched = 0; n < text.length; n += 1) {
    // Fast path for the common case.
    if (matched === 0) n = text.indexOf(part.charAt(0), n);
    if (n < 0) return;
    const code = text.charCodeAt(n);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = again[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === code) matched += 1;
    if (matched < part.length) continue;
    yield n + 1 - part.length;
    matched = places === 'apart' ? 0 : (again[matched - 1] ?? 0);
  }
}

/** Returns, for each n, the length of the longest prefix of the part that also ends its first n + 1 characters. */
function prefixesOf(part: string): Int32Array {
  const again = new Int32Array(part.length);
  for (let n = 1, matched = 0; n < part.length; n += 1) {
    const code = part.charCodeAt(n);
    while (matched > 0 && part.charCodeAt(matched) !== code) matched = again[matched - 1] ?? 0;
    if (part.charCodeAt(matched) === code) matched += 1;
    again[n] = matched;
  }
  return again;
}

/** Returns the line number (from 1) of each of these sorted positions, in one pass over the text. */
function linesOf(text: string, places: readonly number[]): readonly number[] {
  let line = 1;
  let next = text.indexOf('\n');
  return places.map((at) => {
    for (; next >= 0 && next < at; next = text.indexOf('\n', next + 1)) line += 1;
    return line;
  });
}

/** Finds the first line of the searched text with different surrounding white space, which is the usual mistake. */
function suggest(text: string, before: string): string {
  const first = before
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '');
  if (first === undefined) return 'Read the file again and copy the text exactly.';
  const found = [...new Set(linesOf(text, placesOf(text, first, false)))];
  if (found.length === 0) return 'Nor does its first line. Read the file again and copy the text exactly.';
  const at = `${found.length === 1 ? 'line' : 'lines'} ${found.slice(0, LISTED.several).join(', ')}`;
  return `Its first line occurs at ${at}, but what follows or the white space differs. Read the file there and copy the text exactly.`;
}

function no(problem: string): Edited {
  return { ok: false, problem };
}
