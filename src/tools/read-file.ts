/** The tool that reads lines of a file or lists a folder. */
import { type DirectoryEntry, type FileView, MissingError, type Sandbox } from '../sandbox/sandbox.ts';
import { BINARY_LOOK, isBinaryName } from '../text/file-names.ts';
import { readCount, readText } from '../text/json.ts';
import { showControls } from '../text/sanitize.ts';
import { fail, succeed, type Tool, type ToolAnswer } from './tool.ts';

/** The most bytes of a file that are read; what is behind them is left to the shell. */
const MAX_FILE = 16 * 1024 * 1024;
/** The most lines of a file in one answer, and characters of a line. */
const MAX_LINES = 2_000;
const MAX_CHARACTERS = 2_000;
const MAX_ENTRIES = 1_000;

/** @param maxBytes maximum size of one answer, not counting the last line, which says how to get the rest */
export function createReadFile(sandbox: Pick<Sandbox, 'read'>, maxBytes: number): Tool {
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
    isReading: true,
    subject: (input) => readText(input, 'path') ?? '',
    async run(input): Promise<ToolAnswer> {
      const path = readText(input, 'path') ?? '';
      const first = readCount(input, 'offset') ?? 1;
      const count = Math.min(readCount(input, 'limit') ?? MAX_LINES, MAX_LINES);
      try {
        const view = await sandbox.read(path, MAX_FILE);
        return view.kind === 'directory'
          ? succeed(list(path, view.entries, maxBytes))
          : showPage(path, view, first, count, maxBytes);
      } catch (error) {
        if (!(error instanceof MissingError)) throw error;
        return fail(`${error.message} Read its folder with read_file to see what is there.`);
      }
    },
  };
}

function showPage(
  path: string,
  { bytes, truncated }: Extract<FileView, { kind: 'file' }>,
  first: number,
  count: number,
  maxBytes: number,
): ToolAnswer {
  const name = JSON.stringify(path);
  if (bytes.length === 0) return succeed(`${name} is empty.`);
  if (isBinaryName(path) && bytes.subarray(0, BINARY_LOOK).includes(0))
    return fail(`${name} is not a text file, so it cannot be read by lines.`);
  const lines = splitLines(bytes.toString('utf8'));
  if (first > lines.length)
    return fail(`${name} has ${lines.length} lines to read; offset ${first} is beyond its end.`);
  const page = lines.slice(first - 1, first - 1 + count);
  const shown = takeFitting(
    page.map((line, at) => `${String(first + at).padStart(6)}\t${showLine(line)}`),
    maxBytes,
  );
  const next = first + shown.length;
  const call = JSON.stringify({ path, offset: next });
  if (next <= lines.length)
    shown.push(`[Lines ${first} to ${next - 1} of ${lines.length}. For more: read_file ${call}]`);
  else if (truncated)
    shown.push(`[The file goes on; only its first ${bytes.length} bytes can be read by lines.]`);
  return succeed(shown.join('\n'));
}

/** Splits text into lines without their line endings; a trailing line ending does not add a line. */
function splitLines(text: string): readonly string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  return lines;
}

/** Shows control characters except tabs as escapes, and a NUL as in the output of the shell. Cuts a long line. */
function showLine(line: string): string {
  const visible = showControls(line.replaceAll('\n', '\\x0a'));
  if (visible.length <= MAX_CHARACTERS) return visible;
  return `${visible.slice(0, MAX_CHARACTERS)} [… line cut: it has ${line.length} characters]`;
}

/** Returns the first lines that together have at most `maxBytes` bytes, but at least one. */
function takeFitting(lines: readonly string[], maxBytes: number): string[] {
  let bytes = 0;
  const end = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line) + 1;
    return bytes > maxBytes;
  });
  return end === -1 ? [...lines] : lines.slice(0, Math.max(end, 1));
}

function list(path: string, entries: readonly DirectoryEntry[], maxBytes: number): string {
  const rows = entries.slice(0, MAX_ENTRIES).map(({ name, mark }) => `${showLine(name)}${mark}`);
  const shown = takeFitting(rows, maxBytes);
  const left = entries.length - shown.length;
  if (left > 0) shown.push(`[${left} more; list subfolders, or use ls in the shell with a pattern]`);
  const title = `${JSON.stringify(path)} is a folder. Entries: ${entries.length} (/ folder, @ link, ? other)`;
  return [title, ...shown].join('\n');
}
