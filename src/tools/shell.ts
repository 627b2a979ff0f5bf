/** The tool that runs a command. */
import { DeniedError, type ExecResult, type Sandbox } from '../sandbox/sandbox.ts';
import { readText } from '../text/json-fields.ts';
import { TOOL } from '../text/limits.ts';
import type { Tool, ToolAnswer } from './tool.ts';

/** The exit code of a shell that does not find a program. */
const NOT_FOUND = 127;

/** Creates the tool. @param timeoutSeconds the timeout of commands whose call specifies none. */
export function createShell(
  sandbox: Sandbox,
  limits: { timeoutSeconds: number; maxOutputBytes: number },
): Tool {
  const { timeoutSeconds, maxOutputBytes } = limits;
  return {
    spec: {
      name: 'shell',
      description: `Run a command in bash, in the working directory, without stdin. Gives its output and exit code. Nothing outlives the command but its files. Times out after ${timeoutSeconds} s unless timeout_seconds says otherwise.`,
      parameters: {
        type: 'object',
        properties: {
          command: { type: 'string' },
          timeout_seconds: { type: 'integer', minimum: 1, maximum: TOOL.timeoutSeconds },
        },
        required: ['command'],
        additionalProperties: false,
      },
    },
    target: (input) => firstLine(readText(input, 'command') ?? ''),
    source: (input) => readText(input, 'command') ?? '',
    async run(input, signal): Promise<ToolAnswer> {
      const { command, timeout_seconds: asked } = input;
      if (typeof command !== 'string' || command.trim() === '') {
        return { content: 'The command is empty. Give a command to run.', isError: true };
      }
      const seconds = typeof asked === 'number' ? asked : timeoutSeconds;
      try {
        const result = await sandbox.exec(command, { timeoutMs: seconds * 1000, maxOutputBytes, signal });
        return { content: describe(result, seconds), isError: false };
      } catch (error) {
        if (error instanceof DeniedError) return { content: error.message, isError: true };
        throw error;
      }
    },
  };
}

function describe(result: ExecResult, seconds: number): string {
  const output = withoutNul(result.output);
  const text = output.trim() === '' ? '(no output)' : output;
  return `${text.endsWith('\n') ? text : `${text}\n`}${whole(result)}[${ending(result, seconds)}]`;
}

function ending(result: ExecResult, seconds: number): string {
  if (result.timedOut) {
    const more =
      seconds < TOOL.timeoutSeconds
        ? ` If it needs longer, set timeout_seconds (at most ${TOOL.timeoutSeconds}).`
        : '';
    return `timed out after ${seconds} s and was killed.${more}`;
  }
  const hint =
    result.exitCode === NOT_FOUND
      ? '. A program that is installed elsewhere can be shown with the input sandbox-read'
      : '';
  return `exit code ${result.exitCode}${hint}`;
}

function whole(result: ExecResult): string {
  if (result.fullOutputPath === null) return '';
  const path = result.fullOutputPath;
  const part =
    result.keptBytes < result.totalBytes ? `the first ${result.keptBytes} bytes are` : 'all of it is';
  return `[The output has ${result.totalBytes} bytes; ${part} in ${path}: read it by lines with read_file, or search it with grep.]\n`;
}

/** Some model APIs reject text that contains NUL. */
function withoutNul(text: string): string {
  return text.replaceAll('\0', '\u2400');
}

function firstLine(text: string): string {
  return text.trimStart().split('\n', 1)[0] ?? '';
}
