/** The interface of tools. */
import type { JsonObject, ToolSpec } from '../types.ts';

/** The names of all tools but `structured_output`, in the order in which they are offered. */
export const TOOL_NAMES = ['read_file', 'edit', 'shell'] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

export interface ToolAnswer {
  readonly content: string;
  readonly isError: boolean;
}

/** A tool that the model may call. */
export interface Tool {
  readonly spec: ToolSpec & { readonly name: ToolName };
  /** Whether the answer shows the contents of the subject. */
  readonly isReading: boolean;
  /** The path or the whole command that a call is about. Untrusted text. */
  subject(input: JsonObject): string;
  /**
   * Runs a call whose arguments satisfy `spec.parameters`.
   * @throws DeniedError with a sentence for the model; any other exception is a bug and ends the run.
   */
  run(input: JsonObject, signal: AbortSignal): Promise<ToolAnswer>;
}

export function succeed(content: string): ToolAnswer {
  return { content, isError: false };
}

export function fail(content: string): ToolAnswer {
  return { content, isError: true };
}
