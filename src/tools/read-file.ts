/** The tool that reads lines of a file or lists a folder. */
import {
  DeniedError,
  type DirectoryEntry,
  type FileView,
  MissingError,
  type Sandbox,
} from '../sandbox/sandbox.ts';
import { readText } from '../text/json-fields.ts';
import { READ, TOOL } from '../text/limits.ts';
import { cutToBytes, cutToCharacters, type Tool, type ToolAnswer } from './tool.ts';

/** Number of bytes that are examined to detect binary files. */
const SNIFFED_BYTES = 8192;

/**
 * Creates the tool. @param maxOutputBytes maximum size of one answer, not counting the last line, which says how to get
 * the rest.
 */
export function createReadFile(sandbox: Sandbox, maxOutputBytes: number): Tool {
  return {
    spec: {
      name: 'read_file',
      description:
        'Read a text file by numbered lines, or list a folder. Relative paths start at the working directory; the workspace and /tmp can be read. offset is the first line (from 1), limit the number of lines.',
      parameters: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          offset: { type: 'integer', minimum: 1 },
          limit: { type: 'integer', minimum: 1 },
        },
        required: ['path'],
        additionalProperties: false,
      },
    },
    target: (input) => readText(input, 'path') ?? '',
    source: (input) => readText(input, 'path') ?? '',
    async run(input): Promise<ToolAnswer> {
      const path = readText(input, 'path') ?? '';
      const offset = typeof input['offset'] === 'number' ? input['offset'] : 1;
      const limit = typeof input['limit'] === 'number' ? Math.min(input['limit'], TOOL.lines) : TOOL.lines;
      try {
        const view = await sandbox.read(path, READ.toolFile);
        return view.kind === 'directory'
          ? { content: listing(path, view.entries, maxOutputBytes), isError: false }
          : page(path, view, { offset, limit, maxOutputBytes });
      } catch (error) {
        if (!(error instanceof DeniedError)) throw error;
        const hint =
          error instanceof MissingError ? ' Read its folder with read_file to see what is there.' : '';
        return { content: `${error.message}${hint}`, isError: true };
      }
    },
  };
}

interface Page {
  readonly offset: number;
  readonly limit: number;
  readonly maxOutputBytes: number;
}

function page(path: string, view: Extract<FileView, { kind: 'file' }>, wanted: Page): ToolAnswer {
  const name = JSON.stringify(path);
  if (view.bytes.length === 0) return { content: `${name} is empty.`, isError: false };
  if (isBinary(view.bytes)) {
    return {
      content: `${name} is not a text file, so it cannot be read by lines.`,
      isError: true,
    };
  }
  const lines = linesOf(view.bytes.toString('utf8'));
  if (wanted.offset > lines.length) {
    const last = view.truncated ? 'lines can be reached' : 'lines';
    return {
      content: `${name} has ${lines.length} ${last}; offset ${wanted.offset} is beyond its end.`,
      isError: true,
    };
  }
  const shown = take(lines, wanted);
  const next = wanted.offset + shown.length;
  const notes: string[] = [];
  if (next <= lines.length) {
    const call = JSON.stringify({ path, offset: next });
    notes.push(`[Lines ${wanted.offset} to ${next - 1} of ${lines.length}. For more: read_file ${call}]`);
  } else if (view.truncated) {
    notes.push(`[The file goes on; only its first ${view.bytes.length} bytes can be read by lines.]`);
  }
  return { content: [...shown, ...notes].join('\n'), isError: false };
}

/** Returns as many numbered lines as fit, but at least one. */
function take(lines: readonly string[], { offset, limit, maxOutputBytes }: Page): readonly string[] {
  const shown: string[] = [];
  let bytes = 0;
  for (const [index, line] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const numbered = `${String(offset + index).padStart(6)}\t${shorten(line)}`;
    bytes += Buffer.byteLength(numbered) + 1;
    if (bytes > maxOutputBytes && shown.length > 0) break;
    shown.push(cutToBytes(numbered, maxOutputBytes));
  }
  return shown;
}

function shorten(line: string): string {
  if (line.length <= TOOL.lineCharacters) return line;
  const cut = cutToCharacters(line, TOOL.lineCharacters);
  return `${cut} [… line cut: ${cut.length} of ${line.length} characters shown]`;
}

/** Splits text into lines without their line endings; a trailing line ending does not add a line. */
function linesOf(text: string): readonly string[] {
  const lines = text.replace(/^\ufeff/u, '').split(/\r?\n/u);
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

/**
 * Detects binary content: a NUL, or a start that is not valid UTF-8 (ignoring a character cut at the end of the
 * sample).
 */
function isBinary(bytes: Buffer): boolean {
  const sample = bytes.subarray(0, SNIFFED_BYTES);
  if (sample.includes(0)) return true;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: bytes.length > sample.length });
    return false;
  } catch {
    return true;
  }
}

function listing(path: string, entries: readonly DirectoryEntry[], maxBytes: number): string {
  const title = `${JSON.stringify(path)} is a folder with ${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}`;
  if (entries.length === 0) return `${title}.`;
  const lines: string[] = [];
  let bytes = 0;
  for (const entry of entries.slice(0, TOOL.entries)) {
    const line = `${printable(entry.name)}${entry.mark}`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > maxBytes) break;
    lines.push(line);
  }
  const left = entries.length - lines.length;
  const rest = left > 0 ? [`[${left} more; list subfolders, or use ls in the shell with a pattern]`] : [];
  return [`${title} (/ folder, @ link, ? other):`, ...lines, ...rest].join('\n');
}

/** Quotes a name that contains control characters, so that one with a line break cannot look like two. */
function printable(name: string): string {
  return /[\u0000-\u001f\u007f]/u.test(name) ? JSON.stringify(name) : name;
}
