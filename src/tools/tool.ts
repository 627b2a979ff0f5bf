/** The interface of tools, and `structured_output`, whose arguments are validated by the contract. */
import type { JsonObject, ToolSpec } from '../types.ts';

/** The names of all tools but `structured_output`, in the order in which they are offered. */
export const TOOL_NAMES = ['read_file', 'edit', 'shell'] as const;

export type ToolName = (typeof TOOL_NAMES)[number];

export interface ToolAnswer {
  readonly content: string;
  readonly isError: boolean;
}

export interface Tool {
  readonly spec: ToolSpec & { readonly name: ToolName };
  /** Whether the answer shows the contents of the subject. */
  readonly isReading: boolean;
  /** The path or the whole command that a call is about. Untrusted text. */
  subject(input: JsonObject): string;
  /** Runs a call whose arguments satisfy `spec.parameters`. @throws DeniedError with a sentence for the model; bugs */
  run(input: JsonObject, signal: AbortSignal): Promise<ToolAnswer>;
}

export function succeed(content: string): ToolAnswer {
  return { content, isError: false };
}

export function fail(content: string): ToolAnswer {
  return { content, isError: true };
}

/** The reserved name of the tool. */
export const STRUCTURED_OUTPUT_NAME = 'structured_output';

export function structuredOutputSpec(schema: JsonObject): ToolSpec {
  return {
    name: STRUCTURED_OUTPUT_NAME,
    description:
      'Deliver the final result. This is the only way to deliver it: the arguments are the result, and plain text is discarded. Call it once the work is done, and call it alone; other calls in the same turn do not run.',
    parameters: schema,
  };
}
