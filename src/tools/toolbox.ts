/** The tools of a run. */
import { type Compiled, compile } from '../contract/contract.ts';
import type { CallRef } from '../reporters/report-types.ts';
import { DeniedError, type Sandbox } from '../sandbox/sandbox.ts';
import { isObject, parseStrictJson } from '../text/json.ts';
import { quote } from '../text/messages.ts';
import type { ArgumentStatus, JsonObject, ToolCall, ToolSpec } from '../types.ts';
import { createEdit } from './edit.ts';
import { createReadFile } from './read-file.ts';
import { createShell } from './shell.ts';
import { fail, type Tool, type ToolAnswer } from './tool.ts';

export { STRUCTURED_OUTPUT_NAME, TOOL_NAMES, type ToolName } from './tool.ts';

export interface ToolboxOptions {
  readonly sandbox: Sandbox;
  /** The allow-list; `structured_output` is offered even if it is not listed. */
  readonly tools: readonly string[];
  /** The deny-list; it can exclude `structured_output`. */
  readonly exclude: readonly string[];
  /** false if `sandbox: auto` found no sandbox; files are then only read. */
  readonly shellOffered: boolean;
  readonly structuredOutput: ToolSpec;
}

export type Toolbox = ReturnType<typeof createToolbox>;

export interface ReadCall {
  /** For events; its target is empty if the call cannot run. */
  readonly ref: CallRef;
  /** What the answer shows the contents of; null if it shows none. */
  readonly source: ResultSource | null;
  /**
   * Runs the call; one that cannot run results in an error answer.
   * @throws SandboxError if the sandbox is missing or broken, the signal's reason if it was aborted.
   */
  run(signal: AbortSignal): Promise<CallAnswer>;
}

/** A tool, and the path or the whole command that it was given. Untrusted text. */
export interface ResultSource {
  readonly tool: string;
  readonly target: string;
}

/** The answer to a call, and whether a tool ran for it. */
export interface CallAnswer extends ToolAnswer {
  readonly ran: boolean;
}

/** The most bytes of one tool result that the model sees. */
const MAX_OUTPUT_BYTES = 25 * 1024;
/** How long a command may take, unless the model asks for more. */
const SHELL_SECONDS = 120;

export function createToolbox(options: ToolboxOptions) {
  const { sandbox, exclude, shellOffered, structuredOutput } = options;
  const tools: readonly Tool[] = [
    createReadFile(sandbox, MAX_OUTPUT_BYTES),
    ...(shellOffered ? [createEdit(sandbox), createShell(sandbox, SHELL_SECONDS, MAX_OUTPUT_BYTES)] : []),
  ].filter(({ spec }) => options.tools.includes(spec.name) && !exclude.includes(spec.name));
  const specs = [...tools.map(({ spec }) => spec), structuredOutput].filter(
    ({ name }) => !exclude.includes(name),
  );
  const names = specs.map(({ name }) => name);
  // Compiled at the first call of a tool, so that it delays no start.
  const compiled = new Map<Tool, Promise<Compiled>>();

  return {
    /** In a stable order, with `structured_output` last; the same array for the whole run. */
    specs,
    names,
    has: (name: string) => names.includes(name),
    /** Reads and checks the arguments of a call, once. Not for `structured_output`, which the contract checks. */
    async read(call: ToolCall): Promise<ReadCall> {
      const { id, name } = call;
      const refuse = (content: string): ReadCall => ({
        ref: { id, name, target: '' },
        source: null,
        run: async () => ({ content, isError: true, ran: false }),
      });
      const tool = tools.find(({ spec }) => spec.name === name);
      if (tool === undefined)
        return refuse(`There is no tool named ${quote(name)}. The tools are: ${names.join(', ') || 'none'}.`);
      const parameters = compiled.get(tool) ?? compile(tool.spec.parameters, 'schema');
      compiled.set(tool, parameters);
      const input = readInput(call, await parameters);
      if (typeof input === 'string') return refuse(`${name} did not run: its arguments ${input}`);
      const subject = tool.subject(input);
      return {
        ref: { id, name, target: subject.trimStart().split('\n', 1)[0] ?? '' },
        source: tool.isReading ? { tool: name, target: subject } : null,
        async run(signal) {
          await sandbox.ready();
          signal.throwIfAborted();
          try {
            return { ...(await tool.run(input, signal)), ran: true };
          } catch (error) {
            if (!(error instanceof DeniedError)) throw error;
            return { ...fail(error.message), ran: true };
          }
        },
      };
    },
  };
}

const UNREADABLE: Readonly<Record<Exclude<ArgumentStatus, 'complete'>, string>> = {
  truncated: 'were cut off by the output limit. Call it again with shorter ones.',
  too_long: 'are longer than 2 MiB. Call it again with shorter ones.',
};

/** Parses the raw arguments of a call and checks them; returns a phrase about what is wrong with them otherwise. */
function readInput({ status, rawArguments }: ToolCall, parameters: Compiled): JsonObject | string {
  if (status !== 'complete') return UNREADABLE[status];
  const parsed = parseStrictJson(rawArguments.trim() === '' ? '{}' : rawArguments);
  if (!parsed.ok) return `could not be read. The text ${parsed.fault}. Call it again with one JSON object.`;
  if (!isObject(parsed.value)) return 'are not a JSON object. Call it again with one.';
  const validation = parameters.validate(parsed.value);
  if (validation.ok) return parsed.value;
  const issues = validation.issues.map(({ path, message }) => `- ${path || '(root)'}: ${message}`);
  return `are wrong.\n${issues.join('\n')}`;
}
