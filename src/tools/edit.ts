/** The tool that edits a file by exact string replacement, or creates one. */
import { isUtf8 } from 'node:buffer';
import { type FileView, MissingError, type Sandbox } from '../sandbox/sandbox.ts';
import { readFlag, readText } from '../text/json.ts';
import { counted } from '../text/messages.ts';
import { fail, succeed, type Tool, type ToolAnswer } from './tool.ts';

/** The most bytes of a file before the edit, and characters after it. */
const MAX_FILE = 4 * 1024 * 1024;
/** The most characters of the file times those of the searched text: the slowest search then takes seconds. */
const MAX_WORK = 4e9;
/** How many line numbers a message lists. */
const MAX_LINES = 10;

const IN_THE_SHELL = 'Change it with a command in the shell.';

export function createEdit(sandbox: Pick<Sandbox, 'read' | 'write'>): Tool {
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
    isReading: false,
    subject: (input) => readText(input, 'path') ?? '',
    async run(input): Promise<ToolAnswer> {
      const path = readText(input, 'path') ?? '';
      const before = readText(input, 'old_string') ?? '';
      const after = readText(input, 'new_string') ?? '';
      const name = JSON.stringify(path);
      const view = await readIfThere(sandbox, path);
      if (view?.kind === 'directory') return fail(`${name} is a folder. Name a file in it.`);
      if (view?.truncated) return fail(`${name} is larger than ${MAX_FILE} bytes. ${IN_THE_SHELL}`);
      const bytes = view?.bytes ?? Buffer.alloc(0);
      if (before === '') {
        if (bytes.length > 0)
          return fail(
            `${name} exists and is not empty. Give the exact text to replace as old_string; read_file shows it.`,
          );
        await sandbox.write(path, Buffer.from(after));
        return succeed(`Created ${name}.`);
      }
      if (view === null)
        return fail(
          `${name} does not exist. To create it, call edit with an empty old_string and the whole text as new_string.`,
        );
      const edited = replaceText(bytes, before, after, readFlag(input, 'replace_all'));
      if (!edited.ok) return fail(`${name} was not changed: ${edited.problem}`);
      await sandbox.write(path, Buffer.from(edited.text));
      const count = counted(edited.lines.length, 'replacement');
      return succeed(`Changed ${name}: ${count}, at ${listLines(edited.lines)}.`);
    },
  };
}

async function readIfThere(sandbox: Pick<Sandbox, 'read'>, path: string): Promise<FileView | null> {
  try {
    return await sandbox.read(path, MAX_FILE);
  } catch (error) {
    if (error instanceof MissingError) return null;
    throw error;
  }
}

/** The new text and the lines (from 1) of the replacements, or a sentence about why nothing was replaced. */
type Edited =
  | { readonly ok: true; readonly text: string; readonly lines: readonly number[] }
  | { readonly ok: false; readonly problem: string };

/** Replaces the only occurrence of `before`, or all occurrences with `all`. A byte order mark is kept. */
export function replaceText(bytes: Buffer, before: string, after: string, all: boolean): Edited {
  const refuse = (problem: string) => ({ ok: false, problem }) as const;
  if (!isUtf8(bytes)) return refuse(`it is not a UTF-8 text file. ${IN_THE_SHELL}`);
  const text = bytes.toString('utf8');
  if (text.length * before.length > MAX_WORK)
    return refuse(`old_string is too long for a file of this size. Give a shorter one. ${IN_THE_SHELL}`);
  const [old, replacement] = fitLineEnds(text, before, after);
  const lines = linesWith(text, old, all ? old.length : 1);
  if (lines.length === 0) return refuse(`old_string does not occur in it. ${hint(text, before)}`);
  if (lines.length > 1 && !all)
    return refuse(
      `old_string occurs ${lines.length} times, at ${listLines(lines)}. Add more of the surrounding text so that it fits one place only, or set replace_all to true.`,
    );
  if (text.length + lines.length * (replacement.length - old.length) > MAX_FILE)
    return refuse(`with this edit it would be larger than ${MAX_FILE} bytes. ${IN_THE_SHELL}`);
  const edited = text.split(old).join(replacement);
  if (edited === text)
    return refuse('old_string and new_string are the same, except for line endings, which are kept.');
  return { ok: true, text: edited, lines };
}

/** Gives both strings the line endings of the file. If it has both kinds, they may be meant as they are. */
function fitLineEnds(text: string, before: string, after: string): readonly [string, string] {
  const ending = text.includes('\r\n') ? '\r\n' : '\n';
  const convert = (part: string) => part.replace(/\r?\n/g, ending);
  return text.includes(convert(before)) ? [convert(before), convert(after)] : [before, after];
}

/** Returns the line (from 1) of each occurrence; with a `step` of 1, overlapping occurrences count as well. */
function linesWith(text: string, part: string, step: number): readonly number[] {
  const lines: number[] = [];
  let line = 1;
  let from = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + step)) {
    line += text.slice(from, at).split('\n').length - 1;
    from = at;
    lines.push(line);
  }
  return lines;
}

function listLines(lines: readonly number[]): string {
  const more = lines.length > MAX_LINES ? ', …' : '';
  return `${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, MAX_LINES).join(', ')}${more}`;
}

/** Finds the first line of the searched text with other white space around it, which is the usual mistake. */
function hint(text: string, before: string): string {
  const lines = before.split('\n').map((line) => line.trim());
  const first = lines.find((line) => line !== '');
  const found = first === undefined ? [] : [...new Set(linesWith(text, first, first.length))];
  const where =
    found.length === 0
      ? 'Nor does its first line.'
      : `Its first line occurs at ${listLines(found)}, but what follows or the white space differs.`;
  return `${where} Read the file again and copy the text exactly.`;
}
