/** The tools of a run. */
import type { Sandbox } from '../sandbox/sandbox.ts';
import { DISPLAY } from '../text/limits.ts';
import type { ToolCall, ToolSpec } from '../types.ts';
import { readArguments } from './arguments.ts';
import { createEdit } from './edit.ts';
import { createReadFile } from './read-file.ts';
import { createShell } from './shell.ts';
import { STRUCTURED_OUTPUT_NAME } from './structured-output.ts';
import type { Tool, ToolAnswer } from './tool.ts';

export { STRUCTURED_OUTPUT_NAME } from './structured-output.ts';

/** All tools that `tools` and `exclude-tools` may name. */
export const TOOL_NAMES = ['read_file', 'edit', 'shell', STRUCTURED_OUTPUT_NAME] as const;

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

/** The answer to a call, and whether a tool ran for it; false if there is no such tool or its arguments are invalid. */
export interface CallAnswer extends ToolAnswer {
  readonly ran: boolean;
}

export interface Toolbox {
  /** In a stable order, with `structured_output` last; the same array for the whole run. */
  readonly specs: readonly ToolSpec[];
  readonly names: readonly string[];
  has(name: string): boolean;
  /** A short label of the call for logs. Untrusted text; empty for `structured_output` and unreadable calls. */
  target(call: ToolCall): string;
  /** The path or the whole command that the result of a call shows the contents of; null if it shows none. */
  source(call: ToolCall): string | null;
  /**
   * Runs a call; an invalid call results in an error answer. Does not run `structured_output`, which is validated by
   * the contract.
   * @throws SandboxError if the sandbox is missing or broken, the signal's reason if it was aborted.
   */
  run(call: ToolCall, signal: AbortSignal): Promise<CallAnswer>;
}

export function createToolbox(options: ToolboxOptions): Toolbox {
  const { sandbox, exclude, structuredOutput } = options;
  const tools = makeTools(options).filter(
    ({ spec }) => options.tools.includes(spec.name) && !exclude.includes(spec.name),
  );
  const byName = new Map(tools.map((tool) => [tool.spec.name, tool]));
  const specs = tools.map(({ spec }) => spec);
  if (!exclude.includes(structuredOutput.name)) specs.push(structuredOutput);
  const names = specs.map(({ name }) => name);

  return {
    specs,
    names,
    has: (name) => names.includes(name),
    target(call) {
      const tool = byName.get(call.name);
      const read = tool === undefined ? null : readArguments(call, tool.spec);
      return tool !== undefined && read?.ok ? tool.target(read.input) : '';
    },
    source(call) {
      const tool = byName.get(call.name);
      const read = tool === undefined ? null : readArguments(call, tool.spec);
      return read?.ok ? (tool?.source?.(read.input) ?? null) : null;
    },
    async run(call, signal) {
      const tool = byName.get(call.name);
      if (tool === undefined) return unknownTool(call.name, names);
      const read = readArguments(call, tool.spec);
      if (!read.ok) return { content: read.problem, isError: true, ran: false };
      await sandbox.ready();
      signal.throwIfAborted();
      return { ...(await tool.run(read.input, signal)), ran: true };
    },
  };
}

/** The most bytes of one tool result that the model sees. */
const MAX_OUTPUT_BYTES = 25 * 1024;
/** How long a command may take, unless the model asks for more. */
const SHELL_SECONDS = 120;

function makeTools(options: ToolboxOptions): readonly Tool[] {
  const { sandbox } = options;
  const limits = { timeoutSeconds: SHELL_SECONDS, maxOutputBytes: MAX_OUTPUT_BYTES };
  return [
    createReadFile(sandbox, MAX_OUTPUT_BYTES),
    ...(options.shellOffered ? [createEdit(sandbox), createShell(sandbox, limits)] : []),
  ];
}

function unknownTool(name: string, names: readonly string[]): CallAnswer {
  const there =
    names.length === 0 ? 'There are no tools in this run.' : `The tools are: ${names.join(', ')}.`;
  return {
    content: `There is no tool named ${JSON.stringify(name.slice(0, DISPLAY.value))}. ${there}`,
    isError: true,
    ran: false,
  };
}
