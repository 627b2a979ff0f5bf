/** The synthetic tool whose parameters are the user's schema. The contract judges its arguments, not the toolbox. */
import type { JsonObject, ToolSpec } from '../types.ts';

/** Its name; reserved. */
export const STRUCTURED_OUTPUT_NAME = 'structured_output';

/** The tool as the model is told of it. */
export function structuredOutputSpec(schema: JsonObject): ToolSpec {
  return {
    name: STRUCTURED_OUTPUT_NAME,
    description:
      'Deliver the final result. This is the only way to deliver it: the arguments are the result, and plain text is discarded. Call it once the work is done, and call it alone; other calls in the same turn do not run.',
    parameters: schema,
  };
}
