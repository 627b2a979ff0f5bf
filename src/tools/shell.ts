/** The tool that runs a command. */
import type { ExecResult, Sandbox } from '../sandbox/sandbox.ts';
import { readCount, readText } from '../text/json.ts';
import { fail, succeed, type Tool, type ToolAnswer } from './tool.ts';

/** The longest timeout that a call can ask for, in seconds. */
const MAX_SECONDS = 600;
/** The exit code of a shell that does not find a program. */
const NOT_FOUND = 127;

/** Creates the tool. @param timeoutSeconds the timeout of commands whose call specifies none. */
export function createShell(
  sandbox: Pick<Sandbox, 'exec'>,
  timeoutSeconds: number,
  maxOutputBytes: number,
): Tool {
  return {
    spec: {
      name: 'shell',
      description: `Run a command in bash, in the working directory, without stdin. Gives its output and exit code. Nothing outlives the command but its files. Times out after ${timeoutSeconds} s unless timeout_seconds says otherwise.`,
      parameters: {
        type: 'object',
        properties: {
          command: { type: 'string' },
          timeout_seconds: { type: 'integer', minimum: 1, maximum: MAX_SECONDS },
        },
        required: ['command'],
        additionalProperties: false,
      },
    },
    isReading: true,
    subject: (input) => readText(input, 'command') ?? '',
    async run(input, signal): Promise<ToolAnswer> {
      const command = readText(input, 'command') ?? '';
      if (command.trim() === '') return fail('The command is empty. Give a command to run.');
      const seconds = readCount(input, 'timeout_seconds') ?? timeoutSeconds;
      const result = await sandbox.exec(command, { timeoutMs: seconds * 1000, maxOutputBytes, signal });
      return succeed(`${describeOutput(result)}[${describeEnd(result, seconds)}]`);
    },
  };
}

function describeOutput({ output, fullOutputPath, keptBytes, totalBytes }: ExecResult): string {
  // Some model APIs reject text that contains NUL.
  const text = output.trim() === '' ? '(no output)' : output.replaceAll('\0', '\u2400');
  const lines = text.endsWith('\n') ? text : `${text}\n`;
  if (fullOutputPath === null) return lines;
  const part = keptBytes < totalBytes ? `the first ${keptBytes} bytes are` : 'all of it is';
  return `${lines}[The output has ${totalBytes} bytes; ${part} in ${fullOutputPath}: read it by lines with read_file, or search it with grep.]\n`;
}

/** Describes how a command ended. The log looks for this text in the last line of the answer. */
function describeEnd({ exitCode }: ExecResult, seconds: number): string {
  if (exitCode === null) {
    const advice = ` If it needs longer, set timeout_seconds (at most ${MAX_SECONDS}).`;
    return `timed out after ${seconds} s and was killed.${seconds < MAX_SECONDS ? advice : ''}`;
  }
  const advice = '. A program that is installed elsewhere can be shown with the input sandbox-read';
  return `exit code ${exitCode}${exitCode === NOT_FOUND ? advice : ''}`;
}
