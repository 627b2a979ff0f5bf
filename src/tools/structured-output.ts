/**
 * The synthetic tool whose parameters are the user's schema. Its arguments are validated by the contract, not by the
 * toolbox.
 */
import type { JsonObject, ToolSpec } from '../types.ts';

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
