/** What a tool is. */
import type { JsonObject, ToolSpec } from '../types.ts';

/** What a tool answers the model. */
export interface ToolAnswer {
  readonly content: string;
  readonly isError: boolean;
}

/** A tool the model may call. Everything expected is an answer; whatever it throws is a bug and ends the run. */
export interface Tool {
  readonly spec: ToolSpec;
  /** A short label of what a call is about (a path, the first line of a command) for logs; hostile text. */
  target(input: JsonObject): string;
  run(input: JsonObject, signal: AbortSignal): Promise<ToolAnswer>;
}
