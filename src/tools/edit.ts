/** The tool that changes a file by exact replacement, or creates one. */
import { DeniedError, type Sandbox } from '../sandbox/sandbox.ts';
import { type Edited, replaceText } from './replace.ts';
import type { Tool, ToolAnswer } from './tool.ts';

/** Larger files are for the shell: 16 MiB. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Makes the tool. */
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
    target: (input) => (typeof input['path'] === 'string' ? input['path'] : ''),
    async run(input): Promise<ToolAnswer> {
      const path = text(input['path']);
      const wanted = { before: text(input['old_string']), after: text(input['new_string']) };
      try {
        return await edit(sandbox, path, wanted, input['replace_all'] === true);
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
      `${name} is larger than ${MAX_FILE_BYTES} bytes, too large for this tool. Change it with a command in the shell.`,
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
  return done(`Changed ${name}: ${told(edited)}.`);
}

async function existing(sandbox: Sandbox, path: string): Promise<Buffer | null | 'directory' | 'too large'> {
  try {
    const view = await sandbox.read(path, MAX_FILE_BYTES, 'edit');
    if (view.kind === 'directory') return 'directory';
    return view.truncated ? 'too large' : view.bytes;
  } catch (error) {
    if (error instanceof DeniedError && error.missing) return null;
    throw error;
  }
}

function told(edited: Extract<Edited, { ok: true }>): string {
  const lines = edited.lines.slice(0, 10).join(', ');
  const more = edited.lines.length > 10 ? ', …' : '';
  return `${count(edited.lines.length, 'replacement')}, at line ${lines}${more}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function linesIn(content: string): number {
  return content.split('\n').length - (content.endsWith('\n') || content === '' ? 1 : 0);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function done(content: string): ToolAnswer {
  return { content, isError: false };
}

function failed(content: string): ToolAnswer {
  return { content, isError: true };
}
